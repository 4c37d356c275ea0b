"""Tasks on examples that others have labelled: a text or a pair of texts, a class or a score.

Spanish SentEval (Araujo et al. 2022, section 2; after Conneau and Kiela 2018). Rows keep the parts
that their source has. Where it has none, rows get folds; where it lacks one, see ``assign``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.passages import mark
from builders.schemas import LABEL, Column, Task, Text
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import SPLITS, Example, Split

# As SentEval's cross-validation (Conneau and Kiela 2018, section 4, "10-fold").
FOLDS = 10

Marks = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleTask(Task):
    """A task whose rows are examples; their corpus names the classes.

    Attributes:
        named_by_language: whether each collection is in the language whose code is its name.
    """

    records: tuple[str, ...] = ("examples",)
    labels: tuple[str, ...] = ()
    constructed: bool = False
    named_by_language: bool = False

    def fits(self, facts: Mapping[str, Any]) -> bool:
        """Tell whether a collection (its part of corpus.yaml) has what the task asks for."""
        if self.target == "neighbours":
            return facts["texts"] is None
        answer = {"label": "labels", "score": "scale"}[self.target]
        return answer in facts and facts["texts"] == len(self.texts)

    def wants(self) -> str:
        """Say in words what ``fits`` asks of a collection."""
        if self.target == "neighbours":
            return "a cluster of texts, as many as it has"
        return f"{'a pair of texts' if len(self.texts) > 1 else 'one text'} with a {self.target}"


def answer_columns(facts: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns for the label and the score that a collection has."""
    columns = dict(LABEL) if "labels" in facts else {}
    if "scale" in facts:
        lowest, highest = facts["scale"]
        columns["score"] = Column("number", f"from {lowest} to {highest}")
    return columns


def further_columns(facts: Mapping[str, Any]) -> dict[str, Column]:
    """Return the columns for what else is known of the rows of a collection."""
    return {
        **{name: Column("string", about) for name, about in facts.get("columns", {}).items()},
        "source_split": Column("string", "the source's own part, empty if it has none"),
        "also_in": Column(
            "strings",
            "other splits that hold the same text, or the same pair in this order, but for case "
            "and punctuation",
        ),
        "fold": Column("integer", f"0 … {FOLDS - 1}, for cross-validation"),
    }


def assign(
    examples: Sequence[Example], task: ExampleTask, seed: int, name: str
) -> tuple[dict[str, Split], dict[str, int]]:
    """Decide the split, or the fold, of each example.

    The last part of the source is test and its first is train. If there is nothing in between, a
    tenth of train is held out for validation. If it has one part or none, the rows get folds.

    Args:
        examples: of one collection.
        task: their task; if nothing is trained, all examples are test.
        seed: the run's seed.
        name: of the collection, so that all datasets made of it have the same splits.

    Returns:
        Example id to split, and example id to fold; empty if there are no folds, and every split
        is "train" if there are.
    """
    if not task.trained:
        return {example.id: "test" for example in examples}, {}
    parts = _parts(examples)
    tested = tested_part(examples)
    if tested is None:
        return dict.fromkeys((e.id for e in examples), "train"), folds(examples, seed, name)
    names: dict[Split | None, Split] = {parts[0]: "train", tested: "test"}
    splits = {example.id: names.get(example.split, "validation") for example in examples}
    if len(parts) == 2:
        train = [example for example in examples if splits[example.id] == "train"]
        held_out = folds(train, seed, name)
        splits |= {key: "validation" for key, fold in held_out.items() if fold == 0}
    return splits, {}


def tested_part(examples: Sequence[Example]) -> Split | None:
    """Return the source's part of a collection that a probe is tested on.

    It is the last part that is there; None if there are not two, and rows get folds.
    """
    parts = _parts(examples)
    return parts[-1] if len(parts) > 1 else None


def _parts(examples: Sequence[Example]) -> list[Split]:
    """Return the source's parts that a collection has, in their order."""
    there = {example.split for example in examples}
    return [part for part in SPLITS if part in there]


def folds(examples: Sequence[Example], seed: int, name: str) -> dict[str, int]:
    """Return the fold of each example, by id.

    Examples of one document, or with the same text (or pair), are in the same fold. Folds are
    stratified: the groups of examples that belong together in this way are dealt out class by
    class (the class of a group is that of its example with the first id), in the order of a keyed
    hash, so that no fold has more than one group of a class more than another.

    Args:
        examples: of one collection.
        seed: the run's seed.
        name: of the collection.
    """
    classes: dict[str, list[tuple[int, list[Example]]]] = {}
    for group in _inseparable(examples):
        first = min(group, key=lambda example: example.id)
        rank = keyed_hash(seed, name, first.id, "fold")
        classes.setdefault(first.label or "", []).append((rank, group))
    found: dict[str, int] = {}
    dealt = 0
    for label in sorted(classes):
        for _, group in sorted(classes[label], key=lambda entry: entry[0]):
            found |= dict.fromkeys((example.id for example in group), dealt % FOLDS)
            dealt += 1
    return found


def _inseparable(examples: Sequence[Example]) -> list[list[Example]]:
    """Return the groups of examples that documents and texts link, directly or through others."""
    leader: dict[str | Marks, str | Marks] = {}

    def find(key: str | Marks) -> str | Marks:
        while (above := leader.setdefault(key, key)) != key:
            leader[key] = key = leader[above]
        return key

    for example in examples:
        leader[find(example.document_id)] = find(same_text(example))
    groups: dict[str | Marks, list[Example]] = {}
    for example in examples:
        groups.setdefault(find(example.document_id), []).append(example)
    return list(groups.values())


def same_text(example: Example) -> Marks:
    """Return what two examples of the same text, or pair of texts, have in common."""
    return tuple(map(mark, example.texts))


def rows_of(
    examples: Sequence[Example], task: ExampleTask, seed: int, name: str
) -> dict[Split, list[dict[str, Any]]]:
    """Return the rows of a dataset by split; a split without rows is not there.

    Args:
        examples: of one collection.
        task: their task.
        seed: the run's seed.
        name: of the collection.
    """
    splits, of_fold = assign(examples, task, seed, name)
    holders: dict[Marks, set[Split]] = {}
    texts = [same_text(example) for example in examples]
    for example, text in zip(examples, texts, strict=True):
        holders.setdefault(text, set()).add(splits[example.id])
    rows: dict[Split, list[dict[str, Any]]] = {}
    for example, text in zip(examples, texts, strict=True):
        own = splits[example.id]
        others = holders[text]
        row: dict[str, Any] = {
            "id": example.id,
            **_texts(example, task),
            "document_id": example.document_id,
            **example.columns,
            "source_split": example.split or "",
            "also_in": [split for split in SPLITS if split in others and split != own],
        }
        if example.label is not None:
            row["label"] = example.label
        if example.score is not None:
            row["score"] = example.score
        if of_fold:
            row["fold"] = of_fold[example.id]
        rows.setdefault(own, []).append(row)
    return {split: rows[split] for split in SPLITS if split in rows}


def _texts(example: Example, task: ExampleTask) -> dict[str, Any]:
    """Return the text columns of a row: one with all texts of a cluster, or one for each text."""
    if task.target == "neighbours":
        return {task.texts[0].natural: list(example.texts)}
    return dict(zip((column.natural for column in task.texts), example.texts, strict=True))


_ONE = (Text("sentence", "tokens", "string", "natural text"),)
_TWO = (
    Text("sentence1", "tokens1", "string", "natural text of the first sentence"),
    Text("sentence2", "tokens2", "string", "natural text of the second"),
)

TASKS = (
    ExampleTask(
        name="sentence_classification",
        abbreviation="SC",
        question="Which class does the text belong to: what does it say, ask for or feel?",
        texts=_ONE,
        example="""\
| sentence | class |
|---|---|
| Tres horas de película y se me hicieron cortas. | **positive** |""",
    ),
    ExampleTask(
        name="pair_classification",
        abbreviation="SPC",
        question="How do the two sentences relate: does one follow from the other, do they say "
        "the same?",
        texts=_TWO,
        example="""\
| sentence1 | sentence2 | class |
|---|---|---|
| El barco zarpó con la marea de la tarde. | El barco sigue amarrado. | **contradiction** |""",
    ),
    ExampleTask(
        name="relatedness",
        abbreviation="SS",
        question="How closely are the meanings of the two sentences related? A probe is trained "
        "to answer.",
        texts=_TWO,
        target="score",
        example="""\
| sentence1 | sentence2 | score |
|---|---|---|
| Una niña patina en la plaza. | Una niña corre por la plaza. | **3.4** |""",
    ),
    ExampleTask(
        name="similarity",
        abbreviation="SS",
        question="How similar are the meanings of the two sentences? Nothing is trained: the "
        "answer is the cosine of their embeddings.",
        texts=_TWO,
        target="score",
        trained=False,
        example="""\
| sentence1 | sentence2 | score |
|---|---|---|
| El tren llegó con retraso. | El tren no llegó a su hora. | **4.2** |""",
    ),
    ExampleTask(
        name="linguistic_probing",
        abbreviation="LPT",
        question="Which formal property has the sentence: its length, a word that it holds, the "
        "depth of its tree, a shifted bigram, its tense, the number of its subject or object, a "
        "replaced word, swapped clauses?",
        texts=_ONE,
        example="""\
| sentence | class |
|---|---|
| La marea bajo dejó el puente la arena seca. | **inverted** (bigram shift) |""",
    ),
)
