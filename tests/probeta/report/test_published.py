"""Scores of papers: they are of our datasets, and stand only beside scores on comparable rows."""

from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from report_files import ALL_BASELINES, MC, ONE, RANK, SP, audit_file, cells, names, report_of

from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, DIFFERENCES, WITHDRAWN, differences_of
from evaluation.probing.protocols import PROTOCOLS
from probeta.report.layout import Cell, Table
from probeta.report.tables import PAPERS, PARALEX_SCORES, PEOPLE, VECTORS, Paper, notes_of
from probeta.report.tables.scores import (
    differs,
    papers,
    published_means,
    published_ranges,
    published_ranks,
    published_scores,
)

SPANISH, REPOSITORY, CAMERA_READY, LOGS, RANKS = PAPERS
DISCOURSE = ("SP", "BSO", "DC", "ssp_abs", "pdtb_explicit", "pdtb_implicit", "rst")


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
    assert SPANISH.rows.keys() == entries.keys()
    groups: dict[str, list[float]] = {}
    for name, entry in entries.items():
        if name in scores:
            abbreviation = TASKS[entry["task"]].group.abbreviation
            groups.setdefault(abbreviation, []).append(scores[name])
    printed = scores.keys() - entries.keys()
    assert printed >= {"SC", "SPC", "SS", "SP", "BSO", "DC"}
    for group in printed:
        assert fmean(groups[group]) == pytest.approx(scores[group], abs=0.02), group


def test_two_constructions_are_two_entries_with_the_averages_that_are_printed() -> None:
    # Others of the paper are misprinted.
    for paper, averages in (
        (REPOSITORY, {"NSP": 54.6, "NSP + SPP + NL": 55.3, "ELMo": 56.2, "BERT-Large": 58.6}),
        (CAMERA_READY, {"ELMo": 56.1, "BERT-Base": 57.4, "BERT-Large": 58.1}),
    ):
        for encoder, average in averages.items():
            values = [paper.scores[encoder][name] for name in DISCOURSE]
            assert fmean(values) == pytest.approx(average, abs=0.06), (paper.paper, encoder)
    assert len(REPOSITORY.scores) == len(CAMERA_READY.scores) - 1 == 14
    assert CAMERA_READY.scores["BERT-Base"]["SC"] == 81.4
    assert CAMERA_READY.scores[PEOPLE]["sp_roc"] == 94
    assert REPOSITORY.rows.keys() == BENCHMARKS["discoeval"].keys()


def test_scores_of_ranks_and_words() -> None:
    assert LOGS.scores["SimCSE"]["trec"] == 88
    assert {len(scores) for scores in LOGS.scores.values()} == {len(LOGS.rows)} == {10}
    assert RANKS.scores["SimCSE"]["evalrank_en MRR"] == 69.5
    assert RANKS.rows.keys() <= BENCHMARKS["evalrank"].keys()
    assert (len(PARALEX_SCORES), PARALEX_SCORES["es"], PARALEX_SCORES["no"]) == (
        46,
        [53, 64, 63],
        [50, 66, 80],
    )
    assert {len(scores) for scores in PARALEX_SCORES.values()} == {len(VECTORS)}


@pytest.mark.parametrize(
    ("paper", "task", "rows", "sample", "why"),
    [
        (REPOSITORY, "sentence_position", 3600, False, ""),
        (REPOSITORY, "sentence_position", 4400, False, ""),
        (REPOSITORY, "sentence_position", 15, False, "15 rows here, 4,000 in the paper"),
        (REPOSITORY, "sentence_position", 3599, False, "3,599 rows here, 4,000 in the paper"),
        (REPOSITORY, "sentence_position", 4000, True, "a sample here"),
        (CAMERA_READY, "sentence_position", 4000, False, "in the paper, the other four sentences "),
        (CAMERA_READY, "sentence_ordering", 4000, False, ""),
        (SPANISH, "sentence_position", 4000, False, "not in the paper"),
    ],
)
def test_why_scores_of_papers_do_not_stand_beside_ours(
    paper: Paper, task: str, rows: int, sample: bool, why: str
) -> None:
    found = paper.reason_not_shown("sp_arxiv", task, rows, sample=sample)
    assert found.startswith(why)
    assert bool(found) == bool(why)


def test_only_comparable_rows_are_shown_and_the_others_with_the_reason(tmp_path: Path) -> None:
    few = replace(MC, rows={"train": 15})
    audit = audit_file(tmp_path, ALL_BASELINES, mc=few.rows)
    report = report_of(tmp_path, replace(ONE, scores=(SP, few)), audit=audit)
    rows = published_scores(report, "spanish_discoeval", ["sp_wiki"])
    assert [row.cells[1].text for row in rows][:2] == ["42.8", "44.5"]
    assert published_scores(report, "spanish_senteval", ["mc"]) == []
    # The note is of the papers that are shown.
    note = notes_of([Table("", "", (), tuple(rows))])["§"]
    assert "Araujo et al. (2022) on the files published in 2022" in note
    assert "Chen" not in note
    (table,) = papers(report)
    assert names(table) == ["Dataset", "Paper", "Beside ours", "Rows here", "Rows there"]
    assert cells(table) == [
        ["mc", "Araujo et al. (2022)", "15 rows here, 2,623 in the paper", "15", "2,623"],
        ["sp_wiki", "Araujo et al. (2022)", "yes", "4,000", "4,000"],
    ]
    (column,) = published_ranges(report, "spanish_discoeval", ["sp_wiki"])
    heading, shown = column.heading, column.cell("sp_wiki")
    assert isinstance(heading, Cell)
    assert isinstance(shown, Cell)
    assert (heading.text, shown.text) == ("Araujo et al. (2022)", "42.8 … 52.0")
    for average in report.averages:
        rows = published_means(report, [replace(average, missing=())])
        assert len(rows) == 7 * (average.name == "spanish_discoeval SP")


def test_ranks_of_the_paper_stand_beside_as_many_pairs() -> None:
    columns = [(m, by) for by in ("cosine", "l2") for m in ("MRR", "Hits@1", "median")]
    inputs = SimpleNamespace(samples=frozenset(), benchmark=lambda _: "evalrank")
    report: Any = SimpleNamespace(inputs=inputs)
    whole = replace(RANK, dataset="evalrank_en", pairs=6976)
    rows = published_ranks(report, whole, columns)
    assert [cell.text for cell in rows[-1].cells] == [
        *("SimCSE, Wang et al. (2022)", "69.5", "52.3", "–", "–", "–", "–")
    ]
    assert len(rows) == 8
    assert published_ranks(report, replace(whole, pairs=60), columns) == []


def test_what_differs(tmp_path: Path) -> None:
    known = {name for entries in BENCHMARKS.values() for name in entries}
    assert DIFFERENCES["benchmarks"].keys() <= BENCHMARKS.keys()
    assert DIFFERENCES["tasks"].keys() <= TASKS.keys()
    assert DIFFERENCES["datasets"].keys() <= known
    assert DIFFERENCES["protocols"].keys() == PROTOCOLS.keys()
    for benchmark in ("spanish_discoeval", "discoeval", "evalrank", "paralex"):
        for name, entry in BENCHMARKS[benchmark].items():
            assert differences_of(name, entry["task"], benchmark), name
    theses = differences_of("sp_thesis", "sentence_position", "spanish_discoeval")
    assert [len(theses), "Universidad Católica" in theses[-1]] == [3, True]
    # Another dataset of this name has the task's alone.
    assert differences_of("sp_thesis", "sentence_position", "") == theses[1:2]
    (table,) = differs(report_of(tmp_path, ONE))
    assert cells(table)[0][0] == "protocol standard"
    assert ["sp_wiki", theses[1]] in cells(table)
