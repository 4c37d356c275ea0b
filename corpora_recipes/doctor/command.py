"""`probeta doctor`: check that the corpora of params.yaml can be fetched."""

import argparse
from typing import TYPE_CHECKING, Any

from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import RAW

if TYPE_CHECKING:
    from corpora_recipes.doctor.examining import Examined

HELP = """\
examples:
  probeta doctor
  probeta doctor wikipedia theses --json

Asks the servers, without downloading, whether each file is there, of the right size, and no web
page in its place; whether repositories offer the records; and whether the disk holds all. With
`sources: sample` or a mirror it looks for the files there. The exit code is 1 if something is
wrong; a corpus that must be asked for and is not there is only named.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta doctor`."""
    parser.add_argument(
        "corpora",
        nargs="*",
        metavar="CORPUS",
        help="entries of `corpora` in params.yaml (default: all)",
    )
    add_params(parser)
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace) -> None:
    """Examine corpora, and print one line each.

    Raises:
        InputError: params.yaml is invalid, or something is wrong with a corpus or the disk.
    """
    import json
    import os

    from corpora_recipes.doctor.examining import asking, examine
    from corpora_recipes.entries import corpus_of
    from corpora_recipes.fetching import cost
    from corpora_recipes.fetching.pins import read_lock
    from corpora_recipes.fetching.session import CONTACT
    from corpora_recipes.params import load_params

    params, locked = load_params(options.params), read_lock()
    hosts: dict[str, str] = {}
    examined = []
    for name in options.corpora or params["corpora"]:
        corpus = corpus_of(params, options.params, name)
        found = examine(corpus, params["sources"], RAW / name, asking(hosts), locked)
        examined.append(found)
        if not options.json:
            print(_line(found), flush=True)
    upstream = [found for found in examined if found.origin == "upstream"]
    sizes = [size for found in examined for size in found.sizes]
    needed, free = sum(size or 0 for size in sizes), cost.free_at(RAW)
    contact = not upstream or bool(os.environ.get(CONTACT))
    if options.json:
        disk = {"to_download": needed, "unknown": sizes.count(None), "free": free}
        told = {"corpora": [*map(_report, examined)], "hosts": hosts, "disk": disk}
        print(json.dumps(told | {"contact": contact}, ensure_ascii=False, indent=2))
    else:
        for host, fault in hosts.items():
            print(f"host {host}: {fault or 'answers'}")
        said = f"{cost.sizes_in_words(sizes)} to download at most"
        print(f"disk: {said}, {cost.in_words(free)} free")
        if not contact:
            print(f"contact: none, which Wikimedia asks for: export {CONTACT}=you@example.org")
        for report in [_report(found) for found in upstream]:
            if not report["redistributable"]:
                cited = f"; cite {report['citation']}" if report["citation"] else ""
                print(f"licence of {report['corpus']}: {report['licence']}{cited}")
    failed = [found.corpus.name for found in examined if found.verdict == "failed"]
    if failed or needed > free:
        raise InputError(
            options.params,
            expected="corpora that can be fetched, and a disk that holds them",
            found=f"faults in {', '.join(failed)}" if failed else "too small a disk",
            todo="see the lines above; a server may work again later",
        )


def _report(found: "Examined") -> dict[str, Any]:
    """Return what was found out about a corpus, for JSON."""
    from dataclasses import asdict

    facts = found.corpus.facts
    return {
        "corpus": found.corpus.name,
        "recipe": found.corpus.recipe,
        "origin": found.origin,
        "verdict": found.verdict,
        "to_download": sum(size or 0 for size in found.sizes),
        "licence": facts.licence,
        "citation": " ".join(facts.citation.split()),
        "redistributable": facts.redistributable,
        "findings": [asdict(finding) for finding in found.findings],
    }


def _line(found: "Examined") -> str:
    """Return one line on a corpus."""
    from corpora_recipes.escaping import one_line
    from corpora_recipes.fetching.cost import sizes_in_words

    said = [found.origin]
    if found.origin == "upstream" and found.verdict == "ok":
        said = [f"{len(found.findings)} answers, {sizes_in_words(found.sizes)} to download"]
    if found.verdict == "unknown":
        said = ["only a fetch can ask its servers"]
    kinds: dict[str, list[str]] = {}
    for own in found.findings:
        if text := own.fault or own.note:
            kinds.setdefault(text, []).append(own.what)
    said += [
        f"{own[0] if len(own) == 1 else f'{len(own)} files'}: {text}" for text, own in kinds.items()
    ]
    return one_line(f"{found.corpus.name}: {found.verdict}; {'; '.join(said)}")
