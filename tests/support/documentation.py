"""The pages of the documentation, notebooks as pages, and their code blocks."""

import re
from pathlib import Path
from typing import NamedTuple

from imports import REPOSITORY

from probeta.cli.report import notebook_page

PAGES = {
    path.relative_to(REPOSITORY).as_posix(): path.read_text("utf-8")
    for name in ("README.md", "CONTRIBUTING.md", "docs/*.md")
    for path in sorted(REPOSITORY.glob(name))
}
NOTEBOOKS = {
    path.relative_to(REPOSITORY).as_posix(): notebook_page(path.read_text("utf-8"))
    for path in sorted(REPOSITORY.glob("docs/notebooks/*.ipynb"))
}
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A code block of a page."""

    page: str
    language: str
    text: str


def blocks(*languages: str, page: str = "") -> list[Block]:
    """Return the code blocks in some languages, of one page or of all."""
    return [
        Block(name, language, text)
        for name, content in ({page: (PAGES | NOTEBOOKS)[page]} if page else PAGES).items()
        for language, text in _BLOCK.findall(content)
        if language in languages
    ]


def without_blocks(text: str) -> str:
    """Return a page without its code blocks."""
    return _BLOCK.sub("", text)


def anchors(page: Path) -> set[str]:
    """Return the anchors that the headings of a page have."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
