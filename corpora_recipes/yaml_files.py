"""Reads YAML files, of bounded depth and size."""

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import (
    DEEPEST_YAML,
    LARGEST_YAML,
    MOST_ALIASES,
    MOST_DIGITS,
    read_whole,
)

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]


_INTEGER, _MERGE = "tag:yaml.org,2002:int", "tag:yaml.org,2002:merge"


class _Refused(Exception):
    """A document is refused: the line, what was expected there, and what was found."""


class _Loader(SafeLoader):
    """PyYAML's safe loader; it refuses long integers, and a key that is twice in a mapping."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.checked: set[int] = set()

    # Called for each mapping before it is made, and for those that ``<<`` names.
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if id(node) not in self.checked:
            self.checked.add(id(node))
            self._check_keys(node)
        super().flatten_mapping(node)

    def _check_keys(self, node: yaml.MappingNode) -> None:
        lines: dict[Any, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = _line(key)
            name = key.value if key.tag == _MERGE else self.construct_object(key)
            if name in lines:
                found = f"{key.value} in line {lines[name]} and in line {line}"
                raise _Refused(line, "each key once in a mapping", found)
            lines[name] = line

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        number: int = super().construct_yaml_int(node)
        if abs(number) >= 10**MOST_DIGITS:
            raise _Refused(_line(node), f"integers of at most {MOST_DIGITS} digits", "a longer one")
        return number


_Loader.add_constructor(_INTEGER, _Loader.construct_yaml_int)


def load_yaml(path: Path) -> Any:
    """Return the content of a YAML file; see ``parse_yaml``."""
    return pickle.loads(_parsed(read_yaml(path), path))


# A verb asks for params.yaml several times. Each gets a copy of its own, fastest from a pickle.
@cache
def _parsed(text: str, path: Path) -> bytes:
    return pickle.dumps(parse_yaml(text, path))


def read_yaml(path: Path) -> str:
    """Return the text of a YAML file."""
    try:
        return read_whole(path, LARGEST_YAML).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, "YAML in UTF-8", str(error), "correct the file") from None


def parse_yaml(text: str, where: Path | str) -> Any:
    """Return the content of a YAML document, as plain Python values of bounded depth and size.

    Args:
        text: the document.
        where: its file, or another place, for messages.
    """
    try:
        _check_structure(text)
        return yaml.load(text, _Loader)
    except _Refused as refused:
        line, expected, found = refused.args
        raise InputError(f"{where}, line {line}", expected, found, "correct the YAML") from None
    # A number of thousands of digits, or a date such as 2026-99-99, is a ValueError.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(where, "YAML", str(error), "correct the YAML") from None


def _check_structure(text: str) -> None:
    """Refuse deep nesting, which crashes the composer in C, and aliases that multiply values."""
    depth = anchor_depth = n_aliases = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST_YAML:
                expected = f"mappings and lists in at most {DEEPEST_YAML} others"
                raise _Refused(_line(event), expected, "deeper ones")
            anchor_depth = anchor_depth or (depth if event.anchor else 0)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor_depth = anchor_depth if depth > anchor_depth else 0
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            n_aliases += 1
            if anchor_depth or n_aliases > MOST_ALIASES:
                expected = f"at most {MOST_ALIASES} aliases, none in a value that has an anchor"
                raise _Refused(_line(event), expected, f"the alias *{event.anchor}")


def _line(part: Any) -> int:
    return int(part.start_mark.line) + 1
