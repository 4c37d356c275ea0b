"""A page of a dump: its title, namespace and text, from the bytes of its XML."""

import re
from dataclasses import dataclass
from typing import NamedTuple

_TITLE = re.compile(rb"<title>([^<>]*)</title>")
_NS = re.compile(rb"<ns>\s*(-?\d{1,9})\s*</ns>")
PAGE_ID = re.compile(rb"<id>\s*(\d{1,18})\s*</id>")
_MODEL = re.compile(rb"<model>([^<>]*)</model>")
_TEXT = re.compile(rb"<text(?:\s[^<>]*)?>")
_REVISION = re.compile(
    rb"<revision>\s*<id>\s*(\d+)\s*</id>\s*(?:<parentid>\s*(\d+)\s*</parentid>\s*)?"
    rb"<timestamp>(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)</timestamp>"
)
# "#REDIRECT [[…" in any language: old dumps have no <redirect> element.
_REDIRECT = re.compile(rb"\s*#[^\s\[\]#*:;]+\s*:?\s*\[\[")
_ENTITY = re.compile(r"&(lt|gt|quot|amp|apos|#x[0-9a-fA-F]{1,6}|#[0-9]{1,7});")
_CHARACTERS = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "apos": "'"}


@dataclass(frozen=True, slots=True)
class Site:
    """The wiki that the header of a dump describes.

    Attributes:
        dbname: its name, e.g. "eswiki".
        namespaces: (number, local name) of each namespace.
    """

    dbname: str
    namespaces: tuple[tuple[int, str], ...]


class Page(NamedTuple):
    """The fields of a page; title and text are still escaped UTF-8 bytes.

    Attributes:
        id: its page id.
        namespace: number of its namespace, 0 for articles.
        model: its content model, "wikitext" where the dump names none.
        redirect: whether it is a redirect to another page.
        title_bytes: its title.
        text_bytes: its wikitext.
    """

    id: str
    namespace: int
    model: str
    redirect: bool
    title_bytes: bytes
    text_bytes: bytes

    def title(self) -> str:
        """Return the title; raises UnicodeDecodeError if it is not UTF-8."""
        return unescape(self.title_bytes.decode())

    def text(self) -> str:
        """Return the wikitext; raises UnicodeDecodeError if it is not UTF-8."""
        return unescape(self.text_bytes.decode())


@dataclass(frozen=True, slots=True)
class Revision:
    """A page's first revision in a dump, which is the only one in a dump of current pages.

    Attributes:
        page: id of the page.
        id: of the revision.
        parent: id of the revision before it; 0 if it is the page's first.
        time: of the revision, as in 2026-01-01T00:00:00Z.
    """

    page: int
    id: int
    parent: int
    time: str


def parse_revision(raw: bytes) -> Revision:
    """Read whose revision a page holds, and of when.

    Raises:
        ValueError: the page has no id, or its revision has no id or time.
    """
    page = PAGE_ID.search(raw)
    match = _REVISION.search(raw)
    if page is None or match is None:
        raise ValueError(f"a page without {'id and time of a revision' if page else 'an id'}")
    return Revision(int(page[1]), int(match[1]), int(match[2] or 0), match[3].decode())


def parse_page(raw: bytes, site: Site) -> Page:
    """Read the fields of a page.

    Raises:
        ValueError: it has no title, id or text.
    """
    title = _TITLE.search(raw)
    page_id = PAGE_ID.search(raw)
    text = _TEXT.search(raw, max(0, raw.find(b"<text")))
    end = _end_of_text(raw, text) if text else -1
    if end < 0:
        text = None
    if not (title and page_id and text):
        missing = [
            name for name, match in (("title", title), ("id", page_id), ("text", text)) if not match
        ]
        raise ValueError(f"a page without {' and '.join(missing)}")
    namespace = _NS.search(raw, 0, text.start())
    model = _MODEL.search(raw, 0, text.start())
    body = raw[text.end() : end]
    return Page(
        id=str(int(page_id[1])),
        namespace=int(namespace[1]) if namespace else _namespace_of(title[1], site),
        model=model[1].decode("ascii", "replace") if model else "wikitext",
        redirect=b"<redirect" in raw[: text.start()] or _REDIRECT.match(body) is not None,
        title_bytes=title[1],
        text_bytes=body,
    )


def _end_of_text(raw: bytes, start: re.Match[bytes]) -> int:
    """Return where the text with this start tag ends; -1 if it has no end."""
    if start[0].endswith(b"/>"):
        return start.end()
    # Its end is the next tag; one byte is found much faster than several.
    tag = raw.find(b"<", start.end())
    return tag if raw.startswith(b"</text>", tag) else raw.find(b"</text>", start.end())


def unescape(text: str) -> str:
    """Undo XML's escapes: the five named entities and character references, nothing else."""
    pieces = _ENTITY.split(text)
    if len(pieces) > 1:
        pieces[1::2] = [_CHARACTERS.get(name) or _character(name) for name in pieces[1::2]]
    return "".join(pieces)


def _character(reference: str) -> str:
    """Return the character of a reference such as #233 or #xe9."""
    code = int(reference[2:], 16) if reference[1] == "x" else int(reference[1:])
    if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return "\ufffd"
    return chr(code)


def _namespace_of(title: bytes, site: Site) -> int:
    """Return the namespace by the title's prefix: exports before 0.6 have no <ns>."""
    prefix, colon, _ = title.decode("utf-8", "replace").partition(":")
    names = {name.casefold(): number for number, name in site.namespaces if name}
    return names.get(prefix.replace("_", " ").casefold(), 0) if colon else 0
