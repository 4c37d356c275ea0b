"""Examines where the raw files of a corpus come from: servers, a mirror, the user."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urlsplit

from corpora_recipes.facts import Source
from corpora_recipes.fetching.pins import Locked
from corpora_recipes.fetching.session import Remote, look_at
from corpora_recipes.fetching.sources import check_files, list_sources, origin_of
from corpora_recipes.missing import MissingCorpus
from corpora_recipes.recipe import Corpus, Finding, load_recipe
from corpora_recipes.running.errors import InputError

Ask = Callable[[str], Remote]
"""Asks an address about its file, see ``fetching.session.look_at``."""


def asking(silent: dict[str, str]) -> Ask:
    """Return what asks servers; one that gives no answer is not asked again.

    Args:
        silent: gets each host, and why it gives no answer; "" if it does.
    """

    def ask(url: str) -> Remote:
        host = urlsplit(url).netloc
        said = Remote(url, fault=silent[host]) if silent.get(host) else look_at(url)
        silent[host] = said.fault if said.status is None else ""
        return said

    return ask


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found out about a corpus.

    Attributes:
        corpus: the corpus.
        origin: "sample", "upstream", the folder of a mirror, or the user's path.
        verdict: "ok"; "missing" if people must ask for it and it is not there; "unknown" if its
            servers can only be asked by a fetch; "failed" if something is wrong.
        findings: on each file or server.
    """

    corpus: Corpus
    origin: str
    verdict: str
    findings: tuple[Finding, ...]

    @property
    def sizes(self) -> list[int | None]:
        """The bytes that servers have yet to send of each file; None where unknown."""
        if self.origin != "upstream" or self.verdict == "missing":
            return []
        known = [None if found.fault else found.to_download for found in self.findings]
        return [None] if self.verdict == "unknown" else known


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
    verdict = "ok"
    try:
        check_files(corpus, sources, raw)
        if origin == "upstream":
            hook = load_recipe(corpus.recipe).examine
            findings += hook(corpus) if hook else ()
            files = [source for source in list_sources(corpus) if source.urls]
            findings += [of_file(source, raw, ask, locked) for source in files]
            if not (findings or corpus.facts.manual):
                verdict = "unknown"
    except MissingCorpus as missing:
        verdict = "missing"
        findings.append(Finding(corpus.facts.name, note=missing.found))
    except InputError as error:
        findings.append(Finding(error.where, fault=f"{error.found}; {error.todo}"))
    if any(finding.fault for finding in findings):
        verdict = "failed"
    return Examined(corpus, origin, verdict, tuple(findings))


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
        lock = locked.get(own.urls[0]) if own.urls else None
        for url in own.urls:
            said = ask(url)
            if fault := _fault(own, said, lock):
                faults.append(f"{url}: {fault}")
                continue
            size = 0 if (raw / source.file).is_file() else said.size
            return Finding(source.file, "", "; ".join([*faults, *_notes(said, lock)]), size)
    others = [of_file(other, raw, ask, locked) for other in source.instead if other.urls]
    if others and not any(other.fault for other in others):
        names = ", ".join(other.what for other in others)
        sizes = [other.to_download for other in others]
        size = None if None in sizes else sum(size or 0 for size in sizes)
        return Finding(source.file, "", "; ".join([*faults, f"{names} instead"]), size)
    return Finding(source.file, "; ".join(faults))


def _fault(source: Source, said: Remote, lock: Locked | None) -> str:
    """Return why the file at an address cannot be taken, "" if it can."""
    if said.fault.startswith("TLS"):
        hint = "if a proxy signs the connections here, set REQUESTS_CA_BUNDLE to its certificate"
        return f"{said.fault}; {hint}"
    page = source.file.endswith((".html", ".htm", ".xhtml", ".xml"))
    if not page and said.kind in ("text/html", "application/xhtml+xml"):
        return said.fault or "a web page instead of the file"
    by_lock = lock is not None and not source.has_digest
    size = lock.size if lock and by_lock else source.size
    if not said.fault and None not in (size, said.size) and size != said.size:
        where = "sources.lock" if by_lock else "corpus.yaml"
        return f"{said.size:,} bytes, but {size:,} in {where}: the file has changed"
    return said.fault


def _notes(said: Remote, lock: Locked | None) -> Iterator[str]:
    if said.size is None:
        yield "size not stated"
    if not said.has_ranges:
        yield "an interrupted download starts again"
    if lock and said.modified:
        try:
            changed = parsedate_to_datetime(said.modified).astimezone(UTC).date()
        except (ValueError, TypeError):
            return
        if changed > date.fromisoformat(lock.date):
            yield f"changed on {changed}, after sources.lock of {lock.date}"
