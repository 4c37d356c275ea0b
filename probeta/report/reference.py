"""Results beside the scores of known encoders that are shipped: `probeta verify --reference`.

docs/reference_scores.md shows these scores, and says from which files anybody gets them.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from corpora_recipes.running.console import plural
from corpora_recipes.running.errors import InputError, check_names
from evaluation.results.citation import Citation, parse_citation
from evaluation.results.scores import ParadigmResults, RankingResults, Results
from probeta.report.inputs import AnyResults, make_score_table
from probeta.verifying import Verification

PATH = Path(__file__).with_name("reference_scores.json")
# The share of an interval's width by which a score may differ: processors and libraries round
# vectors in other ways, so that a probe takes another strength, and some rows another class.
TOLERANCE = 0.1


class ReferenceScore(NamedTuple):
    """A score of a main layer with its interval, and the line to cite it by, which says of what."""

    citation: str
    measure: str
    value: float
    low: float
    high: float

    @property
    def cited(self) -> Citation:
        """The fields of the line."""
        return parse_citation(self.citation)

    @property
    def key(self) -> tuple[str, ...]:
        """What two scores have in common that may be compared: dataset, protocol, measure."""
        return self.cited.name, self.cited.protocol, self.measure


def reference_scores(results: AnyResults) -> list[ReferenceScore]:
    """Return the scores of results that have an interval, in the form of the reference."""
    kinds: list[list[Any]] = [[], [], []]
    kinds[[Results, RankingResults, ParadigmResults].index(type(results))].append(results)
    return [
        ReferenceScore(row["citation"], row["measure"], row["value"], *row["interval"])
        for row in make_score_table(*kinds).to_dict("records")
        if row["interval"]
    ]


def read_reference() -> dict[str, dict[tuple[str, ...], ReferenceScore]]:
    """Return encoder to ``ReferenceScore.key`` to score; see benchmarks/reference.py for more."""
    scores: dict[str, dict[tuple[str, ...], ReferenceScore]] = {}
    for row in json.loads(PATH.read_bytes())["scores"]:
        score = ReferenceScore(*row)
        scores.setdefault(score.cited.encoder.rpartition("@")[0], {})[score.key] = score
    return scores


def compare_with_reference(verification: Verification, name: str) -> None:
    """Compare verified results with the reference of an encoder, which has some of their scores.

    ``verification`` gets what differs.
    """
    reference = read_reference()
    check_names("--reference", [name], reference, "an encoder of docs/reference_scores.md")
    own_scores = reference_scores(verification.results)
    scores = {score.key: score for score in own_scores if verification.includes(score.cited.name)}
    shared = [key for key in scores if key in reference[name]]
    if not shared:
        expected = f"a score that the reference of {name} has too, by the same protocol"
        todo = "score datasets of docs/reference_scores.md, by a protocol named there"
        raise InputError("--reference", expected, f"none of {plural(len(scores), 'scores')}", todo)
    n_equal = 0
    for key in shared:
        here, there = scores[key], reference[name][key]
        n_equal += here.value == there.value
        if here.cited.data != there.cited.data:
            difference = f"other rows, {here.cited.data}: the reference has {there.cited.data}"
        elif abs(here.value - there.value) > TOLERANCE * (there.high - there.low):
            difference = f"{here.value:.4f}: the reference has {there.value:.4f}"
        else:
            continue
        verification.differences.append(f"{', '.join(key)}: {difference}")
    verification.notes.append(
        f"reference {name}: {plural(len(shared), 'scores')} compared, {n_equal} are the same to "
        f"the bit; {len(scores) - len(shared)} not in it"
    )
