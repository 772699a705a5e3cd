"""One sound call of every public function, and what each of its arguments is: what attacks on them replace.

It must have every function of ``__all__``: ``test_public_arguments.py`` fails for one that is not here.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

import isentropic
from isentropic import PCA, Isomap, Knn, datasets, isomap_path, nearest_neighbors, neighbor_graph, quality
from many_files import save_model


@dataclass(frozen=True)
class Given:
    """An argument: a sound value, and its kind."""

    value: Any
    kind: str  # of :func:`unlike`
    ndim: int = 2
    allowed: tuple[str, ...] = ()  # what would be unlike it, and is allowed here


_rng = np.random.default_rng(0)
X = _rng.integers(0, 200, size=(24, 3)).astype(float)  # whole numbers that any kind of number can hold
Z = X[:, :2]
Y = np.arange(24) % 2


def table(value: Any = X, *allowed: str) -> Given:
    return Given(value, "numbers", np.ndim(value), allowed)


def stack(value: Any) -> Given:
    """Leading axes are allowed: they broadcast."""
    return table(value, "more axes")


def count(value: int, *allowed: str) -> Given:
    return Given(value, "count", 0, allowed)


def number(value: float) -> Given:
    return Given(value, "number")


def positions(value: Any, *allowed: str) -> Given:
    return Given(value, "positions", np.ndim(value), allowed)


def other(value: Any) -> Given:
    """Not replaced: a function, a text, a choice that has tests of its own."""
    return Given(value, "other")


def of_kind(value: Any) -> Given:
    """A value of one of our classes: nothing else will do."""
    return Given(value, "value")


METRIC, JOBS = Given("euclidean", "metric"), Given(1, "jobs")
_both = {"X": table(), "Z": table(Z)}
_measured = {**_both, "metric": METRIC, "n_jobs": JOBS}
_near = {**_measured, "n_neighbors": count(5, "list", "None", "array")}  # several at once, or a default
_gauss = {
    "mean1": stack(np.zeros(2)), "covariance1": stack(np.eye(2)),
    "mean2": stack(np.ones(2)), "covariance2": stack(2 * np.eye(2)),
}  # fmt: skip
_grids = {"p": stack(np.array([1.0, 2.0, 1.0])), "q": stack(np.array([2.0, 1.0, 1.0])), "step": number(0.5)}


_folder = TemporaryDirectory()  # removed as the process ends


def _files() -> tuple[Path, Path]:
    """A saved model, and a file of rows for it."""
    folder, frame = Path(_folder.name), pd.DataFrame(X, columns=list("abc"))
    frame.to_csv(folder / "rows.csv", index=False)
    return save_model(frame, folder / "model.isentropic", "pca"), folder / "rows.csv"


@cache
def calls() -> dict[str, dict[str, Given]]:
    """By ``subpackage.function``; made once, as some arguments are results of others."""
    found = nearest_neighbors(X, Knn(4))
    graph = neighbor_graph(X, 5)
    condensed = quality.distance_rows(X).rows(np.arange(24))[np.triu_indices(24, 1)]
    loaded = datasets.load(pd.DataFrame(X, columns=list("abc")), keep=list("abc"))
    runs = isentropic.compare(X, methods=["pca"], preset="quick", tune=False)
    judged = isentropic.comparison.verdict(runs)
    drawn = isentropic.comparison.collect_page_data(loaded, runs, judged)
    path = isomap_path(X, (4, 6))
    square = X.T @ X
    lists, graphs = {"found": of_kind(found)}, {"graph": of_kind(graph)}
    run_table = {"table": of_kind(loaded), "runs": of_kind(runs)}
    model, rows = _files()
    return {
        "affinities.barycentric_weights": {
            "rows": table(), "indices": positions(found.indices), "X": table(), "regularization": number(0.1)
        },
        "affinities.can_weights": lists,
        "affinities.conditional_affinities": {
            "distances": table(np.ceil(found.distances)), "perplexity": number(2.0), "n_jobs": JOBS
        },
        "affinities.fuzzy_graph": {**lists, "n_jobs": JOBS},
        "affinities.heat": {**graphs, "t": number(2.0)},
        "affinities.joint_affinities": {**lists, "P": table(np.ones((24, 4))), "n_jobs": JOBS},
        "affinities.memberships": {"distances": table(np.ceil(found.distances)), "n_jobs": JOBS},
        "affinities.neighbor_graph": {"X": table(), "neighbors": count(5), "metric": METRIC, "n_jobs": JOBS},
        "affinities.pnn_weights": {**lists, "t": number(2.0)},
        "comparison.compare": {
            "X": table(), "y": Given(Y, "labels", 1, ("mask",)), "methods": other(["pca"]),
            "preset": other("quick"), "tune": other(False), "metric": METRIC, "n_jobs": JOBS,
            "n_seeds": count(1, "None"), "budget": count(1, "None"),
        },
        "comparison.data_map": run_table,
        "comparison.collect_page_data": {**run_table, "verdict": of_kind(judged)},
        "comparison.explain": {
            "table": of_kind(loaded), "rows": positions(np.arange(12)), "alpha": number(0.01)
        },
        "comparison.find_groups": {"Z": table(Z), "n_resamples": count(2), "n_jobs": JOBS},
        "comparison.intrinsic_dimension": {
            "X": table(), "metric": METRIC, "n_neighbors": count(5), "n_jobs": JOBS
        },
        "comparison.label_permutation_test": {
            "estimator": of_kind(isentropic.LDA(1)), "X": table(), "y": Given(Y, "labels", 1, ("mask",)),
            "n_permutations": count(2), "n_jobs": JOBS,
        },
        "comparison.maps_frame": run_table,
        "comparison.save_maps": {"path": other("maps.csv"), **run_table},
        "comparison.test_groups": {
            "X": table(), "Z": table(Z), "embed": other(lambda rows: rows[:, :2]), "n_splits": count(1),
            "metric": METRIC, "n_jobs": JOBS,
        },
        "comparison.verdict": {"runs": of_kind(runs)},
        "datasets.catalogue": {},
        "datasets.load": {"source": of_kind(pd.DataFrame(X)), "keep": other(["0", "1", "2"])},
        "distances.distance_rows": {"X": table(), "metric": METRIC, "n_jobs": JOBS},
        "distances.metric_names": {},
        **{
            f"divergences.{name}": _gauss
            for name in (
                "bhattacharyya_coefficient", "bhattacharyya_distance", "cauchy_schwarz_divergence",
                "hellinger_distance", "jeffreys_matusita_distance", "kl_divergence",
                "symmetrised_kl_divergence",
            )
        },
        "divergences.fisher_rao_distance": {
            "mean1": stack(np.zeros(2)), "deviation1": stack(np.ones(2)),
            "mean2": stack(np.ones(2)), "deviation2": stack(np.ones(2)),
        },
        "divergences.gaussian_entropy": {"covariance": stack(np.eye(2))},
        **{
            f"divergences.{name}": _grids
            for name in ("grid_hellinger", "grid_kl", "grid_symmetrised_kl", "total_variation")
        },
        "divergences.patch_gaussians": {"X": table(), "members": positions(found.indices), "n_jobs": JOBS},
        "divergences.patch_members": {"indices": positions(found.indices, "beyond")},
        "divergences.renyi_divergence": {**_gauss, "order": number(0.5)},
        "geodesics.all_pairs": {**graphs, "n_jobs": JOBS},
        "geodesics.boundary_rows": {"X": table(), "n_dimensions": count(2), "metric": METRIC, "n_jobs": JOBS},
        "geodesics.from_neighbors": {
            **graphs, "indices": positions(found.indices), "n_jobs": JOBS,
            "distances": table(np.ceil(found.distances), "inf"),
        },
        "geodesics.from_rows": {**graphs, "sources": positions(np.array([3, 5])), "n_jobs": JOBS},
        "geodesics.nearest_in_graph": {**graphs, "k": count(3), "n_jobs": JOBS},
        "linalg.additive_constant": {"distances": table(np.ceil(condensed)), "n": count(24), "n_jobs": JOBS},
        "linalg.aligned": {"Z": table(Z), "onto": table(Z)},
        "linalg.bottom_eigenpairs": {"matrix": table(square), "count": count(1)},
        "linalg.classical_scaling": {
            "distances": table(np.ceil(condensed)), "n": count(24), "n_components": count(2), "n_jobs": JOBS
        },
        "linalg.euclidean_defect": {"distances": table(np.ceil(condensed)), "n": count(24)},
        "linalg.generalized_eigenpairs": {"A": table(square), "B": table(np.eye(3)), "count": count(1)},
        "linalg.positive_scaling": {
            "distances": table(np.ceil(condensed)), "n": count(24), "n_components": count(2), "n_jobs": JOBS
        },
        "linalg.procrustes_correlation": {"Z": table(Z), "other": table(Z)},
        "linalg.residual_variance": {
            "distances": table(np.ceil(condensed)), "Z": table(Z), "n_jobs": JOBS
        },
        "linalg.top_eigenpairs": {"times": other(lambda x: square @ x), "n": count(3), "count": count(1)},
        "meta.append_rows": {"model": of_kind(Isomap().fit(X)), "X": table(X[:3] + 1)},
        "meta.isomap_path": {
            "X": table(), "n_neighbors": other((4, 6)), "n_components": count(2), "metric": METRIC,
            "n_jobs": JOBS,
        },
        "neighbors.distance_graph": {"X": table(), "neighbors": count(5), "metric": METRIC, "n_jobs": JOBS},
        "neighbors.nearest_neighbors": {"X": table(), "rule": count(5), "metric": METRIC, "n_jobs": JOBS},
        "plot.biplot": {"Z": table(Z), "components": table(np.eye(2)), "most": count(2)},
        "plot.component_planes": {"places": table(Z), "codebook": table(), "most": count(2)},
        "plot.coranking": {"counts": table(np.eye(3))},
        "plot.critical_difference_diagram": {
            "average_ranks": of_kind({"a": 1.0, "b": 2.0}), "difference": number(0.5)
        },
        "plot.distortion": {"Z": table(Z), "scores": table(np.arange(24.0)), "greatest": number(2.0)},
        "plot.label_null": {
            "test": of_kind(
                isentropic.label_permutation_test(isentropic.LDA(1), X, Y, n_permutations=2, n_jobs=1)
            )
        },
        "plot.lattice": {"places": table(Z), "values": table(np.arange(24.0))},
        "plot.path_curves": {"path": of_kind(path)},
        "plot.quality_curves": {"curves": of_kind({"a": np.ones(3)})},
        "plot.quality_sheet": {
            "Z": table(Z), "curves": other({"a": np.ones(3)}), "counts": other(np.eye(3)),
            "false_neighbors": other(np.ones(24)), "tears": other(np.ones(24)),
            "k": other(3),  # each is checked by the figure that it is for
        },
        "plot.scatter": {"Z": table(Z)},
        "plot.shepard": {"given": table(np.arange(5.0)), "mapped": table(np.arange(5.0))},
        "quality.aligned_distance": {"previous": table(Z), "current": table(Z + 1)},
        "quality.assess": {**_measured, "y": Given(Y, "labels")},
        "quality.baseline": {**_measured, "n_permutations": count(2)},
        "quality.check_selection": {
            "neighbors": positions(found.indices), "rows": positions(np.arange(4))
        },
        "quality.compare_quality": {
            "X": table(), "Z1": table(Z), "Z2": table(Z + X[:, 1:]), "metric": METRIC, "n_jobs": JOBS
        },
        "quality.corrected_selection": {
            "neighbors": positions(found.indices), "rows": positions(np.arange(4))
        },
        **{
            f"quality.{name}": _near
            for name in (
                "continuity", "false_neighbors", "lcmc", "mrre", "near_neighbor_share", "tears",
                "trustworthiness",
            )
        },
        **{
            f"quality.{name}": _measured
            for name in (
                "coranking_matrix", "kendall_tau", "kruskal_stress", "pearson_r", "residual_variance",
                "retained_structure", "rnx_auc", "rnx_curve", "row_tests", "sammon_stress", "spearman_rho",
                "topological_product",
            )
        },
        "quality.distance_rows": {"X": table(), "metric": METRIC, "n_jobs": JOBS},
        "quality.kappa": {"Z": table(Z), "y": Given(Y, "labels"), "n_neighbors": count(5), "n_jobs": JOBS},
        "quality.knn_accuracy": {
            "Z": table(Z), "y": Given(Y, "labels"), "n_neighbors": count(5), "n_jobs": JOBS
        },
        "quality.konig_measure": {**_measured, "k1": count(4), "k2": count(8)},
        "quality.neighborhood_stress": {**_measured, "n_neighbors": count(5)},
        "quality.map_agreement": {
            "first": table(Z), "second": table(Z + 1), "n_neighbors": count(5), "n_jobs": JOBS
        },
        "quality.map_jumps": {
            "place": other(PCA().fit(X).transform), **_both, "n_neighbors": count(5), "n_steps": count(2),
            "n_jobs": JOBS,
        },
        "quality.shared_neighbors": {"maps": other([Z, Z + 1]), "n_neighbors": count(5), "n_jobs": JOBS},
        "quality.shepard_pairs": {**_measured, "n_pairs": count(1000)},
        "quality.silhouette": {"Z": table(Z), "y": Given(Y, "labels"), "n_jobs": JOBS},
        "registry.family_of": {"method": of_kind(isentropic.METHODS["pca"])},
        "registry.make": {"name": Given("pca", "metric")},
        "registry.methods_table": {},
        "report.page": {
            **run_table, "verdict": of_kind(judged), "page_data": of_kind(drawn), "facts": other({})
        },
        "report.tables_page": {"title": other("t"), "chapters": other(()), "facts": other({})},
        "scale.map_batch": {"model": other(PCA().fit(X)), "batch": table(), "n_jobs": JOBS},
        "scale.map_rows": {
            "model": other(model), "source": other(rows), "out": other(model.parent / "map"), "n_jobs": JOBS
        },
        "scale.sample_rows": {"source": other(rows), "size": count(5), "random_state": count(1, "zero")},
        "selection.as_grid": {"grid": of_kind({"k": [1, 2]})},
        "selection.geometric": {"low": number(5.0), "high": number(80.0), "count": count(3)},
        "selection.neighbor_grid": {"n_rows": count(100), "count": count(3)},
        "selection.select": {
            "estimator": of_kind(Isomap()), "X": table(), "grid": other({"n_neighbors": [4, 5]}),
            "n_neighbors": count(5), "metric": METRIC, "n_jobs": JOBS,
        },
    }  # fmt: skip


def public_functions() -> dict[str, Callable[..., Any]]:
    """Every function of ``__all__`` of every public sub-package, by ``subpackage.function``."""
    found = {}
    for name in isentropic._SUBMODULES:
        module = import_module(f"isentropic.{name}")
        members = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
        found |= {
            f"{name}.{member}": getattr(module, member)
            for member in members
            if inspect.isroutine(getattr(module, member))
        }
    return found


# ---- what takes the place of a sound value -----------------------------------------------------


class ArrayLike:
    """As arrays of other libraries: an array on request."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


_SMALL_KINDS = ("int64", "uint8", "float16", "nullable")  # which hold whole numbers below 256 exactly
_COUNTS = {
    "fraction": 2.5, "whole float": 5.0, "True": True, "text": "5", "zero": 0, "negative": -3, "NaN": np.nan,
    "list": [5], "None": None, "inf": np.inf, "array": np.array([5]),
}  # fmt: skip
_NUMBERS = {
    "True": True, "text": "0.5", "negative": -1.0, "NaN": np.nan, "list": [0.5], "complex": 1j,
    "object": object(), "inf": -np.inf,
}  # fmt: skip
_UNLIKE = {
    "count": _COUNTS,
    "number": _NUMBERS,
    "jobs": {"zero": 0, "fraction": 1.5, "True": True, "text": "2", "list": [1]},
    "metric": {"unknown": "euclidian", "number": 3, "list": ["euclidean"]},
    "value": {"None": None, "number": 3, "array": np.ones(3), "text": "abc", "object": object()},
    "other": {},
}


def alike(given: Given) -> dict[str, Any]:
    """The same numbers in other clothes: the result must be the same."""
    value = given.value
    if given.kind == "labels":
        return {"list": value.tolist(), "Series": pd.Series(value), "no mask": np.ma.array(value)}
    if given.kind == "positions":
        return {"list": value.tolist(), "int8": value.astype(np.int8), "no mask": np.ma.array(value)}
    if given.kind != "numbers":
        return {}
    frame = {1: pd.Series, 2: pd.DataFrame}[given.ndim]
    readonly = value.copy()
    readonly.flags.writeable = False
    found = {
        "list": value.tolist(), "frame": frame(value), "big-endian": value.astype(">f8"),
        "longdouble": value.astype(np.longdouble), "object": value.astype(object), "read-only": readonly,
        "Fortran": np.asfortranarray(value), "strided": np.repeat(value, 2, axis=0)[::2],
        "no mask": np.ma.array(value), "array-like": ArrayLike(value),
        "rows of masked arrays": [np.ma.array(row) for row in value],
    }  # fmt: skip
    if (value == value.round()).all() and value.max() < 256:
        found |= {name: value.astype(name) for name in _SMALL_KINDS[:-1]}
        found["nullable"] = frame(value).convert_dtypes()
    return found


def unlike(given: Given) -> dict[str, Any]:
    """What is none of it, or has missing values: an error of ours, never a result."""
    return {name: value for name, value in _unlike(given).items() if name not in given.allowed}


def _unlike(given: Given) -> dict[str, Any]:
    value = given.value
    if given.kind == "numbers":
        holes = value.copy()
        holes.flat[0] = np.nan
        masked = np.ma.array(value, mask=np.isnan(holes))
        return {
            "complex": value + 1j, "text": np.full(value.shape, "a"), "dates": value.astype("datetime64[D]"),
            "NaN": holes, "inf": np.where(np.isnan(holes), np.inf, value), "mask": masked,
            "masked rows": list(masked), "None": None, "object": object(), "word": "abc",
            "more axes": value[None, None, None], "generator": (row for row in value), "mapping": {"a": 1},
            "set": {1.0, 2.0}, "objects": np.full(value.shape, None),
        }  # fmt: skip
    if given.kind == "labels":
        masked = np.ma.array(value, mask=value == 0)
        return {"mask": masked, "too few": value[:-1], "two axes": np.c_[value, value]}
    if given.kind == "positions":
        masked = np.ma.array(value, mask=value == value.flat[0])
        return {
            "float": value + 0.5, "negative": value - 100, "beyond": value + 10**6, "text": value.astype(str),
            "mask": masked, "None": None, "object": object(),
        }  # fmt: skip
    return _UNLIKE[given.kind]


def same(one: Any, two: Any) -> bool:
    """Whether two results hold equal numbers; figures and functions are not read."""
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, two, equal_nan=one.dtype.kind == "f"))
    if issparse(one):
        return same(one.toarray(), two.toarray())
    if dataclasses.is_dataclass(one):
        names = [f.name for f in dataclasses.fields(one) if f.name not in ("seconds", "memory_mib", "trials")]
        return all(same(getattr(one, name), getattr(two, name)) for name in names)
    if isinstance(one, Mapping):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, int | float | str | bool | None):
        return bool(one == two or (one != one and two != two))
    return True
