"""Pages of OAI-PMH 2.0: a server's responses to ListRecords, checked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lxml import etree

from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import LARGEST_XML, read_whole

OAI = "{http://www.openarchives.org/OAI/2.0/}"
# Forbidden by XML 1.0 (2.2), as characters and as references; records contain them.
_FORBIDDEN = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[\da-f]));",
    re.IGNORECASE,
)
_RECORD_START = re.compile(rb"(?=<record[\s>])")


@dataclass(frozen=True, slots=True)
class Page:
    """A block: one page of OAI-PMH records."""

    key: str
    path: Path


def parse_page(path: Path) -> etree._Element:
    """Return the root of a page, an OAI-PMH response."""
    return parse_response(read_whole(path, LARGEST_XML), path)


def iter_records(path: Path) -> Iterator[tuple[str, etree._Element | RawError]]:
    """Yield the place of each record of a page, and the record, or why it cannot be read.

    If a page is whole, but not well-formed, its records are parsed one by one.
    """
    data = read_whole(path, LARGEST_XML)
    records: Sequence[etree._Element | RawError]
    try:
        records = parse_response(data, path).findall(f"*/{OAI}record")
    except RawError:
        end = data.rfind(b"</ListRecords")
        head, *pieces = _RECORD_START.split(data[: max(0, end)])
        if not pieces:
            raise
        pages = [head + piece + data[end:] for piece in pieces]
        records = [_only_record(page, f"{path}, record {n}") for n, page in enumerate(pages, 1)]
    for number, record in enumerate(records, 1):
        yield f"{path}, record {number}", record


def _only_record(page: bytes, where: str) -> etree._Element | RawError:
    """Return the record of a page that has one, or why it cannot be read."""
    try:
        found = parse_response(page, where).findall(f"*/{OAI}record")
        return found[0] if found else RawError(where, "a record of OAI-PMH", "another element")
    except RawError as fault:
        return fault


def parse_response(data: bytes, where: Path | str) -> etree._Element:
    """Return the root of an OAI-PMH response.

    Args:
        data: the response.
        where: its file or address, for messages.
    """
    # Without huge_tree, libxml2 refuses texts above 10 MB, and elements in more than 255 others.
    parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
    try:
        try:
            root = etree.fromstring(data, parser)
        except etree.XMLSyntaxError:
            root = etree.fromstring(_FORBIDDEN.sub(b"", data), parser)
    except etree.XMLSyntaxError as error:
        found = f"{error.msg}; it begins with {data[:60]!r}"
        raise RawError(where, "a complete response of an OAI-PMH server (XML)", found) from None
    if root.tag != f"{OAI}OAI-PMH":
        todo = "check the server's address; it ends in /oai/request for DSpace"
        raise RawError(where, "the root element OAI-PMH", root.tag, todo)
    doctype: str = cast("Any", root.getroottree().docinfo).doctype
    if doctype:
        # Entities can read other files or grow without bound; unresolved, they leave gaps.
        raise RawError(where, "a response of an OAI-PMH server, which has no DOCTYPE", doctype)
    return root
