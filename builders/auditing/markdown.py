"""Renders Markdown pages from jinja templates; the values put into them are escaped."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from builders.auditing.report import GATES, SURFACE_FORM, inherited_of, shown_number, verdict_of
from corpora_recipes.escaping import markdown, markdown_code

_MARKS: Mapping[str, str] = {
    "not applicable": "–",
    "within chance": "pass (within chance)",
    SURFACE_FORM: Markup(f"**{SURFACE_FORM}**"),
    "undeclared": Markup("**undeclared**"),
    "miss": Markup("**miss**"),
}


def render(template: Path, facts: Mapping[str, Any]) -> str:
    """Render a template; its text is Markdown, and the values put into it are escaped.

    Args:
        template: it may import ``gates.md.jinja`` of this folder.
        facts: the names that it uses, to their values. A ``Markup`` is Markdown already; any other
            value becomes one line of plain text.
    """
    return _environment(template.parent).get_template(template.name).render(facts)


def plain(value: object) -> Markup:
    """Return Markdown that shows a value as it is, on one line, anywhere in a page."""
    if isinstance(value, Markup):
        return value
    # Constants of templates pass here too, and need the spaces around them.
    text = str(value)
    before, after = (" " * own.isspace() for own in (text[:1], text[-1:]))
    return Markup(f"{before}{markdown(text)}{after}" if text.strip() else " " * bool(text))


def code(value: object) -> Markup:
    """Return Markdown that shows a value as code."""
    return Markup(markdown_code(value))


def row_name(row: Mapping[str, Any]) -> str:
    """Return where a row is: its file, its number there, its id."""
    return f"{row['file']}, {row['unit']} {row['number']}" + f" ({row['id']})" * bool(row["id"])


def spaced(name: str) -> str:
    """Return a name with spaces instead of underscores."""
    return name.replace("_", " ")


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        # Escaped text and the results of macros are not escaped again.
        autoescape=True,
        finalize=plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"code": code, "spaced": spaced, "thousands": "{:,}".format}
    environment.globals |= {
        "titles": {gate: Markup(title) for gate, title in GATES.items()},
        "marks": _MARKS,
        "row_name": row_name,
        "inherited_of": inherited_of,
        "shown_number": shown_number,
        "verdict_of": verdict_of,
    }
    return environment
