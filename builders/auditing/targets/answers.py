"""Reads the answers and texts of rows: class names, scores, filled cells."""

import math
from collections.abc import Sequence

from corpora_recipes.running.errors import InputError


def class_name(value: object, names: Sequence[str], where: str) -> str:
    """Return the name of a class, given its name or number.

    Args:
        value: a string, an integer or a whole number.
        names: of the classes in the order of their numbers; empty if a number is its own name.
        where: the place of the row.

    Raises:
        InputError: the value is no class.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if not names:
            return str(value)
        if 0 <= value < len(names):
            return names[value]
    elif isinstance(value, str):
        return value
    among = f" among {', '.join(names)}, or the number of one from 0" if names else ""
    raise InputError(
        where,
        expected=f"a label{among}: a string or an integer",
        found="null" if value is None else repr(value),
        todo="correct the label, or remove the row",
    )


def score_of(value: object, where: str) -> float:
    """Return a score, given a number or the text of one.

    Raises:
        InputError: it is not a number, or infinite.
    """
    try:
        score = float(value) if isinstance(value, int | float | str) else math.nan
    except ValueError:
        score = math.nan
    if math.isfinite(score):
        return score
    raise InputError(
        where,
        expected="a score: a number",
        found="null" if value is None else repr(value),
        todo="correct the score, or remove the row",
    )


def check_filled(value: str | list[str] | None, column: str, where: str) -> None:
    """Check that a cell holds text, or a list without nulls.

    Raises:
        InputError: it does not.
    """
    if value is None or (isinstance(value, list) and None in value):
        raise InputError(
            where,
            expected=f"text in the column {column}",
            found="null",
            todo="fill in the text, or remove the row",
        )
