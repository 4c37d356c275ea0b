"""What papers report: published_scores.yaml, and which of it may stand beside scores here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml
from probeta.report.texts import phrase, translated

_FILE: dict[str, Any] = load_yaml(Path(__file__).with_name("published_scores.yaml"))
# In the place of an encoder's name: the scores of people.
PEOPLE = "people"
# Numbers of rows agree if they differ by this share of the paper's, or less.
TOLERANCE = 0.1
Published = Mapping[str, float]
"""Group or dataset to what a paper states of an encoder, in per cent."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The scores of a paper on one construction of its data, see published_scores.yaml.

    ``scores`` is by encoder, or ``PEOPLE``.
    """

    paper: str
    benchmarks: Sequence[str]
    about: str
    rows: Mapping[str, int]
    scores: Mapping[str, Published]
    refused: Mapping[str, str] = field(default_factory=dict)

    def why_not(self, dataset: str, task: str, rows: int, *, sample: bool = False) -> str:
        """Return why scores on a dataset cannot stand beside those on ``rows`` rows, or ""."""
        if dataset not in self.rows:
            return phrase("not_in_paper")
        if sample:
            return phrase("a_sample")
        if task in self.refused:
            return translated(self.refused[task])
        if abs(rows - self.rows[dataset]) > TOLERANCE * self.rows[dataset]:
            return phrase("other_rows", here=rows, there=self.rows[dataset])
        return ""


PAPERS = tuple(Paper(**entry) for entry in _FILE["papers"])
PARALEX: Mapping[str, Sequence[float | None]] = _FILE["paralex"]
"""Language to the scores of ``VECTORS`` in per cent, by Sumbler et al. (2018), Table 2."""
VECTORS = ("fastText", "Polyglot", "ConceptNet Numberbatch")
PARALEX_ENGLISH: Published = _FILE["paralex_english"]
"""Word vectors to suggestion in English in per cent, Table 1."""
