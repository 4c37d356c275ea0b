"""Results that are verified, and what differs in them from what is computed again."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpora_recipes.running.code import code_digest
from evaluation.data.instances import Dataset
from evaluation.data.texts import prompt_of, unique_texts
from evaluation.embedding.store import text_keys
from evaluation.results.paradigms import ParadigmResults, ParadigmScore
from evaluation.results.probes import Results, Score
from evaluation.results.rankings import RankingResults, RankScore, SimilarityScore
from evaluation.results.stored import description_of, library_versions

# Another version of numpy, or another processor, may add in another order.
NEAR = 1e-9

AnyScore = Score | RankScore | SimilarityScore | ParadigmScore
Key = tuple[str, ...]
"""What a score is of: its dataset, layer and so on."""


@dataclass(slots=True)
class Check:
    """Results of an encoder that are verified, and what was found.

    Attributes:
        results: to verify.
        folder: of the data.
        datasets: those in it, by name.
        asked: the names of those to verify; None for all that the results have.
        kind: of the results, in words.
        recomputed: the number of scores that were computed again.
        differences: in words.
        notes: what else is to be known, in words.
    """

    results: Results | RankingResults | ParadigmResults
    folder: Path
    datasets: Mapping[str, Dataset]
    asked: Collection[str] | None
    kind: str = ""
    recomputed: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _near: float = NEAR
    _texts: dict[str, str] = field(default_factory=dict)

    def begin(self, kind: str, stage: str, module: str, tasks: Collection[str]) -> None:
        """Compare versions, and the code of a stage's module and datasets, with those here."""
        self.kind = kind
        then, here = self.results.versions, library_versions(stage)
        others = [f"{k} {then.get(k)} (here {v})" for k, v in here.items() if then.get(k) != v]
        how = f"up to {NEAR}: made with {', '.join(others)}"
        if not others:
            self._near, how = 0.0, "exactly: same platform and libraries"
        self.notes.append(f"numbers compared {how}")
        if (code := code_digest(module)) != self.results.code:
            self.notes.append(f"made by other code, {self.results.code} (here {code})")
        scored = {score.dataset for score in self.scores()}
        if self.asked is None:
            absent = sorted(scored - self.datasets.keys())
            self.differences += [f"{name}: no such dataset in {self.folder}" for name in absent]
        possible = {name for name, dataset in self.datasets.items() if dataset.task in tasks}
        if left := sorted(possible & {*(self.asked or possible)} - scored):
            self.notes.append(f"not scored: {', '.join(left)}")

    def asks(self, name: str) -> bool:
        """Return whether a dataset is there and to be verified."""
        return name in self.datasets and (self.asked is None or name in self.asked)

    def scores(self) -> list[AnyScore]:
        """Return all scores of the results, of whatever kind."""
        more = self.results.similarities if isinstance(self.results, RankingResults) else ()
        return [*self.results.scores, *more]

    def texts_of(self, dataset: Dataset) -> str:
        """Return the digest of a dataset's texts in the encoder's form, with their prompt."""
        if dataset.name not in self._texts:
            encoder = description_of(self.results.encoder)
            texts = sorted(unique_texts(dataset, encoder.form))
            keys = text_keys(texts, prompt_of(encoder, dataset))
            self._texts[dataset.name] = sha256(keys.tobytes()).hexdigest()
        return self._texts[dataset.name]

    def list_all(self, what: str, stored: Sequence[Key], wanted: Iterable[Key]) -> None:
        """Note what a list lacks, has besides, or has twice; or that its order is another."""
        times, once = Counter(stored), dict.fromkeys(wanted)
        wrong = [f"none of {', '.join(key)}" for key in once if key not in times]
        wrong += [f"{', '.join(key)}: not expected" for key in times if key not in once]
        wrong += [f"{', '.join(key)}: {count} times" for key, count in times.items() if count > 1]
        if not wrong and [*stored] != [*once]:
            wrong = ["in another order"]
        self.differences += [f"{what}: {fault}" for fault in wrong]

    def compare(self, where: str, stored: object, found: Mapping[str, Any]) -> None:
        """Note which attributes differ from what was found; within mappings, which entries."""
        for name, other in found.items():
            self._compare(f"{where}: {name}", getattr(stored, name), other)

    def _compare(self, where: str, one: Any, other: Any) -> None:
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for key in dict.fromkeys((*one, *other)):
                self._compare(f"{where} {key}", one.get(key), other.get(key))
        elif not _alike(one, other, self._near):
            self.differences.append(f"{where}: stored {one}, recomputed {other}")


def _alike(one: Any, other: Any, near: float) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_alike(*pair, near) for pair in pairs)
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=near, abs_tol=near)
    return bool(one == other)
