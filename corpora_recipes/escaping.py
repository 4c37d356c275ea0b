"""Escapes texts of users (names, licences, reasons …) for Markdown and HTML pages."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

# Control characters, those that change the order of letters (Cf; not the joiners of letters and
# emoji), and halves of pairs, which UTF-8 cannot write.
_HIDDEN = ("Cc", "Cf", "Cs")
_JOINERS = "\u200c\u200d"
# Markup of Markdown and HTML: everywhere; an underscore that is not in a word; an entity; the end
# of a heading; a bracket if the text could have a link or a note.
_MARKUP = re.compile(r"[\\*|<`~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=\s)#(?=#*$)")
_BRACKET = re.compile(r"\[")
_LINK = re.compile(r"\][(\[:]|\[\^")
# At the start of a line, these make a heading, a quotation, a list, a rule or a fence.
_BLOCK = re.compile(r"^(?=[#>=]|[-+](?!\d))|^(\d+)(?=[.)](?:\s|$))")


def one_line(value: object) -> str:
    """Return a value's text on one line, without control and formatting characters."""
    text = " ".join(str(value).split())
    return "".join(c for c in text if c in _JOINERS or unicodedata.category(c) not in _HIDDEN)


def markdown(value: object) -> str:
    """Return Markdown that shows a value as it is, on one line, anywhere in a page."""
    text = one_line(value)
    escaped = _MARKUP.sub(r"\\\g<0>", text)
    if _LINK.search(text):
        escaped = _BRACKET.sub(r"\\[", escaped)
    return _BLOCK.sub(r"\1\\", escaped)


def markdown_code(value: object) -> str:
    """Return Markdown that shows a value as code."""
    return f"`{one_line(value).replace('`', chr(39)).replace('|', '¦')}`"


def render(template: Path, facts: Mapping[str, Any], *folders: Path) -> str:
    """Render a jinja template; its text is Markdown, and the values put into it are escaped.

    Args:
        template: it may import other templates of its folder.
        facts: the names that it uses, to their values. A ``Markup`` is Markdown already; any other
            value becomes one line of plain text.
        folders: others that it imports templates from.
    """
    return _environment(template.parent, *folders).get_template(template.name).render(facts)


def render_html(template: Path, **facts: object) -> str:
    """Render a jinja template whose text is HTML; values are escaped, unless ``Markup``."""
    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(facts)


def _plain(value: object) -> Markup:
    """Return Markdown that shows a value as it is, on one line, anywhere in a page."""
    if isinstance(value, Markup):
        return value
    text = str(value)
    if not text.strip():
        return Markup(" " if text else "")
    # Constants of templates pass here too, and need the spaces around them.
    before, after = (" " if end.isspace() else "" for end in (text[0], text[-1]))
    return Markup(f"{before}{markdown(text)}{after}")


@cache
def _environment(*folders: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folders),
        # Escaped text and the results of macros are not escaped again.
        autoescape=True,
        finalize=_plain,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "code": lambda value: Markup(markdown_code(value)),
        "spaced": lambda name: name.replace("_", " "),
        "thousands": "{:,}".format,
    }
    return environment
