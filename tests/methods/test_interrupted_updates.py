"""Rows appended all or nothing: Ctrl-C at any moment leaves a fitted estimator as it was."""

import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import isentropic
from isentropic import SDD, TSNE, UMAP, Isomap, Landmarks, MetricMDS, append_rows
from isentropic.embedding.embedder import atomic_change

MOMENTS = 12 * int(os.environ.get("ISENTROPIC_ATTACKS", "1"))  # of each case
OURS = str(Path(isentropic.__file__).parent)


class Moments:
    """Counts the lines of ours that run within the block, and presses Ctrl-C at one of them."""

    def __init__(self, last=None):
        self.count, self.last = 0, last

    def __enter__(self):
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _trace(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            self.count += 1
            if self.count == self.last:
                raise KeyboardInterrupt
        return self._trace


def partly(model, new):
    model.partial_fit(new, align_to_previous=True)


def appended(model, new):
    append_rows(model, new, refine=2)


CASES = {
    "isomap": (Isomap(6), partly),
    "isomap-from-lists": (Isomap(6, n_jobs=1), partly),
    "isomap-by-landmarks": (Isomap(6, n_landmarks=Landmarks(9)), partly),
    "isomap-anew": (Isomap(6, conformal=True), partly),
    "isomap-appended": (Isomap(6), appended),
    "metric-mds": (MetricMDS(max_iter=3), appended),
    "sdd": (SDD(degree=2), appended),
    "t-sne": (TSNE(perplexity=4, max_iter=60), appended),
    "umap": (UMAP(n_neighbors=5, n_epochs=5), appended),
}
pytestmark = pytest.mark.filterwarnings("ignore::isentropic.IsentropicWarning")


def table(n):
    return np.random.default_rng(0).normal(size=(n, 3)) * [4, 2, 1]


def fitted(name, X):
    model = pickle.loads(pickle.dumps(CASES[name][0])).fit(X)
    if name == "isomap-from-lists":  # which a first update keeps, for the next one to repair
        model.fit(X[:-1]).partial_fit(X[-1:])
    return model


def assert_as_before(model, held, state, X, places):
    assert vars(model).keys() == held.keys()
    assert [name for name in held if vars(model)[name] is not held[name]] == []
    assert pickle.dumps(model) == state  # nor were arrays written into
    assert_array_equal(model.transform(X), places)


def moments_of(start, update, rows):
    """Lines of an update from its first to nearly its last: how many there are hangs a little on the time."""
    update(start(), rows)  # what is imported or compiled once is by now
    model = start()
    with Moments() as all_of_them:
        update(model, rows)
    assert all_of_them.count > 100
    return np.linspace(1, 0.95 * all_of_them.count, MOMENTS).astype(int)


@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_at_any_moment_leaves_the_model_as_it_was(name):
    X, new, update = table(40), table(44)[40:], CASES[name][1]
    for moment in moments_of(lambda: fitted(name, X), update, new):
        model = fitted(name, X)
        places = model.transform(X + 0.1)
        held, state = dict(vars(model)), pickle.dumps(model)
        with pytest.raises(KeyboardInterrupt), Moments(moment):
            update(model, new)
        assert_as_before(model, held, state, X + 0.1, places)
    again = fitted(name, X)
    for one in (model, again):
        update(one, new)
    assert len(model.embedding_) == 44
    assert np.abs(model.embedding_ - again.embedding_).max() < 1e-9 * np.ptp(again.embedding_)


def test_an_interrupt_at_the_first_rows_leaves_no_fit():
    model = Isomap(6)
    for moment in moments_of(lambda: Isomap(6), partly, table(20)):
        with pytest.raises(KeyboardInterrupt), Moments(moment):
            partly(model, table(20))
        assert vars(model).keys() == Isomap(6).get_params().keys()


def test_what_fails_after_the_map_is_found_changes_nothing(monkeypatch):
    model = Isomap(6).fit(table(40))
    held = dict(vars(model))
    monkeypatch.setattr("isentropic.methods.meta.appended_rows.aligned_distance", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        append_rows(model, table(44)[40:])
    assert vars(model) == held


def test_a_change_is_made_in_one_step():
    model = Isomap(6).fit(table(20))
    with atomic_change(model) as work:
        work.embedding_, work.n_neighbors = None, 3
        assert model.embedding_ is not None
    assert (model.embedding_, model.n_neighbors) == (None, 3)
