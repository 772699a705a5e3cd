"""Classifiers that judge a map, as the sources ran them, and what is counted of their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.model_selection import KFold, ParameterGrid, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from .._core.errors import require, require_count, require_one_of
from .._core.values import Floats, Integers
from ..quality.class_measures import cohen_kappa
from ..tables.class_labels import class_codes

EIGHT = ("KNN", "SVM", "NB", "DT", "QDA", "MLP", "GPC", "RFC")
BATTERIES = ("article", "kappa")
MEASURES = ("accuracy", "kappa")
HALVES_SEED, FIFTH_SEED = 42, 0  # of the one split of each source
_OLD_FOLDS = 3
# today's QDA refuses maps whose singular values are below 1e-4, as those of LLE and LE are; then it did not
_QDA_TOLERANCE = 1e-12


def classifier(name: str, battery: str = "article", seed: int = 0) -> Any:
    """One of the eight, of a battery.

    ``"article"``: Tables II and III of 001, Tables 4, 5, 7, 11 and 12 of 000. ``"kappa"``: Table 6 of 000;
    k-NN has 5 neighbours instead of 7, the network other units, the tree another seed. The texts call the SVM
    linear; what reproduces their cells has a Gaussian kernel. ``seed`` is that of the network and the forest,
    which the sources drew without one; the kernel of the Gaussian process is fixed, and it draws nothing.
    """
    require_one_of("classifier", name, EIGHT)
    require_one_of("battery", battery, BATTERIES)
    of_article = battery == "article"
    makers: Mapping[str, Callable[[], Any]] = {
        "KNN": lambda: KNeighborsClassifier(7 if of_article else 5),
        "SVM": lambda: SVC(gamma="auto"),
        "NB": GaussianNB,
        "DT": lambda: DecisionTreeClassifier(random_state=0 if of_article else 42),
        "QDA": lambda: QuadraticDiscriminantAnalysis(tol=_QDA_TOLERANCE),
        "MLP": lambda: (
            MLPClassifier(activation="logistic", max_iter=5000, random_state=seed)
            if of_article
            else MLPClassifier(max_iter=1000, random_state=seed)
        ),
        "GPC": lambda: GaussianProcessClassifier(random_state=seed),
        "RFC": lambda: RandomForestClassifier(random_state=seed),
    }
    return makers[name]()


def halves(n_rows: int) -> tuple[Integers, Integers]:
    """The one split of 000 and 001: half of the rows teach, half are judged, classes not in equal shares."""
    train, test = train_test_split(np.arange(n_rows), test_size=0.5, random_state=HALVES_SEED)
    return train, test


def half_scores(
    Z: Floats,
    y: Any,
    classifiers: Sequence[str] = EIGHT,
    *,
    battery: str = "article",
    measure: str = "accuracy",
    seed: int = 0,
) -> dict[str, float]:
    """Accuracy, or Cohen's kappa, of each classifier on the test half of a map, which is not rescaled.

    One that refuses the training half (QDA: a class of one row) is left out; if all do, that is an error.

    >>> line = np.arange(40.0)[:, None]
    >>> half_scores(line, line[:, 0] > 20, ("KNN", "DT"))
    {'KNN': 1.0, 'DT': 1.0}
    """
    require_one_of("measure", measure, MEASURES)
    classes = class_codes(y, len(Z))
    train, test = halves(len(Z))
    found, refused = {}, {}
    for name in classifiers:
        try:
            model = classifier(name, battery, seed).fit(Z[train], classes[train])
        except (ValueError, np.linalg.LinAlgError) as error:
            refused[name] = str(error)
            continue
        found[name] = agreement(classes[test], model.predict(Z[test]), measure)
    require(bool(found), "y", "classes that some classifier can learn from half of the rows", refused)
    return found


def agreement(true: Integers, said: Integers, measure: str = "accuracy") -> float:
    """Share of right answers, or Cohen's kappa: 0 where there is one class and all answers are it."""
    if measure == "accuracy":
        return float(np.mean(true == said))
    return 0.0 if len(np.union1d(true, said)) == 1 else cohen_kappa(true, said)


def confusion_rates(true: Integers, said: Integers) -> dict[str, float]:
    """Rates of the confusion matrix, each class in turn being the positive one, means over classes.

    With tp, fp, fn, tn the counts of a class: true positive rate (recall) ``tp / (tp + fn)``, false positive
    ``fp / (fp + tn)``, true negative (specificity) ``tn / (fp + tn)``, false negative ``fn / (tp + fn)``,
    precision ``tp / (tp + fp)``, 0 for a class that is never said. Classes without a true row are left out.

    >>> rates = confusion_rates(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]))
    >>> {name: round(value, 3) for name, value in rates.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'accuracy': 0.75, 'kappa': 0.5, 'true positive rate': 0.833, 'false positive rate': 0.167,
     'true negative rate': 0.833, 'false negative rate': 0.167, 'precision': 0.75}
    """
    classes = np.unique(true)
    require(len(classes) > 1, "true", "of at least two classes", len(classes))
    positive, named = true[:, None] == classes, said[:, None] == classes
    tp, fp = (positive & named).sum(axis=0), (~positive & named).sum(axis=0)
    fn, tn = (positive & ~named).sum(axis=0), (~positive & ~named).sum(axis=0)
    rates = {
        "true positive rate": tp / (tp + fn),
        "false positive rate": fp / (fp + tn),
        "true negative rate": tn / (fp + tn),
        "false negative rate": fn / (tp + fn),
        "precision": tp / np.maximum(tp + fp, 1),
    }
    found = {name: agreement(true, said, name) for name in MEASURES}
    return {**found, **{name: float(values.mean()) for name, values in rates.items()}}


# ---- as 002 measured -----------------------------------------------------------------------------


def nearest_score(Z: Floats, y: Any, *, numeric: bool = False, n_neighbors: int = 1) -> float:
    """1-NN on a fifth of the rows that was drawn once: accuracy, or R^2 where the target is ``numeric``."""
    kind = KNeighborsRegressor if numeric else KNeighborsClassifier
    train, test = train_test_split(np.arange(len(Z)), test_size=0.2, random_state=FIFTH_SEED)
    y = np.asarray(y)
    return float(kind(n_neighbors).fit(Z[train], y[train]).score(Z[test], y[test]))


def old_grid_score(
    Z: Floats, y: Any, grid: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, numeric: bool = False
) -> float:
    """The best mean of three folds of an SVM over a grid, folds weighted by rows. No row is held out."""
    return best_of_grid(Z, y, grid, numeric=numeric)[0]


def best_of_grid(
    Z: Floats, y: Any, grid: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, numeric: bool = False
) -> tuple[float, dict[str, Any]]:
    """That score, and the first parameters of the grid that reach it; ``gamma`` is "auto" where not given.

    The order is scikit-learn's: one grid after the other, the last parameter of the alphabet fastest.
    """
    y = np.asarray(y)
    kind, best, chosen = SVR if numeric else SVC, -np.inf, {}
    folds = [*old_folds(None if numeric else y, len(y))]
    for params in ParameterGrid(grid):
        score = 0.0
        for test in folds:
            train = np.setdiff1d(np.arange(len(y)), test)
            model = kind(**{"gamma": "auto", **params}).fit(Z[train], y[train])
            score += float(model.score(Z[test], y[test])) * len(test) / len(y)
        if score > best:
            best, chosen = score, params
    return best, chosen


def old_folds(classes: Any, n_rows: int, n_folds: int = _OLD_FOLDS) -> Iterator[Integers]:
    """Rows to judge in each fold, as scikit-learn cut them before 0.22: contiguous blocks, the first larger.

    With classes each class is cut by itself, in the order of its rows; without, all rows are one.

    >>> [fold.tolist() for fold in old_folds(["a", "a", "b", "a", "b", "b", "a"], 7)]
    [[0, 1, 2], [3, 4], [5, 6]]
    """
    n_folds = require_count("n_folds", n_folds, least=2)
    codes = np.zeros(n_rows, np.int64) if classes is None else class_codes(classes, n_rows)
    fold_of = np.empty(n_rows, np.int64)
    for code in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == code)
        blocks = KFold(n_folds).split(np.zeros(max(len(members), n_folds)))  # a block may have no row of it
        for fold, (_, block) in enumerate(blocks):
            fold_of[members[block[block < len(members)]]] = fold
    return (np.flatnonzero(fold_of == fold) for fold in range(n_folds))
