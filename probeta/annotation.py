"""The sheet that people fill in: rows of a dataset without their labels, as a page and as CSV."""

import csv
import re
from collections import Counter
from pathlib import Path
from typing import Any

from builders.tasks import TASKS
from corpora_recipes.escaping import one_line, render_html
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_outputs
from evaluation.data.instances import Dataset
from evaluation.data.texts import text_columns

COLUMNS = ("row", "texts", "answer")
# Of more classes, a person types the name.
MOST_BUTTONS = 12
_PAGE = Path(__file__).with_name("sheet.html")
_DIGITS = 16
KEY = re.compile(rf"[\w-]+:[0-9a-f]{{{_DIGITS}}}:\d+")
"""What ``row_key`` returns."""


def write_sheet(dataset: Dataset, seed: int, count: int, folder: Path) -> int:
    """Write rows of a dataset for people to answer: DATASET.html and DATASET.csv in a folder.

    The rows are of the tested split (of all folds), in keyed-hash order; each class has as many, as
    far as there are. Chen et al. (2019, section 6) asked a person about 50 rows of a dataset.

    Returns:
        The number of rows: ``count``, or all if there are fewer.
    """
    if dataset.target != "label":
        todo = "name a dataset with classes, see `probeta list`"
        raise InputError(dataset.name, "a dataset with classes", f"a {dataset.target}", todo)
    page, sheet = (folder / f"{dataset.name}.{kind}" for kind in ("html", "csv"))
    if sheet.exists():
        todo = "move it away"
        raise InputError(sheet, "no such file", "a sheet, which may be filled in", todo)
    columns = text_columns(dataset.task, "natural")
    rows = dataset.read(dataset.tested, ["id", "label", *columns]).to_pylist()
    digest, task = dataset.digest(), TASKS[dataset.task]
    drawn = [
        (row_key(dataset.name, digest, number), _texts(rows[number], columns))
        for number in _drawn(dataset.name, seed, rows, count)
    ]
    html = render_html(
        _PAGE,
        dataset=dataset,
        question=task.question,
        classes=[(name, task.gold.format(name)) for name in dataset.labels],
        rows=drawn,
        most_buttons=MOST_BUTTONS,
    )
    with whole_outputs([page, sheet]) as (new_page, new_sheet):
        new_page.write_text(html, "utf-8")
        # With a byte order mark, by which spreadsheets know UTF-8.
        with new_sheet.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for key, texts in drawn:
                writer.writerow([key, "\n".join(f"{name}: {text}" for name, text in texts), ""])
    return len(drawn)


def row_key(dataset: str, digest: str, number: int) -> str:
    """Return what identifies a row on a sheet: dataset, digest of its files, number from 0."""
    return f"{dataset}:{digest[:_DIGITS]}:{number}"


def _drawn(dataset: str, seed: int, rows: list[dict[str, Any]], count: int) -> list[int]:
    """Return the numbers of the rows to show: classes take turns, but do not stand in turns."""
    order = sorted(
        range(len(rows)), key=lambda number: keyed_hash(seed, dataset, rows[number]["id"], "sheet")
    )
    turns: Counter[int] = Counter()
    turn_of = {}
    for number in order:
        turn_of[number] = turns[rows[number]["label"]]
        turns[rows[number]["label"]] += 1
    chosen = set(sorted(order, key=turn_of.__getitem__)[:count])
    return [number for number in order if number in chosen]


def _texts(row: dict[str, Any], columns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the texts of a row, each on one line, with their names."""
    texts = []
    for column in columns:
        if isinstance(row[column], str):
            texts.append((column, one_line(row[column])))
        else:
            name, of_column = column.removesuffix("s"), enumerate(row[column], 1)
            texts += [(f"{name} {number}", one_line(text)) for number, text in of_column]
    return texts
