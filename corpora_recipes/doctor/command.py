"""`probeta doctor`: check that the corpora of params.yaml can be fetched."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.commands import add_params
from corpora_recipes.running.errors import InputError

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
    parser.add_argument(
        "--raw",
        type=Path,
        default=Path("data/raw"),
        metavar="DIR",
        help="folder with the raw files, in a folder for each corpus (default: data/raw)",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace) -> None:
    """Examine corpora, and print one line each.

    Raises:
        InputError: params.yaml is invalid, or something is wrong with a corpus or the disk.
    """
    import json
    from dataclasses import asdict

    from corpora_recipes.doctor.examining import examine
    from corpora_recipes.entries import corpus_of
    from corpora_recipes.fetching.cost import contact_wanted, free_at, in_words
    from corpora_recipes.fetching.pins import read_lock
    from corpora_recipes.fetching.session import look_at
    from corpora_recipes.params import load_params

    params = load_params(options.params)
    locked = read_lock()
    examined = []
    for name in options.corpora or params["corpora"]:
        corpus = corpus_of(params, options.params, name)
        found = examine(corpus, params["sources"], options.raw / name, look_at, locked)
        examined.append(found)
        if not options.json:
            print(_line(found), flush=True)
    needed, free = sum(found.to_download for found in examined), free_at(options.raw)
    wants_contact = any(found.origin == "upstream" for found in examined) and contact_wanted()
    if options.json:
        report = {
            "corpora": [asdict(found) for found in examined],
            "disk": {"to_download": needed, "free": free},
            "contact": not wants_contact,
        }
        print(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        print(f"disk: {in_words(needed)} to download at most, {in_words(free)} free")
        if wants_contact:
            print(f"contact: none, which Wikimedia asks for: {wants_contact}")
        for found in examined:
            if not found.redistributable and found.origin == "upstream":
                cited = f"; cite {found.citation}" if found.citation else ""
                print(f"licence of {found.corpus}: {found.licence}{cited}")
    failed = [found.corpus for found in examined if found.verdict == "failed"]
    if failed or needed > free:
        raise InputError(
            options.params,
            expected="corpora that can be fetched, and a disk that holds them",
            found=f"faults in {', '.join(failed)}" if failed else "too small a disk",
            todo="see the lines above; a server may work again later",
        )


def _line(found: "Examined") -> str:
    """Return one line on a corpus."""
    from corpora_recipes.escaping import one_line
    from corpora_recipes.fetching.cost import in_words

    said = [found.origin]
    if found.origin == "upstream" and found.verdict == "ok":
        said = [f"{len(found.findings)} answers, {in_words(found.to_download)} to download"]
    told = [(own.what, own.fault or own.note) for own in found.findings if own.fault or own.note]
    kinds: dict[str, list[str]] = {}
    for what, text in told:
        kinds.setdefault(text, []).append(what)
    said += [
        f"{own[0] if len(own) == 1 else f'{len(own)} files'}: {text}" for text, own in kinds.items()
    ]
    return one_line(f"{found.corpus}: {found.verdict}; {'; '.join(said)}")
