"""The study: correlations over encoders, and how valid the averages are."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from instance_files import row, write_dataset
from report_files import DR, ONE, RANK, RANKED, SP, STS, cells, names, report_of
from scipy import stats
from validity import agreement, benchmark_rows, dataset_rows

from builders.audit_report import DETECTABLE
from evaluation.arrays import Doubles
from evaluation.datasets import find_datasets
from evaluation.results.scores import Score
from probeta.cli import main
from probeta.cli.report import SCORES_COLUMNS
from probeta.report.inputs import Datasets, find_sources
from probeta.report.layout import Cell
from probeta.report.tables.compared import levels, measures, related, sources

# --- study ---------------------------------------------------------------------------------------


def scores(*values: float) -> Doubles:
    """Return the scores of as many encoders."""
    return np.array(values, float)


def interval(cell: Cell | None) -> tuple[float, ...]:
    assert cell
    return tuple(float(end) for end in cell.detail.split("]")[0].strip("[").split(", "))


@pytest.mark.parametrize(
    ("order", "squares", "interval"),
    [
        # z = 1.183562, √((1 + 0.686531 / 2) / 3) = 0.669145.
        ((1, 0, 3, 2, 5, 4), 6, "[-12.7, 98.6]"),
        # z = 1.412917, √((1 + 0.788743 / 2) / 9) = 0.393612.
        ((2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9), 32, "[56.6, 97.5]"),
    ],
)
def test_the_interval_is_bonett_and_wrights(
    order: Sequence[float], squares: int, interval: str
) -> None:
    count = len(order)
    found = related(scores(*range(count)), scores(*order))
    assert found
    assert found.value == pytest.approx(1 - 6 * squares / (count * (count**2 - 1)))
    assert (found.detail, found.strong) == (f"{interval} n = {count}", count > 6)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((1, 2), (1, 2), None),
        ((), (), None),
        ((1, 2, 3), (1, 3, 2), (0.5, "n = 3")),
        ((1, 2, 3, 4, 5), (1, 2, 3, 5, 4), (0.9, "n = 5")),
        # Of one order there is no interval.
        (range(6), range(6), (1.0, "n = 6")),
        (range(6), range(6, 0, -1), (-1.0, "n = 6")),
        # Encoders that lack a score are left out; scores that differ by rounding are ties.
        ((1, 2, 3, 4), (3, 2, 1, math.nan), (-1.0, "n = 3")),
        ((0.1 + 0.2, 0.3, 0.3), (1, 2, 3), None),
    ],
)
def test_how_many_encoders_it_takes(
    one: Sequence[float], other: Sequence[float], expected: tuple[float, str] | None
) -> None:
    found = related(scores(*one), scores(*other))
    assert (found and (pytest.approx(found.value), found.detail)) == expected


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_only_orders_count(pairs: list[tuple[int, int]]) -> None:
    one, other = (scores(*side) for side in zip(*pairs, strict=True))
    found = related(one, other)
    assert found == related(other, one) == related(one**3, other)
    assert found == related(one[::-1], other[::-1])
    assert (found is None) == (len({*one}) == 1 or len({*other}) == 1)
    if found:
        turned = related(-one, other)
        assert turned
        assert turned.value == -(found.value or 0)
    if found and "[" in found.detail:
        low, high = interval(found)
        assert -100 <= low < 100 * (found.value or 0) < high <= 100


def test_the_mean_over_all_orders_is_nothing() -> None:
    found = [related(scores(1, 2, 3, 4), scores(*order)) for order in permutations(range(4))]
    assert sum(cell.value or 0 for cell in found if cell) == pytest.approx(0)


def test_pearsons_interval_is_fishers() -> None:
    one, other = scores(1, 2, 3, 4, 5, 9), scores(2, 1, 4, 3, 7, 8)
    found, expected = related(one, other, "Pearson"), stats.pearsonr(one, other)
    assert found
    assert found.value == pytest.approx(expected.statistic)
    assert interval(found) == pytest.approx(
        [100 * x for x in expected.confidence_interval()], abs=0.06
    )


def test_levels_mean_ranks_and_the_find_sources_pairs(tmp_path: Path) -> None:
    """Answers are kept of 20 rows with gold 0 … 3: ten rows as the gold score, ten 1 above it."""
    ranked = replace(RANKED, scores=(replace(RANK, alignment=0.5, uniformity=-2.25),))
    report = report_of(tmp_path, replace(ONE, scores=(STS,)), rankings=[ranked])
    (table,) = levels(report)
    assert names(table) == ["Dataset", "Encoder", "60–100 %", "40–80 %", "20–60 %", "0–40 %"]
    gold = np.tile([0.0, 1, 2, 3], 5)
    low, high = (gold <= 1), (gold >= 2)
    answers = gold + (np.arange(20) >= 10)
    expected = [100 * stats.spearmanr(gold[part], answers[part])[0] for part in (high, low)]
    assert [float(cells(table)[0][place]) for place in (2, 5)] == pytest.approx(expected, abs=0.05)
    assert table.rows[0].cells[2].detail == "mean 310.0, n = 10"
    # All of one score.
    assert cells(table)[0][3:5] == ["0.0", "0.0"]
    (table,) = measures(report)
    shown = dict(cells(table))
    assert shown["evalrank_es mean rank, cosine"] == "40.250"
    assert (shown["evalrank_es alignment"], shown["evalrank_es uniformity"]) == ("0.500", "-2.250")
    # Of 1,300 pairs the first half has rank 1, the others 4.
    pairs = [frozenset((f"p{n:04}",) * 2 for n in some) for some in (range(100), range(600, 700))]
    rest = frozenset((f"p{n:04}",) * 2 for n in range(1300)) - pairs[0] - pairs[1]
    given = {"evalrank_es": {"sts14_es": pairs[0], "sick": pairs[1], "": rest}}
    (table,) = sources(replace(report, inputs=replace(report.inputs, sources=given)))
    assert names(table) == ["Encoder", "sts14_es", "sick", "no dataset"]
    assert cells(table) == [["char_hash", "100.0", "62.5", "59.1"]]
    assert table.rows[0].cells[3].detail.endswith("] n = 1,100")


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
