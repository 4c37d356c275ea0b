"""The sentences that a run tests on, which no encoder may be trained on."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from builders.sampling.same_text import is_telling
from corpora_recipes.text.same_text import mark
from evaluation.data.instances import Dataset, find_datasets
from evaluation.data.texts import text_columns, unique_in


class HeldOut:
    """Sentences of six words or more in validation or test of some datasets.

    Of a dataset with folds these are all, since each row is tested once.

    Attributes:
        datasets: the names of these datasets, sorted.
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        """Read the datasets; memory: 100 bytes for each sentence."""
        self._marks: set[int] = set()
        self.datasets: list[str] = []
        for dataset in datasets:
            self.datasets.append(dataset.name)
            columns = text_columns(dataset.task, "natural")
            for split in dataset.files:
                if split != "train" or dataset.folds:
                    texts = unique_in(dataset.read(split, columns), columns)
                    self._marks.update(mark(text) for text in texts if is_telling(text))

    def __contains__(self, sentence: str) -> bool:
        """Return whether a sentence is one of them, whatever its case and punctuation."""
        return mark(sentence) in self._marks and is_telling(sentence)

    def __len__(self) -> int:
        """Return their number."""
        return len(self._marks)

    def digest(self) -> str:
        """Return 16 hexadecimal digits that change with the sentences."""
        digest = sha256()
        for found in sorted(self._marks):
            digest.update(found.to_bytes(8, "big"))
        return digest.hexdigest()[:16]


def held_out_sentences(instances: Path) -> HeldOut:
    """Return the held-out sentences of all datasets under a folder.

    Raises:
        InputError: see ``find_datasets``.
    """
    return HeldOut(find_datasets(instances))
