"""The report as Markdown, of the data of the page: both say the same of the same numbers."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from corpora_recipes.escaping import markdown, render
from probeta.report.layout import NONE, with_minus
from probeta.report.sentences import FEW
from probeta.report.texts import all_texts, phrase

TEMPLATE = Path(__file__).with_name("report.md.jinja")
# Encoders that a table has, the best ones first; scores.json has all.
MAX_ENCODERS = 20
# A difference that is clear has these numbers; others have one more.
_CLEAR = ("value", "low", "high")
Data = Mapping[str, Any]


def write_markdown(data: Data, figures: Sequence[str] = ()) -> str:
    """Return the report as Markdown, as GitHub reads it.

    With a few encoders, they are the columns, and each dataset has a line. Of more, the best ones
    are the lines, with the means of groups.

    Args:
        data: that of the page, see ``page.page_data``.
        figures: the names of the figures in the folder ``figures`` beside the report.
    """
    facts = {
        **{"data": data, "encoders": [name for name, _ in data["encoders"]]},
        **{"few": len(data["encoders"]) <= FEW, "limit": MAX_ENCODERS},
        "figures": {name: all_texts()["figures"][name] for name in figures},
        "compared": list(_compared(data)),
        **{"cells": _cells, "number": _number, "bold": _bold, "parts": _parts, "phrase": phrase},
    }
    return re.sub(r"\n{3,}", "\n\n", render(TEMPLATE, facts))


def _compared(data: Data) -> Iterator[list[str]]:
    """Yield two encoders each on every benchmark; of many, the first one with the next few.

    On how many datasets which of them is ahead, and on how many they are tied.
    """
    names = [name for name, _ in data["encoders"]]
    for benchmark in data["benchmarks"]:
        wholes = benchmark["means"][0][2] if benchmark["means"] else []
        for place, whole in enumerate(wholes):
            first, second = data["pairs"][place]
            if not whole or (len(names) > FEW and (first > 0 or second > FEW)):
                continue
            found = [data["datasets"][key]["differences"][place] for key in benchmark["datasets"]]
            clear = [each[0] > 0 for each in found if each and len(each) == len(_CLEAR)]
            value, low, high, *tied = (_number(number, "+.1f") for number in whole)
            text = f"{value} [{low}, {high}]"
            counts = sum(clear), len(clear) - sum(clear), sum(map(bool, found)) - len(clear)
            pair = f"{names[first]} − {names[second]}"
            yield [benchmark["name"], pair, text if tied else _bold(text), *map(str, counts)]


def _cells(scores: Sequence[Any], marks: str) -> list[str]:
    """Return the cells of encoders: bold for who leads, italic what is not above the baseline."""
    cells = []
    for score, mark in zip(scores, marks, strict=True):
        value, *interval = map(_number, score or [None])
        text = f"{value} [{', '.join(interval)}]" if interval else value or NONE
        cells.append(_bold(text) if mark in "Ll" else Markup(f"*{text}*") if mark in "ws" else text)
    return cells


def _number(tenths: int | None, form: str = ".1f") -> str:
    return "" if tenths is None else with_minus(format(tenths / 10, form))


def _bold(text: str) -> Markup:
    return Markup(f"**{markdown(text)}**")


def _parts(text: str) -> list[str]:
    """Return the parts of a sentence of the page, HTML in which names may be bold."""
    parts = re.split(r"(</?b>)", text)
    return [Markup("**") if part in ("<b>", "</b>") else html.unescape(part) for part in parts]
