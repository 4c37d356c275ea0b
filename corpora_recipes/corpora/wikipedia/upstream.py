"""Finds on the dump servers of which date a dump is, and what its files must be, before they come.

A wiki's folder there has a folder for each date, with the dump and ``dumpstatus.json``, which says
which jobs are done, and size and SHA-1 of their files. Dumps are made once a month and kept for
some months. What is found is kept in sources.lock, so that another run takes the same dump.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from corpora_recipes.corpora.wikipedia.exports import SUCCESS, SUMS, folder_of, read_sums
from corpora_recipes.corpora.wikipedia.folder import wiki_of
from corpora_recipes.facts import Source
from corpora_recipes.fetching.downloads import fetch_whole
from corpora_recipes.fetching.pins import LOCK, Locked, add_to_lock, read_lock
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.fetching.transfer import NotFound, read_document, read_json
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file

STATUS = "dumpstatus.json"
# The job of the dump; the one whose name begins so makes one file of the parts of a large dump.
JOB = "articlesmultistreamdump"
_DATE = re.compile(r"\d{8}")
_LINK = re.compile(r'href="(?:[^"]*/)?(\d{4}-?\d\d-?\d\d)/?"')


def settled_dump(corpus: Corpus) -> Corpus:
    """Return the corpus with a date in place of `latest`; its dump and index are in the lock.

    Raises:
        InputError: there is no such date, or its dump is not finished.
    """
    lock = read_lock()
    latest, _ = list_sources(_dated(corpus, "latest"))
    date = str(corpus.options["date"])
    if date == "latest":
        known = lock.get(_parent(latest.urls[0]))
        before = _DATE.search(known.file) if known else None
        if before is None:
            dated, files = newest_dump(corpus)
            _lock(dated, files)
            add_to_lock(_parent(latest.urls[0]), files[0])
            return dated
        date = before[0]
    dated = _dated(corpus, date)
    if any(source.urls[0] in lock for source in list_sources(dated)):
        return dated
    try:
        status = _status(list_sources(dated)[0])
    except NotFound:
        there = _dates_there([_parent(url, 2) for url in latest.urls])
        if there and date not in there:
            raise _gone(corpus, date, there) from None
        return dated  # a server without this document
    files, missing = _finished(dated, status)
    if missing:
        raise InputError(
            f"{_parent(list_sources(dated)[0].urls[0])}{STATUS}",
            expected=f"a finished dump of {date}: the job {JOB} done",
            found=missing,
            todo="wait until it is done, which takes days, or take an earlier date",
        )
    _lock(dated, files)
    return dated


def no_longer_there(corpus: Corpus) -> InputError | None:
    """Return the error of a settled date whose files are not found; None if nobody knows why."""
    latest, _ = list_sources(_dated(corpus, "latest"))
    date = corpus.options["date"]
    there = _dates_there([_parent(url, 2) for url in latest.urls])
    return _gone(corpus, date, there) if there and date not in there else None


def settled_export(corpus: Corpus) -> Corpus:
    """Return the corpus with the date of the newest complete export in place of `latest`.

    Raises:
        InputError: no export is complete.
    """
    if corpus.options["date"] != "latest":
        return corpus
    wiki = wiki_of(corpus.language)
    bases = [f"{base}{wiki}/" for base in corpus.facts.special["exports"]]
    key = f"{bases[0]}latest/"
    if (known := read_lock().get(key)) is not None:
        return _dated(corpus, known.file.split("/")[1].replace("-", ""))
    there = _dates_there(bases)
    for date in reversed(there):
        try:
            read_document([f"{base}{_export(wiki, date)}{SUCCESS}" for base in bases])
        except NotFound:
            continue
        add_to_lock(key, Locked(_today(), folder_of(wiki, date), size=0))
        return _dated(corpus, date)
    raise InputError(
        bases[0],
        expected=f"an export with {SUCCESS}",
        found=f"{', '.join(there) or 'no date'}, without it",
        todo="wait until one is complete, or use `export: pages_articles`",
    )


def fetch_export(corpus: Corpus, out: Path) -> None:
    """Download all files of a content export, pinned by its SHA256SUMS.

    Args:
        corpus: with a date.
        out: folder of the raw files; the marker of a complete export is written last.

    Raises:
        InputError: there is no such date, it is not complete, or a file differs from its sum.
    """
    wiki, date = wiki_of(corpus.language), corpus.options["date"]
    folder = folder_of(wiki, date)
    if (out / folder / SUCCESS).is_file():
        return
    bases = [f"{base}{wiki}/" for base in corpus.facts.special["exports"]]
    places = [base + _export(wiki, date) for base in bases]
    try:
        read_document([place + SUCCESS for place in places])
    except NotFound:
        there = _dates_there(bases)
        if date not in there:
            raise _gone(corpus, date, there) from None
        raise InputError(
            places[0] + SUCCESS,
            expected="a complete export",
            found="no such file",
            todo=f"wait until it is written, or take another date: {', '.join(there)}",
        ) from None
    text = read_document([place + SUMS for place in places]).decode("utf-8", "replace")
    sums = read_sums(text, places[0] + SUMS, wiki)
    fetch_whole(
        [
            Source(f"{folder}/{name}", tuple(place + name for place in places), sha256=sha256)
            for name, sha256 in sums.items()
        ],
        out,
    )
    for name, content in ((SUMS, text), (SUCCESS, "")):
        with whole_file(out / folder / name) as temporary:
            temporary.write_text(content, "utf-8")


def newest_dump(corpus: Corpus) -> tuple[Corpus, list[Locked]]:
    """Return the corpus with the newest date whose dump is finished, and what its files are.

    Raises:
        InputError: no dump is finished, or no server answers.
    """
    latest, _ = list_sources(_dated(corpus, "latest"))
    found = []
    for date in reversed(_dates_there([_parent(url, 2) for url in latest.urls])):
        dated = _dated(corpus, date)
        try:
            files, missing = _finished(dated, _status(list_sources(dated)[0]))
        except NotFound:
            missing = f"no {STATUS}"
        if not missing:
            return dated, files
        found.append(f"{date}: {missing}")
    raise InputError(
        _parent(latest.urls[0], 2),
        expected=f"a date whose job {JOB} is done",
        found="; ".join(found) or "no date",
        todo="look at the address in a browser, or name the date of a dump: `date: 20260101`",
    )


def _finished(dated: Corpus, status: Mapping[str, Any]) -> tuple[list[Locked], str]:
    """Return what the dump and its index are, and "" or what is not done."""
    jobs = status["jobs"]
    known: dict[str, Any] = {}
    for name, job in jobs.items():
        if name.startswith(JOB) and job.get("status") == "done":
            known |= job.get("files", {})
    files = []
    for source in list_sources(dated):
        entry = known.get(source.file, {})
        if not ({"size", "sha1"} <= entry.keys()):
            return [], f"{JOB} {jobs.get(JOB, {}).get('status', 'not there')}"
        size, sha1 = int(entry["size"]), str(entry["sha1"])
        files.append(Locked(_today(), source.file, size=size, sha1=sha1))
    return files, ""


def _lock(dated: Corpus, files: Sequence[Locked]) -> None:
    for source, file in zip(list_sources(dated), files, strict=True):
        add_to_lock(source.urls[0], file)


def _status(dump: Source) -> dict[str, Any]:
    """Return the dumpstatus.json beside a dump."""
    urls = [_parent(url) + STATUS for url in dump.urls]
    status = read_json(urls)
    if not isinstance(status, dict) or not isinstance(status.get("jobs"), dict):
        raise InputError(
            urls[0],
            expected="the jobs of a dump",
            found=repr(status)[:100],
            todo="look at the address in a browser",
        )
    return status


def _dates_there(folders: Sequence[str]) -> list[str]:
    """Return the dates that a wiki's folder lists, as YYYYMMDD; empty if no server lists any."""
    try:
        page = read_document(folders).decode("utf-8", "replace")
    except NotFound:
        return []
    return sorted({date.replace("-", "") for date in _LINK.findall(page)})


def _gone(corpus: Corpus, date: str, there: Sequence[str]) -> InputError:
    return InputError(
        f"{corpus.where}.corpus.date",
        expected=f"a date that the server has: {', '.join(there) or 'none now'}",
        found=f"{date}, which is not there",
        todo="dumps are made once a month and kept for some months: write one of these dates, or "
        f"latest; where {LOCK} has kept a date for latest, remove its entry",
    )


def _dated(corpus: Corpus, date: str) -> Corpus:
    return replace(corpus, options={**corpus.options, "date": date})


def _export(wiki: str, date: str) -> str:
    """Return the path of an export below the wiki's folder."""
    return folder_of(wiki, date).removeprefix(f"{wiki}/") + "/"


def _parent(url: str, steps: int = 1) -> str:
    """Return the address of the folder that a file, or a folder, is in."""
    return url.rsplit("/", steps)[0] + "/"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
