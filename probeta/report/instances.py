"""The instances that the page shows: a sample of each test, with each encoder's answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.tasks import TASKS
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.parquet import array_of
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset
from evaluation.measures import average_ranks
from evaluation.results.comparison import ALL_PAIRS_LIMIT
from evaluation.results.scores import Predictions, Score, read_predictions
from probeta.report.layout import Table, lay_out
from probeta.report.statistics import N_EXAMPLES, Report
from probeta.report.tables import dataset_cell
from probeta.report.texts import phrase, translated

# Most rows of a dataset, and most characters of a text, that are shown: the page stays small.
MAX_ROWS = 50
MAX_TEXT_LENGTH = 4000
# A score is wrong if its rank among the answers and the gold score's rank among the gold scores
# differ by more than this share of the rows. Cosines and ratings have no scale in common.
RANK_TOLERANCE = 0.25

Values = Mapping[str, Any]
"""Column to value: one row."""


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text of an instance in one or more units; ``tag``: its position or role, in a word.

    ``marked``: whether it was moved, swapped or replaced.
    """

    units: tuple[str, ...]
    tag: str = ""
    note: str = ""
    marked: bool = False


def browser_contents(
    report: Report, datasets: Sequence[Dataset], cards: str = ""
) -> list[dict[str, Any]]:
    """Return the content of the browser of instances, as the page's script reads it.

    Of each dataset there are ``card`` (its address in the folder ``cards``, or ""), ``labels``
    (empty for scores), ``encoders`` (those that answered), ``count`` (rows asked), ``columns`` (of
    provenance), ``rows`` …, and for trees ``trees``, document to its nodes: first and last unit of
    the left and of the right span, and the class. A row has ``parts`` (``ShownText``), ``told``
    (the gold answer in words, and a remark), ``values`` (of the columns) …, for trees ``tree`` and
    ``node``, and ``answers``, one per encoder: the answer, whether it is wrong (or far off), and a
    remark.
    """
    by_name = {dataset.name: dataset for dataset in datasets}
    contents = []
    for name in report.inputs.datasets:
        expected = report.inputs.any_score(name).digest
        found = by_name[name].digest() if name in by_name else "no such dataset"
        if found != expected:
            where, probed = f"instances of {name}", "the instances that were probed"
            todo = f"pass {probed}, or probe these: `probeta repro`"
            raise InputError(where, f"{probed}, SHA-256 {expected}", found, todo)
        content = _dataset_content(report, by_name[name])
        title = dataset_cell(report, name).title
        contents.append(content | {"title": title, "card": cards and f"{cards}/{name}.md"})
    return contents


def _dataset_content(report: Report, dataset: Dataset) -> dict[str, Any]:
    name, task = dataset.name, TASKS[dataset.task]
    rows = _read_rows(dataset)
    ids = rows["id"].to_pylist()
    example_ids = {*report.examples.row[report.examples.dataset == name]}
    examples = {number for number, row in enumerate(ids) if row in example_ids}
    drawn = sorted(examples.union(draw_rows(ids, report.inputs.encoders[0].seed, name)))
    scores = dict(islice(report.inputs.datasets[name].items(), ALL_PAIRS_LIMIT))
    answers = [
        _browser_answers(dataset, _read_checked(report.inputs.folders[encoder], score, rows), drawn)
        for encoder, score in scores.items()
    ]
    gold = _describe_gold(dataset, rows, drawn)
    elsewhere = {"id", "split", "also_in", dataset.target}
    elsewhere |= {column for text in task.texts for column in (text.natural, text.tokens)}
    columns = [column for column in dataset.columns if column not in elsewhere]
    shown = rows.take(np.array(drawn, np.int64)).to_pylist()
    content: dict[str, Any] = {
        "name": name,
        "group": task.group.abbreviation,
        "language": report.inputs.any_score(name).language,
        "question": translated(task.question),
        "labels": list(dataset.labels) if dataset.target == "label" else [],
        "encoders": list(scores),
        "count": len(rows),
        "columns": columns,
        "rows": [
            {
                "id": row["id"],
                "parts": [_non_empty(part) for part in shown_texts(dataset, row)],
                "gold": row[dataset.target],
                "told": gold[number],
                "values": [_format_value(dataset, column, row[column]) for column in columns],
                "answers": [by_row[number] for by_row in answers],
            }
            for number, row in enumerate(shown)
        ],
    }
    if "left_first" in dataset.columns:
        content["trees"] = _trees(rows, {row["document_id"] for row in shown})
        for row, values in zip(content["rows"], shown, strict=True):
            row["tree"], row["node"] = values["document_id"], _node(values)
    return content


def draw_rows(ids: Sequence[str], seed: int, dataset: str) -> list[int]:
    """Return the numbers of at most ``MAX_ROWS`` rows, drawn by a hash of their ids, in order."""
    order = sorted(range(len(ids)), key=lambda i: keyed_hash(seed, dataset, ids[i], "report"))
    return sorted(order[:MAX_ROWS])


def shown_texts(dataset: Dataset, row: Values) -> list[ShownText]:
    """Return the texts of an instance, with the changes that the task made."""
    texts: list[str] = []
    for column in TASKS[dataset.task].texts:
        value = row[column.natural]
        texts += [value] if column.kind == "string" else value
    tags = map(str, range(1, len(texts) + 1)) if len(texts) > 1 else [""]
    shown = [ShownText((_cut_text(text),), tag) for text, tag in zip(texts, tags, strict=True)]
    column_of_change, note = _CHANGE_COLUMNS.get(dataset.task, ("", ""))
    if column_of_change and row[column_of_change] is not None:
        return [replace(shown[0], note=phrase(note, **row), marked=True)]
    mark = _MARK_CHANGES.get(dataset.task)
    return mark(dataset, row, shown) if mark else shown


def _position(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    """The first sentence was moved to the front from the position that the class names."""
    first, *others = shown
    tags = [str(number + 1) for number in range(len(shown)) if number != row["label"]]
    note = phrase("moved") if row["label"] else phrase("not_moved")
    return [
        replace(first, tag=str(row["label"] + 1), note=note, marked=True),
        *(replace(text, tag=tag) for tag, text in zip(tags, others, strict=True)),
    ]


def _ordering(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    if dataset.labels[row["label"]] != "swapped":
        return shown
    return [replace(text, tag=tag, marked=True) for tag, text in zip("21", shown, strict=True)]


def _coherence(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    if (number := row["replaced_position"]) is not None:
        note = phrase("put_in", donor=row["donor_id"])
        shown[number - 1] = replace(shown[number - 1], note=note, marked=True)
    return shown


def _relation(dataset: Dataset, row: Values, shown: list[ShownText]) -> list[ShownText]:
    """The two spans in the order of the text, which ``order`` has the roles of."""
    parts = []
    sides = sorted(("left", "right"), key=lambda side: row[f"{side}_first"])
    for number, side in enumerate(sides):
        first, last = row[f"{side}_first"] + 1, row[f"{side}_last"] + 1
        units = phrase("unit" if first == last else "units", first=first, last=last)
        tag = phrase("satellite" if number == row["order"].find("S") else "nucleus")
        parts.append(ShownText(tuple(map(_cut_text, row[side])), tag, units))
    return parts


_MARK_CHANGES: Mapping[str, Callable[[Dataset, Values, list[ShownText]], list[ShownText]]] = {
    "sentence_position": _position,
    "sentence_ordering": _ordering,
    "discourse_coherence": _coherence,
    "discourse_relations": _relation,
    "nuclearity": _relation,
}
"""Task to the function that marks what it changed in the texts; other tasks show them as is."""
_SWAPPED = ("swapped", "swapped")
_CHANGE_COLUMNS = {
    "bigram_shift": _SWAPPED,
    "ngram_shift": _SWAPPED,
    "odd_word": ("original", "odd_word"),
    "coordination_inversion": ("first_tokens", "inverted"),
}
"""Task of one text to the column that tells what was changed, if anything, and its phrase."""


def _describe_gold(dataset: Dataset, rows: pa.Table, drawn: Sequence[int]) -> list[list[str]]:
    """Return for each drawn row the gold answer in words, and a remark beside it."""
    gold = array_of(rows[dataset.target])
    if dataset.target == "score":
        ranks = _relative_ranks(gold)
        return [[f"{gold[i]:g}", phrase("above", share=100 * ranks[i])] for i in drawn]
    words = translated(TASKS[dataset.task].gold)
    return [[words.format(dataset.labels[gold[i]])] for i in drawn]


def _read_rows(dataset: Dataset) -> pa.Table:
    """Return the test rows with all columns except tokens, and with nulls."""
    files = dataset.files["train" if dataset.folds else "test"]
    tokens = {text.tokens for text in TASKS[dataset.task].texts}
    columns = [name for name in dataset.columns if name not in tokens]
    tables = [pq.ParquetFile(file).read(columns=columns) for file in files]
    return pa.concat_tables(table.replace_schema_metadata() for table in tables)


def _read_checked(folder: Path, score: Score, rows: pa.Table) -> Predictions:
    predictions = read_predictions(folder, score.dataset, score.layer)
    if rows["id"].to_pylist() != predictions.ids.tolist():
        expected = f"predictions for the {len(rows)} rows of {score.dataset}, in their order"
        found = f"{len(predictions.ids)} rows, not the same ones"
        raise InputError(folder, expected, found, "run `probeta probe` again for this encoder")
    return predictions


def _browser_answers(
    dataset: Dataset, predictions: Predictions, drawn: Sequence[int]
) -> list[list[Any]]:
    """Return for each drawn row the answer, whether it is wrong, and a remark beside it."""
    gold, predicted = predictions.gold, predictions.predicted
    if dataset.target == "score":
        mean = predicted.mean(axis=0)
        ranks = _relative_ranks(mean)
        wrong = np.abs(_relative_ranks(gold) - ranks) > RANK_TOLERANCE
        above = [phrase("above", share=100 * rank) for rank in ranks]
        return [_strip_empty(round(float(mean[i]), 3), bool(wrong[i]), above[i]) for i in drawn]
    starts = len(predicted)
    votes = np.stack([(predicted == label).sum(axis=0) for label in range(len(dataset.labels))])
    # Ties go to the first label.
    answers = votes.argmax(axis=0)
    counts = votes.max(axis=0) if starts > 1 else ()
    most = [phrase("starts", count=n, starts=starts) for n in counts] or [""] * len(answers)
    return [_strip_empty(int(answers[i]), bool(answers[i] != gold[i]), most[i]) for i in drawn]


def _strip_empty(answer: float, wrong: bool, remark: str) -> list[Any]:
    """Return an answer as the page reads it, without empty parts at its end."""
    return [answer, wrong, remark] if remark else [answer, wrong] if wrong else [answer]


def _relative_ranks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return for each value the share of lower values among the others; equal ones count half."""
    ranks: np.ndarray[Any, Any] = (average_ranks(values) - 1) / max(1, len(values) - 1)
    return ranks


def _trees(rows: pa.Table, documents: set[str]) -> dict[str, list[list[int]]]:
    """Return document to the nodes of its tree, the widest first."""
    columns = ["document_id", "label", "left_first", "left_last", "right_first", "right_last"]
    trees: dict[str, list[list[int]]] = {document: [] for document in sorted(documents)}
    for row in rows.select(columns).to_pylist():
        if row["document_id"] in documents:
            trees[row["document_id"]].append([*_node(row), row["label"]])
    for nodes in trees.values():
        nodes.sort(key=lambda node: (min(node[0], node[2]) - max(node[1], node[3]), node))
    return trees


def _node(row: Values) -> list[int]:
    return [row[f"{side}_{end}"] for side in ("left", "right") for end in ("first", "last")]


def _non_empty(part: ShownText) -> dict[str, Any]:
    """Return the fields that are not empty."""
    return {name: value for name, value in asdict(part).items() if value}


def _cut_text(text: str) -> str:
    if len(text) <= MAX_TEXT_LENGTH:
        return text
    return phrase("cut", text=text[:MAX_TEXT_LENGTH], count=len(text) - MAX_TEXT_LENGTH)


def _format_value(dataset: Dataset, column: str, value: Any) -> str:
    if column == "label":
        return dataset.labels[int(value)]
    return "–" if value in (None, "") else str(value)


def browser(report: Report) -> list[Table]:
    """Return the heading of the browser of instances."""
    table = lay_out(
        "instances",
        encoders=ALL_PAIRS_LIMIT,
        limit=MAX_ROWS,
        longest=MAX_TEXT_LENGTH,
        far=100 * RANK_TOLERANCE,
        examples=N_EXAMPLES,
    )
    return [table]
