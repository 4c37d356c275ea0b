"""Finds on the dump servers of which date a dump is, and what its files must be, before they come.

A wiki's folder there has a folder for each date, with the dump and ``dumpstatus.json``, which says
which jobs are done, and size and SHA-1 of their files. Dumps are made once a month and kept for
some months. What is found is kept in sources.lock, so that another run takes the same dump.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from corpora_recipes.facts import Source
from corpora_recipes.fetching.pins import LOCK, Locked, add_to_lock, read_lock, today
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.fetching.transfer import NotFound, read_document, read_json
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError, ParamsError

STATUS = "dumpstatus.json"
# The job of the dump; that whose name begins so makes one file of the parts of a large dump.
JOB = "articlesmultistreamdump"
_DATE = re.compile(r"\d{8}")
_LINK = re.compile(r'href="(?:[^"]*/)?(\d{4}-?\d\d-?\d\d)/?"')


def settled_dump(corpus: Corpus) -> Corpus:
    """Return the corpus with a date in place of `latest`; its dump and index are in the lock."""
    lock = read_lock()
    date = str(corpus.options["date"])
    if date == "latest":
        key = _parent(_dump(corpus, "latest").urls[0])
        match = _DATE.search(lock[key].file) if key in lock else None
        if match is None:
            newest, files = newest_dump(corpus)
            _lock(newest, files)
            add_to_lock(key, files[0])
            return newest
        date = match[0]
    with_date = dated(corpus, date)
    if any(source.urls[0] in lock for source in list_sources(with_date)):
        return with_date
    try:
        status = _status(_dump(corpus, date))
    except NotFound:
        if error := gone_dump(with_date):
            raise error from None
        return with_date  # a server without this document
    files, missing = _finished(with_date, status)
    if missing:
        where = f"{_parent(_dump(corpus, date).urls[0])}{STATUS}"
        todo = "wait until it is done, which takes days, or take an earlier date"
        raise InputError(where, f"a finished dump of {date}: the job {JOB} done", missing, todo)
    _lock(with_date, files)
    return with_date


def gone_dump(corpus: Corpus) -> InputError | None:
    """Return the error of a date that the servers do not list; None if they list it, or none."""
    dates, date = _dump_dates(corpus), corpus.options["date"]
    return gone(corpus, date, dates) if dates and date not in dates else None


def newest_dump(corpus: Corpus) -> tuple[Corpus, list[Locked]]:
    """Return the corpus with the newest date whose dump is finished, and what its files are."""
    unfinished = []
    for date in reversed(_dump_dates(corpus)):
        with_date = dated(corpus, date)
        try:
            files, missing = _finished(with_date, _status(_dump(corpus, date)))
        except NotFound:
            missing = f"no {STATUS}"
        if not missing:
            return with_date, files
        unfinished.append(f"{date}: {missing}")
    where, found = _parent(_dump(corpus, "latest").urls[0], 2), "; ".join(unfinished) or "no date"
    todo = "look at the address in a browser, or name the date of a dump: `date: 20260101`"
    raise InputError(where, f"a date whose job {JOB} is done", found, todo)


def _finished(corpus: Corpus, status: Mapping[str, Any]) -> tuple[list[Locked], str]:
    """Return what the dump and its index are, and "" or what is not done."""
    jobs = status["jobs"]
    known: dict[str, Any] = {}
    for name, job in jobs.items():
        if name.startswith(JOB) and job.get("status") == "done":
            known |= job.get("files", {})
    files = []
    for source in list_sources(corpus):
        entry = known.get(source.file, {})
        if not ({"size", "sha1"} <= entry.keys()):
            return [], f"{JOB} {jobs.get(JOB, {}).get('status', 'not there')}"
        size, sha1 = int(entry["size"]), str(entry["sha1"])
        files.append(Locked(today(), source.file, size=size, sha1=sha1))
    return files, ""


def _lock(corpus: Corpus, files: Sequence[Locked]) -> None:
    for source, file in zip(list_sources(corpus), files, strict=True):
        add_to_lock(source.urls[0], file)


def _status(dump: Source) -> dict[str, Any]:
    """Return the dumpstatus.json beside a dump."""
    urls = [_parent(url) + STATUS for url in dump.urls]
    status = read_json(urls)
    if not isinstance(status, dict) or not isinstance(status.get("jobs"), dict):
        todo = "look at the address in a browser"
        raise InputError(urls[0], "the jobs of a dump", repr(status)[:100], todo)
    return status


def _dump_dates(corpus: Corpus) -> list[str]:
    return dates_listed([_parent(url, 2) for url in _dump(corpus, "latest").urls])


def dates_listed(folders: Sequence[str]) -> list[str]:
    """Return the dates that a wiki's folder lists, as YYYYMMDD; empty if no server lists any."""
    try:
        page = read_document(folders).decode("utf-8", "replace")
    except NotFound:
        return []
    return sorted({date.replace("-", "") for date in _LINK.findall(page)})


def gone(corpus: Corpus, date: str, dates: Sequence[str]) -> InputError:
    """Return the error of a date that is not among those of the server."""
    return ParamsError(
        f"{corpus.where}.corpus.date",
        f"a date that the server has: {', '.join(dates) or 'none now'}",
        f"{date}, which is not there",
        "dumps are made once a month and kept for some months: write one of these dates, or "
        f"latest; where {LOCK} has kept a date for latest, remove its entry",
    )


def dated(corpus: Corpus, date: str) -> Corpus:
    """Return a corpus with another date."""
    return replace(corpus, options={**corpus.options, "date": date})


def _dump(corpus: Corpus, date: str) -> Source:
    return list_sources(dated(corpus, date))[0]


def _parent(url: str, steps: int = 1) -> str:
    """Return the address of the folder that a file, or a folder, is in."""
    return url.rsplit("/", steps)[0] + "/"
