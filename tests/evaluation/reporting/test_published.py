"""Scores of papers: they are of our datasets, and averages are those of their parts."""

from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest

from builders.tasks import TASKS, groups
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN
from evaluation.reporting.averages import averages_of
from evaluation.reporting.tables.marks import PAPERS, PARALEX, PEOPLE, VECTORS, published_means

SPANISH, ENGLISH = PAPERS


@pytest.mark.parametrize("encoder", SPANISH.scores)
def test_the_averages_are_those_of_their_parts(encoder: str) -> None:
    """As corrected: a misprinted average or part would differ."""
    scores = SPANISH.scores[encoder]
    # The paper's averages are over what is withdrawn since then, too.
    entries = {
        name: entry
        for item in SPANISH.benchmarks
        for name, entry in (BENCHMARKS[item] | WITHDRAWN[item]).items()
    }
    groups: dict[str, list[float]] = {}
    for name, entry in entries.items():
        if name in scores:
            abbreviation = TASKS[entry["task"]].group.abbreviation
            groups.setdefault(abbreviation, []).append(scores[name])
    printed = scores.keys() - entries.keys()
    assert printed >= {"SC", "SPC", "SS", "SP", "BSO", "DC"}
    for group in printed:
        assert fmean(groups[group]) == pytest.approx(scores[group], abs=0.02), group


def test_means_are_without_what_is_withdrawn() -> None:
    whole = BENCHMARKS["spanish_senteval"]
    tasks = {name: entry["task"] for name, entry in whole.items()}
    averages = averages_of(tasks, dict.fromkeys(whole, "spanish_senteval"))
    probing = next(item for item in averages if item.group == groups.LPT)
    inputs: Any = SimpleNamespace(samples=frozenset())
    rows = {row.cells[0].text: row.cells[1] for row in published_means(inputs, [probing])}
    scores = SPANISH.scores["BETO"]
    eight = [scores[name] for name in probing.datasets]
    assert len(eight) == 8
    assert rows[f"BETO, {SPANISH.paper}"].value == pytest.approx(fmean(eight) / 100)
    assert fmean([*eight, scores["somo"]]) == pytest.approx(scores["LPT"], abs=0.02)
    assert f"Sent2Vec, {SPANISH.paper}" not in rows


def test_scores_of_english_and_of_words() -> None:
    assert ENGLISH.scores[PEOPLE]["sp_roc"] == 94
    large = ENGLISH.scores["BERT-Large"]
    assert (len(ENGLISH.scores), large["rst"], large["SP"]) == (15, 59.1, 53.8)
    assert {"ssp_abs", "pdtb_explicit", "pdtb_implicit", "rst", "dc_ubuntu"} <= large.keys()
    assert (len(PARALEX), PARALEX["es"], PARALEX["no"]) == (46, [53, 64, 63], [50, 66, 80])
    assert {len(scores) for scores in PARALEX.values()} == {len(VECTORS)}
