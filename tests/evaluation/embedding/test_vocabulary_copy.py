"""Vocabularies: copied once, whole, mapped; without repeated words and zero vectors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paradigm_files import Words, static

from corpora_recipes.running.errors import InputError
from evaluation.embedding.store import fingerprint, open_vocabulary, prepare_store, write_vocabulary
from evaluation.encoders import make_encoder

BLOCKS: list[tuple[list[str], list[list[float]]]] = [
    (["el", "París", "nada"], [[1, 0], [0, 1], [0, 0]]),
    (["el", "parís", "\udcf1and\udcfa"], [[5, 5], [3, 4], [1, 1]]),
]


@pytest.fixture
def encoder() -> Any:
    return Words(BLOCKS)


def test_a_vocabulary_is_copied_and_mapped(tmp_path: Path, encoder: Any) -> None:
    assert write_vocabulary(tmp_path, encoder) == 5
    found = open_vocabulary(tmp_path, encoder)
    assert found is not None
    assert found.words == ["el", "París", "nada", "parís", "\udcf1and\udcfa"]
    assert isinstance(found.vectors, np.memmap)
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[1, 0], [0, 1], [0, 0], [3, 4], [1, 1]]
    assert found.norms.tolist() == [1, 1, 0, 5, 2**0.5]
    assert found.skipped == {"no_vector": 1, "repeated_word": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["vocabulary"]
    about = json.loads((tmp_path / "vocabulary" / "vocabulary.json").read_bytes())
    assert about == {"format": 1, **fingerprint(encoder), "repeated": 1}


def test_it_is_kept_only_if_it_is_the_encoders(tmp_path: Path, encoder: Any) -> None:
    write_vocabulary(tmp_path, encoder)
    encoder.blocks = [(["otra"], [[1, 2]])]
    assert write_vocabulary(tmp_path, encoder) == 5
    encoder.revision = "2"
    with pytest.raises(InputError, match="the words of"):
        open_vocabulary(tmp_path, encoder)
    assert write_vocabulary(tmp_path, encoder) == 1
    found = open_vocabulary(tmp_path, encoder)
    assert found is not None
    assert found.words == ["otra"]
    # With the store of another encoder, or of other code, it goes.
    prepare_store(tmp_path, make_encoder("char_hash", {}))
    assert not (tmp_path / "vocabulary").exists()


NONSENSE = [None, b"", b"null", b"3", b"[]", b"PK\x03\x04"]


@pytest.mark.parametrize("file", ["vectors.npy", "norms.npy", "words.json", "vocabulary.json"])
def test_a_damaged_copy_is_made_again(tmp_path: Path, encoder: Any, file: str) -> None:
    write_vocabulary(tmp_path, encoder)
    damaged = tmp_path / "vocabulary" / file
    whole = damaged.read_bytes()
    for content in (*NONSENSE, whole[:-9]):
        damaged.unlink()
        if content is not None:
            damaged.write_bytes(content)
        with pytest.raises(InputError, match="not whole"):
            open_vocabulary(tmp_path, encoder)
        assert write_vocabulary(tmp_path, encoder) == 5
        assert damaged.read_bytes() == whole


def test_a_file_that_ends_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v.vec"
    encoder = static(path, {"a": [1, 0], "b": [0, 1]})
    path.write_text("3 2\na 1 0\nb 0 1\n", "utf-8")
    with pytest.raises(InputError, match="the number of words that follow, 2"):
        write_vocabulary(tmp_path / "store", encoder)
    assert list((tmp_path / "store").iterdir()) == []
    with pytest.raises(InputError, match="not whole"):
        open_vocabulary(tmp_path / "store", encoder)


def test_an_encoder_without_words_has_none(tmp_path: Path, encoder: Any) -> None:
    write_vocabulary(tmp_path, encoder)
    other = make_encoder("char_hash", {})
    assert write_vocabulary(tmp_path, other) is None
    assert open_vocabulary(tmp_path, other) is None
    assert list(tmp_path.iterdir()) == []
