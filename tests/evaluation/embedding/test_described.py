"""What a store says of datasets: ``datasets.json``."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from instance_files import row, write_dataset
from stores import in_project

from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.embedding.store import EmbeddingStore, EncodedDataset, read_described
from evaluation.encoders.char_hash import CharHash


@in_project
class Knowing(CharHash):
    """Knows the token "a"; takes a prompt, and forgets it."""

    form: ClassVar[Any] = "tokens"
    prompts: ClassVar[dict[str, str]] = {"SSP": "query: "}

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> Any:
        return super().encode(texts)

    def vocabulary(self) -> Any:
        raise AssertionError

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        tokens = " ".join(texts).split()
        return {"tokens": len(tokens), "out_of_vocabulary": sum(t != "a" for t in tokens)}


def dataset(folder: Path, *sentences: str, name: str = "ssp") -> Dataset:
    rows = [row(i, i % 2, sentence=sentence) for i, sentence in enumerate(sentences)]
    splits = {"train": rows, "validation": rows[:1], "test": rows[:1]}
    write_dataset(folder / "i" / name, "section_prediction", splits)
    return next(made for made in find_datasets(folder / "i") if made.name == name)


def test_what_is_said_of_each_dataset(tmp_path: Path) -> None:
    """Each different text counts once, in the encoder's form and with its prompt."""
    encoder = Knowing(8)
    one, two = (dataset(tmp_path, *texts, name=texts[0]) for texts in (["b", "a", "a"], ["c"]))
    described, new = embed_datasets(tmp_path, encoder, [one, two])
    assert new == 3
    assert described["b"] == read_described(tmp_path, one)
    texts, vectors = EmbeddingStore(tmp_path, encoder, "query: ").digests(["a .", "b ."])
    coverage = {"tokens": 4, "out_of_vocabulary": 3}
    assert described["b"] == EncodedDataset(one.digest(), texts, vectors, coverage)
    # In whatever order and company; what was said of others goes.
    before = described["c"]
    assert embed_datasets(tmp_path, encoder, [two, one])[0]["c"] == before
    assert embed_datasets(tmp_path, encoder, [two])[0] == {"c": before}
    with pytest.raises(InputError, match="what was encoded of b"):
        read_described(tmp_path, one)


def test_other_rows_and_other_vectors_are_told(tmp_path: Path) -> None:
    ssp = dataset(tmp_path, "b", "a")
    before = embed_datasets(tmp_path, CharHash(8), [ssp])[0]["ssp"]
    assert before.coverage is None
    # Another row with the same texts: only the digest of the files differs.
    ssp = dataset(tmp_path, "b", "a", "a")
    with pytest.raises(InputError, match="of other rows"):
        read_described(tmp_path, ssp)
    after = embed_datasets(tmp_path, CharHash(8), [ssp])[0]["ssp"]
    assert before.digest != after.digest
    assert replace(after, digest=before.digest) == before
    other = embed_datasets(tmp_path / "other", CharHash(9), [ssp])[0]["ssp"]
    assert (other.texts, other.vectors != after.vectors) == (after.texts, True)


def test_a_damaged_file_is_refused_and_made_again(tmp_path: Path) -> None:
    ssp, file = dataset(tmp_path, "b", "a"), tmp_path / "datasets.json"
    embed_datasets(tmp_path, CharHash(8), [ssp])
    before = file.read_bytes()
    for content in ("", "{", "[]", "{}", '{"ssp": 3}', '{"ssp": {"digest": 1}}'):
        file.write_text(content)
        with pytest.raises(InputError, match="what was encoded of ssp"):
            read_described(tmp_path, ssp)
        embed_datasets(tmp_path, CharHash(8), [ssp])
        assert file.read_bytes() == before
