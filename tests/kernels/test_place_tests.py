import numpy as np

from isentropic.kernels.row_ranks import place_tests


def test_places_that_suit_a_row_as_well_are_counted(rng):
    near = np.array([rng.permutation(12)[:6] for _ in range(5)])
    given = np.tile(np.arange(6.0), (5, 1))
    own, places = rng.normal(size=(5, 12)), rng.normal(size=(8, 12))
    places[3] = own[1]  # as good as its own
    selves = np.array([0, 2, -1, -1, 7])
    fits, better = np.empty(5), np.empty(5, np.int64)
    place_tests(near, given, own, places, selves, fits, better)
    for s in range(5):
        plain = [np.corrcoef(given[s], places[c][near[s]])[0, 1] for c in range(8)]
        np.testing.assert_allclose(fits[s], np.corrcoef(given[s], own[s][near[s]])[0, 1], atol=1e-12)
        assert better[s] == sum(plain[c] >= fits[s] - 1e-12 for c in range(8) if c != selves[s])
    assert better[1] >= 1


def test_a_place_at_equal_distances_of_all_fits_nothing():
    fits, better = np.empty(1), np.empty(1, np.int64)
    near, given = np.arange(4)[None], np.arange(4.0)[None]
    place_tests(near, given, np.ones((1, 4)), given.copy(), np.array([-1]), fits, better)
    assert (fits[0], better[0]) == (0.0, 1)
