"""How well a map tells the classes of rows that were placed without one."""

import warnings

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from isentropic import IsentropicWarning


def accuracy(estimator, X, y, n_splits=4):
    """Of k-NN in the map: fitted to half of the rows with their labels, the others placed without."""
    scores = []
    for fitted, held in StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[fitted])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IsentropicWarning)
            Z = estimator.fit(scaler.transform(X[fitted]), y[fitted]).embedding_
        classifier = KNeighborsClassifier(7).fit(Z, y[fitted])
        scores.append(classifier.score(estimator.transform(scaler.transform(X[held])), y[held]))
    return np.mean(scores)
