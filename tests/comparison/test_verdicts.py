"""The verdict on planted truth: rolls, shuffled maps, pure noise; and its words."""

from dataclasses import replace

import numpy as np
import pytest

from isentropic import Run, compare, datasets
from isentropic._errors import InvalidInputError
from isentropic.comparison import verdict
from isentropic.comparison.bars import reaches
from isentropic.comparison.criticisms import worst_facts

# ---- planted truth -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["swiss-roll", "four-cluster-roll"])
@pytest.mark.parametrize("other", ["classical-mds", "parameter-free-sdd"])
def test_rolls_a_geodesic_method_keeps_what_is_near_and_the_others_what_is_far(name, other):
    """The area under R_NX of all sizes would prefer SDD on four clusters: it must be the local one."""
    roll = datasets.load(f"builtin:{name}", n_samples=400)
    runs = compare(roll.X, methods={other: {}, "isomap": {"n_neighbors": 6}}, tune=False, n_seeds=1)
    found = verdict(runs)
    assert runs[found.best_local].method == "isomap"
    assert runs[found.best_global].method == other
    assert found.recommended == found.best_local
    keeps = {standing.method: standing.keeps for standing in found.standings}
    assert keeps["isomap"] == "local"
    assert keeps[other] in ("global", "both")
    assert "(local structure), not the order of distances" in found.headline
    assert f"For distances across the whole table read {other} instead" in found.reasons[1]


def test_a_shuffled_map_is_named_worthless(rng):
    iris = datasets.load("builtin:iris")
    runs = compare(
        iris.X,
        methods={"map": lambda X: X[:, [0, 2]], "shuffled": lambda X: rng.permutation(X[:, [0, 2]])},
    )
    found = verdict(runs)
    assert found.worthless == ("shuffled",)
    assert runs[found.recommended].method == "map"
    assert "shuffled is worthless, no better than the same points in random places" in found.standings[1].text
    assert "Worthless, no better than chance: shuffled." in found.reasons
    assert not found.standings[1].trusted


def test_no_shuffled_map_passes_for_more(rng, roll):
    names = [f"shuffled {i}" for i in range(12)]
    found = verdict(compare(roll[:100], methods={name: lambda X: rng.permutation(X) for name in names}))
    assert found.recommended is None
    assert found.worthless == tuple(names)


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("m", [15, 50])
def test_no_map_of_pure_noise_is_to_be_trusted(n, m):
    X = np.random.default_rng(n + m).normal(size=(n, m))
    runs = compare(X, preset="quick")
    found = verdict(runs)
    assert found.recommended is found.best_local is found.best_global is None
    assert found.headline.startswith("No map of this table is to be trusted")
    assert not any(standing.trusted for standing in found.standings)
    assert len(found.worst) == 2


@pytest.mark.parametrize("kind", ["normal", "uniform", "cauchy", "lognormal"])
@pytest.mark.parametrize("m", [3, 5])
def test_few_columns_of_noise_draw_well_and_are_not_to_be_trusted(kind, m):
    """Their maps reach every bar, for two of three columns are most of what there is."""
    random = np.random.default_rng(m)
    X = {
        "normal": random.normal,
        "uniform": random.uniform,
        "cauchy": lambda size: random.standard_cauchy(size),
        "lognormal": lambda size: random.lognormal(0, 1, size),
    }[kind](size=(200, m))
    runs = compare(X, methods=["pca"])
    found = verdict(runs)
    assert m == 5 or any(reaches(runs[0].quality))  # good as a drawing
    assert found.recommended is None
    assert found.headline.startswith("No map of this table is to be trusted")


def test_a_table_with_its_columns_shuffled_is_not_to_be_trusted_any_more(rng):
    iris = datasets.load("builtin:iris").X
    shuffled = np.column_stack([rng.permutation(column) for column in iris.T])
    (own,), (other,) = (compare(X, methods=["pca"]) for X in (iris, shuffled))
    assert own.relation[0] > 0.2
    assert own.relation[1] == 0.01
    assert other.relation[0] < 0.05
    found = verdict([other])
    assert reaches(other.quality) == (False, True) or reaches(other.quality)[0]  # good as a drawing
    assert found.standings[0].unrelated
    assert found.recommended is None
    assert f"with each column shuffled by itself (p = {other.relation[1]:.2f})" in found.headline
    assert verdict([own]).recommended == 0


def test_groups_that_a_distrusted_map_shows_are_told(rng):
    """Three groups and much noise: who is near whom is lost, the groups are not."""
    X = rng.normal(size=(300, 25))
    X[:, :3] += 7 * np.eye(3)[np.arange(300) % 3]
    found = verdict([scored(run, kendall_tau=0.4) for run in compare(X, methods=["pca"])])
    assert found.recommended is None
    assert " What may be read from it are large groups only: R_NX is greatest, " in found.reasons[0]
    assert 80 <= int(found.reasons[0].split()[-2]) <= 130
    noise = verdict(compare(rng.normal(size=(300, 25)), methods=["pca"]))
    assert not any("large groups" in reason for reason in noise.reasons)


def test_a_nearly_exact_drawing_is_right_whatever_it_draws(rng):
    found = verdict(compare(rng.normal(size=(100, 2)), methods=["pca"]))
    assert found.recommended == 0


def test_no_map_of_noise_by_a_method_that_hunts_neighbours_is_to_be_trusted():
    from sklearn.manifold import TSNE

    X = np.random.default_rng(0).normal(size=(120, 10))
    Z = TSNE(init="pca", max_iter=400, random_state=0, n_jobs=1).fit_transform(X)
    found = verdict(compare(X, methods={"tsne": lambda X: Z}))
    assert found.recommended is None
    assert found.worthless == ()  # better than chance, which alone is little


def test_a_faithful_map_is_trusted(rng):
    plane = rng.normal(size=(120, 2)) @ np.linalg.qr(rng.normal(size=(6, 6)))[0][:2]
    found = verdict(compare(plane, methods=["pca"]))
    assert found.recommended == found.best_local == found.best_global == 0
    assert found.standings[0].keeps == "both"
    assert found.worst == ()  # nothing is wrong with it


# ---- why this one ------------------------------------------------------------------------------


def scored(run, **values):
    """The same run with other scores."""
    found = run.quality.measures
    changed = {name: replace(found[name], value=value) for name, value in values.items()}
    return replace(run, relation=None, quality=replace(run.quality, measures={**found, **changed}))


def test_the_sentence_is_about_the_measure_by_which_the_map_was_chosen(rng):
    """Maps that keep the order of distances only are compared by tau, whatever their neighbourhoods are."""
    X = rng.normal(size=(60, 5))
    runs = compare(X, methods={"first": lambda X: X[:, :2], "other": lambda X: X[:, 1:3]})
    poor, better = {"r_nx(10)": 0.2}, {"r_nx(10)": 0.34}
    runs = [scored(runs[0], **poor, kendall_tau=0.61), scored(runs[1], **better, kendall_tau=0.52)]
    found = verdict(runs)
    assert [standing.keeps for standing in found.standings] == ["global", "global"]
    assert found.best_local is None
    assert found.reasons[0].startswith(
        "Of 2 maps that keep the order of distances it keeps most: tau 0.61 (1 is perfect, 0 is chance); "
        "next is other with 0.52"
    )
    assert found.reasons[1].startswith(
        "No map to be trusted keeps enough of the neighbourhoods, so do not read"
    )
    assert found.reasons[1].endswith("Most keeps other: R_NX(10) 0.34 (0.55 is asked).")
    assert len(found.lines) == 5


def test_of_maps_that_cannot_be_told_apart_the_one_that_keeps_more_of_all_sizes(rng):
    X = np.column_stack([rng.normal(size=(200, 2)), 0.3 * rng.normal(size=(200, 2))])
    runs = compare(X, methods={"fine": lambda X: X[:, :2], "large": lambda X: X[:, :2]})
    runs = [replace(run, relation=None) for run in runs]
    shifted = tuple(value - 0.01 for value in runs[1].without["r_nx(10)"])
    noisy = tuple(np.add(shifted, 0.02 * np.cos(np.arange(20))).tolist())
    curves, k = runs[1].quality.curves, np.arange(1, 200)
    moved = curves.q_nx + np.where(k <= 10, -0.01, 0.02) * (199 - k) / 199  # r_nx by as much
    changed = replace(runs[1].quality, curves=replace(curves, q_nx=moved))
    scores = {"rnx_auc": changed.curves.rnx_auc, "r_nx(10)": float(changed.curves.r_nx[9])}
    runs[1] = scored(replace(runs[1], quality=changed, without={"r_nx(10)": noisy}), **scores)
    found = verdict(runs)
    assert (found.best_local, found.recommended) == (0, 1)
    assert "too near to tell them apart, but keeps less of larger neighbourhoods" in found.reasons[0]
    runs[1] = replace(runs[1], without={"r_nx(10)": shifted})  # always less, by the same: no chance
    assert verdict(runs).recommended == 0


def test_a_map_below_the_bar_is_no_rival(rng):
    X = rng.normal(size=(60, 5))
    poor, good = compare(X, methods={"poor": lambda X: X[:, :4], "good": lambda X: X[:, :2]})
    found = verdict(
        [
            scored(poor, **{"r_nx(10)": 0.54}, kendall_tau=0.1),
            scored(good, **{"r_nx(10)": 0.56}, kendall_tau=0.1),
        ]
    )
    assert found.recommended == 1
    assert found.reasons[0].startswith("It alone of 2 maps keeps neighbourhoods: R_NX(10) 0.56")
    assert "poor keeps too few of the neighbourhoods, and not the order" in found.standings[0].text


def test_equal_maps_are_named_and_near_ones_are_not_told_apart(rng):
    X = np.column_stack([rng.normal(size=(200, 2)), 0.2 * rng.normal(size=(200, 2))])
    good, near, worse = (
        X[:, :2],
        X[:, :2] + 0.01 * rng.normal(size=(200, 2)),
        X[:, :2] + 0.15 * rng.normal(size=(200, 2)),
    )
    maps = {"good": good, "same": -good, "near": near, "worse": worse}
    runs = compare(X, methods={name: lambda X, Z=Z: Z for name, Z in maps.items()})
    runs = [replace(run, relation=None) for run in runs]
    why = verdict(runs).reasons[0]
    assert why.startswith("Of 4 maps that keep neighbourhoods it keeps most: R_NX(10) ")
    assert "; same as much; next is near with " in why
    assert why.endswith(", too near to tell them apart.")
    assert verdict([runs[0], runs[3]]).reasons[0].endswith(", clearly less.")


# ---- facts -------------------------------------------------------------------------------------


def test_the_share_of_false_neighbours_is_counted_and_its_rows_are_named(rng):
    """A map in which 12 of 100 rows went elsewhere."""
    X = rng.uniform(size=(100, 2))
    Z = X.copy()
    Z[:12] = Z[rng.permutation(12)] + [5.0, 0.0]  # all right among themselves, far from the rest
    (run,) = compare(X, methods={"moved": lambda X: Z})
    (fact,) = [fact for fact in worst_facts(run, 9) if "nearest map neighbours false" in fact.text]
    bad = np.flatnonzero(run.false_share > 0.5)
    assert fact.rows == tuple(bad)
    assert fact.severity == len(bad) / 100
    assert fact.text == f"{len(bad)}% of points have more than half of their 10 nearest map neighbours false."
    assert set(range(12)) <= set(fact.rows)


def test_strangers_are_told_of_once(rng):
    (run,) = compare(rng.normal(size=(100, 30)), methods=["pca"])
    kinds = [fact.kind for fact in worst_facts(run, 9)]
    assert len({"false", "strangers"} & set(kinds)) == 1
    assert "torn" in kinds


def test_pairs_in_the_wrong_order_are_what_tau_says(rng):
    X = rng.normal(size=(60, 4))
    (run,) = compare(X, methods={"some": lambda X: X[:, :2]})
    D, E = (np.sqrt(((S[:, None] - S) ** 2).sum(axis=2))[np.triu_indices(60, 1)] for S in (X, X[:, :2]))
    wrong = np.mean(np.sign(np.subtract.outer(D, D)) * np.sign(np.subtract.outer(E, E)) < 0)
    (fact,) = [fact for fact in worst_facts(run, 9) if "wrong order" in fact.text]
    assert f"puts {wrong:.0%} in the wrong order" in fact.text


def test_torn_rows_are_those_whose_neighbours_lie_far_away(rng):
    """A ring cut open: rows at the two ends lose each other."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, size=200))
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    (run,) = compare(ring, methods={"cut": lambda X: np.column_stack([angle, 0 * angle])})
    (fact,) = [fact for fact in worst_facts(run, 9) if "torn" in fact.text]
    assert 0 < len(fact.rows) <= 20
    assert all(row < 12 or row > 187 for row in fact.rows)


def test_seeds_that_disagree_are_a_fact(rng):
    X = rng.normal(size=(60, 3))
    (run,) = compare(X, methods={"pca": {}})
    area = run.quality.measures["rnx_auc"].value
    run = replace(run, repeats=({"seed": 1.0, "rnx_auc": area - 0.3}, {"seed": 2.0, "rnx_auc": area}))
    assert any("varies by 0.30 over 3 seeds" in fact.text for fact in worst_facts(run, 9))


# ---- words -------------------------------------------------------------------------------------


def test_five_lines_whatever_the_verdict(rng, roll):
    noise = rng.normal(size=(60, 40))
    for X in (roll[:200], noise):
        lines = verdict(compare(X, methods=["pca", "isomap"], tune=False)).lines
        assert len(lines) == 5
        assert all(line.endswith(".") and "\n" not in line for line in lines)


def test_failed_runs_are_told_and_never_recommended(roll):
    ok = compare(roll[:300], methods=["pca"])[0]
    failed = Run("broken", {}, None, 0.0, None, reason="It broke.")
    found = verdict([failed, ok])
    assert found.recommended == 1
    assert found.standings[0].text == "broken gave no map: It broke."
    assert "broken gave no map: It broke." in found.reasons
    nothing = verdict([failed])
    assert nothing.recommended is None
    assert nothing.worst == ()
    assert nothing.headline.startswith("No map is to be trusted: every method failed.")
    with pytest.raises(InvalidInputError, match="at least one"):
        verdict([])


def test_equal_maps_are_told_together(roll):
    runs = compare(roll, methods=["pca", "classical-mds", "isomap"], tune=False)
    found = verdict(runs)
    assert found.best_global == 0
    assert "read pca or classical-mds instead: tau " in found.reasons[1]


def test_a_verdict_does_not_depend_on_the_way_through_json(roll):
    runs = compare(roll[:150], methods=["pca", "isomap"], tune=False)
    assert verdict([Run.from_json(run.to_json()) for run in runs]) == verdict(runs)


def test_the_first_sentence_needs_no_measure_to_be_known(rng):
    """How many of the ten nearest on the map are among the ten nearest in the table: counted by hand."""
    X = rng.normal(size=(120, 3)) @ np.diag([3.0, 2.0, 0.7])
    found = verdict(compare(X, methods={"two columns": lambda X: X[:, :2]}, tune=False))
    near = [np.argsort(np.linalg.norm(A[:, None] - A, axis=2), axis=1)[:, 1:11] for A in (X, X[:, :2])]
    kept = np.mean([len(set(a) & set(b)) for a, b in zip(*near, strict=True)])
    said = (
        f"Of the 10 nearest rows on this map, about {kept:.0f} are really among the 10 nearest in the table"
    )
    assert 1 < kept < 9.5
    assert f"two columns. {said} (by chance: fewer than 1)." in f"{found.headline} {' '.join(found.reasons)}"
