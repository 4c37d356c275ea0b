"""Entries are reused, made or skipped, a fault is local, and the rest is removed."""

import errno
import json
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from stage_lines import untimed

from corpora_recipes.params import corpus_of
from corpora_recipes.recipe import missing_corpus
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError, LostWorkers
from corpora_recipes.running.stage import (
    Entry,
    Skipped,
    describe_skipped,
    read_skipped,
    run_entries,
    write_skipped,
)

TABLES = read_tables(__file__)

OUT = Path("out")


pytestmark = pytest.mark.usefixtures("empty_folder")


def fault(kind: type[InputError] = InputError) -> InputError:
    return kind("raw", "one", "two", "three")


WHY = "raw\n  expected: one\n  found:    two\n  to do:    three"


def run(
    stage: str,
    entries: dict[str, Entry],
    only: list[str] | None = None,
    strict: bool = False,
    **given: Any,
) -> dict[str, Any]:
    options = Namespace(only=only, strict=strict, check=False)
    return run_entries(stage, entries, options, unit="meals", **given)


class Stage:
    """A stage that makes a file of each of its entries, of a text; or meets an error."""

    def __init__(self, **inputs: str | Exception) -> None:
        self.inputs = inputs
        self.made: list[str] = []

    def run(self, **options: Any) -> dict[str, Any]:
        self.made.clear()
        entries = {name: self._entry(name) for name in self.inputs}
        return run("cook", entries, folder=OUT, **options)

    def _entry(self, name: str) -> Entry:
        path = OUT / name

        def make() -> Any:
            self.made.append(name)
            content = self.inputs[name]
            if isinstance(content, Exception):
                raise content
            OUT.mkdir(exist_ok=True)
            path.write_text(content, "utf-8")
            return {"length": len(content)}

        return Entry([path], lambda: {"inputs": str(self.inputs[name])}, make)


def outputs() -> list[str]:
    return sorted(path.name for path in OUT.iterdir())


def test_what_has_changed_is_made_and_all_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(a="one", b="three")
    assert stage.run() == {"a": {"length": 3}, "b": {"length": 5}}
    assert untimed(capsys.readouterr().out) == "cook: 2 meals cooked\n"
    stage.inputs |= {"b": "two", "c": "six"}
    assert stage.run() == {name: {"length": 3} for name in "abc"}
    assert stage.made == ["b", "c"]
    # One of them is new.
    assert untimed(capsys.readouterr().out) == "cook: 2 of 3 meals cooked\n"
    assert list(stage.run()) == ["a", "b", "c"]
    assert stage.made == []
    assert untimed(capsys.readouterr().out) == "cook: 3 meals reused\n"
    stage.inputs["a"] = "five"
    stage.run()
    assert untimed(capsys.readouterr().out) == "cook: 1 of 3 meals cooked again\n"


def test_a_fault_is_local(capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(a="one", b="two", c="three")
    stage.run()
    capsys.readouterr()
    stage.inputs["b"] = fault()
    assert list(stage.run()) == ["a", "c"]
    assert outputs() == ["a", "c"]
    printed = untimed(capsys.readouterr().out)
    assert printed.startswith("cook: 2 meals reused, 1 skipped\n  skipped by cook: b\n    raw\n")
    note = json.loads(Path("data/left_out/cook.json").read_bytes())
    assert note == {"b": {"why": WHY, "asked_for": False, "sample": False}}
    # It is tried again, and what it left is not taken for another's.
    stage.run()
    assert stage.made == ["b"]
    stage.inputs["b"] = "two"
    stage.run()
    assert stage.made == ["b"]
    assert (read_skipped("cook"), outputs()) == ({}, ["a", "b", "c"])


def test_what_a_stage_skips_is_named_by_cause() -> None:
    """Of ten datasets that lack one file there is one line."""
    faults = [InputError(f"raw {n}", f"file {n}", "no file", "get it") for n in range(10)]
    lacking = {f"of {n}": Skipped(str(fault)) for n, fault in enumerate(faults)}
    alone = {"one": Skipped(str(fault())), "two": Skipped("Ask us.", asked_for=True)}
    small = {"three": Skipped("few rows", sample=True)}
    assert describe_skipped("cook", lacking | alone | small) == [
        "skipped by cook: of 0, of 1, of 2 and 7 more: no file; get it",
        *("skipped by cook: one", *(f"  {line}" for line in WHY.splitlines())),
        *("missing, must be asked for: two", "  Ask us."),
        *("skipped by cook, as a sample is too small: three", "  few rows"),
    ]


def test_reused_parts_of_entries_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A changed text of ten leaves nine vectors, and all of an entry that is reused."""
    now, changed = {"a": 10, "b": 10}, {"a": "old", "b": "old"}

    def embed(**change: str) -> str:
        changed.update(change)
        entries = {
            name: Entry(
                [],
                lambda name=name: {"inputs": changed[name]},
                lambda name=name: {"work": {"vectors": (now[name], 10)}, "dropped": (1, 4)},
            )
            for name in now
        }
        run("embed", entries)
        return untimed(capsys.readouterr().out)

    assert embed() == "embed: 2 meals applied, 20 vectors, 25.0% dropped\n"
    now["a"] = 1
    some = "1 of 2 meals applied again, 19 of 20 vectors reused, 25.0% dropped"
    assert embed(a="new") == f"embed: {some}\n"
    assert embed() == "embed: 2 meals reused\n"


def test_the_first_fault_ends_a_strict_run() -> None:
    stage = Stage(a="one", b=fault(), c="three")
    with pytest.raises(InputError, match="found:    two"):
        stage.run(strict=True)
    assert stage.made == ["a", "b"]
    # What was made before is kept.
    stage.inputs["b"] = "two"
    stage.run(strict=True)
    assert stage.made == ["b", "c"]


def of_memory() -> Exception:
    """Return what a reader says that met too little memory."""
    error = fault()
    error.__cause__ = MemoryError()
    return error


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "out/a"), "space for the output"),
        (PermissionError(errno.EACCES, "Permission denied", "out/a"), "that you may read"),
        (MemoryError(), "memory\n  expected: enough"),
        (of_memory(), "memory\n  expected: enough"),
        (fault(LostWorkers), "found:    two"),
    ],
)
def test_what_another_run_may_not_meet_ends_a_stage_that_is_not_always_run(error, why) -> None:
    stage = Stage(a=error, b="two")
    with pytest.raises(type(error)):
        stage.run()
    assert stage.made == ["a"]
    assert list(stage.run(any_fault=True)) == ["b"]
    assert why in read_skipped("cook")["a"].why


def test_an_error_of_the_program_ends_any_stage() -> None:
    with pytest.raises(ZeroDivisionError):
        Stage(a=ZeroDivisionError()).run(any_fault=True)


def test_an_entry_whose_inputs_cannot_be_had_is_left_out() -> None:
    def ask() -> Any:
        raise fault()

    assert run("cook", {"a": Entry([], ask, ask)}) == {}
    assert read_skipped("cook") == {"a": Skipped(WHY)}


def test_parts_of_an_entry_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    made: list[str] = []

    def make(name: str) -> Any:
        made.append(name)
        return {"left_out": {"stew": "no pot"}}

    entries = {name: Entry([], lambda: {"inputs": ""}, partial(make, name)) for name in "ab"}
    runs = (("2 meals cooked", None), ("2 meals reused", None), ("1 meal reused", ["b"]))
    for done, only in runs:
        run("cook", entries, only)
        names = "ab" if only is None else "b"
        cause = ", ".join(f"{name}: stew" for name in names)
        lines = [f"cook: {done}, {len(names)} skipped", f"  skipped by cook: {cause}"]
        text = "\n".join(lines) + (": no pot\n" if only is None else "\n    no pot\n")
        assert untimed(capsys.readouterr().out) == text
        assert read_skipped("cook") == {f"{name}: stew": Skipped("no pot") for name in "ab"}
    assert made == ["a", "b"]
    # A strict run takes none that an earlier one has made without a part.
    run("cook", entries, strict=True)
    assert made == ["a", "b", "a", "b"]


# --- some entries, and entries that are asked for no more ----------------------------------------


def test_only_some_are_run_and_the_others_stay() -> None:
    stage = Stage(a="one", b=fault(), c="three")
    stage.run()
    stage.inputs |= {"a": "new", "c": "new"}
    assert list(stage.run(only=["c"])) == ["c"]
    assert stage.made == ["c"]
    assert (outputs(), list(read_skipped("cook"))) == (["a", "c"], ["b"])
    stage.inputs["b"] = "two"
    assert list(stage.run(only=["c", "b"])) == ["b", "c"]
    assert stage.made == ["b"]
    assert read_skipped("cook") == {}


@pytest.mark.parametrize(("only", "found", "todo"), TABLES["unknown"])
def test_an_unknown_name(only: list[str], found: str, todo: str) -> None:
    stage = Stage(soup="", b="")
    with pytest.raises(InputError) as caught:
        stage.run(only=only)
    error = caught.value
    assert (error.where, error.found, error.todo) == (f"--only {','.join(only)}", found, todo)
    assert error.expected == "meals in params.yaml"
    assert stage.made == []
    with pytest.raises(InputError, match="choose from none"):
        Stage().run(only=only)


@pytest.mark.parametrize(
    ("options", "remembered"), [({}, ["a"]), ({"only": ["a"]}, ["a", "b"])], ids=["all", "only"]
)
def test_what_is_asked_for_no_more_is_removed(options: Any, remembered: list[str]) -> None:
    stage = Stage(a="one", b="two", c=fault())
    stage.run()
    (OUT / "folder").mkdir()
    (OUT / "folder" / "file").touch()
    (OUT / ".of_another_run").touch()
    del stage.inputs["b"], stage.inputs["c"]
    stage.run(**options)
    assert outputs() == [".of_another_run", "a"]
    assert read_skipped("cook") == {}
    assert [name for name in "abc" if Cache("cook").files(name)] == remembered
    # Without a folder nothing is removed.
    run("cook", {})
    assert outputs() == [".of_another_run", "a"]
    Stage().run()
    assert outputs() == [".of_another_run"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sqc": 1}', '{"sqc": {"reason": ""}}'])
def test_a_damaged_file_is_one_of_a_stage_that_has_not_run(text: str) -> None:
    write_skipped("build", {})
    Path("data/left_out/build.json").write_text(text, "utf-8")
    assert read_skipped("build") == {}


def test_a_corpus_that_must_be_asked_for_is_no_fault() -> None:
    assert Skipped.because(fault()) == Skipped(WHY, asked_for=False)
    params = {"seed": 1, "corpora": {"tweets": {"corpus": {"recipe": "tass"}}}}
    corpus = corpus_of(params, Path("params.yaml"), "tweets")
    reason = Skipped.because(missing_corpus(corpus, ["a.zip"], Path("raw")))
    assert reason.asked_for
    assert reason.why.startswith("TASS 2020 cannot be fetched")
    assert "\n" not in reason.why
