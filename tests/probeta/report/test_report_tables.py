"""The tables of a report, marks, and scores of papers: rules, and one file that was read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import pytest
from case_tables import read_tables
from report_files import (
    ALL_BASELINES,
    BASELINES,
    CLUSTERED,
    DEEP,
    DR,
    MC,
    ONE,
    RANK,
    RANKED,
    SP,
    STS,
    TWO,
    audit_file,
    cells,
    change_audit,
    of_encoder,
    report_of,
    say_of_dataset,
    tables_of,
    tables_text,
)

from builders.audit_report import DETECTABLE, DETECTABLE_AT_MOST
from builders.tasks import TASKS, benchmarks
from builders.tasks.benchmarks import BENCHMARKS, GROUPINGS, WITHDRAWN, differences, differences_of
from corpora_recipes.running.errors import InputError
from evaluation.probing.protocols import PROTOCOLS
from evaluation.results.scores import Results, Score, Transfer
from probeta.annotation import AnnotatorScores
from probeta.report.formats import SECTIONS, TABLES, table_lines
from probeta.report.inputs import read_inputs
from probeta.report.layout import Cell, Layout, Table, lay_out, percent, unused_name
from probeta.report.sentences import describe_result
from probeta.report.statistics import Mean, Report, list_averages
from probeta.report.tables import (
    PAPERS,
    PARALEX_SCORES,
    PEOPLE,
    VECTORS,
    Paper,
    number,
    published_means,
    published_ranges,
    published_ranks,
    published_scores,
)
from probeta.report.tables.encoders import (
    describe_encoder,
    encoders,
    layers,
    profiles,
    transfer,
    verdict_on,
)
from probeta.report.tables.scores import concerned_by, dataset_marks, means, papers, scores

CASES = read_tables(__file__)

# --- what was read -------------------------------------------------------------------------------


FAMILY = ("sp_wiki", "sp_en", "sp_new")


def encoder(results: Results, scores: Sequence[Score], shift: float, **facts: Any) -> Results:
    """Return results with these scores, better by a shift and worse from layer to layer.

    A probe that was trained on others of ``FAMILY`` is worse by 0.1.
    """
    scores = [
        replace(
            score,
            value=score.value + shift - place / 100,
            interval=(score.interval[0] + shift, score.interval[1] + shift),
            layer=layer,
            **facts,
        )
        for score in scores
        for place, layer in enumerate(results.encoder["layers"])
    ]
    transfers = []
    for score in scores:
        others = [name for name in FAMILY if score.dataset in FAMILY and name != score.dataset]
        worse = replace(score, value=score.value - 0.1)
        transfers += [Transfer((name,), worse) for name in others]
        transfers += [Transfer(tuple(others), worse)] if others else []
    return replace(results, scores=tuple(scores), transfers=tuple(transfers))


def everything(folder: Path) -> Report:
    """Return a report with something in each table: three encoders, one with layers.

    A dataset is a sample, one is too small, one leaks, one is an edition of another; one has
    another language; people answered one.
    """
    english = replace(SP, dataset="sp_en", language="en", digest="e" * 64)
    newer = replace(SP, dataset="sp_new", digest="f" * 64)
    ablated = replace(SP, measures=SP.measures | {"without context": 0.314})
    scores = (MC, STS, ablated, DR, english, newer)
    results = [
        encoder(ONE, scores, 0),
        encoder(TWO, scores, 0.15, coverage={"tokens": 2000, "out_of_vocabulary": 31}),
        encoder(DEEP, scores, 0.05, deviation=0.012),
    ]
    added = dict.fromkeys(("sp_en", "sp_new"), BASELINES["sp_wiki"])
    audit = audit_file(folder, ALL_BASELINES | added, sp_en=SP.rows, sp_new=SP.rows)
    for name in ("sp_wiki", "sp_en"):
        say_of_dataset(audit, name, made={"from": ["wikipedia"], "options": {}})
    say_of_dataset(audit, "sp_new", edition_of="sp_wiki")
    say_of_dataset(audit, "mc", published="Its rows are sorted.")
    change_audit(audit, "mc", gate="leakage", verdict="inherited")
    change_audit(audit, "dr_rst", gate="size", what=DETECTABLE, verdict="pass", value=0.2)
    ranked, clustered = of_encoder(TWO, RANKED, CLUSTERED)
    report = report_of(
        folder,
        *results,
        rankings=[RANKED, replace(ranked, similarities=())],
        paradigms=[CLUSTERED, replace(clustered, left_out={})],
        audit=audit,
        samples=["sts14_es"],
        right={"use": 16, "deep": 12},
        first={"use": 1200},
    )
    pairs = [frozenset((f"p{n:04}",) * 2 for n in some) for some in (range(100), range(600, 700))]
    people = AnnotatorScores(1, "sp_wiki", SP.digest, 10, (0.7, 0.8), 0.75, (0.6, 0.8), None)
    sources = {"evalrank_es": {"sts14_es": pairs[0], "": pairs[1]}}
    facts: Any = {"people": {"sp_wiki": people}, "sources": sources, "refused": {"x": "forged"}}
    return replace(report, inputs=replace(report.inputs, **facts))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return everything(tmp_path_factory.mktemp("everything"))


def test_the_tables_are_those_that_were_read(report: Report, tmp_path: Path) -> None:
    """tables.md has all tables of the fixture: read its difference before it is copied.

    First those of tables.tex, then those of tables.json that it does not have.
    """
    parts = [tables_text(report)]
    shown = {numbers for numbers, _ in SECTIONS} | {scores, means, transfer}
    for name, make in TABLES.items():
        if make not in shown:
            rows = list(make(report))
            keys = list(dict.fromkeys(chain.from_iterable(rows)))
            lines = [" | ".join(str(_round(row.get(key, ""))) for key in keys) for row in rows]
            parts.append("\n".join([f"## {name}", "", " | ".join(keys), *lines, ""]))
    made = tmp_path / "tables.md"
    made.write_text("\n".join(parts), "utf-8")
    expected = Path(__file__).with_name("tables.md")
    assert made.read_text("utf-8") == expected.read_text("utf-8"), f"if it is right: {made}"


def _round(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def test_every_table_has_a_number_of_the_fixture(report: Report) -> None:
    empty = [name for name, make in TABLES.items() if not list(make(report))]
    # test_report_added and test_report_words have these.
    assert empty == ["added", "above_random", "table_1", "table_1_correlations", "analogies"]


# --- how numbers stand ---------------------------------------------------------------------------


def test_numbers_stand_in_lines_and_columns() -> None:
    layout = Layout("transfer", "trained_on", "dataset", "task encoder")
    about = {"task": "a_task", "encoder": "use", "trained_on": "x", "kind": "baseline"}
    rows = [
        number(about | {"trained_on": "majority_row"}, 0.2, dataset="x"),
        number(about | {"kind": "encoder"}, 0.5, (0.4, 0.6), dataset="y", mark="w"),
        number(about | {"kind": "encoder"}, 0.61, dataset="x", mark="l", deviation=0.012),
        number(about | {"kind": "encoder", "task": "other"}, None, dataset="x", note="none"),
        number(about | {"kind": "encoder", "task": "other"}, -0.0004, dataset="y", unit="points"),
    ]
    first, second = lay_out(layout, rows, {"x": "(s)", "y": ""}.__getitem__)
    assert (first.name, first.title) == ("transfer-a-task-use", "Transfer: a task, use")
    assert table_lines(first)[4:] == [
        *("| Trained on | x (s) | y |", "| --- | ---: | ---: |"),
        *("| x | **61.0 ± 1.2** | 50.0 [40.0, 60.0] † |", "| majority | 20.0 | – |", ""),
    ]
    # What holds for all tables is said with the first one.
    assert (len(first.about), second.about) == (1, ())
    assert cells(second) == [["x", "none", "0.0"]]
    assert lay_out(layout, []) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0004, "0.0"), (-0.0, "0.0"), (0.0004, "0.0"), (-0.0006, "-0.1"), (None, "–")],
)
def test_no_negative_zero(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_names_that_mean_something_to_markdown() -> None:
    table = Table("x", "a|b", (), 1, [Cell("a*b")], [("encoder", [Cell("<c>")])])
    assert table_lines(table) == ["## a\\|b", "", "| a\\*b |", "| --- |", "| \\<c> |", ""]


def test_names_of_tables_are_of_letters_digits_and_hyphens() -> None:
    used: list[str] = []
    for text in ("100%_#{}", "100-2", "100~", "%", "two words", "two.words", "é"):
        used.append(unused_name(text, used))
    assert used == [*("100", "100-2", "100-3", "encoder", "two-words", "two-words-2", "encoder-2")]


# --- averages and marks --------------------------------------------------------------------------


def select(table: Callable[[Report], Iterable[dict[str, Any]]], report: Report, **of: Any) -> Any:
    """Return the rows of a table with these values."""
    return [row for row in table(report) if of.items() <= row.items()]


def test_own_datasets_stand_apart_and_change_no_average_of_a_benchmark(tmp_path: Path) -> None:
    item = replace(SP, dataset="sp_own", digest="7" * 64, value=0.99)
    baselines = BASELINES | {"sp_own": {"majority": 0.2, "length": 0.3}}
    audit = audit_file(tmp_path, baselines, sp_own=SP.rows)
    both = [replace(one, scores=(item, *one.scores)) for one in (ONE, TWO)]
    report = report_of(tmp_path / "own", *both, audit=audit)
    alone = report_of(tmp_path / "alone", ONE, TWO)
    assert select(means, report, benchmark="spanish_discoeval") == list(means(alone))
    of_user = select(means, report, benchmark="own datasets", kind="encoder")
    assert [(row["heading"], row["value"]) for row in of_user] == [
        *([("All (1)", 0.99)] * 2),
        *([("SP (1)", 0.99)] * 2),
    ]
    assert [table.name for table in tables_of(report, "group")] == [
        *("group-spanish-discoeval-SP", "group-spanish-discoeval-DR", "group-own-datasets-SP")
    ]


def test_scores_of_samples_are_marked_and_no_papers_stand_beside_them(tmp_path: Path) -> None:
    both = replace(ONE, scores=(MC, STS, SP)), TWO
    report = report_of(tmp_path, *both, samples=["sp_wiki", "sts14_es", "word"])
    assert [dataset_marks(report, name) for name in ("mc", "sp_wiki")] == ["", "(s)"]
    beside = {name: len(list(published_scores(report, name))) for name in report.inputs.datasets}
    assert beside == {"mc": 7, "sts14_es": 0, "sp_wiki": 0}
    samples = {(row["benchmark"], row["group"]): row["sample"] for row in means(report)}
    assert [group for (_, group), sample in samples.items() if not sample] == ["SC"]


def test_encoders_are_ordered_by_their_mean(tmp_path: Path) -> None:
    values = {"a": 0.2, "b": 0.9, "c": 0.6}
    results = [
        replace(ONE, name=name, scores=tuple(replace(score, value=value) for score in ONE.scores))
        for name, value in values.items()
    ]
    report = report_of(tmp_path, *results, right={"a": 5, "b": 19, "c": 12})
    assert report.names == ["b", "c", "a"]
    (table,) = tables_of(report, "averages")
    assert [row[0] for row in cells(table)] == ["b", "c", "a", "trivial baselines"]
    assert [row[0] for row in cells(tables_of(report, "pairs")[0])] == ["b − c", "b − a", "c − a"]
    average = report.benchmark_averages["spanish_discoeval"]
    assert describe_result(report, average).startswith(
        "b is ahead of all 2 others; of the next, c, "
    )


class Tied(Report):
    """A report in which the encoders whose names begin with "a" cannot be distinguished."""

    def __init__(self) -> None:
        pass

    def tied_with(self, best: str, target: str) -> set[str]:
        return {"a", "aa"} - {best} if best[0] == "a" else set()


@pytest.mark.parametrize(("scores", "baseline", "marks"), CASES["leaders"])
def test_nobody_leads_below_the_baseline(
    scores: dict[str, tuple[float, float]], baseline: float, marks: str
) -> None:
    values = {name: Mean(value, (low, 1.0)) for name, (value, low) in scores.items()}
    beats = {n: (low > baseline) - (value < baseline) for n, (value, low) in scores.items()}
    found = Tied().marks("x", values, beats)
    assert "".join(found.get(name, "-") for name in ("a", "aa", "b")) == marks
    # Of those that may not lead, none does, and none is what others are compared with.
    others = Tied().marks("x", values, beats, among=["b"])
    assert {*others.values()} <= {"b", "w", "s"}


def test_an_encoder_is_compared_with_its_own_random_weights(tmp_path: Path) -> None:
    options = {"model": "bert", "pooling": "mean"}
    drawn = {**options, "weights": "random", "seed": 1}
    bert = {**ONE.encoder, "encoder": "transformers"}
    trained = replace(TWO, name="bert", encoder=bert | {"options": options})
    trained = replace(trained, scores=(DR, replace(SP, value=0.6, interval=(0.58, 0.62))))
    random = replace(ONE, name="bert_random", encoder=bert | {"options": drawn})
    other = replace(ONE, name="other", encoder=bert | {"options": {**drawn, "pooling": "cls"}})
    for folder, right, above in (("one", 20, 2), ("two", 3, 0)):
        rights = {"bert": right, "bert_random": 2}
        report = report_of(tmp_path / folder, ONE, trained, random, other, right=rights)
        rows = {row["name"]: row for row in encoders(report)}
        expected = {"random": "bert_random", "above": above, "compared": 2}
        assert {name: rows["bert"][name] for name in expected} == expected
        assert not any("above" in row for name, row in rows.items() if name != "bert")
        line = f"better than its own random weights (bert_random) on {above} of 2 datasets"
        assert describe_encoder(report, trained).endswith(f", {line}")
        assert "own random" not in describe_encoder(report, random) + describe_encoder(report, ONE)


def test_layers(tmp_path: Path) -> None:
    report = report_of(tmp_path, ONE, DEEP)
    (profile,) = profiles(report)
    assert (profile.encoder, profile.layers, profile.apart) == ("deep", ("0", "1", "2"), ("avg",))
    assert profile.datasets == ("sp_wiki", "dr_rst")
    assert profile.groups == (benchmarks.SP, benchmarks.DR)
    assert profile.best == ((2,), (0,))
    assert profile.average_best == 1.0


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
    bold = [row["strong"] for row in select(layers, report, encoder="deep")]
    assert bold == [True, False, False, True, True, True, False, False]
    assert even.best == ((0, 1, 2), (0, 1, 2))


@pytest.mark.parametrize("protocol", ["standard", "senteval"])
def test_scores_that_depend_on_the_scale(tmp_path: Path, protocol: str) -> None:
    report = report_of(tmp_path, replace(ONE, protocol=ONE.protocol | {"name": protocol}))
    warning = "does not standardise features, so that probe scores depend on the scale"
    assert (warning in tables_text(report)) == (protocol == "senteval")


@pytest.mark.parametrize("missing", [0, 1])
def test_the_papers_averages_stand_beside_whole_benchmarks(tmp_path: Path, missing: int) -> None:
    names = ["sick_es_r", "sts14_es", "sts15_es", "sts17_es"][missing:]
    rows = {name: {"test": PAPERS[0].rows[name]} for name in names}
    item = tuple(replace(STS, dataset=name, rows=rows[name]) for name in names)
    baselines = dict.fromkeys(names, ALL_BASELINES["sts14_es"])
    audit = audit_file(tmp_path, baselines, **rows)
    results = [replace(ONE, scores=item)]
    report = report_of(tmp_path, *results, audit=audit)
    found = select(means, report, kind="published", group="SS")
    shown = {row["encoder"]: row["value"] for row in found}
    papers = [f"{name}, Araujo et al. (2022)" for name in PAPERS[0].scores]
    assert list(shown) == papers * (not missing)
    if not missing:
        assert shown[papers[-1]] == pytest.approx(0.526, abs=5e-4)  # mBERT; another is printed


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
    assert (report.dataset_marks(score.dataset)["char_hash"] == "b") == beats
    chance = 0.0 if majority is None else 0.5
    best = max((trivial, "length"), (majority or -1.0, "majority"), (chance, "chance"))
    assert report.inputs.best_baseline(score.dataset) == best[::-1]


@pytest.mark.parametrize(("interval", "half_width", "shown"), CASES["errors"])
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


@pytest.mark.parametrize(("documents", "mark"), [(1, "‡"), (2, "‡"), (3, "")])
def test_the_marks_of_a_test_of_few_documents_and_of_a_source_that_leaks(
    tmp_path: Path, documents: int, mark: str
) -> None:
    audit = audit_file(tmp_path, ALL_BASELINES)
    change_audit(audit, "mc", gate="leakage", verdict="inherited")
    change_audit(audit, "sp_wiki", gate="leakage", verdict="pass")
    scores = (MC, DR, replace(SP, test_documents=documents))
    report = report_of(tmp_path, replace(ONE, scores=scores), audit=audit)
    assert [dataset_marks(report, name) for name in ("mc", "sp_wiki")] == ["¶", mark]


@pytest.mark.parametrize(("detectable", "sample"), [(0.121, False), (0.12, False), (0.121, True)])
def test_a_test_that_is_too_small_is_marked_and_not_averaged(
    tmp_path: Path, detectable: float, sample: bool
) -> None:
    audit = audit_file(tmp_path, BASELINES)
    check = {"gate": "size", "what": DETECTABLE, "verdict": "pass", "limit": None}
    change_audit(audit, "dr_rst", value=detectable, **check)
    report = report_of(tmp_path, ONE, audit=audit, samples=["dr_rst"] if sample else [])
    small = detectable > DETECTABLE_AT_MOST
    small = detectable > DETECTABLE_AT_MOST
    (table,) = tables_of(report, "averages")
    left_out = small and not sample
    assert table.header[1].text == ("All (1 of 11)" if left_out else "All (2 of 11)")
    said = "Tests too small to tell encoders apart, so not in the means: dr_rst."
    assert (said in " ".join(table.about)) == left_out
    assert table.rows[0][1][1].text == ("45.2" if left_out else "37.6")
    assert ("*" in dataset_marks(report, "dr_rst")) == small


def test_what_is_chosen_on_validation_is_the_baseline_to_beat(tmp_path: Path) -> None:
    audit = audit_file(tmp_path, BASELINES)
    say_of_dataset(audit, "sp_wiki", chosen="length")
    report = report_of(tmp_path, ONE, audit=audit)
    assert report.inputs.best_baseline("sp_wiki") == ("length", 0.231)
    assert report.baseline_score("sp_wiki") == 0.231


@pytest.mark.parametrize(("dataset", "baseline", "verdict"), CASES["near"])
def test_a_baseline_near_the_best_encoder_is_said(
    tmp_path: Path, dataset: str, baseline: float, verdict: str
) -> None:
    audit = audit_file(tmp_path, BASELINES | {dataset: {"majority": 0.2, "length": baseline}})
    report = report_of(tmp_path, ONE, audit=audit)
    assert verdict_on(report, dataset, "baselines") == verdict


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
    assert [round(row["value"], 3) for row in published_scores(report, "sp_wiki")][:2] == [
        0.428,
        0.445,
    ]
    assert list(published_scores(report, "mc")) == []
    assert published_ranges(report, "sp_wiki") == {"Araujo et al. (2022)": "42.8 … 52.0"}
    # The note is of the papers that are shown.
    text = tables_text(report)
    assert "Araujo et al. (2022) on the files published in 2022" in text
    assert "Chen et al. (2019), paper" not in text
    assert {row["dataset"]: row["reason_not_shown"] for row in papers(report)} == {
        "mc": "15 rows here, 2,623 in the paper",
        "sp_wiki": "",
    }
    for average in report.averages:
        found = list(published_means(report, replace(average, missing=())))
        assert len(found) == 7 * (average.name == "spanish_discoeval SP")


def test_a_mean_of_a_paper_stands_beside_one_of_the_same_datasets() -> None:
    """By name: the sizes of all sets are the paper's."""
    entries = BENCHMARKS["english_senteval"]

    def any_score(name: str) -> Any:
        return SimpleNamespace(task=entries[name]["task"], n_rows=CAMERA_READY.rows.get(name, 9))

    report: Any = SimpleNamespace(inputs=SimpleNamespace(samples=frozenset(), any_score=any_score))
    tasks = {name: entry["task"] for name, entry in entries.items()}
    averages = list_averages(tasks, dict.fromkeys(tasks, "english_senteval"))
    bert = "BERT-Base, Chen et al. (2019), paper"
    found = {
        average.name.removeprefix("english_senteval "): each["value"]
        for average in averages
        for each in published_means(report, average)
        if each["encoder"] == bert
    }
    shown = {"USS": 0.301, "SSS": 0.663, "Probing": 0.739}
    grouped = {f"chen2019 {group}": value for group, value in shown.items()}
    assert found == pytest.approx({"chen2019 SC": 0.814} | grouped | shown)
    # Without a set of the group, and with another in its place.
    one = next(average for average in averages if average.name.endswith("chen2019 SC"))
    assert one.heading == "SC (7)"
    fewer = replace(one, datasets=one.datasets[1:])
    other = replace(one, datasets=(*one.datasets[1:], "sst2"))
    for changed in (fewer, other):
        assert "Chen" not in "".join(row["encoder"] for row in published_means(report, changed))
    # Of Wang et al., the logs have each set, and no mean.
    wang = {each.name: {*each.datasets} for each in averages if each.grouping == "wang2022"}
    assert {"mrpc", "sick_en_e"} in wang.values()
    pairs = next(each for each in averages if each.name == "english_senteval wang2022 SPC")
    simcse = [row for row in published_means(report, pairs) if row["encoder"].startswith("SimCSE")]
    assert [row["value"] for row in simcse] == [pytest.approx((0.7183 + 0.8027) / 2)]


def test_means_in_the_groups_of_a_paper_are_a_table_of_their_own(tmp_path: Path) -> None:
    names = ["mr", "scicite"]
    probed = [replace(MC, dataset=name) for name in names]
    baselines = dict.fromkeys(names, ALL_BASELINES["mc"])
    audit = audit_file(tmp_path, baselines, **dict.fromkeys(names, MC.rows))
    report = report_of(tmp_path, replace(ONE, scores=tuple(probed)), audit=audit)
    ours = {(row["grouping"], row["heading"]) for row in means(report)}
    assert ours == {
        *(("", heading) for heading in ("SC (1 of 8)", "CI (1)", "All (2 of 43)")),
        *(("chen2019", "SC (1 of 7)"), ("wang2022", "SC (2 of 8)")),
    }
    titles = [f"Averages: english_senteval{each}" for each in ("", *map(grouped_by, GROUPINGS))]
    text = tables_text(report)
    assert [line[3:].replace("\\", "") for line in text.splitlines() if "## Aver" in line] == titles


def grouped_by(name: str) -> str:
    return f", in the groups of {name}"


def test_ranks_of_the_paper_stand_beside_as_many_pairs() -> None:
    inputs = SimpleNamespace(samples=frozenset(), benchmark=lambda _: "evalrank")
    report: Any = SimpleNamespace(inputs=inputs)
    whole = replace(RANK, dataset="evalrank_en", pairs=6989)
    found = list(published_ranks(report, whole))
    simcse = [row for row in found if row["encoder"] == "SimCSE, Wang et al. (2022)"]
    assert {row["measure"]: round(row["value"], 3) for row in simcse} == {
        **{"MRR": 0.695, "Hits@1": 0.523, "Hits@3": 0.844}
    }
    assert len({row["encoder"] for row in found}) == 8
    assert list(published_ranks(report, replace(whole, pairs=60))) == []


def test_what_differs(tmp_path: Path) -> None:
    known = {name for entries in BENCHMARKS.values() for name in entries}
    assert differences()["benchmarks"].keys() <= BENCHMARKS.keys()
    assert differences()["tasks"].keys() <= TASKS.keys()
    assert differences()["datasets"].keys() <= known
    assert differences()["protocols"].keys() == PROTOCOLS.keys()
    for benchmark in ("spanish_discoeval", "discoeval", "evalrank", "paralex"):
        for name, entry in BENCHMARKS[benchmark].items():
            assert differences_of(name, entry["task"], benchmark), name
    theses = differences_of("sp_thesis", "sentence_position", "spanish_discoeval")
    assert [len(theses), "Universidad Católica" in theses[-1]] == [3, True]
    # Another dataset of this name has the task's alone.
    assert differences_of("sp_thesis", "sentence_position", "") == theses[1:2]
    found = concerned_by(report_of(tmp_path, ONE))
    assert next(iter(found.values())) == ["protocol standard"]
    assert found[theses[1]] == ["sp_wiki"]
