"""Rows that stand out: that no encoder answers, that all do, that only the worse ones do."""

from functools import partial
from urllib.parse import quote

import pandas as pd

from probeta.report import layout
from probeta.report.inputs import Inputs
from probeta.report.layout import Cell, Column, Table, lay_out
from probeta.report.tables.marks import by_dataset
from probeta.report.texts import phrase


def items(inputs: Inputs) -> list[Table]:
    """Return how many rows of each dataset stand out."""
    found = dict(iter(inputs.items.groupby("dataset")))
    if not found:
        return [lay_out("few-items", name="items")]
    columns = [
        Column("encoders", lambda name: layout.counted(found[name].encoders.iloc[0])),
        Column("rows", lambda name: layout.counted(len(found[name]))),
        Column("nobody_column", lambda name: _share(found[name].hits == 0)),
        Column("everybody", lambda name: _share(found[name].hits == found[name].encoders)),
        Column("negative", lambda name: _share(found[name].discrimination < 0)),
    ]
    return by_dataset(inputs, "items", columns, [name for name in inputs.datasets if name in found])


def _share(which: "pd.Series[bool]") -> Cell:
    return layout.percent_cell(float(which.mean()), f"({which.sum():,})")


def examples(inputs: Inputs) -> list[Table]:
    """Return the first rows of each dataset with negative discrimination."""
    of = partial(phrase, "counted_of")
    columns = [
        Column("row", lambda item: _row_cell(item.dataset, item.row)),
        Column("hits", lambda item: Cell(of(count=item.hits, all=item.encoders), value=item.hits)),
        Column("discrimination", lambda item: item.discrimination),
    ]
    rows = inputs.examples.itertuples(index=False)
    return by_dataset(inputs, "examples", columns, rows, texts=2)


def _row_cell(dataset: str, row: str) -> Cell:
    """Return the id of a row, with a link to it: the page decodes its address twice."""
    found = quote(quote(row, safe=""))
    return Cell(row, link=f"#instances-title?dataset={dataset}&find={found}")
