"""Reads a mutant, and says what is wrong with how it was read."""

import json
import shutil
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq
from mutants import Form

from corpora_recipes.params import corpus_of
from corpora_recipes.reading import read
from corpora_recipes.recipe import Corpus, load_facts
from corpora_recipes.records import record_unit
from corpora_recipes.running.errors import InputError

# Characters of a message: what was found is cut.
LONGEST_MESSAGE = 5000


def corpus_for(recipe: str, options: dict[str, str]) -> Corpus:
    """Return the entry of params.yaml that reads a recipe's sample."""
    facts = load_facts(recipe)
    entry = {"recipe": recipe, "language": facts.language} | options
    if "path" in facts.options:
        entry["path"] = "a/path"  # where fetch would look
    params = {"seed": 1111, "corpora": {"mine": {"corpus": entry}}}
    return corpus_of(params, Path("params.yaml"), "mine")


def read_form(recipe: str, form: Form, folder: Path) -> Literal["read", "spoilt", "refused"]:
    """Read a raw corpus in an empty folder, with the verb's own function.

    Returns:
        Whether it was read, with honest counts, as a whole or without items that are spoilt; or
        refused, with a clear message and no output.

    Raises:
        AssertionError: neither. Any other exception but InputError is a finding, too.
    """
    raw, out = folder / "raw", folder / "out"
    try:
        for name, data in form.files.items():
            (raw / name).parent.mkdir(parents=True, exist_ok=True)
            (raw / name).write_bytes(data)
        raw.mkdir(exist_ok=True)
        out.mkdir()
        corpus = corpus_for(recipe, form.options)
        path = out / "records.parquet"
        try:
            drops = read(corpus, raw, path, workers=1, executor="local")
        except InputError as error:
            left = [file.name for file in out.rglob("*")]
            assert left == [], f"refused, but it left {left}"
            length = len(str(error))
            assert length <= LONGEST_MESSAGE, f"a message of {length:,} characters"
            return "refused"
        assert sorted(file.name for file in out.iterdir()) == ["records.json", "records.parquet"]
        _check(corpus, path)
        return "spoilt" if drops.faults() else "read"
    finally:
        shutil.rmtree(raw, ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)


def _check(corpus: Corpus, path: Path) -> None:
    """Check rows and counts."""
    ids = pq.ParquetFile(path).read(["id"])["id"].to_pylist()
    assert len(set(ids)) == len(ids), "an id is repeated"
    assert all(ids), "an id is empty"
    counts = json.loads(path.with_suffix(".json").read_text("utf-8"))
    unit = record_unit(corpus.facts.records)
    assert counts[unit]["kept"] == len(ids), f"{counts[unit]} for {len(ids)} rows"
    counts.pop("window", None)
    for unit, count in counts.items():
        kept, dropped = count["kept"], sum(count["dropped"].values())
        assert kept >= 0, f"{unit}: {count}"
        assert kept + dropped == count["seen"], f"{unit}: {count}"
