"""Compare every number that the library computes with a kept reference, bit by bit.

A refactoring changes no number. This script, which pytest does not collect, fits every method of the registry
on three tables with one and with two threads, measures maps by every quality measure, compares and judges
methods, and keeps a hash of each result under a key such as ``methods/isomap/iris/embedding_``::

    python tests/bits.py write FILE [--arrays FILE.npz]    hashes, and the numbers themselves
    python tests/bits.py check [FILE] [--arrays FILE.npz]  which keys differ, and how far; status 1 if any

``--methods isomap,t-sne`` and ``--only methods|variants|quality|verdict`` narrow both; ``write`` then
replaces only these in FILE. ``--jobs 2`` works in two processes, ``--numbers`` lets texts differ. Without
FILE, ``check`` reads ``tests/bits.json.gz``.

Bits depend on the processor and on the versions of numpy and numba: the first line of FILE names them, and
``check`` says where they differ. Only public names are used, so that modules can move.
"""

import os

# Before any library of threads is loaded: idle threads that spin take the cores of others.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
import gzip
import inspect
import io
import json
import multiprocessing
import re
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

import isentropic as ic
from bits_cases import SMALL, VARIANTS, Split, other_inputs, split, tables
from bits_values import (
    Results,
    add,
    attempt,
    distance,
    fitted_attributes,
    machine,
    result_of,
    same_by_threads,
)
from isentropic import comparison, quality
from isentropic.registry import METHODS, make

REFERENCE = Path(__file__).with_name("bits.json.gz")
MOST_LINES = 12  # printed of one method
KINDS = ("methods", "variants", "quality", "verdict")
# The parameter that an input needs: methods without it are not given that input.
NEEDED = {
    "precomputed": ("metric", "precomputed"),
    "gower": ("metric", ic.Gower(levels=(3,))),
    "sparse": ("metric", "cosine"),
    "missing": ("missing", "em"),
}


# ---- methods -----------------------------------------------------------------------------------


def prepared(estimator: Any, n_jobs: int = 1) -> Any:
    parameters = estimator.get_params(deep=False)
    seed = {"random_state": 0} if parameters.get("random_state", 0) is None else {}
    return estimator.set_params(**{"n_jobs": n_jobs, **seed} if "n_jobs" in parameters else seed)


def fit_results(estimator: Any, table: Split, **fit: Any) -> Results:
    """Fitted attributes, the transform of new rows and its inverse, and the transform after a file."""
    found: Results = {}
    y = table.y if get_tags(estimator).target_tags.required else None
    attempt(found, "fit", lambda: estimator.fit(table.X, y, **fit) and None)
    if "fit/failure" in found:
        return found
    model_results(found, estimator, table.new)
    if hasattr(estimator, "inverse_transform"):
        attempt(found, "inverse_transform", lambda: estimator.inverse_transform(estimator.embedding_[:9]))
    for name, arguments in {"sample": (5,), "score": (table.X,), "diffusion_distances": ()}.items():
        if callable(getattr(estimator, name, None)):
            attempt(found, name, lambda name=name, arguments=arguments: getattr(estimator, name)(*arguments))
    loaded = attempt(found, "saved and loaded", lambda: saved_and_loaded(estimator).transform(table.new))
    if loaded is not None and found["saved and loaded"].hash != found["transform"].hash:
        found["saved and loaded/differs"] = result_of("The loaded model transforms otherwise.")
    return found


def model_results(found: Results, estimator: Any, new: Any, prefix: str = "") -> None:
    for name, value in fitted_attributes(estimator):
        add(found, prefix + name, value)
    if hasattr(estimator, "transform"):
        attempt(found, f"{prefix}transform", lambda: estimator.transform(new))
    if hasattr(estimator, "get_feature_names_out"):
        attempt(found, f"{prefix}feature_names_out", estimator.get_feature_names_out)


def saved_and_loaded(estimator: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.isentropic"
        ic.save(estimator, path)
        return ic.load(path)


def _fitted(estimator: Any, table: Split, n_jobs: int) -> Results:
    return fit_results(prepared(clone(estimator), n_jobs), table)


def method_results(name: str) -> Results:
    found: Results = {}
    estimator = make(name, **SMALL.get(name, {}))
    for table_name, table in tables().items():
        same_by_threads(found, table_name, partial(_fitted, estimator, table))
    if name in SMALL:
        found |= _under("iris, defaults", fit_results(prepared(make(name)), tables()["iris"]))
    iris, parameters = tables()["iris"], estimator.get_params(deep=False)
    needs_y = get_tags(estimator).target_tags.required
    for kind, table in other_inputs().items():
        changed = dict([NEEDED[kind]]) if kind in NEEDED else {}
        applies = needs_y if kind == "unlabelled" else changed.keys() <= parameters.keys()
        if applies:
            model = prepared(clone(estimator)).set_params(**changed)
            found |= _under(kind, fit_results(model, table))
    if "init" in inspect.signature(estimator.fit).parameters:
        start = (iris.X - iris.X.mean(axis=0))[:, [2, 1]]
        found |= _under("warm start", fit_results(prepared(clone(estimator)), iris, init=start))
    _appended(found, estimator, iris)
    return found


def _appended(found: Results, estimator: Any, table: Split) -> None:
    """Results of ``partial_fit`` and ``append_rows``, where a method has them."""
    grows = hasattr(estimator, "partial_fit")
    for align in (False, True) if grows else ():
        model, key = prepared(clone(estimator)).fit(table.X[:80]), f"partial_fit align={align}"
        attempt(
            found, key, lambda m=model, a=align: m.partial_fit(table.X[80:], align_to_previous=a) and None
        )
        model_results(found, model, table.new, f"{key}/")
    if grows or "init" in inspect.signature(estimator.fit).parameters:
        model = prepared(clone(estimator)).fit(table.X[:80])
        attempt(found, "append_rows", lambda: ic.append_rows(model, table.X[80:]))
        model_results(found, model, table.new, "append_rows/")


def _under(prefix: str, found: Results) -> Results:
    return {f"{prefix}/{key}": result for key, result in found.items()}


def variant_results(name: str) -> Results:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(160, 3)) * [3, 2, 1]
    table = split(X, np.digitize(X[:, 0], [-1.5, 1.5]))
    found: Results = {}
    same_by_threads(found, "normal", lambda n_jobs: fit_results(prepared(VARIANTS[name](), n_jobs), table))
    return found


# ---- measures and verdict ----------------------------------------------------------------------


def quality_results(table_name: str) -> Results:
    """Every function of ``isentropic.quality`` on two maps: two columns, and two columns rounded."""
    table = tables()[table_name]
    X, Z, other = table.X, table.X[:, [0, 2]], np.round(table.X[:, :2])
    arguments = {
        "X": X, "Z": Z, "y": table.y, "Z1": Z, "Z2": other, "first": Z, "second": other, "maps": [Z, other],
        "previous": Z, "current": other, "place": ic.PCA().fit(X).transform, "n_permutations": 5,
        "neighbors": ic.nearest_neighbors(X, ic.Knn(7), n_jobs=1), "random_state": 0,
    }  # fmt: skip
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in quality.__all__:
        if inspect.isroutine(getattr(quality, name)):
            calls[name] = (name, {"rows": np.arange(9)} if "selection" in name else {})
            if "Z" in inspect.signature(getattr(quality, name)).parameters:
                calls[f"{name} of ties"] = (name, {"Z": other})
    for name in ("assess", "trustworthiness", "kendall_tau", "sammon_stress", "row_tests"):
        calls[f"{name} manhattan"] = (name, {"metric": "manhattan"})
        calls[f"{name} precomputed"] = (name, {"metric": "precomputed", "X": cdist(X, X)})
    calls["assess sample"] = ("assess", {"sample": 60})
    calls["trustworthiness several"] = ("trustworthiness", {"n_neighbors": [3, 11]})

    def computed(n_jobs: int) -> Results:
        found: Results = {}
        for key, (name, changed) in calls.items():
            attempt(found, key, lambda n=name, c=changed: measured(n, {**arguments, **c, "n_jobs": n_jobs}))
        return found

    found: Results = {}
    same_by_threads(found, "all", computed)
    return found


def measured(name: str, arguments: dict[str, Any]) -> Any:
    function = getattr(quality, name)
    given = {key: value for key, value in arguments.items() if key in inspect.signature(function).parameters}
    return function(**given)


def verdict_results(case: str) -> Results:
    """Runs and verdict of three methods on iris, without classes and with them; and the tests beside them."""
    iris = load_iris()
    found: Results = {}
    if case == "tests":
        Z = ic.PCA().fit_transform(iris.data)
        calls = {
            "find_groups": lambda: comparison.find_groups(Z, n_jobs=1),
            "test_groups": lambda: comparison.test_groups(
                iris.data, Z, lambda rows: ic.PCA().fit_transform(rows), n_splits=2, n_jobs=1
            ),
            "intrinsic_dimension": lambda: comparison.intrinsic_dimension(iris.data, n_jobs=1),
            "explain": lambda: comparison.explain(pd.DataFrame(iris.data), np.arange(50)),
            "label_permutation_test": lambda: comparison.label_permutation_test(
                ic.LDA(2), iris.data, iris.target, n_permutations=9, n_jobs=1
            ),
            "isomap_path": lambda: ic.isomap_path(iris.data, (5, 10, 15), n_jobs=1),
        }
        for key, compute in calls.items():
            attempt(found, key, compute)
        return found
    y, methods = (
        (iris.target, ["pca", "lda", "umap"]) if case == "classes" else (None, ["pca", "isomap", "t-sne"])
    )
    runs = attempt(found, "runs", lambda: comparison.compare(iris.data, y, methods, tune=False, n_jobs=1))
    judged = attempt(found, "verdict", lambda: comparison.verdict(runs))
    if judged is not None:
        add(found, "lines", judged.lines)
        said = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", " ".join(judged.lines))
        add(found, "numbers in lines", [float(number.replace(",", "")) for number in said])
    return found


# ---- all of them, and files --------------------------------------------------------------------

WORK: dict[str, Callable[[str], Results]] = {
    "methods": method_results,
    "variants": variant_results,
    "quality": quality_results,
    "verdict": verdict_results,
}


Task = tuple[str, str]  # a kind and a name: the first two parts of its keys


def tasks(only: str, methods: list[str]) -> list[Task]:
    names = {
        "methods": methods or list(METHODS),
        "variants": [] if methods else list(VARIANTS),
        "quality": [] if methods else list(tables()),
        "verdict": [] if methods else ["no classes", "classes", "tests"],
    }
    return [(kind, name) for kind in KINDS if only in ("", kind) for name in names[kind]]


def prefixes(only: str, methods: list[str]) -> tuple[str, ...]:
    """How the keys begin that a run answers for, those of methods that are gone included."""
    return tuple(f"methods/{name}/" for name in methods) or tuple(
        f"{kind}/" for kind in KINDS if only in ("", kind)
    )


def work(kind: str, name: str) -> tuple[str, str, Results]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of what is compared are results: ``attempt`` has them
        return kind, name, _under(f"{kind}/{name}", WORK[kind](name))


def run(todo: list[Task], jobs: int) -> Results:
    found: Results = {}
    if jobs == 1:
        for number, task in enumerate(todo, 1):
            _said(number, todo, *task)
            found |= work(*task)[2]
    else:
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
            for number, done in enumerate(as_completed([pool.submit(work, *task) for task in todo]), 1):
                kind, name, results = done.result()
                _said(number, todo, kind, name)
                found |= results
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    return dict(sorted(found.items()))


def _said(number: int, todo: list[Task], kind: str, name: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{number}/{len(todo)} {kind} {name}", end="", file=sys.stderr, flush=True)


def read(path: Path) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The machine that a file was written on, and its lines by key."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    header, *lines = map(json.loads, text.splitlines())
    return header["machine"], {line["key"]: line for line in lines}


def replace_file(path: Path, data: bytes) -> None:
    """All of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    beside.replace(path)


def write(path: Path, arrays: Path | None, todo: list[Task], jobs: int, mine: tuple[str, ...]) -> int:
    """Write all results; of narrowed ones those, among the lines that the file has of others."""
    narrowed = mine != prefixes("", [])
    written_on, kept = read(path) if narrowed and path.exists() else (machine(), {})
    if written_on != machine():
        sys.exit(
            f"{path} was written on another machine or with other versions: write all of it, got a part."
        )
    numbers = dict(np.load(arrays)) if narrowed and arrays and arrays.exists() else {}
    began = time.perf_counter()
    found = run(todo, jobs)
    lines = {key: line for key, line in kept.items() if not key.startswith(mine)}
    for key, result in found.items():
        lines[key] = {"key": key, "hash": result.hash, "summary": result.summary}
        lines[key] |= {"text": True} if result.text else {}
    header = {"format": "isentropic bits/1", "machine": machine()}
    text = "".join(
        f"{json.dumps(line)}\n" for line in [header, *(lines[key] for key in sorted(lines))]
    ).encode()
    replace_file(path, gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    if arrays is not None:
        numbers = {key: value for key, value in numbers.items() if not key.startswith(mine)}
        numbers |= {key: each.numbers for key, each in found.items() if each.numbers is not None}
        packed = io.BytesIO()
        np.savez_compressed(packed, **numbers)
        replace_file(arrays, packed.getvalue())
    print(f"{len(found):,} results written in {time.perf_counter() - began:.0f} s.")
    report_inequalities(found)
    return 0


def report_inequalities(found: Results) -> None:
    """Say what two threads, or a file in between, change: neither may."""
    for key in found:
        if key.endswith(("/2 threads", "saved and loaded/differs")):
            print(f"not equal: {key}")


def check(
    path: Path,
    arrays: Path | None,
    todo: list[Task],
    jobs: int,
    mine: tuple[str, ...],
    most: int,
    texts: bool,
) -> int:
    """Compute again and print what differs; 1 if anything does, texts counted if ``texts``."""
    written_on, everything = read(path)
    here = machine()
    for name in sorted(written_on.keys() | here.keys()):
        if written_on.get(name) != here.get(name):
            print(f"{name} is {here.get(name)}, the reference was written with {written_on.get(name)}.")
    reference = {key: line for key, line in everything.items() if key.startswith(mine)}
    numbers = np.load(arrays) if arrays is not None else {}
    began = time.perf_counter()
    found = run(todo, jobs)
    lines, largest = differences(reference, found, numbers, texts)
    for name, said in lines.items():
        print(f"{name}: {len(said)}", *said[:most], sep="\n")
        if len(said) > most:
            print(f"  ... and {len(said) - most} more: --all shows them")
    report_inequalities(found)
    how_far = f", by up to {largest:.1e} of the width of a map" if largest else ""
    print(f"{len(found):,} results in {time.perf_counter() - began:.0f} s: {counted(lines)}{how_far}.")
    return 1 if lines else 0


def counted(lines: Mapping[str, list[str]]) -> str:
    """How many of the sentences say that a result differs, is new, or is gone; the last two if any.

    >>> counted({"quality/iris": ["  differs  a: 1", "  new      b: 2"], "quality/wine": ["  new      c: 2"]})
    '1 differ, 2 are new'
    >>> counted({})
    '0 differ'
    """
    n_of = Counter(said.split()[0] for each in lines.values() for said in each)
    more = (f", {n_of[kind]:,} are {kind}" for kind in ("new", "gone") if n_of[kind])
    return f"{n_of['differs']:,} differ{''.join(more)}"


def differences(
    reference: dict[str, dict[str, str]], found: Results, numbers: Mapping[str, np.ndarray], texts: bool
) -> tuple[dict[str, list[str]], float]:
    """A sentence for each key that differs, by method; and the largest distance."""
    lines, largest = defaultdict(list), 0.0
    new = {(_task(key), found[key].hash): key for key in reversed(found) if key not in reference}
    for key in sorted(reference.keys() | found.keys()):
        said = ""
        if key not in found:
            other = new.get((_task(key), reference[key]["hash"]))
            said = f"gone     {key}: {reference[key]['summary']}" + (f"; now {other}?" if other else "")
        elif key not in reference:
            said = f"new      {key}: {found[key].summary}"
        elif reference[key]["hash"] != found[key].hash and (texts or not found[key].text):
            far = distance(numbers[key], found[key].numbers) if key in numbers else None
            largest = max(largest, far or 0.0)
            was, now = reference[key]["summary"], found[key].summary
            said = f"differs  {key}: {now}" + (f", was {was}" if was != now else "")
            said += "" if far is None else f"; {far:.1e} of its width"
        if said:
            lines[_task(key)].append(f"  {said}")
    return lines, largest


def _task(key: str) -> str:
    return "/".join(key.split("/")[:2])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=("write", "check"))
    parser.add_argument("file", type=Path, nargs="?", help="JSON lines; .gz compresses them")
    parser.add_argument("--arrays", type=Path, help="npz of the numbers; check: by default FILE's, if there")
    parser.add_argument("--methods", default="", help="names of the registry, with commas")
    parser.add_argument("--only", choices=KINDS, default="")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--all", action="store_true", help="print every difference")
    parser.add_argument("--numbers", action="store_true", help="texts may differ")
    given = parser.parse_args()
    methods = [name for name in given.methods.split(",") if name]
    if unknown := set(methods) - set(METHODS):
        parser.error(f"no method of the registry: {', '.join(sorted(unknown))}")
    if methods and given.only not in ("", "methods"):
        parser.error(f"--methods narrows methods, not --only {given.only}")
    todo, mine = tasks(given.only, methods), prefixes(given.only, methods)
    if given.action == "write":
        if given.file is None:
            parser.error("write needs FILE")
        return write(given.file, given.arrays, todo, given.jobs, mine)
    path = given.file or REFERENCE
    beside = path.with_name(path.name.split(".")[0] + ".npz")
    arrays = given.arrays or (beside if beside.exists() else None)
    most = sys.maxsize if given.all else MOST_LINES
    return check(path, arrays, todo, given.jobs, mine, most, not given.numbers)


if __name__ == "__main__":
    sys.exit(main())
