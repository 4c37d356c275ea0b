"""Harvests records from a server page by page, by OAI-PMH 2.0.

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
from corpora_recipes.formats.oai import OAI, parse_page
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LARGEST_XML, is_number

# Of a server: the largest has some hundreds of thousands of records, 100 on a page.
MOST_PAGES = 50_000
# In a row: some servers leave out hidden records without filling up the page.
MOST_EMPTY = 20


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

    Raises:
        InputError: no response, a response that is not OAI-PMH, a protocol error such as an expired
            token, pages that go in circles, or pages in the folder from a different request.
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
                seen.token(token)
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
                seen.page(url, root)
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
        self._tokens: set[str] = set()
        self._pages: set[int] = set()
        self._cursor = -1
        self._empty = 0

    def token(self, token: str) -> None:
        """Take the token with which the next page will be requested."""
        self._tokens.add(token)

    def page(self, url: str, root: etree._Element) -> None:
        """Take a page.

        Raises:
            InputError: its token was used before, its place in the list is not after that of the
                page before, its records are those of an earlier page, or too many pages had none.
        """
        token = root.find(f"{OAI}ListRecords/{OAI}resumptionToken")
        if token is not None and (text := (token.text or "").strip()) in self._tokens:
            raise _circles(url, f"the token {text[:100]!r} once more")
        cursor = "" if token is None else token.get("cursor", "")
        if is_number(cursor):
            if int(cursor) <= self._cursor:
                raise _circles(url, f"the place {cursor} in the list, after {self._cursor}")
            self._cursor = int(cursor)
        records = root.iterfind(f"{OAI}ListRecords/{OAI}record/{OAI}header/{OAI}identifier")
        page = hash(tuple(identifier.text for identifier in records))
        empty = root.find(f"{OAI}ListRecords/{OAI}record") is None
        self._empty = self._empty + 1 if empty else 0
        if self._empty > MOST_EMPTY:
            raise _circles(url, f"{self._empty} pages without a record")
        if not empty and page in self._pages:
            raise _circles(url, "the records of an earlier page")
        self._pages.add(page)


def _circles(url: str, found: str) -> InputError:
    return InputError(
        url,
        expected="pages that go on to the end of a list",
        found=found,
        todo="the server goes in circles; contact its administrators",
    )


def _check_page(path: Path) -> None:
    root = parse_page(path)
    request = root.findtext(f"{OAI}request", "").strip() or str(path)
    error = root.find(f"{OAI}error")
    if error is not None:
        code = error.get("code", "")
        hints = {
            "badResumptionToken": "its place in the list has expired: remove this server's folder "
            "of pages and fetch again",
            "noRecordsMatch": "correct `set` in `servers`; ?verb=ListSets lists them. Or choose an "
            "earlier day in `created_after`",
            "cannotDisseminateFormat": "correct `metadata_prefix` in `servers`",
        }
        raise InputError(
            request,
            expected="records",
            found=f"the error {code}: {(error.text or '').strip() or '(no text)'}",
            todo=hints.get(code, "look the error up in the OAI-PMH specification, section 3.6"),
        )
    if root.find(f"{OAI}ListRecords") is None:
        raise InputError(
            request,
            expected="a list of records (ListRecords)",
            found=", ".join(str(child.tag) for child in root),
            todo="check the server's address in `servers`",
        )


def _check_request(root: etree._Element, page: Path, query: dict[str, str]) -> None:
    """Compare the request of an earlier harvest's first page with the current one."""
    request = root.find(f"{OAI}request")
    if request is None or "metadataPrefix" not in request.attrib:
        return
    for name in ("metadataPrefix", "set", "from"):
        given, wanted = request.get(name), query.get(name)
        # An earlier day has the records of the later ones too.
        if given != wanted and not (name == "from" and (given or "") < (wanted or "")):
            raise InputError(
                page,
                expected=f"pages with {name} {wanted}",
                found=f"{name} {given}",
                todo="remove the folder of pages and fetch again",
            )


def _show(bar: "tqdm[Any]", root: etree._Element) -> str:
    """Move the bar to the page's position in the list; return the token for the next page."""
    token = root.find(f"{OAI}ListRecords/{OAI}resumptionToken")
    if token is None:
        return ""
    size, cursor = token.get("completeListSize", ""), token.get("cursor", "")
    if is_number(size) and is_number(cursor):
        bar.total = int(size)
        bar.n = int(cursor) + len(root.findall(f"{OAI}ListRecords/{OAI}record"))
        bar.refresh()
    return (token.text or "").strip()
