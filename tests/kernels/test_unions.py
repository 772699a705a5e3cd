"""A directed graph joined with its transpose, against dictionaries."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_same_bits, assert_same_edges
from isentropic.kernels._jit import threads
from isentropic.kernels.nearest import joined_rows, joined_sizes, turned_entries
from naive import edges_of, naive_average, naive_union


def csr(n, edges):
    """CSR arrays of ``{(i, j): weight}``, indices sorted."""
    pairs = sorted(edges)
    indptr = np.searchsorted([i for i, _ in pairs], np.arange(n + 1)).astype(np.int64)
    return indptr, np.array([j for _, j in pairs], np.int32), np.array([edges[p] for p in pairs], float)


def turned(n, indptr, indices):
    starts, sources, places = np.full(n + 1, -7), np.empty_like(indices), np.empty_like(indices)
    turned_entries(indptr, indices, starts, sources, places)
    return starts, sources, places


def joined(n, edges, average):
    graph = csr(n, edges)
    both = (*graph, *turned(n, *graph[:2]))
    indptr = np.concatenate([[0], np.cumsum(joined_sizes(*both))])
    indices, weights = np.full(indptr[-1], -7, np.int32), np.full(indptr[-1], np.nan)
    joined_rows(*both, average, indptr, indices, weights)
    return SimpleNamespace(indptr=indptr, indices=indices, weights=weights)


@st.composite
def directed_graphs(draw):
    n = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    weights = st.sampled_from([0.0, 0.5, 1.0, 3.0])  # an edge of weight 0 is an edge
    edges = draw(st.dictionaries(pair, weights, max_size=40)) if n > 1 else {}
    return n, edges


@given(directed_graphs())
def test_entries_by_column_are_those_of_the_transpose(graph):
    n, edges = graph
    indptr, indices, weights = csr(n, edges)
    starts, sources, places = turned(n, indptr, indices)
    expected = csr(n, {(j, i): w for (i, j), w in edges.items()})
    for found, wanted in zip((starts, sources, weights[places]), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@given(directed_graphs())
def test_union_has_the_edges_of_either_side(graph):
    n, edges = graph
    result = joined(n, edges, average=False)
    assert_same_edges(edges_of(result), naive_union(edges), rtol=0)
    for i in range(n):
        row = result.indices[result.indptr[i] : result.indptr[i + 1]].tolist()
        assert row == sorted(set(row))


@given(directed_graphs())
def test_average_counts_a_missing_side_as_zero(graph):
    n, edges = graph
    assert_same_edges(edges_of(joined(n, edges, average=True)), naive_average(edges), rtol=0)


def test_union_by_hand():
    edges = {(0, 1): 2.0, (1, 0): 4.0, (2, 0): 6.0}
    assert edges_of(joined(4, edges, average=False)) == {(0, 1): 4, (1, 0): 4, (0, 2): 6, (2, 0): 6}
    assert edges_of(joined(4, edges, average=True)) == {(0, 1): 3, (1, 0): 3, (0, 2): 3, (2, 0): 3}
    assert joined(3, {}, average=False).indptr.tolist() == [0, 0, 0, 0]


def test_the_number_of_threads_changes_no_bit(rng):
    pairs = [(i, j) for i in range(20) for j in range(20) if i != j and rng.uniform() < 0.2]
    edges = {pair: float(w) for pair, w in zip(pairs, rng.uniform(size=len(pairs)), strict=True)}
    results = []
    for n_jobs in (1, 2):
        with threads(n_jobs):
            results.append(joined(20, edges, average=True))
    assert_same_bits(results[0].indices, results[1].indices)
    assert_same_bits(results[0].weights, results[1].weights)
