"""The figures of the guide are those that were measured, and the benchmark judges as the verdict does."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isentropic.comparison.verdict import verdict

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="benchmarks are not packaged")


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import planted, verdict_rules, verdicts

    return planted, verdicts, verdict_rules


def test_without_noise_the_truth_is_in_the_table_and_with_noise_alone_it_is_not(benchmarks):
    from isentropic.quality import assess

    planted = benchmarks[0]
    for family in planted.FAMILIES:
        clean, noise = (planted.planted(7, family, 200, share) for share in (0.0, 1.0))
        assert assess(clean.truth, clean.clean, measures="ranks").curves.r_nx[9] > 0.6, family
        assert abs(assess(noise.truth, noise.X, measures="ranks").curves.r_nx[9]) < 0.1, family
        np.testing.assert_array_equal(planted.planted(7, family, 200, 0.0).X, clean.X)


@pytest.mark.parametrize(
    ("n", "noise", "p"), [(60, 0.0, 0.01), (60, 1.0, 0.4), (30, 0.2, 0.01), (420, 0.4, 0.01)]
)
def test_what_is_judged_is_what_a_verdict_does(benchmarks, n, noise, p):
    planted, verdicts, rules = benchmarks
    lines, usable = [], []
    for number, (family, share) in enumerate(
        (("s-curve", 0.0), ("sphere", 0.2), ("cube", 0.0), ("helix", 0.3))
    ):
        table = planted.planted(3, family, n, noise)
        Z = verdicts._shuffled(table.X, share, np.random.default_rng(0))
        run = verdicts._run(table, "pca", Z, (0.1, p, 1.5))
        lines.append({"table": number, **verdicts._of_run(run), **verdicts._of_truth(table, run), "n": n})
        found = verdict([run])
        usable.append(
            found.recommended is not None and found.use.startswith("Use PCA to see which rows are alike")
        )
    maps = rules.judgeable(pd.DataFrame(lines))
    assert rules.usable_for_neighbors(maps).tolist() == usable


def test_the_guide_says_what_was_measured(benchmarks):
    rules = benchmarks[2]
    date, maps = rules.read()
    assert rules.section(date, maps) in (ROOT / "docs" / "guide" / "report.md").read_text(encoding="utf-8")
    assert not set(rules.WRONG_ON_PURPOSE) & set(rules.recommended(maps, "near neighbours").method)
