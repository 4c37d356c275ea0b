"""Where the pairs of a ranking come from: the datasets of scored pairs that have them."""

from collections.abc import Mapping, Sequence

from builders.tasks.ranking import TASKS
from corpora_recipes.text.same_text import mark
from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns, texts_of

Pairs = frozenset[tuple[str, str]]
"""Query and positive, by id."""
Sources = Mapping[str, Mapping[str, Pairs]]
"""Ranking to dataset of scored pairs to those pairs that it has; "": those that none has."""


def sources_of(datasets: Sequence[Dataset]) -> Sources:
    """Return the sources of the rankings among some datasets, if there are any.

    A dataset of pairs with scores has a pair of a ranking in its language, if the texts are the
    same except for case, punctuation and symbols, in either order, whatever the score.
    """
    rankings = [d for d in datasets if d.task in {task.name for task in TASKS}]
    scored = [(d, _pairs(d)) for d in datasets if rankings and d.target == "score"]
    found = {}
    for ranking in rankings:
        columns = ["id", *text_columns(ranking.task, "natural"), "positives"]
        rows = [[*row.values()] for row in ranking.read("test", columns).to_pylist()]
        marks = {row: mark(text) for row, text, _ in rows}
        rest = {(query, positive) for query, _, others in rows for positive in others}
        linked = {pair: frozenset(marks[n] for n in pair) for pair in rest}
        sets = {}
        for dataset, pairs in scored:
            inside = frozenset(pair for pair, texts in linked.items() if texts in pairs)
            if dataset.language == ranking.language and inside:
                sets[dataset.name] = inside
                rest -= inside
        if sets:
            found[ranking.name] = sets | ({"": frozenset(rest)} if rest else {})
    return found


def _pairs(dataset: Dataset) -> set[frozenset[int]]:
    columns = text_columns(dataset.task, "natural")
    pairs: set[frozenset[int]] = set()
    for split in dataset.files:
        table = dataset.read(split, columns)
        texts = (texts_of(table, column)[0].to_pylist() for column in columns)
        pairs |= {frozenset(map(mark, pair)) for pair in zip(*texts, strict=True)}
    return pairs
