"""`probeta doctor`: check that the corpora of params.yaml can be fetched, before it is tried."""

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, date
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from corpora_recipes.escaping import one_line
from corpora_recipes.fetching import downloads
from corpora_recipes.fetching.downloads import Locked, read_lock
from corpora_recipes.fetching.sources import check_files, list_sources, origin_of
from corpora_recipes.fetching.transfer import CONTACT, Remote, look_at
from corpora_recipes.params import corpus_of, load_params
from corpora_recipes.recipe import Corpus, Finding, MissingCorpus, Source, load_recipe
from corpora_recipes.running.errors import InputError, SmallSample
from corpora_recipes.running.outputs import RAW, format_size, free_at

# Asks an address about its file, see ``fetching.session.look_at``.
AskServer = Callable[[str], Remote]

# Seconds for which all hosts are asked at once whether there is a network.
FIRST_LOOK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Report:
    """What was found out about a corpus.

    Its verdict is "ok"; "missing" if people must ask for it and it is not there; "unknown" if its
    servers can only be asked by a fetch, or there is no network; or "failed" if something is wrong.
    """

    corpus: Corpus
    origin: str  # "sample", "upstream", the folder of a mirror, or the user's path
    verdict: str
    findings: tuple[Finding, ...]  # on each file or server

    @property
    def sizes(self) -> list[int | None]:
        """The bytes that servers have yet to send of each file; None where unknown."""
        if self.origin != "upstream" or self.verdict == "missing":
            return []
        sizes = [None if finding.fault else finding.to_download for finding in self.findings]
        return [None] if self.verdict == "unknown" else sizes


def run_doctor(options: argparse.Namespace) -> None:
    """Examine corpora, and print the verdict on each, and a line for each thing to know."""
    params, locked = load_params(options.params), read_lock()
    names = options.corpora or params["corpora"]
    corpora = [corpus_of(params, options.params, name) for name in names]
    hosts = find_silent_hosts(c for c in corpora if _origin_of(c, params["sources"]) == "upstream")
    offline = bool(hosts)
    if offline and not options.json:
        print(f"you seem to be offline: none of {len(hosts)} hosts answers", flush=True)
    ask = None if offline else make_asker(hosts)
    reports = []
    for corpus in corpora:
        reports.append(examine(corpus, params["sources"], RAW / corpus.name, ask, locked))
        if not options.json:
            print(*_report_lines(reports[-1]), sep="\n  ", flush=True)
    upstream = [report for report in reports if report.origin == "upstream"]
    sizes = [size for report in reports for size in report.sizes]
    needed, free = sum(size or 0 for size in sizes), free_at(RAW)
    contact = not upstream or bool(os.environ.get(CONTACT))
    if options.json:
        disk = {"to_download": _known_sum(sizes), "unknown": sizes.count(None), "free": free}
        entries = [_report_as_json(report) for report in reports]
        content = {"corpora": entries, "hosts": hosts, "disk": disk, "contact": contact}
        print(json.dumps(content, ensure_ascii=False, indent=2))
    else:
        for host, fault in hosts.items():
            print(f"host {host}: {fault or 'answers'}")
        to_download = "unknown" if offline else f"{downloads.format_sizes(sizes)} at most"
        print(f"disk: to download {to_download}, {format_size(free)} free")
        if not contact:
            print(f"contact: none, which Wikimedia asks for: export {CONTACT}=you@example.org")
        for corpus in [report.corpus for report in upstream]:
            if not corpus.facts.redistributable:
                citation = " ".join(corpus.facts.citation.split())
                citation_words = f"; cite {citation}" if citation else ""
                print(f"licence of {corpus.name}: {corpus.facts.licence}{citation_words}")
    failed = [report.corpus.name for report in reports if report.verdict == "failed"]
    if offline:
        todo = "go online, or name a mirror: `sources: FOLDER`"
        raise InputError(options.params, "a network", f"no answer of {len(hosts)} hosts", todo)
    if failed or needed > free:
        expected = "corpora that can be fetched, and a disk that holds them"
        found = f"faults in {', '.join(failed)}" if failed else "too small a disk"
        todo = "see the lines above; a server may work again later"
        raise InputError(options.params, expected, found, todo)


def find_silent_hosts(corpora: Iterable[Corpus]) -> dict[str, str]:
    """Return why hosts of corpora do not answer if none does, all asked at once; {} if one does."""
    addresses = {}
    for corpus in corpora:
        for url in (url for source in corpus.facts.sources for url in source.urls):
            parts = urlsplit(url)
            if "{" not in parts.netloc:
                addresses[parts.netloc] = f"{parts.scheme}://{parts.netloc}/"
    with ThreadPoolExecutor(len(addresses) or 1) as threads:
        looks = threads.map(
            lambda url: look_at(url, patience=FIRST_LOOK_SECONDS, only_head=True),
            addresses.values(),
        )
        remotes = dict(zip(addresses, looks, strict=True))
    # Who shows a certificate is there.
    if any(r.status is not None or r.fault.startswith("TLS") for r in remotes.values()):
        return {}
    return {host: remote.fault for host, remote in remotes.items()}


def make_asker(silent_hosts: dict[str, str]) -> AskServer:
    """Return what asks servers; ``silent_hosts`` gets each host, and why it is silent, or ""."""

    def ask(url: str) -> Remote:
        host = urlsplit(url).netloc
        remote = Remote(url, fault=silent_hosts[host]) if silent_hosts.get(host) else look_at(url)
        silent_hosts[host] = remote.fault if remote.status is None else ""
        return remote

    return ask


def examine(
    corpus: Corpus, sources: str, raw: Path, ask: AskServer | None, locked: Mapping[str, Locked]
) -> Report:
    """Examine one corpus, with what sources.lock says of files; nothing is downloaded or written.

    ``sources`` is that of params.yaml, ``raw`` the folder for the raw files. ``ask`` is None
    without a network.
    """
    origin = origin_of(corpus, sources)
    findings: list[Finding] = []
    verdict = "ok"
    try:
        check_files(corpus, sources, raw)
        if origin == "upstream" and ask is not None:
            hook = load_recipe(corpus.recipe).examine
            findings += hook(corpus) if hook else ()
            files = [source for source in list_sources(corpus) if source.urls]
            findings += [examine_file(source, raw, ask, locked) for source in files]
        if origin == "upstream" and not (findings or corpus.facts.manual):
            verdict = "unknown"
    except (MissingCorpus, SmallSample) as missing:
        verdict = "missing"
        findings.append(Finding(corpus.facts.name, note=missing.found))
    except InputError as error:
        findings.append(Finding(error.where, fault=f"{error.found}; {error.todo}"))
    if any(finding.fault for finding in findings):
        verdict = "failed"
    return Report(corpus, origin, verdict, tuple(findings))


def _origin_of(corpus: Corpus, sources: str) -> str:
    path = corpus.options.get("path")
    return str(path) if path is not None else origin_of(corpus, sources)


def examine_file(
    source: Source, raw: Path, ask: AskServer, locked: Mapping[str, Locked]
) -> Finding:
    """Return what the servers say of a file; it is fine if one address or substitute works."""
    faults: list[str] = []
    for variant in (source.packed, source) if source.packed else (source,):
        lock = locked.get(variant.urls[0]) if variant.urls else None
        for url in variant.urls:
            remote = ask(url)
            if fault := _fault(variant, remote, lock):
                where = urlsplit(url).netloc if remote.status is None else url
                faults.append(f"{where or url}: {fault}")
                continue
            size = 0 if (raw / source.file).is_file() else remote.size
            return Finding(source.file, "", "; ".join([*faults, *_notes(remote, lock)]), size)
    substitutes = [
        examine_file(substitute, raw, ask, locked)
        for substitute in source.instead
        if substitute.urls
    ]
    if substitutes and not any(substitute.fault for substitute in substitutes):
        names = ", ".join(substitute.what for substitute in substitutes)
        sizes = [substitute.to_download for substitute in substitutes]
        size = None if None in sizes else sum(size or 0 for size in sizes)
        return Finding(source.file, "", "; ".join([*faults, f"{names} instead"]), size)
    return Finding(source.file, "; ".join(faults))


def _fault(source: Source, remote: Remote, lock: Locked | None) -> str:
    """Return why the file at an address cannot be taken, "" if it can."""
    if remote.fault.startswith("TLS"):
        hint = "if a proxy signs the connections here, set REQUESTS_CA_BUNDLE to its certificate"
        return f"{remote.fault}; {hint}"
    page = source.file.endswith((".html", ".htm", ".xhtml", ".xml"))
    if not page and remote.kind in ("text/html", "application/xhtml+xml"):
        return remote.fault or "a web page instead of the file"
    by_lock = lock is not None and not source.has_digest
    size = lock.size if lock and by_lock else source.size
    if not remote.fault and None not in (size, remote.size) and size != remote.size:
        where = "sources.lock" if by_lock else "corpus.yaml"
        return f"{remote.size:,} bytes, but {size:,} in {where}: the file has changed"
    return remote.fault


def _notes(remote: Remote, lock: Locked | None) -> Iterator[str]:
    if remote.size is None:
        yield "size not stated"
    if not remote.has_ranges:
        yield "an interrupted download starts again"
    if lock and remote.modified:
        try:
            changed = parsedate_to_datetime(remote.modified).astimezone(UTC).date()
        except (ValueError, TypeError):
            return
        if changed > date.fromisoformat(lock.date):
            yield f"changed on {changed}, after sources.lock of {lock.date}"


def _report_as_json(report: Report) -> dict[str, Any]:
    facts = report.corpus.facts
    return {
        "corpus": report.corpus.name,
        "recipe": report.corpus.recipe,
        "origin": report.origin,
        "verdict": report.verdict,
        "to_download": _known_sum(report.sizes),
        "licence": facts.licence,
        "citation": " ".join(facts.citation.split()),
        "redistributable": facts.redistributable,
        "findings": [asdict(finding) for finding in report.findings],
    }


def _known_sum(sizes: list[int | None]) -> int | None:
    """Return the sum of the sizes that are known; None if there are some, and none is known."""
    known_sizes = [size for size in sizes if size is not None]
    return sum(known_sizes) if known_sizes or not sizes else None


def _report_lines(report: Report) -> Iterator[str]:
    summary = report.origin
    if report.origin == "upstream" and report.verdict == "ok":
        size = downloads.format_sizes(report.sizes)
        summary = f"{len(report.findings)} answers, {size} to download"
    if report.verdict == "unknown":
        summary = "no server was asked"
    yield one_line(f"{report.corpus.name}: {report.verdict}; {summary}")
    subjects: dict[str, list[str]] = {}
    for finding in report.findings:
        if text := finding.fault or finding.note:
            subjects.setdefault(text, []).append(finding.what)
    for text, files in subjects.items():
        yield one_line(f"{files[0] if len(files) == 1 else f'{len(files)} files'}: {text}")
