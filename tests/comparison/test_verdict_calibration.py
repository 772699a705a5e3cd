"""The bars were chosen by planted tables: these are what they say, and judged is the rule in force."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isentropic.comparison.standings import standing
from isentropic.quality import assess

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not packaged")


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import planted, verdict_rules, verdicts

    return planted, verdicts, verdict_rules


def test_without_noise_the_truth_is_in_the_table_and_with_noise_alone_it_is_not(benchmarks):
    planted = benchmarks[0]
    for family in planted.FAMILIES:
        clean, noise = (planted.planted(7, family, 200, share) for share in (0.0, 1.0))
        found = assess(clean.truth, clean.clean, measures="ranks").curves.r_nx[9]
        assert found > 0.6, family
        assert abs(assess(noise.truth, noise.X, measures="ranks").curves.r_nx[9]) < 0.1, family
        np.testing.assert_array_equal(planted.planted(7, family, 200, 0.0).X, clean.X)
        np.testing.assert_allclose(noise.X.mean(axis=0), 0.0, atol=1e-9)


def test_every_family_has_kin_and_numbers_are_given_once(benchmarks):
    planted = benchmarks[0]
    assert set(planted.KIN) == set(planted.FAMILIES)
    tables = planted.numbered()
    assert [table[0] for table in tables] == list(range(len(tables)))
    assert {table[1] for table in tables[:100]} == set(planted.FAMILIES)


@pytest.mark.parametrize(("n", "noise"), [(60, 0.0), (60, 1.0), (420, 0.1), (420, 0.4)])
def test_what_is_judged_is_what_a_verdict_does(benchmarks, n, noise):
    planted, verdicts, rules = benchmarks
    lines, trusted = [], []
    for family, share in (("s-curve", 0.0), ("sphere", 0.2), ("cube", 0.0), ("helix", 0.3)):
        table = planted.planted(3, family, n, noise)
        Z = verdicts._shuffled(table.X, share, np.random.default_rng(0))
        run = verdicts._run(table, "pca", Z, (0.1, 0.01 if noise < 1 else 0.4))
        lines.append({"family": family, **verdicts._of_run(run), **verdicts._of_truth(table, run), "n": n})
        found = standing(run, 0)
        trusted.append(found.trusted and found.keeps in ("local", "both"))
    maps = rules.judgeable(pd.DataFrame(lines))
    assert rules.as_now(maps).tolist() == trusted
    if noise == 1:
        assert not maps.right.any()


def test_the_guide_says_what_was_measured(benchmarks):
    """The errors of the rule in force, from the kept lines: no number of the guide is older than they are."""
    rules = benchmarks[2]
    date, maps = rules.read()
    guide = (ROOT / "docs" / "guide" / "report.md").read_text(encoding="utf-8")
    assert f"Measured on {date}: {len(maps):,} maps of {maps.table.nunique():,} tables" in guide
    assert rules.parts_table(maps) in guide
    assert rules.orders_table(maps) in guide
    before, now = (rules.errors(rule(maps), maps.right)[2] for rule in (rules.as_before, rules.as_now))
    assert now < before
