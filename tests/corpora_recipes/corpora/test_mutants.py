"""Every recipe reads mutants of its sample, or refuses them; `make fuzz` asks for many more."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time

import pytest
from mutants import forms, mutant
from reading_oracle import read_form

from corpora_recipes.recipe import recipe_names

# How many mutants of each recipe, and what their keys begin with.
COUNT, _, SEED = os.environ.get("PROBETA_MUTANTS", "12 ").partition(" ")
# CPU seconds that one may take; most take milliseconds.
LONGEST = 10


class Slow(BaseException):
    """Raised in a mutant that takes too long; no handler of errors catches it."""


@contextmanager
def limited_time() -> Iterator[None]:
    """Raise `Slow` after some CPU seconds."""

    def stop(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(scope="module", autouse=True)
def peak() -> Iterator[None]:
    """Of `make fuzz`, which is one process, the peak of memory stays below 300 MB."""
    yield
    if "PROBETA_MUTANTS" in os.environ:
        megabytes = getrusage(RUSAGE_SELF).ru_maxrss >> 10
        print(f"peak of memory: {megabytes} MB")
        assert megabytes < 300


@pytest.mark.slow
def test_as_many_mutants_as_fit_into_some_seconds(tmp_path: Path) -> None:
    ends, key = process_time() + 20, ""
    for number in count():
        for recipe in recipe_names():
            key = f"timed {number}"
            form = mutant(recipe, key)
            try:
                with limited_time():
                    read_form(recipe, form, tmp_path)
            except (Exception, Slow) as error:
                error.add_note(f"mutant({recipe!r}, {key!r})")
                raise
            if process_time() > ends:
                return


@pytest.mark.parametrize("recipe", recipe_names())
def test_mutants_are_read_or_refused(recipe: str, tmp_path: Path) -> None:
    outcomes = Counter[str]()
    for number in range(int(COUNT)):
        key = f"{SEED}{number}"
        form = mutant(recipe, key)
        try:
            with limited_time():
                outcomes[read_form(recipe, form, tmp_path)] += 1
        except (Exception, Slow) as error:
            error.add_note(f"mutant({recipe!r}, {key!r})")
            raise
    # Otherwise the mutations are too weak or too strong to test anything.
    assert outcomes.keys() > {"read"}, outcomes


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_form_is_read_without_a_mutation(recipe: str, tmp_path: Path) -> None:
    for form in forms(recipe):
        assert read_form(recipe, form, tmp_path) == "read"


def test_a_mutant_depends_on_its_key_alone() -> None:
    first, again = (mutant("sqc", "7") for _ in range(2))
    assert first == again
    assert len({str(mutant("sqc", str(number))) for number in range(20)}) > 15
