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


def harvest(
    url: str, record_set: str | None, metadata_prefix: str, folder: Path, delay: float
) -> None:
    """Fetch all records of a server, or of one set, into ``folder`` as page-0000.xml and so on.

    Pages of an earlier run stay, and the resumption token of the last one continues it.

    Args:
        url: the server's OAI-PMH address.
        record_set: the set (setSpec) to fetch, None for everything.
        metadata_prefix: the form of the records, such as "oai_dc".
        folder: where the pages are stored.
        delay: seconds to wait between two requests.

    Raises:
        InputError: no response, a response that is not OAI-PMH, a protocol error such as an expired
            token, or pages in the folder from a different request.
    """
    pages = sorted(folder.glob("page-*.xml"))
    query = {"verb": "ListRecords", "metadataPrefix": metadata_prefix}
    if record_set is not None:
        query["set"] = record_set
    token = ""
    bar: tqdm[Any]
    with tqdm(desc=f"harvest {folder.name}", unit="record", disable=None) as bar:
        if pages:
            _check_request(parse_page(pages[0]), pages[0], query)
            token = _show(bar, parse_page(pages[-1]))
            if not token:
                return
        for number in range(len(pages), 10**9):
            if token:
                query = {"verb": "ListRecords", "resumptionToken": token}
            page = folder / f"page-{number:04d}.xml"
            download([f"{url}?{urlencode(query)}"], page, check=_check_page, check_sees_end=True)
            previous, token = token, _show(bar, parse_page(page))
            if not token:
                return
            if token == previous:
                raise InputError(
                    page,
                    expected="a resumption token that differs from that of the previous page",
                    found=repr(token),
                    todo="the server goes in circles; contact its administrators",
                )
            time.sleep(delay)


def _check_page(path: Path) -> None:
    root = parse_page(path)
    request = root.findtext(f"{OAI}request", "").strip() or str(path)
    error = root.find(f"{OAI}error")
    if error is not None:
        code = error.get("code", "")
        hints = {
            "badResumptionToken": "its place in the list has expired: remove this server's folder "
            "of pages and fetch again",
            "noRecordsMatch": "correct `set` in `servers`; ?verb=ListSets lists the sets",
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
    for name in ("metadataPrefix", "set"):
        if request.get(name) != query.get(name):
            raise InputError(
                page,
                expected=f"pages with {name} {query.get(name)}",
                found=f"{name} {request.get(name)}",
                todo="remove the folder of pages and fetch again",
            )


def _show(bar: "tqdm[Any]", root: etree._Element) -> str:
    """Move the bar to the page's position in the list; return the token for the next page."""
    token = root.find(f"{OAI}ListRecords/{OAI}resumptionToken")
    if token is None:
        return ""
    size, cursor = token.get("completeListSize", ""), token.get("cursor", "")
    if size.isdecimal() and cursor.isdecimal():
        bar.total = int(size)
        bar.n = int(cursor) + len(root.findall(f"{OAI}ListRecords/{OAI}record"))
        bar.refresh()
    return (token.text or "").strip()
