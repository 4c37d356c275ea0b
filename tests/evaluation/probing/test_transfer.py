"""Probes on datasets that they were not trained on: families, exact scores, the cache, tables."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from instance_files import row, write_dataset
from report_files import DEEP, ONE, report_of

from evaluation.datasets import find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders import make_encoder
from evaluation.probing.probing import probe_datasets
from evaluation.probing.protocols import Probing, standard
from evaluation.probing.protocols.problem import ProbeOutput, Problem
from evaluation.probing.transfer import add_transfers, find_families
from evaluation.results.scores import Results, Score, Transfer, read_results, write_results
from probeta.report.formats import _shade
from probeta.report.tables.scores import transfer as tables_of
from probeta.report.tables.scores import transfer_layers

ENCODER = make_encoder("char_hash", {"dimension": 16})
TASK = "sentence_classification"
NAMES = ("negative", "positive")
PROBING = Probing(transfer=[TASK])


def rows(*, flip: bool = False, first: int = 0) -> list[dict[str, Any]]:
    """Return 90 rows in five folds; the class is told by a word, but for some rows."""
    return [
        row(
            i,
            (i + flip) % 2,
            document=f"d{i // 3}",
            fold=i // 2 % 5,
            sentence=f"{'Me gusta' if (i + i // 7) % 2 else 'No sé'} el faro {i * i}.",
        )
        for i in range(first, first + 90)
    ]


def write(name: str, given: Sequence[dict[str, Any]], labels: Sequence[str] = NAMES) -> None:
    splits = {"train": given[:50], "validation": given[50:70], "test": given[70:]}
    write_dataset(Path("i", name), TASK, splits, labels=labels)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Return the results, with transfers, on datasets in the new current folder."""
    monkeypatch.chdir(tmp_path)
    write("one", rows())
    write("same", rows())
    write("contrary", rows(flip=True))
    write("renumbered", rows(flip=True), NAMES[::-1])
    write("alien", rows(), ("no", "yes"))
    folded = rows(first=90)
    write_dataset(Path("i/folded"), TASK, {"train": folded})
    return transferred()


def transferred() -> Results:
    datasets = find_datasets(Path("i"))
    embed_datasets(Path("store"), ENCODER, datasets)
    found = probe_datasets("mine", ENCODER, datasets, Path("store"), seed=1, probing=PROBING)[0]
    return add_transfers(found, ENCODER, datasets, Path("store"), PROBING)


def of(results: Results, target: str, *sources: str) -> Score:
    found = {(each.score.dataset, each.sources): each.score for each in results.transfers}
    return found[target, sources]


def usual(results: Results, name: str) -> Score:
    (found,) = (score for score in results.scores if score.dataset == name)
    return found


def test_a_family_has_one_task_and_the_same_classes(results: Results) -> None:
    (family,) = find_families(find_datasets(Path("i")), [TASK])
    names = [dataset.name for dataset in family]
    assert names == ["contrary", "folded", "one", "renumbered", "same"]
    assert find_families(find_datasets(Path("i")), ["similarity"]) == []
    pairs = {(one, other) for one in names for other in names if one != other}
    single = [t for t in results.transfers if len(t.sources) == 1]
    assert {(t.sources[0], t.score.dataset) for t in single} == pairs
    assert len(single) == len(pairs) == len(results.transfers) - len(names)
    assert usual(results, "alien").value == usual(results, "one").value


def test_a_source_equal_to_the_target_gives_the_usual_score(results: Results) -> None:
    score = usual(results, "one")
    assert 0.6 < score.value < 1
    same = of(results, "same", "one")
    assert same == replace(score, dataset="same", digest=same.digest, texts="", vectors="")
    assert of(results, "renumbered", "one").value == score.value
    assert of(results, "contrary", "one").value == pytest.approx(1 - score.value)
    # Of four, one says the contrary, and "folded" has other rows.
    others = ("contrary", "folded", "renumbered", "same")
    assert of(results, "one", *others).value > 0.5


def test_the_first_fold_chooses_and_all_folds_are_asked(results: Results) -> None:
    folded = rows(first=90)
    splits = {
        "train": [r for r in folded if r["fold"]],
        "validation": [r for r in folded if not r["fold"]],
        "test": rows()[70:],
    }
    write_dataset(Path("i/folded"), TASK, splits)
    Path("i/one").rename("i/gone")
    found = usual(transferred(), "folded")
    carried = of(results, "one", "folded")
    assert (carried.value, carried.answers) == (found.value, found.answers)
    assert of(results, "folded", "same").interval != of(results, "one", "same").interval
    assert usual(results, "folded").n_rows == 90


def test_cached_transfers_are_reused_until_rows_change(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Problem] = []
    answer = standard.fit_predict

    def counted(problem: Problem, *options: Any) -> ProbeOutput:
        calls.append(problem)
        return answer(problem, *options)

    monkeypatch.setattr(standard, "fit_predict", counted)
    assert transferred().transfers == results.transfers
    assert len(calls) == 0
    write("same", rows(flip=True))
    assert of(transferred(), "same", "one") != of(results, "same", "one")
    assert len(calls) == 10
    write_results(results, [], Path("r"))
    assert read_results(Path("r")) == results


def carried(source: str, target: str, value: float, layer: str = "output") -> Transfer:
    (score,) = (each for each in ONE.scores if each.dataset == target)
    return Transfer((source,), replace(score, layer=layer, value=value))


def test_the_tables(tmp_path: Path) -> None:
    pairs = [("dr_rst", "sp_wiki", 0.3), ("sp_wiki", "dr_rst", 0.25)]
    main = replace(ONE, transfers=tuple(carried(*pair) for pair in pairs))
    deep = [carried(*pair, layer) for layer in DEEP.encoder["layers"] for pair in pairs]
    report = report_of(tmp_path, main, replace(DEEP, transfers=tuple(deep)))
    table, other = tables_of(report)
    assert [table.title, other.title] == [
        f"Transfer: discourse relations, {name}" for name in report.names
    ]
    assert table.about
    assert not other.about
    (of_one,) = (each for each in (table, other) if each.title.endswith("char_hash"))
    cells = {row.cells[0].text: row.cells[1:] for row in of_one.rows}
    dr, sp = ONE.scores
    assert [cell.text for cell in cells["sp_wiki"]] == ["25.0", f"{100 * sp.value:.1f}"]
    assert [cell.strong for cell in cells["sp_wiki"]] == [False, True]
    shade = (0.25 - dr.majority) / (dr.value - dr.majority)
    assert [cell.shade for cell in cells["sp_wiki"]] == [pytest.approx(shade), 1]
    assert [_shade(place) for place in (1.0, 0.0, -3.0)] == ["high-5", "high-0", "low-5"]
    (layers,) = transfer_layers(report)
    assert [cell.text for cell in layers.rows[0].cells] == [
        *("deep", "discourse relations", "0", "30.0", "27.5", "–")
    ]
