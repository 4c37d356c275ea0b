"""Scores that papers report, for comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.running.yaml_text import load_yaml

_FILE: dict[str, Any] = load_yaml(Path(__file__).with_name("published_scores.yaml"))
# In the place of an encoder's name: the scores of people.
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Paper:
    """The scores of a paper.

    Attributes:
        paper: authors and year.
        benchmarks: those that it scores.
        about: what differs from the data and the probes here.
        scores: encoder, or ``PEOPLE``, to group or dataset to score in per cent.
    """

    paper: str
    benchmarks: Sequence[str]
    about: str
    scores: Mapping[str, Mapping[str, float]]


PAPERS = tuple(Paper(**entry) for entry in _FILE["papers"])
PARALEX: Mapping[str, Sequence[float | None]] = _FILE["paralex"]
"""Language to the scores of ``VECTORS`` in per cent, by Sumbler et al. (2018), Table 2."""
VECTORS = ("fastText", "Polyglot", "ConceptNet Numberbatch")
