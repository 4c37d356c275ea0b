"""The files of a corpus are not there: the errors that say so, and how to get them."""

from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError, RawError


class MissingCorpus(InputError):
    """The files of a corpus that only people can get are not there; ``how_to_get`` says how."""

    how_to_get: str = ""


def missing_corpus(corpus: Corpus, names: Sequence[str], out: Path) -> MissingCorpus:
    """Return the error that says how to get a corpus whose corpus.yaml has ``manual``.

    ``names`` are those of its files, or patterns; ``out`` the folder where they may be put.
    """
    missing = MissingCorpus(
        f"{corpus.where}: {corpus.facts.name}",
        f"its files, as {out}/{f', {out}/'.join(names)}",
        f"none or not all; {how_to_get(corpus)}",
        f"put the files into {out}, and run Probeta again; or, to try it out, write "
        f"`sources: sample` in `corpus` of the entry {corpus.name}",
    )
    missing.how_to_get = how_to_get(corpus)
    return missing


def how_to_get(corpus: Corpus) -> str:
    """Return how people get a corpus, on one line."""
    return " ".join(corpus.facts.manual.split())


def no_files(corpus: Corpus, raw: Path, expected: str, found: str = "none") -> RawError:
    """Return the error of a recipe that finds none of the files it reads.

    Args:
        corpus: the entry in params.yaml.
        raw: the folder, or the file, that was looked for.
        expected: the files, by name or pattern.
        found: what there is instead.
    """
    todo = how_to_get(corpus) or f"run `probeta fetch --only {corpus.name}`"
    return RawError(raw, expected, found, todo)
