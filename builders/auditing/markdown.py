"""Renders Markdown pages from jinja templates, and escapes the values put into them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from builders.auditing.report import GATES, inherited_of, shown_number, verdict_of

_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\*|<`["})
# At the start of a line, these make a heading, a quotation, a list, a rule or a fence.
_BLOCK = re.compile(r"^( ?)(?=[#>~=]|[-+](?!\d))")
_MARKS = {
    "not applicable": "–",
    "within chance": "pass (within chance)",
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
    text = re.sub(r"\s+", " ", str(value)).translate(_ESCAPED)
    return Markup(_BLOCK.sub(r"\1\\", text))


def code(value: object) -> Markup:
    """Return Markdown that shows a value as code."""
    text = " ".join(str(value).split()).replace("`", "'").replace("|", "¦")
    return Markup(f"`{text}`")


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
        "inherited_of": inherited_of,
        "shown_number": shown_number,
        "verdict_of": verdict_of,
    }
    return environment
