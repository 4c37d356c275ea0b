"""Results of an encoder, for tests."""

from dataclasses import replace
from typing import Any

from evaluation.results.scores import PROBES_FORMAT, Results, Score

FACTS: dict[str, Any] = {"rows": {"train": 6, "validation": 2, "test": 3}, "folds": 0}
FACTS |= {"test_documents": 2, "layer": "0", "metric": "accuracy", "value": 0.5, "deviation": 0.1}
FACTS |= {"interval": (0.25, 0.75), "measures": {"accuracy": 0.5}, "majority": 0.5, "chance": 0.5}
FACTS |= {"chosen": {"strength": [0.1, 0.1]}, "validation": 0.75, "answers": "cd" * 32}
FACTS |= {"coverage": {"tokens": 40, "out_of_vocabulary": 3}}
SCORE = Score("bso_own", "sentence_ordering", "own", "es", "1.0.0", "ab" * 32, **FACTS)
RESULTS = Results(
    format=PROBES_FORMAT,
    name="mine",
    encoder={"encoder": "x", "revision": "1", "form": "natural", "options": {}}
    | {"layers": ["0", "1"], "layer": "1"},
    protocol={"name": "standard", "version": 3},
    intervals={"method": "jackknife", "coverage": 0.95},
    seed=3,
    versions={"python": "3"},
    code="0123456789abcdef",
    scores=(SCORE, replace(SCORE, layer="1", coverage=None, deviation=None)),
)
