"""``label_permutation_test``: would a supervised map look the same if the labels meant nothing?"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..._core.arguments import as_numbers
from ..._core.errors import require_count, require_one_of
from ..._core.json_checks import is_number, require_fields, several
from ..._core.runtime import config_context, get_config, worker_threads
from ...distances import is_gower
from ...tables.class_labels import compared_classes
from ..store import Store, as_written, fingerprint, key_of
from .label_scores import PROTOCOLS, SCORES, LabelTrial, Scores, trial_scores
from .label_values import LabelTest


def label_permutation_test(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    protocol: str = "honest",
    n_permutations: int = 99,
    score: str = "accuracy",
    random_state: int = 0,
    n_jobs: int | None = None,
    folder: str | Path | None = None,
) -> LabelTest:
    """Permutation test of the labels that a supervised map learnt from: the null beside the score.

    The method is fitted with the labels as they are, and ``n_permutations`` times with permuted ones. Under
    the honest protocol permuted labels score what chance gives. Under the published one they may score nearly
    as well as the true ones, and the test shows by how much. ``n_permutations + 1`` fits for each split.

    Parameters
    ----------
    estimator : estimator
        With ``fit_transform(X, y)``, and ``transform`` for the honest protocol.
    X : array (n, m)
    y : array (n,)
        Classes, as text or whole numbers. Rows without one (None, NaN, pd.NA, or -1 beside several
        classes) take no part.
    protocol : {"honest", "published"}
        ``"honest"``: 30% of the rows are held out from the fit, placed without a label by ``transform``, and
        classified by their 10 nearest fitted rows; of small tables in up to 10 splits, until 200 rows are
        scored, the score being that of all. Labels are permuted before the splits. ``"published"``: fitted
        with all labels, then half of the rows of the map are classified by their 7 nearest of the other half.
    n_permutations : int
        p is at least ``1 / (n_permutations + 1)``.
    score : {"accuracy", "kappa"}
        Of k-NN; Cohen's kappa is 0 by chance.
    random_state : int
        Of the split and the permutations; that of the estimator too, where it has none.
    n_jobs : int or None
        Processes, where the fits take long enough. The result does not depend on it.
    folder : path, optional
        Scores are written there as they come, and read back by the next call: after Ctrl-C it goes on, and
        more permutations add to those that are there.

    Returns
    -------
    LabelTest

    Examples
    --------
    >>> import numpy as np
    >>> from isentropic import LDA, label_permutation_test
    >>> random = np.random.default_rng(0)
    >>> noise, coins = random.normal(size=(60, 30)), np.repeat([0, 1], 30)
    >>> test = label_permutation_test(LDA(1), noise, coins, n_permutations=19)
    >>> test.seen > 0.8, test.reached  # it looks well on the rows that it learnt from, and means nothing
    (True, True)
    """
    require_one_of("protocol", protocol, PROTOCOLS)
    require_one_of("score", score, SCORES)
    n_permutations = require_count("n_permutations", n_permutations)
    seed = require_count("random_state", random_state, "a whole number", least=0)
    worker_threads(n_jobs)  # raises now
    X = as_numbers("X", X, holes=is_gower(getattr(estimator, "metric", None)))
    classes = compared_classes(y, len(X))[1]
    trial = LabelTrial.of(estimator, X, classes, protocol=protocol, score=score, seed=seed)
    progress = get_config().progress

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress("labels permuted", done, total)

    store, name = Store.at(folder), type(estimator).__name__
    with config_context(progress=None):  # the bar is about permutations, not about blocks of rows
        return null_beside(trial, n_permutations, n_jobs, store, name, report)


def null_beside(
    trial: LabelTrial,
    n_permutations: int,
    n_jobs: int | None,
    store: Store,
    name: str,
    report: Callable[[int, int], None],
) -> LabelTest:
    """Score what is not in the store yet, keeping each as it comes."""
    name, key = f"{name}-labels", _key(trial)
    found = store.kept(name, key, _scores_of) or {}
    wanted = [i for i in range(n_permutations + 1) if i not in found]
    report(n_permutations + 1 - len(wanted), n_permutations + 1)
    for i, scores in trial_scores(trial, wanted, n_jobs):
        found[i] = scores
        store.keep(name, key, json.dumps({"scores": [[i, *both] for i, both in sorted(found.items())]}))
        report(len(found.keys() & set(range(n_permutations + 1))), n_permutations + 1)
    held_out, seen = np.array([found[i] for i in range(n_permutations + 1)]).T.tolist()
    splits = trial.splits(trial.classes)
    return LabelTest(
        protocol=trial.protocol,
        score=trial.score,
        observed=held_out[0],
        null=tuple(held_out[1:]),
        seen=seen[0],
        seen_null=tuple(seen[1:]),
        n_fitted=len(trial.X) if trial.protocol == "published" else len(splits[0].train),
        n_scored=len(splits[0].test),
        n_splits=len(splits),
        random_state=trial.seed,
    )


def _key(trial: LabelTrial) -> str:
    """What the scores depend on; how many are wanted is no part of it."""
    kind = type(trial.estimator)
    params = trial.estimator.get_params(deep=False)
    settings = {
        "kind": f"{kind.__module__}:{kind.__qualname__}",
        "params": {name: as_written(value) for name, value in params.items() if name != "n_jobs"},
        "protocol": trial.protocol,
        "score": trial.score,
    }
    return key_of(fingerprint(trial.X, trial.classes), "labels", settings, trial.seed)


def _scores_of(text: str) -> dict[int, Scores]:
    data = json.loads(text)
    require_fields(data, {"scores": several(several(is_number, 3))})
    return {int(i): (held_out, seen) for i, held_out, seen in data["scores"]}
