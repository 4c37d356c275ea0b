"""The abbreviations of a language, for the sentence splitter."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from corpora_recipes.running.yaml_text import load_yaml


@dataclass(frozen=True, slots=True)
class Rules:
    """The splitter's rules of one language; abbreviations.yaml explains the fields."""

    never_ends: frozenset[str]
    in_names: frozenset[str]
    may_end: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    words: frozenset[str]
    starters: frozenset[str]
    ordinals: bool


@cache
def table() -> dict[str, dict[str, str | bool]]:
    """Return abbreviations.yaml: language to its lists."""
    path = Path(__file__).with_name("abbreviations.yaml")
    read: dict[str, dict[str, str | bool]] = load_yaml(path)
    return read


@cache
def rules_of(language: str) -> Rules:
    """Return the rules of a language; one that abbreviations.yaml lacks has no abbreviations."""
    entry = table().get(language.partition("-")[0], {})
    spaced = {
        key: {form for item in str(entry.get(key, "")).split(",") for form in _cases(item.strip())}
        for key in ("never_ends", "in_names", "may_end")
    }
    forms = {
        key: frozenset(spaced[key] | {form.replace(" ", "") for form in spaced[key]})
        for key in spaced
    }
    parts = [form.split() for key in spaced for form in spaced[key]]
    return Rules(
        **forms,
        pairs=frozenset(pair for words in parts for pair in pairwise(words)),
        words=frozenset(
            word.removesuffix(".") for words in [*parts, *forms.values()] for word in words
        ),
        starters=frozenset(str(entry.get("starters", "")).split()),
        ordinals=bool(entry.get("ordinals", False)),
    )


def _cases(abbreviation: str) -> set[str]:
    """Return the entry, and capitalised too if it is lower case and more than one letter."""
    if len(abbreviation) > 2 and abbreviation.islower():
        return {abbreviation, abbreviation[0].upper() + abbreviation[1:]}
    return {abbreviation}
