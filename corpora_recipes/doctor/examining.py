"""Examines where the raw files of a corpus come from: servers, a mirror, the user."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Literal

from corpora_recipes.facts import Source
from corpora_recipes.fetching.pins import Locked
from corpora_recipes.fetching.session import Remote
from corpora_recipes.fetching.sources import check_files, list_sources, origin_of
from corpora_recipes.missing import MissingCorpus
from corpora_recipes.recipe import Corpus, Finding, load_recipe
from corpora_recipes.running.errors import InputError

Verdict = Literal["ok", "missing", "failed"]
Ask = Callable[[str], Remote]
"""Asks an address about its file, see ``fetching.remote.look_at``."""

_WEB_PAGES = (".html", ".htm", ".xhtml", ".xml")


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found out about a corpus.

    Attributes:
        corpus: its name.
        recipe: the name of its recipe.
        origin: "sample", "upstream", the folder of a mirror, or the user's path.
        verdict: "ok"; "missing" if people must ask for it and it is not there; "failed" if
            something else is wrong.
        to_download: bytes of files that are not there yet, as far as their sizes are known.
        licence: of its texts.
        citation: what to cite.
        redistributable: whether its texts may be redistributed.
        findings: on each file or server.
    """

    corpus: str
    recipe: str
    origin: str
    verdict: Verdict
    to_download: int
    licence: str
    citation: str
    redistributable: bool
    findings: tuple[Finding, ...]


def examine(
    corpus: Corpus, sources: str, raw: Path, ask: Ask, locked: Mapping[str, Locked]
) -> Examined:
    """Examine one corpus; nothing is downloaded or written.

    Args:
        corpus: the corpus.
        sources: `sources` of params.yaml.
        raw: the folder for its raw files.
        ask: asks a server about a file.
        locked: the files of sources.lock by their first address.
    """
    path = corpus.options.get("path")
    origin = str(path) if path is not None else origin_of(corpus, sources)
    findings: list[Finding] = []
    verdict: Verdict = "ok"
    try:
        check_files(corpus, sources, raw)
        if origin == "upstream":
            findings += _of_servers(corpus, raw, ask, locked)
    except MissingCorpus as missing:
        verdict = "missing"
        findings.append(Finding(corpus.facts.name, note=missing.found))
    except InputError as error:
        findings.append(Finding(error.where, fault=f"{error.found}; {error.todo}"))
    return Examined(
        corpus.name,
        corpus.recipe,
        origin,
        "failed" if any(finding.fault for finding in findings) else verdict,
        sum(finding.to_download or 0 for finding in findings),
        corpus.facts.licence,
        " ".join(corpus.facts.citation.split()),
        corpus.facts.redistributable,
        tuple(findings),
    )


def _of_servers(
    corpus: Corpus, raw: Path, ask: Ask, locked: Mapping[str, Locked]
) -> Iterator[Finding]:
    recipe = load_recipe(corpus.recipe)
    if recipe.examine is not None:
        yield from recipe.examine(corpus)
    for source in list_sources(corpus):
        if source.urls:
            yield of_file(source, raw, ask, locked)


def of_file(source: Source, raw: Path, ask: Ask, locked: Mapping[str, Locked]) -> Finding:
    """Return what the servers say of a file; it is fine if one address or substitute works.

    Args:
        source: the file.
        raw: the folder of its corpus.
        ask: asks a server about a file.
        locked: the files of sources.lock by their first address.
    """
    faults: list[str] = []
    for own in (source.packed, source) if source.packed else (source,):
        for url in own.urls:
            said = ask(url)
            fault = _fault(own, said, locked.get(own.urls[0]))
            if not fault:
                notes = [*faults, *_notes(said, locked.get(own.urls[0]))]
                there = (raw / source.file).is_file()
                return Finding(source.file, "", "; ".join(notes), 0 if there else said.size)
            faults.append(f"{url}: {fault}")
    others = [of_file(other, raw, ask, locked) for other in source.instead if other.urls]
    if others and not any(other.fault for other in others):
        names = ", ".join(other.what for other in others)
        size = sum(other.to_download or 0 for other in others)
        return Finding(source.file, "", "; ".join([*faults, f"{names} instead"]), size)
    return Finding(source.file, "; ".join(faults))


def _fault(source: Source, said: Remote, locked: Locked | None) -> str:
    """Return why the file at an address cannot be taken, "" if it can."""
    if said.fault:
        is_tls = any(word in said.fault.lower() for word in ("tls", "ssl", "certificate"))
        hint = "; if a proxy signs the connections here, set REQUESTS_CA_BUNDLE to its certificate"
        return said.fault + hint * is_tls
    if said.kind in ("text/html", "application/xhtml+xml") and not source.file.endswith(_WEB_PAGES):
        return "a web page instead of the file"
    size = locked.size if locked and not source.has_digest else source.size
    if None not in (size, said.size) and size != said.size:
        where = "sources.lock" if locked and not source.has_digest else "corpus.yaml"
        return f"{said.size:,} bytes, but {size:,} in {where}: the file has changed"
    return ""


def _notes(said: Remote, locked: Locked | None) -> Iterator[str]:
    if said.size is None:
        yield "size not stated"
    if not said.has_ranges:
        yield "an interrupted download starts again"
    if locked and (changed := _day(said.modified)) and changed > date.fromisoformat(locked.date):
        yield f"changed on {changed}, after sources.lock of {locked.date}"


def _day(modified: str) -> date | None:
    """Return the day of a Last-Modified header."""
    try:
        return parsedate_to_datetime(modified).astimezone(UTC).date()
    except (ValueError, TypeError):
        return None
