"""Writes raw files, and reads them with a recipe, without the stage around it."""

import json
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from loopback import RangeServer

from corpora_recipes.reading import read_corpus
from corpora_recipes.recipe import BlockResult, Corpus, load_facts, load_recipe
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import EncodingError, InputError, RawError, join_faults


def recipe_corpus(
    recipe: str,
    language: str = "es",
    documents: int | None = None,
    special: dict[str, Any] | None = None,
    **options: Any,
) -> Corpus:
    """Return a corpus named like its recipe, with the recipe's facts, changed as said."""
    facts = load_facts(recipe)
    facts = facts if special is None else replace(facts, special={**facts.special, **special})
    return Corpus(recipe, recipe, language, documents, 1111, facts.options | options, {}, facts)


def raise_faults(drops: Drops) -> None:
    """Raise the errors of the items that cannot be read, so that no test passes over them."""
    if faults := [fault for fault in drops.faults() if fault.reason in _FAULTS]:
        raise join_faults(faults)


_FAULTS = (RawError.reason, EncodingError.reason)


def checked(result: BlockResult) -> BlockResult:
    """Return what was read of a block, see ``raise_faults``."""
    raise_faults(result.drops)
    return result


def read_all(recipe: ModuleType, raw: Path, corpus: Corpus) -> tuple[list[Any], dict[str, Any]]:
    """Return the records of all blocks, and the counts as ``Drops.as_dict`` gives them."""
    records: list[Any] = []
    drops = Drops()
    for block in recipe.blocks(raw, corpus):
        result = recipe.read_block(block, corpus)
        records += result.records
        drops.add(result.drops)
    raise_faults(drops)
    return records, drops.as_dict()


def read_settled(raw: Path, corpus: Corpus) -> tuple[dict[str, Any], Drops]:
    """Return the records as `read` settles them, by their ids, and what was dropped."""
    records: dict[str, Any] = {}
    total = Drops()
    blocks = load_recipe(corpus.recipe).blocks(raw, corpus)
    for batch, drops in read_corpus(blocks, corpus, None, 1):
        records.update({record.id: record for record in batch})
        total.add(drops)
    raise_faults(total)
    return records, total


def read_examples(raw: Path, corpus: Corpus) -> tuple[list[Example], Drops]:
    """Return the examples of all blocks, each sent as workers get it, and what was dropped."""
    recipe = load_recipe(corpus.recipe)
    examples: list[Example] = []
    drops = Drops()
    for block in recipe.blocks(raw, corpus):
        result = recipe.read_block(pickle.loads(pickle.dumps(block)), corpus)
        examples += [record for record in result.records if isinstance(record, Example)]
        drops.add(result.drops)
    raise_faults(drops)
    return examples, drops


def write_files(raw: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, by their names in a folder, and return the folder."""
    for name, data in files.items():
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        (raw / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return raw


def write_lines(folder: Path, name: str, *rows: Any) -> Path:
    """Write a file of rows, each as it is if it is a text, else as JSON; return the folder."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    return write_files(folder, {name: "".join(f"{line}\n" for line in lines)})


def serve(files: Mapping[str, bytes]) -> Iterator[RangeServer]:
    """Yield a server of files by their paths, and close it: the body of a fixture."""
    server = RangeServer(dict(files))
    yield server
    server.close()


def pack(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a zip archive of files, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@contextmanager
def refused(
    where: str = "",
    /,
    *words: str,
    kind: type[InputError] = InputError,
    match: str | None = None,
    **parts: str,
) -> Iterator[None]:
    """Expect an InputError whose ``where`` ends so, and whose message has all the words.

    Its other parts hold those of the same name; ``found_is=`` says all of ``found``.
    """
    with pytest.raises(kind, match=match) as error:
        yield
    assert error.value.where.endswith(where)
    for word in words:
        assert word in str(error.value)
    for name, part in parts.items():
        said = getattr(error.value, name.removesuffix("_is"))
        assert said == part if name.endswith("_is") else part in said
