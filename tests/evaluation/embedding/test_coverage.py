"""Coverage: counted once a dataset, again if its rows or the vocabulary change."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from instance_files import row, write_dataset

from evaluation.data.instances import Dataset, find_datasets
from evaluation.embedding.coverage import measure_coverage, read_coverage
from evaluation.encoders import make_encoder


@dataclass
class Vocabulary:
    """Knows the token "a", and notes what it was asked for; only what coverage needs."""

    revision: str = "1"
    form: str = "tokens"
    asked: list[list[str]] = field(default_factory=list)

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        self.asked.append(list(texts))
        tokens = " ".join(texts).split()
        return {"tokens": len(tokens), "out_of_vocabulary": sum(t != "a" for t in tokens)}


def dataset(folder: Path, *sentences: str) -> Dataset:
    rows = [row(i, i % 2, sentence=sentence) for i, sentence in enumerate(sentences)]
    splits = {"train": rows, "validation": rows[:1], "test": rows[:1]}
    write_dataset(folder / "i" / "ssp", "section_prediction", splits)
    (found,) = find_datasets(folder / "i")
    return found


def test_counts_are_kept_until_rows_or_vocabulary_change(tmp_path: Path) -> None:
    own = dataset(tmp_path, "b", "a", "a")
    encoder: Any = Vocabulary()
    for _ in range(2):
        measure_coverage(encoder, [own], tmp_path)
    assert encoder.asked == [["a .", "b ."]]
    assert read_coverage(tmp_path, own) == {"tokens": 4, "out_of_vocabulary": 3}
    longer = dataset(tmp_path, "b", "a", "a a a")
    assert read_coverage(tmp_path, longer) is None
    measure_coverage(encoder, [longer], tmp_path)
    assert read_coverage(tmp_path, longer) == {"tokens": 8, "out_of_vocabulary": 4}
    other: Any = Vocabulary(revision="2")
    measure_coverage(other, [longer], tmp_path)
    assert len(other.asked) == 1


def test_counts_of_other_datasets_stay(tmp_path: Path) -> None:
    one, other = (dataset(tmp_path / name, "b", "a", "a") for name in ("one", "other"))
    other = replace(other, name="other")
    encoder: Any = Vocabulary()
    assert len(measure_coverage(encoder, [one], tmp_path)) == 1
    assert len(measure_coverage(encoder, [other], tmp_path)) == 1
    assert read_coverage(tmp_path, one) == read_coverage(tmp_path, other)
    changed: Any = Vocabulary(revision="2")
    measure_coverage(changed, [other], tmp_path)
    assert read_coverage(tmp_path, one) is None


@pytest.mark.parametrize(
    "older", ["[]", "{", '{"ssp": 3}', '{"ssp": {"digest": "DIGEST", "revision": "1", "known": 3}}']
)
def test_counts_of_an_older_form_are_counted_again(tmp_path: Path, older: str) -> None:
    own = dataset(tmp_path, "b", "a", "a")
    (tmp_path / "coverage.json").write_text(older.replace("DIGEST", own.digest()))
    assert read_coverage(tmp_path, own) is None
    encoder: Any = Vocabulary()
    measure_coverage(encoder, [own], tmp_path)
    assert read_coverage(tmp_path, own) == {"tokens": 4, "out_of_vocabulary": 3}


@pytest.mark.parametrize("left", [True, False])
def test_an_encoder_without_vocabulary_has_none(tmp_path: Path, left: bool) -> None:
    own = dataset(tmp_path, "a")
    if left:
        measure_coverage(Vocabulary(), [own], tmp_path)  # type: ignore[arg-type]
    measure_coverage(make_encoder("char_hash", {}), [own], tmp_path)
    assert read_coverage(tmp_path, own) is None
    assert not (tmp_path / "coverage.json").exists()
