"""What the report shows: rows of every table, marks, and scores of papers."""

import re
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from report_files import (
    ALL_BASELINES,
    BASELINES,
    DEEP,
    DR,
    MC,
    ONE,
    RANK,
    SP,
    STS,
    TWO,
    audit_file,
    cells,
    change_audit,
    names,
    one,
    report_of,
    say_of_dataset,
    tables_text,
)

from builders.audit_report import DETECTABLE, DETECTABLE_AT_MOST, SURFACE_FORM
from builders.tasks import TASKS, benchmarks
from builders.tasks.benchmarks import BENCHMARKS, DIFFERENCES, WITHDRAWN, differences_of
from corpora_recipes.running.errors import InputError
from evaluation.probing.protocols import PROTOCOLS
from evaluation.results.scores import Results, Score
from probeta.report.formats import table_lines, write_latex
from probeta.report.inputs import read_inputs
from probeta.report.layout import Cell, Row, Table, percent, unused_name
from probeta.report.sentences import describe_result
from probeta.report.tables import PAPERS, PARALEX_SCORES, PEOPLE, VECTORS, Paper, notes_of
from probeta.report.tables.compared import differences, pairs
from probeta.report.tables.encoders import layer_table, measurements, profiles, published, verdicts
from probeta.report.tables.scores import (
    ablations,
    averages,
    differs,
    group_tables,
    papers,
    published_means,
    published_ranges,
    published_ranks,
    published_scores,
    scores,
    warnings,
)

# --- report tables -------------------------------------------------------------------------------

AVERAGES = "Averages: spanish_discoeval"


def markdown_of(folder: Path, *results: Results, **how: Any) -> str:
    return tables_text(report_of(folder, *results, **how))


def section(text: str, title: str) -> str:
    """Return what stands between a heading and the next one."""
    _, found, *_ = re.split(rf"## {re.escape(title)}(?:, .*)?\n\n", text)
    return found.split("\n\n## ")[0].rstrip("\n")


def without_papers(text: str) -> str:
    """Return a table without the rows of papers."""
    return "\n".join(line for line in text.splitlines() if "Araujo et al. (2022) §" not in line)


def test_tables(tmp_path: Path) -> None:
    text = markdown_of(tmp_path, TWO, ONE)
    _, missing, lacking, table, *_ = section(text, AVERAGES).split("\n\n")
    assert missing.startswith("Not in this report, so not in the means: bso_wiki, dc_wiki, bso_mls")
    assert lacking == "use lacks dr_rst."
    assert without_papers(table).splitlines() == [
        "| Encoder | All (2 of 11) | SP (1 of 3) | DR (1) |",
        "| --- | ---: | ---: | ---: |",
        "| char_hash | 37.6 [33.5, 41.7] † | 45.2 [43.7, 46.8] † ≈ | 30.0 [22.0, 38.0] † |",
        "| use | – | **60.0** [58.5, 61.5] | – |",
        "| trivial baselines | 34.4 | 43.7 | 25.0 |",
    ]
    after = section(text, "Sentence position (SP)").splitlines()
    assert [*after[:1], *after[2:9]] == [
        "|  | sp_wiki |",
        "| Train / validation / test | 10,000 / 4,000 / 4,000 |",
        "| Chance | 20.0 |",
        "| Majority | 20.5 |",
        "| Best trivial | 43.7 (character ngrams) |",
        "| **char_hash** | 45.2 [43.7, 46.8] † ≈ |",
        "| **use** | **60.0** [58.5, 61.5] |",
        "| Sent2Vec, Araujo et al. (2022) § | 42.8 |",
    ]
    after = without_papers(section(text, "Discourse relations (DR)")).splitlines()
    assert after[0] == "|  | dr_rst |"
    assert after[6:8] == ["| **char_hash** | 30.0 [22.0, 38.0] † |", "| **use** | – |"]
    marks = [line.split(" ")[0] for line in after[8:] if line]
    assert marks == ["≈", "†", "§"]
    table = section(text, "Trivial baselines").split("\n\n")[1]
    assert table.splitlines()[2:] == [
        "| sp_wiki | 20.5 | 23.1 | 43.7 | – |",
        "| dr_rst | 25.0 | 8.0 | – | 22.0 |",
    ]
    assert section(text, "Encoders").splitlines()[2:] == [
        "| **char_hash** | char_hash | 1 | output | natural | dimension 512, shortest 3 | 512 |",
        "| **use** | use_multilingual | 0.2.1 | output | natural | – | 512 |",
    ]
    assert not {"\\*", "†", "‡", "≈", "(s)"} & set(
        markdown_of(tmp_path, TWO, right={"use": 20}).split()
    )


def test_scores_by_dataset(tmp_path: Path) -> None:
    both = replace(ONE, scores=(MC, STS, SP))
    report = report_of(tmp_path, both, TWO, baselines=ALL_BASELINES)
    senteval, discoeval = scores(report)
    assert names(senteval) == names(discoeval)
    assert names(senteval) == [
        *("Dataset", "Group", "char_hash", "use", "Best trivial", "Majority", "Chance"),
        *("Araujo et al. (2022)", "Detectable", "Test rows"),
    ]
    assert cells(senteval) == [
        ["mc", "SC", "70.0", "–", "52.0", "51.0", "50.0", "65.6 … 77.0", "–", "2,623"],
        ["sts14_es", "SS", "80.0", "–", "60.0", "–", "–", "31.2 … 83.1", "–", "804"],
    ]
    assert cells(discoeval) == [
        ["sp_wiki", "SP", "45.2", "60.0", "43.7", "20.5", "20.0", "42.8 … 52.0", "–", "4,000"]
    ]
    mc, _ = senteval.rows
    assert mc.cells[9].detail == "in 10 folds"
    sp = discoeval.rows[0].cells[2]
    assert (sp.value, sp.detail) == (0.4521, "[43.7, 46.8]")


def test_own_datasets_stand_apart_and_change_no_average_of_a_benchmark(tmp_path: Path) -> None:
    item = replace(SP, dataset="sp_own", digest="7" * 64, value=0.99)
    baselines = BASELINES | {"sp_own": {"majority": 0.2, "length": 0.3}}
    audit = audit_file(tmp_path, baselines, sp_own=SP.rows)
    both = [replace(one, scores=(item, *one.scores)) for one in (ONE, TWO)]
    found = report_of(tmp_path / "own", *both, audit=audit)
    alone = report_of(tmp_path / "alone", ONE, TWO)
    (shipped,), (again, mine) = averages(alone), averages(found)
    assert again == shipped
    assert mine.title == "Averages: own datasets"
    assert names(mine) == ["Encoder", "All (1)", "SP (1)"]
    assert mine.rows[0].cells[1].text == "99.0"
    assert [table.title for table in scores(found)][1:] == ["Scores: own datasets"]
    tables = group_tables(found)
    ours = ["spanish-discoeval-SP", "spanish-discoeval-DR", "own-datasets-SP"]
    assert [table.name for table in tables] == ours
    assert tables[2].title == "Sentence position (SP), own datasets"
    of_benchmark, of_own = pairs(found)
    assert of_benchmark == one(pairs(alone))
    assert names(of_own)[2:] == ["All (1)", "SP (1)"]
    assert [row.cells[1].text for row in of_own.rows] == ["0 / 1 / 0"]


def test_scores_of_samples_are_marked_and_no_papers_stand_beside_them(tmp_path: Path) -> None:
    how: dict[str, Any] = {"baselines": ALL_BASELINES, "samples": ["sp_wiki", "sts14_es", "word"]}
    mbert = replace(ONE, name="mbert", scores=(MC, STS, SP))
    report = report_of(tmp_path, mbert, TWO, **how)
    text = tables_text(report)
    warned = "Sample data, do not report: 2 of 3 datasets are small samples"
    assert rf"\textbf{{{warned}" in write_latex(report)
    assert "Araujo" in section(text, "Sentence classification (SC)")
    for title in ("Sentence position (SP)", "Semantic similarity (SS)"):
        assert "Araujo" not in section(text, title).split("\n\n")[0]
    assert "| sp_wiki (s) |" in section(text, "Sentence position (SP)").splitlines()[0]
    assert "| **mbert** | 45.2 [43.7, 46.8] † ≈ (s) |" in text
    assert "(s) Do not report: measured on the small sample" in text
    senteval, _ = scores(report)
    mc, sts = senteval.rows
    assert "(s)" not in (*mc.cells[0].marks, *mc.cells[2].marks)
    # In the last of them, there is nothing to mark.
    assert [("(s)" in sts.cells[i].marks) for i in (0, 2, 3)] == [True, True, False]
    table = averages(report)[0]
    marks = dict(zip(names(table), (cell.marks for cell in table.rows[0].cells), strict=True))
    assert [("(s)" in marks[name]) for name in ("All (2 of 20)", "SC (1 of 5)")] == [True, False]
    real = tables_text(report_of(tmp_path / "real", ONE, TWO))
    assert "Sample data" not in real
    assert "(s)" not in real


def test_encoders_are_ordered_by_their_mean(tmp_path: Path) -> None:
    values = {"a": 0.2, "b": 0.9, "c": 0.6}
    results = [
        replace(ONE, name=name, scores=tuple(replace(score, value=value) for score in ONE.scores))
        for name, value in values.items()
    ]
    report = report_of(tmp_path, *results, right={"a": 5, "b": 19, "c": 12})
    assert report.names == ["b", "c", "a"]
    (table,) = averages(report)
    ours = [row for row in table.rows if row.kind != "published"]
    assert [row.cells[0].text for row in ours] == ["b", "c", "a", "trivial baselines"]
    assert names(one(differences(report)))[1:] == ["b − c", "b − a", "c − a"]
    average = report.benchmark_averages["spanish_discoeval"]
    assert describe_result(report, average).startswith(
        "b is ahead of all 2 others; of the next, c, "
    )


def test_deviations_folds_correlations_and_subsets(tmp_path: Path) -> None:
    item = replace(ONE, scores=(MC, STS, replace(SP, deviation=0.0123)))
    text = markdown_of(tmp_path, item)
    assert "after ± the standard deviation over random starts. Majority" in text
    assert "| **char_hash** | 45.2 ± 1.2 [43.7, 46.8] † |" in text
    assert "In bold" not in text
    assert "in bold" not in write_latex(report_of(tmp_path, item))
    assert without_papers(section(text, "Sentence classification (SC)")).splitlines()[2:] == [
        "| Train / validation / test | 2,623 in 10 folds |",
        "| Chance | 50.0 |",
        "| Majority | 51.0 |",
        "| Best trivial | 52.0 (length) |",
        "| **char_hash** | 70.0 [68.0, 72.0] |",
    ]
    assert without_papers(section(text, "Semantic similarity (SS)")).splitlines()[2:5] == [
        "| Train / validation / test | – / – / 804 |",
        "| Chance | – |",
        "| Majority | – |",
    ]
    assert section(text, "Correlations").split("\n\n")[1].splitlines()[2:] == [
        "| sts14_es | all | 80.0 / 79.0 |",
        "| sts14_es | news | 85.0 / 84.0 |",
        "| sts14_es | wikipedia | 75.0 / -7.4 |",
    ]
    # A single subset is all rows.
    names = ("pearson", "spearman", "pearson, track3", "spearman, track3")
    score = replace(STS, measures=dict.fromkeys(names, 0.8))
    text = markdown_of(tmp_path, replace(ONE, scores=(score,)))
    assert "| sts14_es | all |" in text
    assert "track3" not in text


def test_encoders_compared(tmp_path: Path) -> None:
    third = replace(ONE, name="third", scores=(DR, SP))
    right = {"char_hash": 2, "use": 20, "third": 2}
    report = report_of(tmp_path, ONE, TWO, third, right=right)
    table = one(pairs(report))
    assert "measured again without each test document in turn" in table.about[0]
    assert names(table) == [
        *("Encoders", "Better / tied / worse", "All (2 of 11)", "SP (1 of 3)", "DR (1)")
    ]
    assert cells(table) == [
        ["char_hash − third", "0 / 2 / 0", "0.0", "0.0", "0.0"],
        ["char_hash − use", "0 / 0 / 1", "–", "-90.0", "–"],
        ["third − use", "0 / 0 / 1", "–", "-90.0", "–"],
    ]
    table = one(differences(report))
    assert cells(table) == [["sp_wiki", "0.0", "-90.0", "-90.0"], ["dr_rst", "0.0", "–", "–"]]
    tied, worse = table.rows[0].cells[1:3]
    assert (tied.detail, tied.strong) == ("[0.0, 0.0] tie", False)
    assert (worse.detail, worse.strong) == ("[-100.0, -71.9]", True)
    alone = report_of(tmp_path / "alone", ONE)
    assert pairs(alone) == differences(alone) == profiles(alone) == []


@pytest.mark.parametrize(
    ("right", "value", "bold", "tied"),
    [
        # Equal: the first one is in bold, the other one tied with it.
        ({"char_hash": 10, "use": 10}, 0.45, ["char_hash"], ["use"]),
        ({"char_hash": 2, "use": 20}, 0.6, ["use"], []),
        # The best one does not beat chance.
        ({"char_hash": 10, "use": 10}, 0.2, [], []),
    ],
)
def test_only_the_best_is_bold_if_it_beats_chance(
    tmp_path: Path, right: dict[str, int], value: float, bold: list[str], tied: list[str]
) -> None:
    score = replace(SP, value=value, interval=(value - 0.01, value + 0.01))
    one = replace(ONE, scores=(replace(score, value=min(value, 0.45)),))
    report = report_of(tmp_path, one, replace(TWO, scores=(score,)), right=right)
    (table,) = scores(report)
    cells = dict(zip(report.names, table.rows[0].cells[2:4], strict=True))
    assert [name for name, cell in cells.items() if cell.strong] == bold
    assert [name for name, cell in cells.items() if "≈" in cell.marks] == tied


def test_layers(tmp_path: Path) -> None:
    report = report_of(tmp_path, ONE, DEEP)
    (profile,) = profiles(report)
    assert (profile.encoder, profile.layers, profile.apart) == ("deep", ("0", "1", "2"), ("avg",))
    assert profile.datasets == ("sp_wiki", "dr_rst")
    assert profile.groups == (benchmarks.SP, benchmarks.DR)
    assert profile.best == ((2,), (0,))
    spread = (2 / 300) ** 0.5
    expected = [[-0.1, 0.1], [0.0, 0.0], [0.1, -0.1], [0.05, 0.15]]
    assert profile.standard == pytest.approx(np.array(expected) / spread)
    assert profile.average_best == 1.0
    text = tables_text(report)
    about, table = section(text, "Layers of deep on spanish_discoeval").split("\n\n")
    assert "before rounding). avg, the mean of all layers' vectors, is separate" in about
    assert "Average best layer, of 0 to 2: 1.0. Where" in about
    assert table.splitlines()[2:] == [
        "| 0 | 30.0 | **30.0** |",
        "| 1 | 40.0 | 20.0 |",
        "| 2 | **50.0** | 10.0 |",
        "| avg | 45.0 | 35.0 |",
    ]
    # The tables of scores show the main layer alone.
    assert "| **deep** | 45.0 ± 1.2 [43.7, 46.8] † ≈ |" in text
    assert "| avg (probed: 0, 1, 2, avg) |" in text
    # Nothing is said of an average that was not probed.
    encoder = DEEP.encoder | {"layers": ["0", "1", "2"], "layer": "2"}
    numbered = tuple(score for score in DEEP.scores if score.layer != "avg")
    assert "is separate" not in markdown_of(
        tmp_path, replace(DEEP, encoder=encoder, scores=numbered)
    )


def test_all_layers_that_share_the_best_score_are_best(tmp_path: Path) -> None:
    # 0.1 + 0.2 is not 0.3 in floats; 0.2999 only looks the same.
    values = {
        "sp_wiki": {"0": 0.1 + 0.2, "1": 0.29999, "2": 0.3, "avg": 0.3},
        "dr_rst": {"0": 0.1, "1": 0.2, "2": 0.2, "avg": 0.5},
    }
    scores = tuple(replace(item, value=values[item.dataset][item.layer]) for item in DEEP.scores)
    same = tuple(replace(score, value=0.3) for score in DEEP.scores)
    deep = replace(DEEP, scores=scores)
    report = report_of(tmp_path, deep, replace(DEEP, name="even", scores=same))
    profile, even = profiles(report)
    assert profile.best == ((0, 2), (1, 2))
    assert profile.average_best == 1.25
    bold = [[cell.strong for cell in row.cells[1:]] for row in layer_table(profile).rows]
    assert bold == [[True, False], [False, True], [True, True], [False, False]]
    assert even.standard.tolist() == [[0.0, 0.0]] * 4
    assert even.best == ((0, 1, 2), (0, 1, 2))


@pytest.mark.parametrize("protocol", ["standard", "senteval"])
def test_scores_that_depend_on_the_scale(tmp_path: Path, protocol: str) -> None:
    item = replace(ONE, protocol=ONE.protocol | {"name": protocol})
    report = report_of(tmp_path, item)
    for text in (tables_text(report), write_latex(report)):
        warning = "does not standardise features, so that probe scores depend on the scale"
        assert (warning in text) == (protocol == "senteval")


def test_names_of_tables_are_of_letters_digits_and_hyphens() -> None:
    used: list[str] = []
    for text in ("100%_#{}", "100-2", "100~", "%", "two words", "two.words", "é"):
        used.append(unused_name(text, used))
    assert used == [*("100", "100-2", "100-3", "encoder", "two-words", "two-words-2", "encoder-2")]


def test_the_words_that_a_vocabulary_lacks(tmp_path: Path) -> None:
    coverage = {"tokens": 2000, "out_of_vocabulary": 31}
    one = replace(ONE, scores=(replace(SP, coverage=coverage), DR))
    text = markdown_of(tmp_path, one, TWO)
    about, rows = section(text, "Words outside the vocabulary").split("\n\n")
    assert about.startswith("Percentage of the tokens in a dataset's texts that are not in the")
    assert "each distinct text counts once. With fastText's .bin such words still get" in about
    assert rows.endswith("|\n| sp_wiki | 1.6 (31 of 2,000) |\n| dr_rst | – |")
    assert "Words outside" not in markdown_of(tmp_path, ONE)


@pytest.mark.parametrize("missing", [0, 1])
def test_the_papers_averages_stand_beside_whole_benchmarks(tmp_path: Path, missing: int) -> None:
    names = ["sick_es_r", "sts14_es", "sts15_es", "sts17_es"][missing:]
    rows = {name: {"test": PAPERS[0].rows[name]} for name in names}
    item = tuple(replace(STS, dataset=name, rows=rows[name]) for name in names)
    baselines = dict.fromkeys(names, ALL_BASELINES["sts14_es"])
    audit = audit_file(tmp_path, baselines, **rows)
    results = [replace(ONE, scores=item)]
    (table,) = averages(report_of(tmp_path, *results, audit=audit))
    shown = [[cell.text for cell in row.cells] for row in table.rows]
    assert [row[0] for row in shown][1:] == [
        *[f"{name}, Araujo et al. (2022)" for name in PAPERS[0].scores] * (not missing),
        "trivial baselines",
    ]
    if not missing:
        assert shown[7][1:] == ["–", "52.6"]  # of mBERT, whose printed average is another
        assert table.rows[7].cells[0].marks == ("§",)


def test_ablations(tmp_path: Path) -> None:
    known = replace(SP, measures=SP.measures | {"without context": 0.314})
    report = report_of(tmp_path, replace(ONE, scores=(known, DR)), TWO)
    table = one(ablations(report))
    assert names(table)[2:] == ["char_hash", "char_hash: ablated", "use", "use: ablated"]
    assert cells(table) == [["sp_wiki", "without context", "45.2", "31.4", "60.0", "–"]]
    assert ablations(report_of(tmp_path, ONE)) == []


@pytest.mark.parametrize(
    ("score", "interval", "majority", "trivial", "beats"),
    [
        (MC, (0.61, 0.7), 0.2, 0.6, True),
        (MC, (0.6, 0.7), 0.2, 0.6, False),
        (MC, (0.59, 0.7), 0.6, 0.2, False),
        (MC, (0.61, 0.7), 0.6, 0.2, True),
        # Chance is 0.5.
        (MC, (0.51, 0.6), 0.2, 0.4, True),
        (MC, (0.49, 0.6), 0.2, 0.4, False),
        # A correlation is to beat zero too.
        (STS, (0.01, 0.3), None, -0.2, True),
        (STS, (-0.05, 0.3), None, -0.2, False),
    ],
)
def test_the_mark_of_what_beats_no_baseline(
    tmp_path: Path,
    score: Score,
    interval: tuple[float, float],
    majority: float | None,
    trivial: float,
    beats: bool,
) -> None:
    score = replace(score, interval=interval, majority=majority)
    known = {"length": trivial} | ({} if majority is None else {"majority": majority})
    report = report_of(tmp_path, replace(ONE, scores=(score,)), baselines={score.dataset: known})
    text = "\n".join(table_lines(one(group_tables(report))))
    assert ("†" not in text) == beats
    chance = 0.0 if majority is None else 0.5
    value, name = max((trivial, "length"), (majority or -1.0, "majority"), (chance, "chance"))
    assert f"{100 * value:.1f} ({name})" in text


@pytest.mark.parametrize(
    ("interval", "half_width", "shown"),
    [
        # 0.06 above the baseline, which is more than √(.05² + .03²), and less than √(.05² + .04²).
        ((0.65, 0.75), 0.03, 1),
        ((0.65, 0.75), 0.04, 0),
        ((0.65, 0.75), 0.0, 1),
        # And 0.04 below another, 0.74: more than √(.02² + .03²).
        ((0.6, 0.72), 0.03, -1),
        ((0.6, 0.72), 0.04, 0),
    ],
)
def test_the_error_of_the_baseline_counts(
    tmp_path: Path, interval: tuple[float, float], half_width: float, shown: int
) -> None:
    value = 0.64 if interval[0] == 0.65 else 0.74
    audit = audit_file(tmp_path, {"mc": {"majority": 0.51, "length": value}})
    change_audit(
        audit,
        "mc",
        gate="baselines",
        what="length",
        value=value,
        half_width=half_width,
        verdict="pass",
    )
    score = replace(MC, interval=interval)
    report = report_of(tmp_path, replace(ONE, scores=(score,)), audit=audit)
    assert report.beats_baseline(score, "mc") == shown
    # Of the mean of two baselines the half-width is √2 times smaller.
    assert report.beats_baseline(score, "mc", "mc") == (1 if interval[0] == 0.65 else -1)


@pytest.mark.parametrize(("documents", "marked"), [(1, True), (2, True), (3, False)])
def test_the_marks_of_a_test_of_few_documents_and_of_a_source_that_leaks(
    tmp_path: Path, documents: int, marked: bool
) -> None:
    audit = audit_file(tmp_path, ALL_BASELINES)
    change_audit(audit, "mc", gate="leakage", verdict="inherited")
    change_audit(audit, "sp_wiki", gate="leakage", verdict="pass")
    scores = (MC, DR, replace(SP, test_documents=documents))
    text = markdown_of(tmp_path, replace(ONE, scores=scores), audit=audit)
    assert ("|  | sp_wiki ‡ |" in text) == ("‡ The test has fewer than 3" in text) == marked
    assert "|  | mc ¶ |" in text
    # In the tables of all scores and of the group, with its explanation each.
    assert text.count("¶") == 4


@pytest.mark.parametrize(("detectable", "sample"), [(0.121, False), (0.12, False), (0.121, True)])
def test_a_test_that_is_too_small_is_marked_and_not_averaged(
    tmp_path: Path, detectable: float, sample: bool
) -> None:
    audit = audit_file(tmp_path, BASELINES)
    check = {"gate": "size", "what": DETECTABLE, "verdict": "pass", "limit": None}
    change_audit(audit, "dr_rst", value=detectable, **check)
    report = report_of(tmp_path, ONE, audit=audit, samples=["dr_rst"] if sample else [])
    small = detectable > DETECTABLE_AT_MOST
    table = one(averages(report))
    assert names(table)[1] == ("All (1 of 11)" if small and not sample else "All (2 of 11)")
    said = "Tests too small, marked * below, so not in the means: dr_rst." in table.about
    assert said == (small and not sample)
    assert table.rows[0].cells[1].text == ("45.2" if said else "37.6")
    rows = {row.cells[0].text: row.cells for row in one(scores(report)).rows}
    assert ("*" in rows["dr_rst"][0].marks) == small
    assert rows["dr_rst"][-2].value == detectable


def test_what_is_chosen_on_validation_is_the_baseline_to_beat(tmp_path: Path) -> None:
    audit = audit_file(tmp_path, BASELINES)
    say_of_dataset(audit, "sp_wiki", chosen="length")
    report = report_of(tmp_path, ONE, audit=audit)
    assert report.inputs.best_baseline("sp_wiki") == ("length", 0.231)
    assert report.baseline_score("sp_wiki") == 0.231


def test_the_audits_verdicts_and_measurements(tmp_path: Path) -> None:
    audit = audit_file(tmp_path, BASELINES)
    assert published(report_of(tmp_path, ONE, audit=audit)) == []
    change_audit(audit, "dr_rst", gate="leakage", verdict="inherited", value=3)
    change_audit(audit, "dr_rst", gate="text", verdict="miss", value=0.031, limit=0.02)
    change_audit(audit, "dr_rst", gate="size", verdict="pass", value=-0.0001, correlation=True)
    change_audit(audit, "sp_wiki", gate="donors", verdict="not applicable")
    say_of_dataset(audit, "dr_rst", published="Test is the validation.")
    report = report_of(tmp_path, ONE, audit=audit)
    table = one(verdicts(report))
    assert len(table.header) == 10
    assert [row[:6] for row in cells(table)] == [
        ["sp_wiki", "–", "–", "pass", SURFACE_FORM, "–"],
        ["dr_rst", "inherited", "–", "pass", "pass", "miss"],
    ]
    table = one(measurements(report))
    rows = [row[1:] for row in cells(table) if row[0] == "dr_rst"]
    assert rows[0][1:] == ["accuracy from the parity", "pass", "51.00 %", "52.00 %"]
    assert rows[3:] == [
        ["4. Trivial baselines", "first text only", "–", "22.00 %", "–"],
        ["1. No leakage between splits", "x", "inherited", "3", "0"],
        ["5. Undamaged text", "x", "miss", "3.10 %", "2.00 %"],
        [rows[6][0], "x", "pass", "0.000", "0.000"],
    ]
    assert cells(one(published(report))) == [["dr_rst", "Test is the validation."]]


@pytest.mark.parametrize(
    ("dataset", "baseline", "verdict"),
    [
        ("sp_wiki", 0.403, "solved by surface form"),  # the encoder has 45.2
        ("sp_wiki", 0.401, "pass"),
        ("sp_wiki", 0.9, "solved by surface form"),
        ("dr_rst", 0.9, "pass"),  # people gave the labels
    ],
)
def test_a_baseline_near_the_best_encoder_is_said(
    tmp_path: Path, dataset: str, baseline: float, verdict: str
) -> None:
    audit = audit_file(tmp_path, BASELINES | {dataset: {"majority": 0.2, "length": baseline}})
    rows = cells(one(verdicts(report_of(tmp_path, ONE, audit=audit))))
    assert {row[0]: row[4] for row in rows}[dataset] == verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0004, "0.0"), (-0.0, "0.0"), (0.0004, "0.0"), (-0.0006, "-0.1"), (None, "–")],
)
def test_no_negative_zero(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_names_that_mean_something_to_markdown() -> None:
    table = Table("x", "a|b", (Cell("a*b"),), (Row((Cell("<c>"),)),))
    assert table_lines(table) == ["## a\\|b", "", "| a\\*b |", "| --- |", "| \\<c> |", ""]


@pytest.mark.parametrize(
    ("baselines", "rows", "word"),
    [
        ({"sp_wiki": BASELINES["sp_wiki"]}, {}, "no such dataset"),
        (BASELINES, {"dr_rst": {"train": 900, "test": 129}}, "'test': 130"),
        (BASELINES | {"dr_rst": {"majority": 0.25}}, {}, "besides"),
    ],
)
def test_audits_that_do_not_fit(
    tmp_path: Path, baselines: dict[str, Any], rows: dict[str, Any], word: str
) -> None:
    audit = audit_file(tmp_path, baselines, **rows)
    with pytest.raises(InputError, match=word) as caught:
        report_of(tmp_path, ONE, audit=audit)
    assert caught.value.where.endswith("audit.json: dr_rst")
    with pytest.raises(InputError, match="one encoder or more"):
        read_inputs([], audit)


def test_what_is_missing_stands_first(tmp_path: Path) -> None:
    report = report_of(tmp_path, replace(ONE, scores=(DR,)), TWO)
    (average,) = report.benchmark_averages.values()
    assert describe_result(report, average) == "No encoder was probed on all of its datasets."
    missing = {"tass1": "Ask for it.", "tass2": "Ask for it."}
    audit = {**report.inputs.audit_report, "missing": missing}
    inputs = replace(report.inputs, audit_report=audit)
    assert warnings(replace(report, inputs=inputs)) == {
        "Incomplete: missing are tass1, tass2, whose corpora must be asked for.": "Averages over "
        "these datasets are incomplete: tass1, tass2. Ask for it."
    }


# --- published -----------------------------------------------------------------------------------

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
    assert printed == {"SC", "SPC", "SS", "LPT", "SP", "BSO", "DC"}
    if encoder == "Sent2Vec":
        # The parts that are printed are another encoder's.
        assert ("LPT" not in groups, scores["LPT"]) == (True, 66.89)
        printed.remove("LPT")
    for group in printed:
        assert fmean(groups[group]) == pytest.approx(scores[group], abs=0.02), group


def test_two_constructions_are_two_entries_with_the_averages_that_are_printed() -> None:
    # Others of the paper are misprinted.
    for paper, printed in (
        (REPOSITORY, {"NSP": 54.6, "NSP + SPP + NL": 55.3, "ELMo": 56.2, "BERT-Large": 58.6}),
        (CAMERA_READY, {"ELMo": 56.1, "BERT-Base": 57.4, "BERT-Large": 58.1}),
    ):
        for encoder, average in printed.items():
            values = [paper.scores[encoder][name] for name in DISCOURSE]
            assert fmean(values) == pytest.approx(average, abs=0.06), (paper.paper, encoder)
    assert len(REPOSITORY.scores) == len(CAMERA_READY.scores) - 1 == 14
    ordering = [paper.scores["NSP + SDT + NL"]["BSO"] for paper in (REPOSITORY, CAMERA_READY)]
    assert ordering == [63.0, 63.2]
    assert CAMERA_READY.scores["BERT-Base"]["SC"] == 81.4
    assert CAMERA_READY.scores[PEOPLE]["sp_roc"] == 94
    assert REPOSITORY.rows.keys() == BENCHMARKS["discoeval"].keys()


def test_shares_of_rows_are_shares_of_as_many_as_are_stated() -> None:
    """``mc`` is a mean over folds, similarity is no share, sentence ordering asks twice."""
    means = {"mc", "sick_es_r", "sts14_es", "sts15_es", "sts17_es"}
    shares = [
        (f"{name} {encoder}", scores[name], rows * (2 if name.startswith("bso_") else 1))
        for name, rows in SPANISH.rows.items()
        for encoder, scores in SPANISH.scores.items()
        if name in scores and name not in means
    ]
    shares += [
        (f"{measure} {encoder}", value, RANKS.rows[measure.split()[0]])
        for encoder, scores in RANKS.scores.items()
        for measure, value in scores.items()
        if "Hits" in measure
    ]
    for name, value, rows in shares:
        nearest = 100 * round(value * rows / 100) / rows
        assert nearest == pytest.approx(value, abs=0.005001), name
    assert (SPANISH.rows["sick_es_r"], RANKS.rows["evalrank_en"]) == (4906, 6989)


def test_scores_of_ranks_and_words() -> None:
    assert LOGS.scores["SimCSE"]["trec"] == 88
    assert {len(scores) for scores in LOGS.scores.values()} == {len(LOGS.rows)} == {10}
    assert RANKS.scores["SimCSE"]["evalrank_en MRR"] == 69.5
    assert RANKS.rows.keys() <= BENCHMARKS["evalrank"].keys()
    assert len(PARALEX_SCORES) == 46
    assert (PARALEX_SCORES["es"], PARALEX_SCORES["no"]) == ([53, 64, 63], [50, 66, 80])
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
    whole = replace(RANK, dataset="evalrank_en", pairs=6989)
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
