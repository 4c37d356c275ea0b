"""From embeddings to the features that a probe sees, task by task.

The features are those of DiscoEval (Chen, Chu and Gimpel 2019, "Evaluation benchmarks and learning
criteria for discourse-aware sentence representations", section 3), of SentEval (Conneau and Kiela
2018, "SentEval: An evaluation toolkit for universal sentence representations") and of their Spanish
editions (Araujo et al. 2022, "Evaluation benchmarks for Spanish sentence representations").
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from builders.tasks import TASKS
from corpora_recipes.casing import lower_case
from corpora_recipes.errors import InputError
from evaluation.encoders import Form
from evaluation.instances import Dataset

if TYPE_CHECKING:
    import pyarrow as pa

Floats = np.ndarray[Any, np.dtype[np.float32]]
Counts = np.ndarray[Any, np.dtype[np.int64]]
Lookup = Callable[[Sequence[str]], Floats]
PairFeatures = Literal["difference_product", "four_part"]
"""[|x1-x2|, x1*x2] (Araujo et al. 2022, section 2.2), or [x1, x2, x1*x2, |x1-x2|] (SentEval's code
for entailment)."""


# Task to the number of texts that each text column of a row holds; None if it varies. Those of
# which neighbours are asked have no features.
TEXTS: dict[str, int | None] = {
    "sentence_position": 5,
    "sentence_ordering": 2,
    "discourse_coherence": 6,
    "section_prediction": 1,
    "discourse_relations": None,
    "sentence_classification": 1,
    "linguistic_probing": 1,
    "pair_classification": 1,
    "relatedness": 1,
    "similarity": 1,
    "sentence_ranking": 1,
    "word_ranking": 1,
    "paradigms": None,
}


def text_columns(task: str, form: Form) -> tuple[str, ...]:
    """Return the columns of a task's instances that hold the texts in one of their forms."""
    texts = TASKS[task].texts
    return tuple(text.natural if form == "natural" else text.tokens for text in texts)


def unique_texts(dataset: Dataset, form: Form) -> set[str]:
    """Return every text of a dataset, all splits; of paradigms also its terms in lower case."""
    import pyarrow.compute as pc

    texts: set[str] = set()
    columns = text_columns(dataset.task, form)
    for split in dataset.files:
        table = dataset.read(split, columns)
        for column in columns:
            texts.update(pc.unique(_texts(table, column)[0]).to_pylist())
    if dataset.task == "paradigms":
        texts |= {lower_case(text) for text in texts}
    return texts


def features(
    task: str, table: "pa.Table", form: Form, lookup: Lookup, pair_features: PairFeatures
) -> Floats:
    """Return the features of the instances in a table.

    Args:
        task: its name; with x for an embedding, the features are
            sentence_position        [x1, x1-x2, x1-x3, x1-x4, x1-x5],
            sentence_ordering        [x1, x2, x1-x2],
            discourse_coherence      [x1, x2, x3, x4, x5, x6],
            section_prediction, sentence_classification, linguistic_probing  [x],
            discourse_relations      [x1, x2, x1*x2, |x1-x2|], where x1 and x2 are the means of the
                                     embeddings of the EDUs on either side,
            pair_classification      as ``pair_features`` says,
            relatedness              [|x1-x2|, x1*x2],
            similarity               [x1, x2], for their cosine.
        table: instances with the columns ``text_columns(task, form)``, of lists of texts or of
            single texts.
        form: which form of the text.
        lookup: texts to embeddings, float32 [number of texts, dimension].
        pair_features: those of pair_classification.

    Returns:
        float32 [rows of the table, features].

    Raises:
        InputError: a row has another number of texts than the task wants, or none.
    """
    x = [_vectors(task, table, column, lookup) for column in text_columns(task, form)]
    if task == "discourse_relations" or (task, pair_features) == _FOUR_PARTS:
        return np.concatenate([*x, x[0] * x[1], np.abs(x[0] - x[1])], axis=1)
    if task in ("pair_classification", "relatedness"):
        return np.concatenate([np.abs(x[0] - x[1]), x[0] * x[1]], axis=1)
    if task == "similarity":
        return np.concatenate(x, axis=1)
    (whole,) = x
    first, *others = np.split(whole, TEXTS[task] or 1, axis=1)
    if task == "sentence_position":
        return np.concatenate([first, *(first - other for other in others)], axis=1)
    if task == "sentence_ordering":
        return np.concatenate([first, *others, first - others[0]], axis=1)
    return whole


_FOUR_PARTS = ("pair_classification", "four_part")


def _vectors(task: str, table: "pa.Table", column: str, lookup: Lookup) -> Floats:
    """Return the embeddings of each row's texts side by side, or their mean if they vary in number.

    Returns:
        float32 [rows, dimension * texts of a row], or [rows, dimension].
    """
    texts, lengths = _texts(table, column)
    count = TEXTS[task]
    if count is None:
        _check_lengths(table, column, lengths > 0, "at least one text", lengths)
        starts = np.cumsum(lengths) - lengths
        # In float64, so that the mean of any number of equal vectors is that vector.
        sums = np.add.reduceat(lookup(texts.to_pylist()), starts, axis=0, dtype=np.float64)
        means: Floats = (sums / lengths[:, None]).astype(np.float32)
        return means
    _check_lengths(table, column, lengths == count, f"{count} texts ({task})", lengths)
    return lookup(texts.to_pylist()).reshape(len(table), -1)


def _texts(table: "pa.Table", column: str) -> tuple["pa.Array", Counts]:
    """Return the texts of a column, row after row, and the number of texts in each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = table[column].combine_chunks()
    if not pa.types.is_list(values.type):
        return values, np.ones(len(values), np.int64)
    return values.flatten(), pc.list_value_length(values).to_numpy().astype(np.int64)


def _check_lengths(
    table: "pa.Table",
    column: str,
    right: np.ndarray[Any, np.dtype[np.bool_]],
    expected: str,
    lengths: Counts,
) -> None:
    if right.all():
        return
    row = int(np.flatnonzero(~right)[0])
    name = table["id"][row].as_py() if "id" in table.column_names else ""
    raise InputError(
        f"row {row} {name}".rstrip(),
        expected=f"a column {column} of {expected} in every row",
        found=str(lengths[row]),
        todo="build the dataset again with `python -m builders`",
    )
