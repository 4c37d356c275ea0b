"""The datasets as tasks of mteb: the scores are those of `score`, for the same vectors."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import mteb
import numpy as np
import pytest
from case_tables import read_tables
from documentation import blocks
from instance_files import row, write_dataset
from mteb import ResultCache
from mteb.abstasks import AbsTaskClassification
from mteb.models.abs_encoder import AbsEncoder

from builders.packaging.harnesses import CODES
from evaluation.arrays import Floats
from evaluation.encoders.char_hash import CharHash
from probeta import benchmark, score
from probeta.exchange.mteb_tasks import _licence

TABLES = read_tables(__file__)

MODEL_OF_THE_PAGE = "intfloat/multilingual-e5-small"
# It needs no weights.
RANDOM = "mteb/baseline-random-encoder"


class Letters(AbsEncoder):  # type: ignore[misc]
    """char_hash as an encoder of mteb; ``seen`` has the texts of each call."""

    mteb_model_meta = None

    def __init__(self) -> None:
        self.seen: list[list[str]] = []

    def encode(self, inputs: Any, **_: Any) -> Floats:
        self.seen.append([text for batch in inputs for text in batch["text"]])
        return CharHash().encode(self.seen[-1])[:, 0]


def results_of(model: Any, data: Any, **options: Any) -> dict[str, Any]:
    """Return what mteb found: name of a task to its scores."""
    options = {"cache": None, "show_progress_bar": False} | options
    found = mteb.evaluate(model, data, **options)
    assert not found.exceptions
    return {
        one.task_name: {split: entry for split, (entry,) in one.scores.items()}
        for one in found.task_results
    }


def write_more(hub: Path) -> None:
    """Write datasets of the other forms: folds, several texts, pairs, trained scores, relations."""
    pairs = [
        row(i, None, score=i % 7 / 2, sentence1=f"uno {i % 7}", sentence2=f"dos {'a' * (i % 7)}")
        for i in range(40)
    ]
    tasks = {
        "folds": "sentence_classification",
        "sp_own": "sentence_position",
        "dr_own": "discourse_relations",
        "paws_own": "pair_classification",
    }
    for name, task in tasks.items():
        rows = [_row(task, i) for i in range(40)]
        splits = {"train": rows[:20], "validation": rows[20:28], "test": rows[28:]}
        if name == "folds":
            rows = [each | {"fold": number % 4} for number, each in enumerate(rows)]
            splits = {"train": rows}
        write_dataset(hub / name, task, splits)
    splits = {"train": pairs[:20], "validation": pairs[20:28], "test": pairs[28:]}
    write_dataset(hub / "sick_own", "relatedness", splits)


def _row(task: str, i: int) -> dict[str, Any]:
    words = ["luego", "pronto", "nunca", "siempre", "tarde"]
    if task == "sentence_position":
        return row(i, i % 5, sentences=[f"{words[(i + n) % 5]} {i}." for n in range(5)])
    if task == "discourse_relations":
        return row(i, i % 3, left=[f"{words[i % 3]} {i}"], right=["así", f"fin {i}"][: 1 + i % 2])
    if task == "pair_classification":
        return row(i, i % 3, sentence1=f"{words[i % 3]} {i}", sentence2=f"no {words[i % 2]}")
    return row(i, i % 2, sentence=f"{words[i % 5]} {i}.")


def test_scores_are_those_of_score(hub_folder: Path) -> None:
    write_more(hub_folder)
    asked = benchmark(hub_folder)
    found, expected = results_of(Letters(), asked), score("char_hash", hub_folder)
    assert [task.metadata.name.removeprefix("probeta_") for task in asked.tasks] == [
        one.dataset for one in expected.results.scores
    ]
    assert len(asked.tasks) == 8
    for one in expected.results.scores:
        ((split, entry),) = found[f"probeta_{one.dataset}"].items()
        assert split == ("train" if one.dataset == "folds" else "test")
        assert entry["main_score"] == entry[one.metric] == one.value
        assert (entry["low_95"], entry["high_95"]) == one.interval
        assert (entry.get("majority"), entry.get("chance")) == (one.majority, one.chance)
        assert (entry["rows"], entry["documents"]) == (one.n_rows, one.test_documents)
        assert entry["sha256"] == one.digest


def test_texts_are_encoded_once(hub_folder: Path) -> None:
    model = Letters()
    results_of(model, benchmark(hub_folder, datasets=["bso_own"]))
    most: Sequence[str] = max(model.seen, key=len)
    assert len(most) == len(set(most)) == 31  # 30 sentences, and "Primero salió."
    # A text to learn the dimension, and one alone, as no vector may depend on the batch.
    assert sorted(map(len, model.seen)) == [1, 1, 31]


def test_metadata(hub_folder: Path) -> None:
    (task,) = benchmark(hub_folder, groups=["SC"]).tasks
    metadata = task.metadata
    assert (metadata.name, metadata.type) == ("probeta_tass_own", "Classification")
    assert (metadata.languages, metadata.eval_langs) == (["spa"], ["spa-Latn"])
    assert metadata.dataset == {"path": str(hub_folder), "name": "tass_own", "revision": "1.0.0"}
    assert metadata.prompt == AbsTaskClassification.abstask_prompt
    task.load_data()
    assert task.dataset["test"].features["label"].names == ["negative", "positive"]
    assert task.dataset["test"][0]["sentence"] == "Todo 22."
    task.unload_data()
    assert task.metadata is metadata
    (task,) = benchmark(hub_folder, groups=["SS"]).tasks
    assert (task.metadata.type, task.metadata.main_score) == ("STS", "pearson")


@pytest.mark.parametrize(("said", "facts", "name"), TABLES["licences"])
def test_licences_are_named_as_mteb_does(said: str, facts: Any, name: str | None) -> None:
    assert _licence(said, facts) == name


def test_predictions_are_written(hub_folder: Path, tmp_path: Path) -> None:
    asked = benchmark(hub_folder, datasets=["sts_own"])
    model = Letters()
    model.mteb_model_meta = mteb.get_model_meta(RANDOM)
    results_of(model, asked, prediction_folder=tmp_path / "predictions")
    (file,) = (tmp_path / "predictions").iterdir()
    rows = json.loads(file.read_text())["default"]["test"]
    assert rows["id"] == [f"i{i}" for i in range(5)]
    assert rows["gold"] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert np.shape(rows["predicted"]) == (5, 1)


def test_the_lines_of_the_page_run(
    hub_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = blocks("py", page="docs/mteb.md")
    assert block.text.count(MODEL_OF_THE_PAGE) == 1
    monkeypatch.setattr("mteb.evaluate", partial(mteb.evaluate, cache=ResultCache(tmp_path)))
    names: dict[str, Any] = {}
    exec(block.text.replace(MODEL_OF_THE_PAGE, RANDOM), names)
    assert [one.task_name for one in names["results"].task_results] == [
        "probeta_bso_own",
        "probeta_sts_own",
    ]
    assert len(list(tmp_path.rglob("probeta_bso_own.json"))) == 1


def test_languages_are_written_as_mteb_does() -> None:
    from mteb.languages.iso_mappings import _get_iso1_to_iso3, _get_iso3_to_default_script

    short, scripts = _get_iso1_to_iso3(), _get_iso3_to_default_script()
    for code, written in CODES.items():
        language, _, script = written.partition("-")
        assert short.get(code, language) == language
        assert scripts.get(language, script) == script
        mteb.languages.check_language_code(written)
