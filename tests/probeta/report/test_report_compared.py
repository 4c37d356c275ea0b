"""Averages, editions, languages and the study: what is compared, and how surely."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st
from instance_files import row, write_dataset
from report_files import (
    ALL_BASELINES,
    CLUSTERED,
    DR,
    MC,
    ONE,
    PARADIGM,
    RANK,
    RANKED,
    SP,
    STS,
    audit_file,
    cells,
    kept,
    names,
    of_encoder,
    report_of,
    say_of_dataset,
    tables_of,
)
from scipy import stats
from validity import agreement, benchmark_rows, dataset_rows

from builders.audit_report import DETECTABLE
from builders.tasks import benchmarks
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN
from evaluation.arrays import Doubles
from evaluation.datasets import find_datasets
from evaluation.measures import jackknife_half_width, leave_out_means
from evaluation.results.comparison import JackknifeScore
from evaluation.results.scores import Score
from probeta.cli import main
from probeta.cli.report import SCORES_COLUMNS
from probeta.report.inputs import OWN, Datasets, find_sources, read_inputs
from probeta.report.statistics import (
    Report,
    compare_editions,
    list_averages,
    mean_score,
    order_report,
)
from probeta.report.tables.compared import languages, shared_tasks, tasks_in_languages
from probeta.report.tables.study import correlate, levels, measures, sources, study, study_datasets

TABLES = read_tables(__file__)

# --- report languages ----------------------------------------------------------------------------

WIKIPEDIA: dict[str, Any] = {"from": ["wikipedia"], "options": {}}
NEWS: dict[str, Any] = {"from": ["news"], "options": {}}


EDITIONS = {"sp_old": ("es", WIKIPEDIA), "sp_new": ("pt", WIKIPEDIA)}


def report_of_languages(folder: Path, made: dict[str, tuple[str, dict[str, Any]]]) -> Report:
    """Return the results of two encoders on sentence position: dataset to language and making."""
    scores = tuple(
        replace(SP, dataset=name, language=language) for name, (language, _) in made.items()
    )
    baselines = {name: {"majority": 0.2, "length": 0.3} for name in made}
    path = audit_file(folder, baselines, **dict.fromkeys(made, SP.rows))
    for name, (_, making) in made.items():
        say_of_dataset(path, name, made=making)
    better = tuple(replace(score, value=0.6, interval=(0.58, 0.62)) for score in scores)
    other = replace(ONE, name="other", encoder=ONE.encoder | {"encoder": "static"}, scores=better)
    results = kept(folder, replace(ONE, scores=scores), other, right={"other": 15})
    return order_report(read_inputs(results, path))


def with_edition(report: Report) -> Report:
    """Return the same report if sp_new were a newer edition of sp_old."""
    edition = {"sp_new": {**report.inputs.audit["sp_new"], "edition_of": "sp_old"}}
    audit = {"datasets": report.inputs.audit | edition}
    return order_report(replace(report.inputs, audit_report=audit))


def test_the_same_task_stands_side_by_side(tmp_path: Path) -> None:
    made = {
        "sp_es": ("es", WIKIPEDIA),
        "sp_en": ("en", WIKIPEDIA),
        "news_es": ("es", NEWS),
        "news_en": ("en", NEWS),
        "news_pt": ("pt", NEWS),
        "alone": ("es", {"from": ["theses"], "options": {}}),
    }
    report = report_of_languages(tmp_path, made)
    news, wikipedia = shared_tasks(report)
    assert news.name == "sentence position: news"
    assert news.datasets == {"en": "news_en", "es": "news_es", "pt": "news_pt"}
    assert wikipedia.datasets == {"en": "sp_en", "es": "sp_es"}
    assert news.different == wikipedia.different == frozenset()
    # Of the two, only one is in all languages.
    assert {(row["language"], row["tasks"]) for row in languages(report)} == {
        (language, "sentence position: news") for language in ("en", "es", "pt")
    }
    # A language that has other tasks alone takes nothing away from the others' means.
    made["ssp_fr"] = ("fr", {"from": ["theses"], "options": {"a": "b"}})
    more = report_of_languages(tmp_path / "more", made)
    assert list(languages(more)) == list(languages(report))


def test_what_is_made_otherwise_is_in_no_mean(tmp_path: Path) -> None:
    similar = {"from": ["wikipedia"], "options": {"donors": "similar"}}
    made = {"dc_es": ("es", WIKIPEDIA), "dc_en": ("en", similar), "dc_pt": ("pt", WIKIPEDIA)}
    report = report_of_languages(tmp_path, made)
    (task,) = shared_tasks(report)
    assert task.different == {"en"}
    assert list(languages(report)) == []
    different = {row["language"]: row["different"] for row in tasks_in_languages(report)}
    assert different == {"en": True, "es": False, "pt": False}
    # With two, neither is as the other.
    made.pop("dc_pt")
    (task,) = shared_tasks(report_of_languages(tmp_path / "two", made))
    assert task.different == {"en", "es"}
    # The one that is made as in the other language is taken.
    made["dc_en_too"] = ("en", WIKIPEDIA)
    (task,) = shared_tasks(report_of_languages(tmp_path / "three", made))
    assert task.datasets == {"en": "dc_en_too", "es": "dc_es"}
    assert task.different == frozenset()


def test_an_edition_stands_in_no_row(tmp_path: Path) -> None:
    report = report_of_languages(tmp_path, EDITIONS)
    assert len(shared_tasks(report)) == 1
    assert shared_tasks(with_edition(report)) == []


@pytest.mark.parametrize("making", [None, WIKIPEDIA])
def test_a_report_in_one_language_has_no_such_table(
    tmp_path: Path, making: dict[str, Any] | None
) -> None:
    report = report_of_languages(
        tmp_path, {"sp_a": ("es", making or {}), "sp_b": ("es", making or {})}
    )
    assert list(tasks_in_languages(report)) == []


def test_clusters_stand_side_by_side_by_the_shared_words(tmp_path: Path) -> None:
    datasets = ("paralex_es", "paralex_en")
    audit = audit_file(tmp_path, ALL_BASELINES, datasets)
    for name in datasets:
        say_of_dataset(audit, name, made=WIKIPEDIA)
    english = replace(PARADIGM, dataset="paralex_en", language="en")
    paradigms = [replace(CLUSTERED, scores=(PARADIGM, english))]
    report = report_of(tmp_path, ONE, paradigms=paradigms, audit=audit)
    (task,) = shared_tasks(report)
    assert (task.name, task.measure) == ("paradigms", "suggestion, shared words, as is")
    assert {mean.value for mean in task.scores["char_hash"].values()} == {PARADIGM.suggestion}


# --- study ---------------------------------------------------------------------------------------


def scores(*values: float) -> Doubles:
    """Return the scores of as many encoders."""
    return np.array(values, float)


@pytest.mark.parametrize(("order", "squares", "interval"), TABLES["intervals"])
def test_the_interval_is_bonett_and_wrights(
    order: Sequence[float], squares: int, interval: tuple[float, float]
) -> None:
    count = len(order)
    found = correlate(scores(*range(count)), scores(*order))
    assert found
    assert found.value == pytest.approx(1 - 6 * squares / (count * (count**2 - 1)))
    assert (found.interval, found.encoders) == (pytest.approx(interval, abs=5e-4), count)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 2), (1, 2), None),
        ((), (), None),
        ((1, 2, 3), (1, 3, 2), (0.5, 3)),
        ((1, 2, 3, 4, 5), (1, 2, 3, 5, 4), (0.9, 5)),
        # Of one order there is no interval.
        (range(6), range(6), (1.0, 6)),
        (range(6), range(6, 0, -1), (-1.0, 6)),
        # Encoders that lack a score are left out; scores that differ by rounding are ties.
        ((1, 2, 3, 4), (3, 2, 1, math.nan), (-1.0, 3)),
        ((0.1 + 0.2, 0.3, 0.3), (1, 2, 3), None),
    ],
)
def test_how_many_encoders_it_takes(
    one: Sequence[float], other: Sequence[float], expected: tuple[float, int] | None
) -> None:
    found = correlate(scores(*one), scores(*other))
    assert (found and found.interval) is None
    assert (found and (pytest.approx(found.value), found.encoders)) == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_only_orders_count(pairs: list[tuple[int, int]]) -> None:
    one, other = (scores(*side) for side in zip(*pairs, strict=True))
    found = correlate(one, other)
    assert found == correlate(other, one) == correlate(one**3, other)
    assert found == correlate(one[::-1], other[::-1])
    assert (found is None) == (len({*one}) == 1 or len({*other}) == 1)
    if found:
        turned = correlate(-one, other)
        assert turned
        assert turned.value == -found.value
    if found and found.interval:
        low, high = found.interval
        assert -1 <= low < found.value < high <= 1


def test_the_mean_over_all_orders_is_nothing() -> None:
    found = [correlate(scores(1, 2, 3, 4), scores(*order)) for order in permutations(range(4))]
    assert sum(each.value for each in found if each) == pytest.approx(0)


def test_pearsons_interval_is_fishers() -> None:
    one, other = scores(1, 2, 3, 4, 5, 9), scores(2, 1, 4, 3, 7, 8)
    found, expected = correlate(one, other, "Pearson"), stats.pearsonr(one, other)
    assert found
    assert found.value == pytest.approx(expected.statistic)
    assert found.interval == pytest.approx([*expected.confidence_interval()])


def test_levels_and_the_sources_of_pairs(tmp_path: Path) -> None:
    """Answers are kept of 20 rows with gold 0 … 3: ten rows as the gold score, ten 1 above it."""
    ranked = replace(RANKED, scores=(replace(RANK, alignment=0.5, uniformity=-2.25),))
    report = report_of(tmp_path, replace(ONE, scores=(STS,)), rankings=[ranked])
    found = list(levels(report))
    assert [row["level"] for row in found] == ["60–100 %", "40–80 %", "20–60 %", "0–40 %"]
    gold = np.tile([0.0, 1, 2, 3], 5)
    low, high = (gold <= 1), (gold >= 2)
    answers = gold + (np.arange(20) >= 10)
    expected = [stats.spearmanr(gold[part], answers[part])[0] for part in (high, low)]
    assert [found[place]["value"] for place in (0, 3)] == pytest.approx(expected)
    assert (found[0]["mean"], found[0]["pairs"]) == (pytest.approx(3.1), 10)
    # All of one score.
    assert [found[place]["value"] for place in (1, 2)] == [0, 0]
    shown = {row["score"]: row["value"] for row in measures(report)}
    assert shown["evalrank_es mean rank, cosine"] == 40.25
    assert (shown["evalrank_es alignment"], shown["evalrank_es uniformity"]) == (0.5, -2.25)
    # Of 1,300 pairs the first half has rank 1, the others 4.
    pairs = [frozenset((f"p{n:04}",) * 2 for n in some) for some in (range(100), range(600, 700))]
    rest = frozenset((f"p{n:04}",) * 2 for n in range(1300)) - pairs[0] - pairs[1]
    given = {"evalrank_es": {"sts14_es": pairs[0], "sick": pairs[1], "": rest}}
    found = list(sources(replace(report, inputs=replace(report.inputs, sources=given))))
    assert [(row["source"], row["value"], row["pairs"]) for row in found] == [
        *(("sts14_es", 1.0, 100), ("sick", 0.625, 100)),
        ("no dataset", pytest.approx(0.591, abs=5e-4), 1100),
    ]


SIX = [
    replace(
        ONE,
        name=f"encoder{number}",
        scores=tuple(
            replace(score, value=value / 10)
            for score, value in ((SP, sp), (STS, number + 1), (MC, number))
        ),
    )
    for number, sp in enumerate((2, 1, 3, 4, 6, 5))
]


def test_what_correlates_with_tasks(tmp_path: Path) -> None:
    rankings = []
    for results, mrr in zip(SIX[:4], (0.4, 0.3, 0.2, 0.1), strict=True):
        ranked, _ = of_encoder(results, RANKED, CLUSTERED)
        rankings.append(replace(ranked, scores=(replace(RANK, mrr=mrr),)))
    paradigms = [of_encoder(results, RANKED, CLUSTERED)[1] for results in SIX]
    report = report_of(tmp_path, *SIX, rankings=rankings, paradigms=paradigms)
    # What is the same for all encoders correlates with nothing, and is not shown.
    benchmarks, pearson = tables_of(report, "study")
    assert names(benchmarks) == ["Score", "spanish_senteval SC (1)", "spanish_discoeval SP (1)"]
    assert cells(benchmarks) == [
        ["sts14_es Pearson", "100.0 n = 6", "88.6 [6.6, 99.2] n = 6 +"],
        ["evalrank_es MRR, cosine", "-100.0 n = 4", "-80.0 n = 4"],
    ]
    assert (benchmarks.name, pearson.name) == ("study-Spearman", "study-Pearson")
    assert [row["tasks"] for row in study_datasets(report)][:2] == ["mc", "sp_wiki"]


def test_without_post_processed_encoders(tmp_path: Path) -> None:
    processed = {**ONE.encoder, "options": {"postprocessing": "abtt"}}
    given = [*SIX[:5], replace(SIX[5], encoder=processed)]
    tables = tables_of(report_of(tmp_path, *given), "study")
    ends = ["tasks", "tasks", *["tasks, without post-processed encoders"] * 2]
    assert [table.title.partition(" with ")[2] for table in tables] == ends
    counts = [cells(table)[0][2].partition(" n = ")[2] for table in tables]
    assert counts == ["6 +", "6 +", "5", "5"]


def test_a_study_needs_three_encoders_and_scores_of_both_kinds(tmp_path: Path) -> None:
    assert list(study(report_of(tmp_path / "two", *SIX[:2]))) == []
    for item in (STS, SP):
        report = report_of(tmp_path / item.task, *(replace(one, scores=(item,)) for one in SIX))
        assert list(study(report)) == list(study_datasets(report)) == []


def test_a_pair_is_from_the_datasets_that_have_its_texts(tmp_path: Path) -> None:
    def text(key: str, words: str, *positives: str) -> dict[str, object]:
        facts = {"id": key, "text": words, "tokens": words, "document_id": key}
        return {**facts, "positives": list(positives)}

    texts = [
        text("a", "El faro luce .", "b", "c"),
        text("b", "luce un faro", "a"),
        text("c", "Brilla.", "a"),
    ]
    pairs = [("Luce un faro.", "EL FARO LUCE"), ("Brilla.", "Se apaga.")]
    rows = [
        row(i, None, score=float(i), sentence1=one, sentence2=other)
        for i, (one, other) in enumerate(pairs)
    ]
    write_dataset(tmp_path / "ranking", "sentence_ranking", {"test": texts})
    for name, some in (("sts", rows), ("others", rows[1:])):
        write_dataset(tmp_path / name, "similarity", {"test": some})
    found = find_sources(find_datasets(tmp_path))
    of_ranking = {"sts": {("a", "b"), ("b", "a")}, "": {("a", "c"), ("c", "a")}}
    assert found == {"ranking": of_ranking}


def lines(*scores: str) -> str:
    """Return a file of scores such as "cos m1 evalrank - MRR 0.5"."""
    rows = [SCORES_COLUMNS, *(score.replace(" - ", "  ").split(" ") for score in scores)]
    return "".join("\t".join(row) + "\n" for row in rows)


FILE = lines(
    *("cos m1 evalrank - MRR 0.1", "cos m2 evalrank - MRR 0.3", "cos m3 evalrank - MRR 0.2"),
    *("l2 m1 similarity STS Spearman 0.3", "l2 m2 similarity STS Spearman 0.2"),
    *("l2 m3 similarity STS Spearman 0.1", "word w1 similarity RG Pearson 0.5"),
    *("cos m1 classification MR accuracy 70", "cos m2 classification MR accuracy 80"),
    *("cos m3 classification MR accuracy 90", "l2 m3 classification MR accuracy 1"),
)


def test_a_file_of_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a task the first score counts; what no task is known of, is in no table."""
    path = tmp_path / "scores.tsv"
    path.write_text(FILE, "utf-8")
    assert main(["study", "--scores", str(path)]) == 0
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    same = ["| cos evalrank MRR | 50.0 n = 3 |", "| l2 STS Spearman | -100.0 n = 3 |"]
    assert shown == ["| Score | MR |", "| --- | ---: |", *same] * 2
    for wrong, where in (
        (FILE.replace("\tMRR\t0.3", "\tMRR\tnan"), "scores.tsv, line 3\n"),
        (FILE.replace("measure", "metric"), "no measure"),
        (FILE.replace("m3", "m2"), "of three encoders or more"),
        ("", "an empty file"),
    ):
        path.write_text(wrong, "utf-8")
        assert main(["study", "--scores", str(path)]) == 1
        assert where in capsys.readouterr().err


# --- validity ------------------------------------------------------------------------------------


def run_of(*scores: Score, **values: float) -> Datasets:
    """Return a run whose encoders have these values on all datasets, exact to two points."""
    return {
        score.dataset: {
            name: replace(score, value=value, interval=(value - 0.02, value + 0.02))
            for name, value in values.items()
        }
        for score in scores
    }


def test_runs_are_compared_by_the_ranks_of_encoders() -> None:
    runs = [run_of(SP, DR, a=0.5, b=0.4, c=0.2), run_of(SP, DR, a=0.4, b=0.5, c=0.2)]
    baselines = [("majority", 0.2), ("length", 0.25)]
    checks = [{"gate": "baselines", "what": what, "value": value} for what, value in baselines]
    report = {
        "datasets": {
            name: {"checks": [*checks, {"gate": "size", "what": DETECTABLE, "value": detects}]}
            for name, detects in (("sp_wiki", 0.12), ("dr_rst", 0.121))
        }
    }
    sp, dr = dataset_rows(runs, report)
    assert sp == (
        *("sp_wiki", "0.33", "a 45.0", "1 of 2", "4 of 6", "4000", "21"),
        *("length 25.0", "12.0"),
    )
    assert (dr[0], *dr[-4:]) == ("dr_rst", "130", "25", "length 25.0", "12.1")
    assert [*benchmark_rows(runs, report)] == [
        ("spanish_discoeval", "0.33", "a 45.0", "1 of 2", "sp_wiki")
    ]


def test_agreement_is_of_shared_encoders_and_all_pairs_of_runs() -> None:
    up, down = {"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.2, "d": 0.9}
    assert agreement([up, up, down]) == pytest.approx((1 - 1 - 1) / 3)
    assert math.isnan(agreement([up]))


# --- averages ------------------------------------------------------------------------------------

TASKS = {
    "mc": "sentence_classification",
    "sp_mine": "sentence_position",
    "sp_wiki": "sentence_position",
    "dr_rst": "discourse_relations",
}
SHIPPED = {"mc": "spanish_senteval", "sp_wiki": "spanish_discoeval", "dr_rst": "spanish_discoeval"}


def test_averages_are_per_benchmark_and_say_what_is_missing() -> None:
    found = list_averages(TASKS, SHIPPED)
    assert [(one.name, one.heading, one.datasets) for one in found] == [
        ("spanish_senteval SC", "SC (1 of 5)", ("mc",)),
        ("spanish_senteval", "All (1 of 20)", ("mc",)),
        ("spanish_discoeval SP", "SP (1 of 3)", ("sp_wiki",)),
        ("spanish_discoeval DR", "DR (1)", ("dr_rst",)),
        ("spanish_discoeval", "All (2 of 11)", ("sp_wiki", "dr_rst")),
        ("own datasets SP", "SP (1)", ("sp_mine",)),
        ("own datasets", "All (1)", ("sp_mine",)),
    ]
    assert found[2].missing == ("sp_mlsum", "sp_thesis")
    assert {item.benchmark for item in found} == {"spanish_senteval", "spanish_discoeval", OWN}
    assert (found[0].group, found[1].group) == (benchmarks.SC, None)
    *_, small, _, every, of_users, _ = list_averages(TASKS, SHIPPED, {"sp_wiki", "sp_mine"})
    assert (small.datasets, small.too_small, small.heading) == ((), ("sp_wiki",), "SP (0 of 3)")
    assert (every.datasets, every.heading) == (("dr_rst",), "All (1 of 11)")
    assert (of_users.datasets, of_users.too_small) == ((), ("sp_mine",))


def test_a_whole_benchmark_misses_nothing_not_even_what_is_withdrawn() -> None:
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_discoeval"].items()}
    found = list_averages(tasks, dict.fromkeys(tasks, "spanish_discoeval"))
    headings = [one.heading for one in found]
    assert headings == ["SP (3)", "BSO (3)", "DC (3)", "SSP (1)", "DR (1)", "All (11)"]
    assert not any(one.missing for one in found)
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_senteval"].items()}
    *others, probing, every = list_averages(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert (probing.heading, probing.missing) == ("LPT (8)", ())
    assert every.heading == "All (20)"
    gone = {"somo": WITHDRAWN["spanish_senteval"]["somo"]["withdrawn"]}
    assert every.withdrawn == probing.withdrawn == gone
    assert not any(one.withdrawn for one in others)
    # In a package of before, it is one of the datasets.
    tasks["somo"] = "linguistic_probing"
    before = list_averages(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert [one.heading for one in before[-2:]] == ["LPT (9)", "All (21)"]
    assert not any(one.withdrawn for one in before)


def test_the_interval_of_a_mean() -> None:
    one = replace(SP, value=0.5, interval=(0.44, 0.53))
    other = replace(SP, value=0.7, interval=(0.62, 0.74))
    first, second = measured(answers(200, 100)), measured(answers(200, 60))
    assert mean_score([one], [first]).interval == pytest.approx(one.interval)
    found = mean_score([one, other], [first, replace(second, unit_numbers=np.arange(100, 200))])
    assert found.value == pytest.approx(0.6)
    # Half of √(.06² + .08²) and of √(.03² + .04²).
    assert found.interval == pytest.approx((0.55, 0.625))
    # The same documents, right and wrong in the same way: half of .06 + .08, and of .03 + .04.
    found = mean_score([one, other], [first, first])
    assert found.interval == pytest.approx((0.53, 0.635))


# --- editions ------------------------------------------------------------------------------------


def measured(right: np.ndarray) -> JackknifeScore:
    """Return the accuracy of answers, [rows], of two rows a document."""
    documents = np.arange(len(right)) // 2
    (left_out,) = leave_out_means(right[None].astype(float), documents)
    units = np.arange(len(left_out))
    return JackknifeScore("accuracy", float(right.mean()), left_out, len(right) / 2, units)


def answers(rows: int, wrong: int, first: int = 0) -> np.ndarray:
    right = np.ones(rows)
    right[(first + 7 * np.arange(wrong)) % rows] = 0
    return right


def test_variances_of_both_editions_add() -> None:
    floor = {"old": measured(answers(400, 200)), "new": measured(answers(300, 180, 1))}
    mine = {"old": measured(answers(400, 40)), "new": measured(answers(300, 90, 1))}
    found = compare_editions({"mine": mine, "floor": floor}, {"new": "old"}, "floor")
    first, second = ((e.encoder, e.new_score, e.old_score) for e in found)
    assert (first, second) == (("mine", pytest.approx(0.7), 0.9), ("floor", 0.4, 0.5))
    assert found[0].difference.value == pytest.approx(-0.2)
    ends = [
        jackknife_half_width(mine[name].value, mine[name].replicates, mine[name].units)
        for name in ("new", "old")
    ]
    assert found[0].difference.interval == pytest.approx((-0.2 - hypot(*ends), -0.2 + hypot(*ends)))
    assert not found[0].difference.tie
    beyond = found[0].difference_to_baseline
    assert beyond is not None
    assert beyond.value == pytest.approx(-0.1)
    ends = [
        jackknife_half_width(one.value - other.value, one.replicates - other.replicates, one.units)
        for one, other in zip(mine.values(), floor.values(), strict=True)
    ]
    assert beyond.interval == pytest.approx((-0.1 - hypot(*ends), -0.1 + hypot(*ends)))
    assert found[1].difference_to_baseline is None


def test_without_a_floor_or_an_edition() -> None:
    mine = {"old": measured(answers(40, 4)), "new": measured(answers(30, 9))}
    (found,) = compare_editions({"mine": mine}, {"new": "old"}, None)
    assert found.difference_to_baseline is None
    both = {"mine": mine, "floor": {"old": mine["old"]}}
    (found,) = compare_editions(both, {"new": "old"}, "floor")
    assert found.difference_to_baseline is None
    assert compare_editions({"mine": {"new": mine["new"]}}, {"new": "old"}, None) == []


def test_the_interval_holds_where_nothing_was_seen() -> None:
    # Both encoders find newer texts as hard as older ones, or both harder: no gap beyond the floor.
    generator = np.random.default_rng(1)
    misses = {"gap": 0, "beyond": 0}
    times = 400
    for _ in range(times):
        draws = {
            name: {
                edition: measured(generator.random(200) < share)
                for edition, share in (("old", old), ("new", old - harder))
            }
            for name, old, harder in (("same", 0.8, 0.0), ("floor", 0.5, 0.0))
        }
        (found, _) = compare_editions(draws, {"new": "old"}, "floor")
        assert found.difference_to_baseline is not None
        misses["gap"] += not found.difference.tie
        misses["beyond"] += not found.difference_to_baseline.tie
    for count in misses.values():
        assert 0.01 * times <= count <= 0.08 * times
