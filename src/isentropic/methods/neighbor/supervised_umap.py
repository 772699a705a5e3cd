"""Supervised UMAP: the fuzzy graph of the data intersected with that of classes."""

from __future__ import annotations

from ..._core.errors import require_number
from .class_fuzzy_maps import ClassFuzzyEmbedder


class SupervisedUMAP(ClassFuzzyEmbedder):
    """UMAP in which neighbours of two classes hardly belong together.

    The fuzzy graph of UMAP is intersected with that of the classes, in which two of them are
    ``r = 2.5 / (1 - target_weight)`` apart: an edge between two classes keeps ``exp(-r)`` of its weight. Then
    each row is scaled to a largest weight of 1 and both directions are joined again, as in umap-learn; start
    and epochs are UMAP's. A new row has no class: its weights to its neighbours are multiplied by the
    expectation ``p + (1 - p) exp(-r)``, p the probability that both are of one class, and scaled.

    The classes shape the map: it parts pure noise by labels at random, too. Believe it as far as rows
    that it has not seen are placed with their class, and beside the same map of permuted labels.

    Cost: that of UMAP, ``O(n (k + 24))`` time an epoch and ``O(n k)`` memory after the search.

    Parameters
    ----------
    n_neighbors : int
        Neighbours of every row, itself not counted.
    n_components : int
        Dimension of the map.
    target_weight : float
        How much classes count, above 0 and up to 1, where no edge between two of them is left to rows that
        have others.
    min_dist : float
        How close rows may lie in the map.
    unlabelled : {"votes", "posterior", "neutral"}
        What is guessed of rows without a class, new ones and those of ``y`` where it is missing: the shares
        of the classes among the nearest rows, the posterior of a Gaussian for each class, or nothing, so
        that no weight changes.
    init : {"spectral", "pca", "random"} or array of shape (n, n_components)
        Where the search starts, made 10 units wide.
    metric : str or callable
        Any metric of scikit-learn; ``"precomputed"``: X is then a square matrix of distances, and the rows
        given to ``transform`` are distances to the fitted rows.
    n_epochs : int, optional
        None is 300 up to 10,000 rows, and 200 above.
    random_state : int, RandomState or None
        None is a fixed seed: two runs agree.
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
    a_ : float
        Of the curve of the map.
    b_ : float
        As above.
    cost_ : float
        The mean cross-entropy of the edges of both graphs, 0 where they agree.
    n_iter_ : int
        Epochs.
    classes_ : array
        What the classes are called.
    n_features_in_ : int
    feature_names_in_ : array
        Where X has column names.

    References
    ----------
    McInnes, Healy and Melville (2018); umap-learn.

    Examples
    --------
    >>> from isentropic import SupervisedUMAP, datasets
    >>> iris = datasets.load("builtin:iris")
    >>> umap = SupervisedUMAP(10, n_epochs=50).fit(iris.X, iris.y)
    >>> umap.embedding_.shape, umap.transform(iris.X[:5] + 0.01).shape
    ((150, 2), (5, 2))
    """

    spread = 1.0
    negative_sample_rate = 5
    neighbors = None

    def __init__(
        self,
        n_neighbors=15,
        n_components=2,
        *,
        target_weight=0.5,
        min_dist=0.1,
        unlabelled="votes",
        init="spectral",
        metric="euclidean",
        n_epochs=None,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.target_weight = target_weight
        self.min_dist = min_dist
        self.unlabelled = unlabelled
        self.init = init
        self.metric = metric
        self.n_epochs = n_epochs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Neighbours, the fuzzy graph, its intersection with the classes, a start, epochs."""
        X, codes = self._taught(X, y, metric=self.metric)
        weight = require_number("target_weight", self.target_weight, "a number above 0 and at most 1",
                                above=0, most=1, hint="UMAP().fit(X) takes no classes.")  # fmt: skip
        self._embed_classes(X, codes, weight)
        return self
