"""The bars were chosen by planted tables: these are what they say, and judged is the rule in force."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isentropic.comparison.bars import FEW_ROWS, LOCAL_BAR
from isentropic.comparison.standings import standing
from isentropic.quality import assess

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not packaged")


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import planted, verdict_rules, verdict_tables, verdicts

    return planted, verdicts, verdict_rules, verdict_tables


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
    planted, verdicts, rules, _ = benchmarks
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
    rules, tables = benchmarks[2:]
    date, maps = rules.read()
    guide = (ROOT / "docs" / "guide" / "report.md").read_text(encoding="utf-8")
    assert f"Measured on {date}: {len(maps):,} maps of {maps.table.nunique():,} tables" in guide
    assert tables.parts_table(rules.halves(maps)[1], "n", "{:,} rows") in guide
    assert tables.held_out_lines(maps) in guide
    assert tables.unseen_line(maps) in guide
    assert tables.orders_table(maps) in guide


def test_each_half_of_the_tables_chooses_the_rule_in_force(benchmarks):
    """And the other half bears it out: of no number of rows does it err more than the rule before."""
    rules = benchmarks[2]
    for one, other in itertools.permutations(rules.halves(rules.read()[1])):
        assert not set(one.table) & set(other.table)
        assert rules.chosen(one) == (rules.CHOSEN, (LOCAL_BAR, FEW_ROWS))
        for n, own in other.groupby("n"):
            before, now = (rules.errors(rule(own), own.right) for rule in (rules.as_before, rules.as_now))
            assert now[0] <= before[0], n  # false trust
        assert rules.errors(rules.as_now(other), other.right)[2] < 0.12


def test_a_rule_that_errs_more_anywhere_is_refused(benchmarks):
    rules = benchmarks[2]
    even = rules.halves(rules.read()[1])[0]
    assert rules._nowhere_worse(rules.as_now(even), even)
    assert not rules._nowhere_worse(rules.open_to(even) & (even.rnx_k >= 0.5), even)  # of 1,000 rows too few
    assert not rules._nowhere_worse(rules.open_to(even), even)
    assert not rules._nowhere_worse(even.right & False, even)
