"""Asks a server by OAI-PMH 2.0 for its records, page by page, or what it has, for the doctor.

The protocol is https://www.openarchives.org/OAI/openarchivesprotocol.html. The existing client
libraries (oaipmh-scythe, sickle) parse pages with recovery, so a truncated page counts as the last
one; here incomplete pages are never kept.
"""

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from lxml import etree
from tqdm import tqdm

from corpora_recipes.fetching.downloads import download
from corpora_recipes.fetching.session import look_at
from corpora_recipes.fetching.transfer import read_document
from corpora_recipes.formats.oai import OAI, parse_page, parse_response
from corpora_recipes.recipe import Finding
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LARGEST_XML, is_number

# Of a server: the largest has some hundreds of thousands of records, 100 on a page.
MOST_PAGES = 50_000
# In a row: some servers leave out hidden records without filling up the page.
MOST_EMPTY = 20
_RECORD, _TOKEN = f"{OAI}ListRecords/{OAI}record", f"{OAI}ListRecords/{OAI}resumptionToken"
_HINTS = {
    "badResumptionToken": "its place in the list has expired: remove this server's folder of pages "
    "and fetch again",
    "noRecordsMatch": "correct `set` in `servers`; ?verb=ListSets lists them. Or choose an earlier "
    "day in `created_after`",
    "cannotDisseminateFormat": "correct `metadata_prefix` in `servers`",
}


def harvest(
    url: str,
    record_set: str | None,
    metadata_prefix: str,
    folder: Path,
    delay: float,
    since: str | None = None,
) -> None:
    """Fetch all records of a server, or of one set, into ``folder`` as page-0000.xml and so on.

    Pages of an earlier run stay, and the resumption token of the last one continues it.

    Args:
        url: the server's OAI-PMH address.
        record_set: the set (setSpec) to fetch, None for everything.
        metadata_prefix: the form of the records, such as "oai_dc".
        folder: where the pages are stored.
        delay: seconds to wait between two requests.
        since: fetch only records changed on this day, as in 2026-01-01, or later. None for all.
    """
    pages = sorted(folder.glob("page-*.xml"))
    query = {"verb": "ListRecords", "metadataPrefix": metadata_prefix}
    if record_set is not None:
        query["set"] = record_set
    if since is not None:
        query["from"] = since
    token = ""
    bar: tqdm[Any]
    with tqdm(desc=f"harvest {folder.name}", unit="record", disable=None) as bar:
        if pages:
            _check_request(parse_page(pages[0]), pages[0], query)
            token = _show(bar, parse_page(pages[-1]))
            if not token:
                return
        seen = _Seen()
        for number in range(len(pages), MOST_PAGES):
            if token:
                seen.tokens.add(token)
                query = {"verb": "ListRecords", "resumptionToken": token}
            page = folder / f"page-{number:04d}.xml"
            download(
                [f"{url}?{urlencode(query)}"],
                page,
                check=_check_page,
                check_sees_end=True,
                largest=LARGEST_XML,
            )
            root = parse_page(page)
            try:
                seen.check(url, root)
            except InputError:
                page.unlink()
                raise
            token = _show(bar, root)
            if not token:
                return
            time.sleep(delay)
        raise _circles(url, f"{MOST_PAGES:,} pages, and a token for more")


class _Seen:
    """What a server has sent, to find out that it sends the same again and again."""

    def __init__(self) -> None:
        self.tokens: set[str] = set()
        self._pages: set[int] = set()
        self._cursor = -1
        self._empty = 0

    def check(self, url: str, root: etree._Element) -> None:
        """Take a page."""
        token = root.find(_TOKEN)
        if token is not None and (text := (token.text or "").strip()) in self.tokens:
            raise _circles(url, f"the token {text[:100]!r} once more")
        cursor = "" if token is None else token.get("cursor", "")
        if is_number(cursor):
            if int(cursor) <= self._cursor:
                raise _circles(url, f"the place {cursor} in the list, after {self._cursor}")
            self._cursor = int(cursor)
        records = root.iterfind(f"{_RECORD}/{OAI}header/{OAI}identifier")
        page = hash(tuple(identifier.text for identifier in records))
        empty = root.find(_RECORD) is None
        self._empty = self._empty + 1 if empty else 0
        if self._empty > MOST_EMPTY:
            raise _circles(url, f"{self._empty} pages without a record")
        if not empty and page in self._pages:
            raise _circles(url, "the records of an earlier page")
        self._pages.add(page)


def _circles(url: str, found: str) -> InputError:
    todo = "the server goes in circles; contact its administrators"
    return InputError(url, "pages that go on to the end of a list", found, todo)


def _check_page(path: Path) -> None:
    root = parse_page(path)
    request = root.findtext(f"{OAI}request", "").strip() or str(path)
    error = root.find(f"{OAI}error")
    if error is not None:
        raise _refusal(error, request, "records")
    if root.find(f"{OAI}ListRecords") is None:
        tags = ", ".join(str(child.tag) for child in root)
        todo = "check the server's address in `servers`"
        raise InputError(request, "a list of records (ListRecords)", tags, todo)


def _check_request(root: etree._Element, page: Path, query: dict[str, str]) -> None:
    """Compare the request of an earlier harvest's first page with the current one."""
    request = root.find(f"{OAI}request")
    if request is None or "metadataPrefix" not in request.attrib:
        return
    for name in ("metadataPrefix", "set", "from"):
        before, now = request.get(name), query.get(name)
        # An earlier day has the records of the later ones too.
        if before != now and not (name == "from" and (before or "") < (now or "")):
            todo = "remove the folder of pages and fetch again"
            raise InputError(page, f"pages with {name} {now}", f"{name} {before}", todo)


def _show(bar: "tqdm[Any]", root: etree._Element) -> str:
    """Move the bar to the page's position in the list; return the token for the next page."""
    token = root.find(_TOKEN)
    if token is None:
        return ""
    size, cursor = token.get("completeListSize", ""), token.get("cursor", "")
    if is_number(size) and is_number(cursor):
        bar.total = int(size)
        bar.n = int(cursor) + len(root.findall(_RECORD))
        bar.refresh()
    return (token.text or "").strip()


def examine_server(name: str, url: str, prefix: str) -> Finding:
    """Return whether the server at an address answers and has records in a form such as oai_dc."""
    # Asked once: what reads documents is patient.
    if fault := look_at(f"{url}?verb=Identify").fault:
        return Finding(name, fault=f"{url}: {fault}")
    try:
        title = _ask(url, "Identify").findtext(f".//{OAI}repositoryName", "")
        formats = _ask(url, "ListMetadataFormats").iter(f"{OAI}metadataPrefix")
        prefixes = [(element.text or "").strip() for element in formats]
    except InputError as error:
        return Finding(name, fault=error.found)
    if prefix not in prefixes:
        offered = ", ".join(prefixes) or "none"
        return Finding(name, fault=f"no records in the form {prefix}; those it has: {offered}")
    return Finding(name, note=f"is {title.strip()!r}, whose size is not known before")


def _ask(url: str, verb: str) -> etree._Element:
    address = f"{url}?{urlencode({'verb': verb})}"
    root = parse_response(read_document([address]), address)
    if (error := root.find(f"{OAI}error")) is not None:
        raise _refusal(error, address, f"an answer to {verb}")
    return root


def _refusal(error: etree._Element, where: str, expected: str) -> InputError:
    """Return what a server says is wrong."""
    code = error.get("code", "")
    found = f"the error {code}: {(error.text or '').strip() or '(no text)'}"
    todo = _HINTS.get(code, "look the error up in the OAI-PMH specification, section 3.6")
    return InputError(where, expected, found, todo)
