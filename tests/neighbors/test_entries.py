"""Where new rows enter a graph, by the rule that made it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from assertions import assert_same_bits, assert_same_lists
from isentropic._core.errors import DisconnectedGraphWarning
from isentropic._core.values import Can, Knn, Percentile, Pnn, Radius
from isentropic.affinities import neighbor_graph
from isentropic.neighbors import RowIndex, graphs, query_edges, search_graph, warn_of_isolated

seeds = st.integers(0, 2**32 - 1)


def fitted(X, rule, *, n_jobs=1, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return neighbor_graph(X, rule, n_jobs=n_jobs, **options)


def lattice(seed, n, m):
    return np.random.default_rng(seed).integers(0, 4, size=(n, m)).astype(float)


def as_sets(found):
    """The entries of every row, ``{index: distance}``, without what only fills the lists."""
    return [
        {int(j): d for j, d in zip(row, lengths, strict=True) if np.isfinite(d)}
        for row, lengths in zip(*found[:2], strict=True)
    ]


# ---- nearest neighbours ------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [Knn(5), Can(5), Pnn(5)], ids=lambda rule: rule.kind)
@pytest.mark.parametrize("m", [2, 18])
def test_new_rows_enter_by_their_nearest(rule, m):
    X, queries = lattice(0, 40, m), lattice(1, 9, m)
    found = query_edges(queries, RowIndex(X), fitted(X, rule), rule)
    assert_same_lists(found, naive.naive_knn(naive.distances(queries, X), 5))


@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_new_rows_of_other_metrics(metric):
    X, queries = lattice(0, 40, 2), lattice(1, 9, 2)
    D, to_fitted = naive.distances(X, metric="manhattan"), naive.distances(queries, X, metric="manhattan")
    if metric == "precomputed":
        X, queries = D, to_fitted
    for rule, expected in [(Knn(5), naive.naive_knn(to_fitted, 5)), (Radius(2.0), None)]:
        found = query_edges(queries, RowIndex(X, metric), fitted(X, rule, metric=metric), rule)
        if expected is None:
            within = [{j: d for j, d in enumerate(row.tolist()) if d < 2.0} for row in to_fitted]
            assert as_sets(found) == within
        else:
            assert_same_lists(found, expected)


def test_all_fitted_rows_are_as_many_as_there_are():
    X = np.arange(3.0)[:, None]
    rule = Knn(10)
    with pytest.warns(UserWarning, match="at most 2"):
        graph = neighbor_graph(X, rule)
    found = query_edges(np.array([[1.9]]), RowIndex(X), graph, rule)
    assert found[0].tolist() == [[2, 1, 0]]


def test_an_approximate_graph_is_searched_by_walking(rng):
    X, queries = rng.normal(size=(400, 20)), rng.normal(size=(10, 20))
    rule = Knn(6)
    graph = replace(fitted(X, rule), exact=False)
    # Without edges nobody can walk: what is found differs from the nearest, and shows who searched.
    graph = replace(graph, indptr=0 * graph.indptr, indices=graph.indices[:0], weights=graph.weights[:0])
    found = query_edges(queries, RowIndex(X), graph, rule)
    for one, two in zip(found[:2], search_graph(queries, X, graph, 6), strict=True):
        assert_same_bits(one, two)
    assert (found[0] != naive.naive_knn(naive.distances(queries, X), 6)[0]).any()


def test_an_approximate_graph_of_another_metric_is_searched_exactly(rng):
    X, queries = rng.normal(size=(100, 4)), rng.normal(size=(10, 4))
    rule = Knn(6)
    graph = replace(fitted(X, rule, metric="manhattan"), exact=False)
    found = query_edges(queries, RowIndex(X, "manhattan"), graph, rule)
    assert_same_lists(found, naive.naive_knn(naive.distances(queries, X, metric="manhattan"), 6))


# ---- radius ------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=seeds, n=st.integers(2, 25), m=st.integers(1, 3))
def test_new_rows_enter_by_all_within_the_radius(seed, n, m):
    X, queries = lattice(seed, n, m), lattice(seed + 1, 5, m)
    rule, D = Radius(2.0), naive.distances(queries, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        found = query_edges(queries, RowIndex(X), fitted(X, rule), rule, n_jobs=1)
    for row, entered in zip(D.tolist(), as_sets(found), strict=True):
        within = {j: d for j, d in enumerate(row) if d < 2.0}  # open, as in the graph
        assert entered == (within or {row.index(min(row)): min(row)})


@settings(max_examples=40)
@given(seed=seeds, n=st.integers(2, 25), p=st.sampled_from([1, 10, 20, 60, 100]))
def test_new_rows_have_their_own_percentile(seed, n, p):
    X, queries = lattice(seed, n, 2), np.random.default_rng(seed).normal(size=(5, 2))
    rule, D = Percentile(p), naive.distances(queries, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        found = query_edges(queries, RowIndex(X), fitted(X, rule), rule, n_jobs=1)
    for row, entered in zip(D.tolist(), as_sets(found), strict=True):
        radius = np.percentile([*row, 0.0], p)  # its own zero counts, as for a fitted row
        within = {j for j, d in enumerate(row) if d <= radius * (1 + 1e-12)}
        assert set(entered) == (within or {row.index(min(row))})
        assert all(d == pytest.approx(row[j], rel=1e-12) for j, d in entered.items())


def test_shorter_lists_are_filled_with_infinity():
    X = np.arange(5.0)[:, None]
    rule = Radius(1.2)
    indices, distances, _ = query_edges(np.array([[1.0], [4.9]]), RowIndex(X), fitted(X, rule), rule)
    assert indices.tolist() == [[0, 1, 2], [4, 0, 0]]
    assert distances[0].tolist() == [1, 0, 1]
    assert distances[1, 0] == pytest.approx(0.9)
    assert distances[1, 1:].tolist() == [np.inf, np.inf]
    assert indices.dtype == np.int32


def test_rows_out_of_reach_enter_by_the_nearest_with_a_warning():
    X = np.arange(5.0)[:, None]
    rule = Radius(1.5)
    graph = fitted(X, rule)
    queries = np.array([[2.0], [100.0], [-50.0]])
    indices, distances, isolated = query_edges(queries, RowIndex(X), graph, rule)
    assert isolated == 2
    with pytest.warns(
        DisconnectedGraphWarning, match=r"^2 of 3 new rows have no neighbour within the radius"
    ):
        warn_of_isolated(isolated, 3)
    assert indices[1, 0] == 4
    assert indices[2, 0] == 0
    assert distances[1].tolist() == [96, np.inf, np.inf]


def test_no_rows_are_no_lists(rng):
    X = rng.normal(size=(9, 2))
    for rule in (Knn(3), Radius(9.0), Percentile(50)):
        indices, distances, _ = query_edges(X[:0], RowIndex(X), fitted(X, rule), rule)
        assert len(indices) == len(distances) == 0


# ---- determinism -------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [Knn(4), Radius(1.0), Percentile(8)], ids=lambda rule: rule.kind)
@pytest.mark.parametrize("m", [2, 18])
@pytest.mark.filterwarnings("ignore::isentropic._core.errors.DisconnectedGraphWarning")
def test_a_row_enters_the_same_way_in_any_batch(rng, rule, m, monkeypatch):
    X, queries = rng.normal(size=(60, m)), rng.normal(size=(12, m))
    graph = fitted(X, rule)
    together = as_sets(query_edges(queries, RowIndex(X), graph, rule, n_jobs=1))
    assert as_sets(query_edges(queries, RowIndex(X), graph, rule, n_jobs=2)) == together
    order = rng.permutation(12)
    assert as_sets(query_edges(queries[order], RowIndex(X), graph, rule)) == [together[i] for i in order]
    for i in range(12):
        assert as_sets(query_edges(queries[i : i + 1], RowIndex(X), graph, rule)) == [together[i]]
    monkeypatch.setattr(graphs, "rows_per_block", lambda n: 5)
    assert as_sets(query_edges(queries, RowIndex(X), graph, rule)) == together


# ---- fitted rows -------------------------------------------------------------------------------


def test_a_fitted_row_enters_through_itself(rng):
    X = rng.normal(size=(30, 3))
    for rule in (Knn(4), Radius(1.0)):
        for i, entered in enumerate(as_sets(query_edges(X, RowIndex(X), fitted(X, rule), rule))):
            assert entered[i] == 0.0
