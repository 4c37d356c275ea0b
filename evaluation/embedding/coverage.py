"""How much of each dataset an encoder with a vocabulary of words knows.

It is counted when the texts are encoded, while the vocabulary is in memory, and kept beside the
vectors in ``coverage.json``: dataset to the numbers of "tokens" and of those "out_of_vocabulary",
over all its splits and each different text once, with the digest of the dataset's files.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from corpora_recipes.running.outputs import whole_file
from evaluation.data.instances import Dataset
from evaluation.data.texts import unique_texts
from evaluation.encoders.encoder import Encoder

FILE = "coverage.json"
_KEYS = {"digest", "revision", "tokens", "out_of_vocabulary"}


@runtime_checkable
class HasVocabulary(Protocol):
    """An encoder with a vocabulary of words."""

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the numbers of "tokens" and of those "out_of_vocabulary"."""


def measure_coverage(
    encoder: Encoder, datasets: Sequence[Dataset], store: Path
) -> list[dict[str, int]]:
    """Bring ``coverage.json`` up to date; nothing is counted again for datasets as they were.

    What it says of other datasets stays.

    Args:
        encoder: unless it has a vocabulary, there will be no file.
        datasets: whose texts are encoded.
        store: folder of the embedding store.

    Returns:
        The counts of each dataset; none unless the encoder has a vocabulary.
    """
    if not isinstance(encoder, HasVocabulary):
        (store / FILE).unlink(missing_ok=True)
        return []
    known = {name: own for name, own in _read(store).items() if own["revision"] == encoder.revision}
    found = {}
    for dataset in datasets:
        digest = dataset.digest()
        own = known.get(dataset.name, {})
        if own.get("digest") != digest:
            counts = encoder.coverage(sorted(unique_texts(dataset, encoder.form)))
            own = {"digest": digest, "revision": encoder.revision} | counts
        found[dataset.name] = own
    entries = dict(sorted((known | found).items()))
    with whole_file(store / FILE) as temporary:
        temporary.write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
    return [_counts(own) for own in found.values()]


def read_coverage(store: Path, dataset: Dataset) -> dict[str, int] | None:
    """Return the counts of a dataset, or None if the encoder has no vocabulary."""
    own = _read(store).get(dataset.name)
    if own is None or own["digest"] != dataset.digest():
        return None
    return _counts(own)


def _counts(own: Mapping[str, Any]) -> dict[str, int]:
    return {name: own[name] for name in ("tokens", "out_of_vocabulary")}


def _read(store: Path) -> dict[str, Any]:
    """Return the entries of ``coverage.json``; none of an older form."""
    try:
        found = json.loads((store / FILE).read_bytes())
        return {name: own for name, own in found.items() if own.keys() == _KEYS}
    except (OSError, ValueError, AttributeError):
        return {}
