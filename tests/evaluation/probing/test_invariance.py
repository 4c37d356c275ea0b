"""Gate 10: that it measures, that it finds what it looks for, and how it ends."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from evaluation.probing.invariance import (
    SCALES,
    Outcome,
    Outcomes,
    Pass,
    judge,
    measure,
    predict,
)
from evaluation.results.invariance import read_invariance
from instance_files import row, write_dataset

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.running.errors import InputError
from evaluation.commands import main
from evaluation.data.instances import find_datasets
from evaluation.probing import invariance
from evaluation.probing.protocols import PROTOCOLS, standard
from evaluation.probing.protocols.problem import Answers, Problem

PAIRS: Any = "difference_product"
NAMES = ("dc", "fac", "sick", "ssp", "sts")
WORDS = ["faro", "tren", "pozo", "gato", "mapa", "vino", "reloj", "monte", "puente", "rana"]


def sentence(*key: object) -> str:
    drawn = (keyed_hash(3, *map(str, key), str(i)) % len(WORDS) for i in range(8))
    return " ".join(WORDS[i] for i in drawn) + "."


def ending(number: int, label: int) -> str:
    """Return what tells the label of two rows in three."""
    return " al fin" * (keyed_hash(number, "ending") % 3 < 2 * label)


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a task without hidden layer and, before it, one with.

    Besides, one with folds, one with scores, and one for which nothing is trained.
    """
    root = tmp_path_factory.mktemp("invariance")
    coherence = [
        row(i, i % 2, sentences=[sentence("dc", i, k) + ending(i, i % 2) for k in range(6)])
        for i in range(120)
    ]
    section = [row(i, i % 2, sentence=sentence("ssp", i) + ending(i, i % 2)) for i in range(120)]
    opinions = [row(i, i % 2, fold=i % 10, sentence=section[i]["sentence"]) for i in range(120)]
    pairs = [
        row(
            i,
            None,
            score=1 + 2 * (i % 3) + i % 7 / 7,
            sentence1=sentence("one", i),
            sentence2=" ".join([sentence("one", i)] * (i % 3) + [sentence("two", i)]),
        )
        for i in range(120)
    ]
    write_dataset(root / "fac", "sentence_classification", {"train": opinions})
    write_dataset(root / "sts", "similarity", {"test": pairs})
    for name, task, rows in (
        ("sick", "relatedness", pairs),
        ("dc", "discourse_coherence", coherence),
        ("ssp", "section_prediction", section),
    ):
        splits = {"train": rows[:60], "validation": rows[60:80], "test": rows[80:]}
        write_dataset(root / name, task, splits)
    return root


def outcome(share: float = 0, rows: int = 10) -> Outcome:
    """Return an outcome where that share of the predictions differs from the plain ones."""
    ones = round(share * rows)
    return Outcome("accuracy", 0.5, [1] * ones + [0] * (rows - ones))


def predicted(instances: Path, pair_features: Any, one: Pass) -> Outcomes:
    """Return what a pass in this process predicts."""
    with TemporaryDirectory() as store:
        invariance._embed(find_datasets(instances), Path(store), 5)
        return predict(instances, Path(store), 5, pair_features, one)


class Passes:
    """In place of processes: what they were asked for, and outcomes in which some changes show.

    Attributes:
        changes: dataset to what changes its answers: "order", "hash_seed" or "both" together.
        begun: the passes.
    """

    def __init__(self, **changes: str) -> None:
        self.changes = changes
        self.begun: list[Pass] = []

    def __call__(
        self, instances: Path, store: Path, seed: int, pair_features: str, one: Pass
    ) -> Outcomes:
        self.begun.append(one)
        seen = set()
        if one.datasets != tuple(sorted(one.datasets)):
            seen.add("order")
        if one.hash_seed == 2:
            seen.add("hash_seed")
        if len(seen) == 2:
            seen.add("both")
        found = {name: 0.1 * (self.changes.get(name) in seen) for name in one.datasets}
        return {name: [outcome(share)] * len(one.scales) for name, share in found.items()}


def test_the_command(
    instances: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text("seed: 5\nprobing: {pair_features: four_part}")
    command = ["invariance", "--instances", str(instances), "--out", "made/i.json"]
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("5 datasets: 0 kept, 5 new\n")
    report = read_invariance(tmp_path / "made" / "i.json")
    assert report["seed"] == 5
    assert report["pair_features"] == "four_part"
    rows = {"fac": 120, "sts": 120}
    assert report["datasets"] == {
        dataset.name: {
            "digest": dataset.digest(),
            "metric": "pearson" if dataset.name in ("sick", "sts") else "accuracy",
            "test_rows": rows.get(dataset.name, 40),
            "scale": pytest.approx(0.0, abs=1e-4),
            "order": 0.0,
            "hash_seed": 0.0,
            "verdict": "pass",
        }
        for dataset in find_datasets(instances)
    }
    plain = predicted(instances, "four_part", Pass(NAMES))
    for name in ("dc", "fac", "ssp"):
        assert set(plain[name][0].predictions) == {0, 1}
    assert plain["sick"][0].value > 0.3
    assert plain["sts"][0].value > 0.3
    before = Path("made/i.json").read_bytes()
    monkeypatch.setattr(invariance, "_start", None)
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("5 datasets: 5 kept, 0 new\n")
    assert Path("made/i.json").read_bytes() == before


def test_a_miss_fails_after_writing(
    instances: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invariance, "_start", Passes(ssp="hash_seed"))
    # What was found stays, so that it fails again.
    for _ in range(2):
        with pytest.raises(InputError, match="of ssp") as caught:
            measure(instances, tmp_path / "i.json", seed=1, workers=2)
        assert "of dc" not in str(caught.value)
        datasets = read_invariance(tmp_path / "i.json")["datasets"]
        assert datasets["dc"]["verdict"] == "pass"
        assert {k: datasets["ssp"][k] for k in ("scale", "order", "hash_seed", "verdict")} == {
            "scale": 0.0,
            "order": 0.0,
            "hash_seed": 0.1,
            "verdict": "miss",
        }


def test_two_processes_are_enough_where_nothing_changes(
    instances: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = Passes()
    monkeypatch.setattr(invariance, "_start", passes)
    measure(instances, tmp_path / "i.json", seed=1, workers=1)
    assert passes.begun == [Pass(NAMES, SCALES), Pass(NAMES[::-1], hash_seed=2)]


@pytest.mark.parametrize(
    ("what", "order", "hash_seed"),
    [("order", 0.1, 0), ("hash_seed", 0, 0.1), ("both", 0.1, 0.1)],
)
def test_what_changes_answers_is_found_out(
    instances: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    order: float,
    hash_seed: float,
) -> None:
    monkeypatch.setattr(invariance, "_start", Passes(dc=what))
    with pytest.raises(InputError, match="of dc"):
        measure(instances, tmp_path / "i.json", seed=1, workers=1)
    datasets = read_invariance(tmp_path / "i.json")["datasets"]
    assert (datasets["dc"]["order"], datasets["dc"]["hash_seed"]) == (order, hash_seed)
    for name in NAMES[1:]:
        assert (datasets[name]["order"], datasets[name]["hash_seed"]) == (0, 0)


def test_a_dataset_costs_only_itself_and_one_to_run_after(
    instances: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "i", tmp_path / "i.json"
    shutil.copytree(instances, folder)
    shutil.move(folder / "sick", tmp_path / "sick")
    passes = Passes()
    monkeypatch.setattr(invariance, "_start", passes)

    def measured() -> tuple[list[Any], int]:
        passes.begun.clear()
        report, kept = measure(folder, out, seed=1, workers=1)
        assert list(report["datasets"]) == sorted(path.name for path in folder.iterdir())
        assert read_invariance(out) == report
        return [one.datasets for one in passes.begun], kept

    assert measured()[1] == 0
    shutil.move(tmp_path / "sick", folder / "sick")
    assert measured() == ([("dc", "sick"), ("sick", "dc")], 3)
    assert measured() == ([], 5)
    shutil.rmtree(folder / "fac")
    assert measured() == ([], 4)
    monkeypatch.setattr(invariance, "code_digest", lambda *modules: "other")
    assert measured()[1] == 0
    out.write_text(json.dumps({"format": 1, "datasets": {}}))
    assert measured()[1] == 0
    out.write_text("{")
    assert measured()[1] == 0


def test_one_dataset_alone(
    instances: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = Passes()
    monkeypatch.setattr(invariance, "_start", passes)
    shutil.copytree(instances / "ssp", tmp_path / "i" / "ssp")
    assert measure(tmp_path / "i", tmp_path / "i.json", seed=1, workers=1)[1] == 0
    assert [one.datasets for one in passes.begun] == [("ssp",)] * 2


@pytest.mark.parametrize(
    ("differs", "count", "rows", "verdict"),
    [
        (1, 1, 200, "pass"),
        (2, 1, 200, "pass"),
        (2, 2, 200, "miss"),
        (2, 2, 400, "pass"),
        (2, 3, 400, "miss"),
        (1, 1, 7, "pass"),
        (1, 2, 7, "miss"),
        (3, 1, 200, "miss"),
        (3, 1, 7, "miss"),
        (4, 1, 200, "miss"),
        (4, 1, 7, "miss"),
    ],
)
def test_the_limits(differs: int, count: int, rows: int, verdict: str) -> None:
    """Of plain, two scales, reverse and other hash seed one differs."""
    found = [outcome(count / rows if i == differs else 0, rows) for i in range(5)]
    judged = judge(found[:3], *found[3:])
    assert judged["verdict"] == verdict
    shown = ("scale", "scale", "scale", "order", "hash_seed")[differs]
    for what in ("scale", "order", "hash_seed"):
        assert judged[what] == (count / rows if what == shown else 0)


@pytest.mark.parametrize(
    ("differs", "value", "verdict"),
    [
        (1, 0.5019, "pass"),
        (2, 0.4981, "pass"),
        (2, 0.5021, "miss"),
        (1, 0.4979, "miss"),
        (3, 0.5001, "miss"),
        (4, 0.4999, "miss"),
    ],
)
def test_the_limits_of_correlations(differs: int, value: float, verdict: str) -> None:
    found = [Outcome("pearson", 0.5, [1.0] * 7) for _ in range(5)]
    # Predictions may differ: what counts is the value.
    found[differs] = Outcome("pearson", value, [2.0] * 7)
    judged = judge(found[:3], *found[3:])
    assert (judged["metric"], judged["test_rows"], judged["verdict"]) == ("pearson", 7, verdict)
    changes = sorted(judged[what] for what in ("scale", "order", "hash_seed"))
    assert changes == [0, 0, pytest.approx(abs(value - 0.5))]


def test_scale_is_found_where_features_are_not_standardised(
    instances: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard, "standardised", lambda *parts: list(parts))
    found = predicted(instances, PAIRS, Pass(NAMES, SCALES))
    # The features of coherence are cosines, which have no scale.
    plain, tenth, tenfold = found["dc"]
    assert plain == tenth
    plain, tenth, tenfold = found["ssp"]
    assert tenth != plain or tenfold != plain


def test_order_is_found_where_a_dataset_leaves_something_behind(
    instances: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in SentEval's engine: settings of coherence stay for what runs after it."""
    settings: list[int] = []

    def leaks(problem: Problem, seed: int, engine: str) -> Answers:
        if problem.task == "discourse_coherence":
            settings.append(20)
        rows = settings[-1] if settings else len(problem.y)
        if problem.folds is None:
            problem = replace(problem, x=problem.x[:rows], y=problem.y[:rows])
        return standard.PROTOCOL.answer(problem, seed, engine)

    monkeypatch.setitem(PROTOCOLS, "standard", replace(standard.PROTOCOL, answer=leaks))
    forwards = predicted(instances, PAIRS, Pass(NAMES))
    settings.clear()
    backwards = predicted(instances, PAIRS, Pass(NAMES[::-1]))
    assert forwards["dc"] == backwards["dc"]
    assert forwards["ssp"] != backwards["ssp"]


def test_rows_are_drawn_by_their_ids(instances: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariance, "ROWS", {"train": 30, "validation": 10, "test": 7})
    found = predicted(instances, PAIRS, Pass(NAMES))
    assert {name: len(own.predictions) for name, (own,) in found.items()} == {
        "dc": 7,
        "fac": 30,
        "sick": 7,
        "ssp": 7,
        "sts": 7,
    }
    dataset = find_datasets(instances)[0]
    rows = dataset.read("test", ["id", "label"])
    drawn = [
        invariance._some(table, 7, 5, dataset)["id"].to_pylist()
        for table in (rows, rows.take(list(range(39, -1, -1))))
    ]
    assert drawn[0] == drawn[1][::-1]
    assert drawn[0] != rows["id"].to_pylist()[:7]


def test_a_rare_class_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invariance, "ROWS", {"train": 30, "validation": 10, "test": 10})
    rows = [row(i, int(i % 100 == 7), sentence=sentence(i)) for i in range(400)]
    splits = {"train": rows, "validation": rows, "test": rows}
    write_dataset(tmp_path / "ssp", "section_prediction", splits)
    (dataset,) = find_datasets(tmp_path)
    drawn = invariance._some(dataset.read("train", ["id", "label"]), 30, 5, dataset)
    assert sum(drawn["label"].to_pylist()) == 4
    assert len(predicted(tmp_path, PAIRS, Pass(("ssp",)))["ssp"][0].predictions) == 10


def test_a_dataset_that_cannot_be_probed(tmp_path: Path) -> None:
    rows = [row(i, 0, sentence=sentence(i)) for i in range(4)]
    splits = {"train": rows, "validation": rows, "test": rows}
    write_dataset(tmp_path / "i" / "ssp", "section_prediction", splits)
    with pytest.raises(InputError, match="two classes or more in train"):
        measure(tmp_path / "i", tmp_path / "i.json", seed=1, workers=2)
    assert not (tmp_path / "i.json").exists()


@pytest.mark.parametrize("content", [None, "", "[]", json.dumps({"format": 0})])
def test_files_that_are_none(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "i.json").write_text(content)
    with pytest.raises(InputError, match="run `probeta invariance` again"):
        read_invariance(tmp_path / "i.json")


def test_a_process_that_is_lost_is_no_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "python"
    killed.write_text("#!/bin/sh\nkill -9 $$\n", "utf-8")
    killed.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(killed))
    with pytest.raises(InputError, match="lost by signal 9: most likely for lack of memory"):
        invariance._start(tmp_path, tmp_path, 1, "difference_product", Pass(("a",)))
