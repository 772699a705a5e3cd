"""Assertions that the tests share. That each of them can fail is tested in test_assertions.py."""

import re

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from naive import edges_of


def assert_same_up_to_sign(actual, expected, *, rtol=1e-9, atol=1e-9):
    """Columns are equal, or one is the negative of the other."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"shapes {actual.shape} and {expected.shape}"
    signs = np.where((actual * expected).sum(axis=0) < 0, -1.0, 1.0)
    assert_allclose(actual * signs, expected, rtol=rtol, atol=atol)


def assert_same_bits(actual, expected):
    """Equal shape, type and bytes; -0.0 is not 0.0."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"types {actual.dtype} and {expected.dtype}"
    assert_array_equal(actual, expected)
    assert actual.tobytes() == expected.tobytes(), "equal values, other bits"


def assert_same_lists(found, expected, *, rtol=1e-12):
    """Neighbour lists: the same indices in the same order, at distances equal up to rounding."""
    assert_array_equal(found[0], expected[0])
    assert_allclose(found[1], expected[1], rtol=rtol, atol=0)


def assert_same_edges(actual, expected, *, rtol=1e-12, atol=0.0):
    """Graphs as ``{(i, j): weight}``: the same edges, zeros included, of equal weight up to rounding."""
    missing, extra = sorted(set(expected) - set(actual)), sorted(set(actual) - set(expected))
    assert not missing, f"{len(missing)} edges are missing: {missing[:5]}"
    assert not extra, f"{len(extra)} edges too many: {extra[:5]}"
    pairs = sorted(expected)
    assert_allclose([actual[p] for p in pairs], [expected[p] for p in pairs], rtol=rtol, atol=atol)


def assert_valid_neighbors(indices, distances):
    """What ``Neighbors`` promises: n×k, nearest first, ties by index, self excluded, nobody twice."""
    n, k = indices.shape
    assert distances.shape == (n, k)
    assert indices.dtype == np.int32
    assert distances.dtype == np.float64
    for i, (row, lengths) in enumerate(zip(indices.tolist(), distances.tolist(), strict=True)):
        assert all(0 <= j < n for j in row), f"row {i} has a neighbour that is no row: {row}"
        assert i not in row, f"row {i} is its own neighbour"
        listed = list(zip(lengths, row, strict=True))
        assert listed == sorted(listed), f"row {i} is not in order: {listed}"
        assert len(set(row)) == k, f"row {i} lists a neighbour twice: {row}"


def assert_valid_graph(graph):
    """What ``NeighborGraph`` promises: CSR, symmetric, sorted, no loops, finite weights, labels from 0."""
    n = len(graph.indptr) - 1
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == np.int32
    assert graph.weights.dtype == np.float64
    assert graph.components.shape == (n,)
    assert graph.indptr[0] == 0
    assert graph.indptr[-1] == len(graph.indices) == len(graph.weights)
    for i in range(n):
        row = graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist()
        assert row == sorted(set(row)), f"row {i} is not sorted, or lists an edge twice: {row}"
        assert i not in row, f"row {i} has a loop"
    edges = edges_of(graph)
    assert all(edges.get((j, i)) == weight for (i, j), weight in edges.items()), "the graph is not symmetric"
    assert np.isfinite(graph.weights).all()
    assert (graph.weights >= 0).all()
    sizes = np.bincount(graph.components)
    assert sizes.all(), f"a component has no row: {sizes}"
    assert (np.diff(sizes) <= 0).all(), f"components are not numbered from the largest: {sizes}"


def assert_grammar(text, name, got):
    """``name must be ..., got .... Next step.``"""
    pattern = rf"{re.escape(name)} must be \S.*, got {re.escape(repr(got))}\.( [A-Z(].*[.?])?"
    assert re.fullmatch(pattern, str(text)), f"not in the grammar of messages: {text}"
