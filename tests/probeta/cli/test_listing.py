"""What vectors cost is said before a run, on the disk and in time; what cannot fit is refused."""

import re
from pathlib import Path
from typing import Any

import pytest
from instance_files import row, write_dataset

from corpora_recipes.running.outputs import EMBEDDINGS, PACKAGE
from probeta.cli import listing, main
from probeta.cli.listing import vector_costs

PARAMS = """\
corpora:
  senteval:
    corpus: {recipe: senteval, language: en}
    datasets:
      sst2: {task: sentence_classification, collection: sst2}
      trec: {task: sentence_classification, collection: trec}
encoders: {mine: ENTRY}
"""
# Of corpus.yaml.
SST2, TREC = 67_349 + 872 + 1_821, 5_452 + 500


pytestmark = pytest.mark.usefixtures("empty_folder")


def costs(entry: str) -> Any:
    Path("params.yaml").write_text(PARAMS.replace("ENTRY", entry))
    return vector_costs(Path("params.yaml")).get("mine")


@pytest.mark.parametrize(
    ("vectors", "texts", "size"),
    [
        ("", SST2 + TREC, 4 * 100),
        (", vectors: {dtype: float16}", SST2 + TREC, 2 * 100 + 4),
        (", vectors: {keep: false}", SST2, 4 * 100),
    ],
)
def test_any_dimension_and_dtype(vectors: str, texts: int, size: int) -> None:
    kept, bytes_, text = costs(f"{{encoder: char_hash, dimension: 100{vectors}}}")
    assert bytes_ == texts * size
    assert f"{texts:,} texts" in text
    assert "1 layer of 100 dimensions" in text
    assert kept == ("of sst2, the largest dataset" not in text)
    assert kept == (f"{SST2 + TREC:,} in all" not in text)


def test_layers_of_a_model_that_is_not_loaded() -> None:
    Path("model").mkdir()
    sizes = '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32}'
    Path("model/config.json").write_text(sizes)
    hours = []
    for layer, count in (("all", 34), ("[0, 16, -1]", 3)):
        entry = f"{{encoder: transformers, model: ./model, layer: {layer}}}"
        _, size, text = costs(entry)
        assert size == (SST2 + TREC) * count * 4096 * 4
        assert f"{count} layers of 4096 dimensions" in text
        number, unit = re.findall(r"([\d.]+) (h|min) by senteval", text)[0]
        hours.append(float(number) / (1 if unit == "h" else 60))
    assert hours[0] == pytest.approx(hours[1] * 34 / 3, rel=0.1)
    # Only their model tells; nothing is downloaded to tell it.
    for encoder in ("transformers", "sentence_transformers"):
        assert costs(f"{{encoder: {encoder}, model: an/id}}") is None


def test_datasets_that_are_built_have_their_own_number_of_texts() -> None:
    rows = [row(n, n % 2, sentence=f"text {n}") for n in range(9)]
    splits = {"train": rows[:3], "validation": rows[3:6], "test": rows[6:]}
    write_dataset(PACKAGE / "sst2", "sentence_classification", splits)
    _, size, _ = costs("{encoder: char_hash, dimension: 100}")
    assert size == (9 + TREC) * 400


def test_a_run_that_cannot_fit_is_refused_before_it_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, size, _ = costs("{encoder: char_hash, dimension: 100}")
    monkeypatch.setattr(listing, "free_at", lambda _: size // 2 - 1)
    assert main(["repro"]) == 1
    said = capsys.readouterr().err
    for words in ("the disk of data/embeddings", "room for 15.2 MB of vectors", "MB free"):
        assert words in said
    assert not Path("data/records").exists()
    # What is there already needs no room.
    store = EMBEDDINGS / "mine"
    store.mkdir(parents=True)
    (store / "0.vectors.output.npy").write_bytes(bytes(99))
    listing.check_disk(Path("params.yaml"))
