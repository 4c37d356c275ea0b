"""YAML: as PyYAML reads it; ambiguous documents and bombs are refused."""

from pathlib import Path

import pytest
import yaml
from case_tables import read_tables
from recipe_reading import refused

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import DEEPEST_YAML, LARGEST_YAML, MOST_ALIASES
from corpora_recipes.yaml_files import load_yaml, parse_yaml

TABLES = read_tables(__file__)

ROOT = Path(__file__).parents[2]
PLACES = ("*.yaml", "builders/**/*.yaml", "probeta/**/*.yaml", "corpora_recipes/**/*.yaml")
FILES = sorted(path for pattern in PLACES for path in ROOT.glob(pattern))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_as_the_loader_of_the_library(file: Path) -> None:
    text = file.read_text("utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    assert load_yaml(file) == yaml.load(text, loader)


@pytest.mark.parametrize(
    "text",
    [
        *("!!python/name:os.system", "a: [", "a: b: c", "\x00", "? [a]\n: 1", "? {a: 1}\n: 1"),
        # PyYAML lets these end in a ValueError.
        *("date: 2026-99-99", "number: " + "9" * 5000),
    ],
)
def test_what_is_no_plain_yaml_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected: YAML"):
        parse_yaml(text, "params.yaml")


@pytest.mark.parametrize(("text", "words"), TABLES["repeated"])
def test_a_repeated_key_is_refused_with_both_lines(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        parse_yaml(text, "params.yaml")
    assert all(word in str(error.value) for word in words), str(error.value)


def test_aliases_and_merges_mean_what_they_mean_in_yaml() -> None:
    text = "a: &a {<<: {x: 0}, x: 1, y: [2]}\nb: *a\nc: {<<: *a, x: 3}\n1: number\n'1': text\n"
    assert parse_yaml(text, "params.yaml") == yaml.safe_load(text)


def bomb(first: str, level: str) -> str:
    """Return levels of ten aliases each: ten thousand million values."""
    aliases = [", ".join([f"*a{number}"] * 10) for number in range(10)]
    lines = [f"a{number}: &a{number} {level % a}" for number, a in enumerate(aliases, 1)]
    return "\n".join([f"a0: &a0 {first}", *lines])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (bomb("[x]", "[%s]"), "none in a value that has an anchor"),
        (bomb("{x: 1}", "{<<: [%s]}"), "none in a value that has an anchor"),
        ("a: &a [*a]", "none in a value that has an anchor"),
        ("a: &a {b: &b [1], c: *b}", "none in a value that has an anchor"),
        ("[&a x, &b [y], *b" + ", *a" * MOST_ALIASES + "]", "at most 100 aliases"),
        ("[" * (DEEPEST_YAML + 1) + "]" * (DEEPEST_YAML + 1), "at most 20 others"),
        # The composer in C ends the process at 25,000.
        *((text * 200_000, "at most 20 others") for text in ("[", "{a: ", "- ", "? ")),
        ("\n".join(" " * depth + "a:" for depth in range(50)), "at most 20 others"),
        ("n: 1234567890123456789", "at most 18 digits"),
        ("n: -0x" + "f" * 5000, "at most 18 digits"),
        ("1234567890123456789: n", "at most 18 digits"),
    ],
)
def test_a_bomb_is_refused_before_it_goes_off(text: str, expected: str) -> None:
    with refused(match=r"params.yaml, line \d+\n", expected=expected):
        parse_yaml(text, "params.yaml")


def test_files_that_are_too_large_or_not_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    for data, word in ((b"#" * (LARGEST_YAML + 1), "262,144 bytes"), (b"a\xf1o: 1", "UTF-8")):
        path.write_bytes(data)
        with pytest.raises(InputError, match=word):
            load_yaml(path)
    path.write_bytes(b"\xef\xbb\xbfa: 1")
    assert load_yaml(path) == {"a": 1}
