"""Reads YAML, with the parser in C where PyYAML has it: seven times as fast."""

import pickle
from functools import cache
from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:
    from yaml import SafeLoader  # type: ignore[assignment]

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import (
    DEEPEST_YAML,
    LARGEST_YAML,
    MOST_DIGITS,
    MOST_VALUES,
    YAML_MARKS,
    read_whole,
)

_MERGE = "tag:yaml.org,2002:merge"


class _Refused(Exception):
    """What is refused in a document: its line (0 if unknown), what was expected, and found."""


class _Loader(SafeLoader):
    """The loader; it refuses a key that is twice in a mapping."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.checked: set[int] = set()

    # Called for each mapping before it is made, and for those that ``<<`` names.
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if id(node) not in self.checked:
            self.checked.add(id(node))
            self._check(node)
        super().flatten_mapping(node)

    def _check(self, node: yaml.MappingNode) -> None:
        lines: dict[Any, int] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.tag == _MERGE and not isinstance(value, yaml.MappingNode):
                raise _Refused(line, "one mapping after <<", "something else")
            name = key.value if key.tag == _MERGE else self.construct_object(key)
            if name in lines:
                found = f"{key.value} in line {lines[name]} and in line {line}"
                raise _Refused(line, "each key once in a mapping", found)
            lines[name] = line


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
    """Return the content of a YAML document: plain Python values, of bounded depth and number."""
    try:
        _check_text(text)
        value = yaml.load(text, _Loader)
        _check_values(value)
    except _Refused as refused:
        line, expected, found = refused.args
        where = f"{where}, line {line}" if line else where
        raise InputError(where, expected, found, "correct the YAML") from None
    # A number of thousands of digits, or a date such as 2026-99-99, is a ValueError.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(where, "YAML", str(error), "correct the YAML") from None
    return value


def _check_text(text: str) -> None:
    """Refuse what is so deep that the parser in C would end the process."""
    brackets = text.count("[") + text.count("{")
    if brackets + max(map(len, text.split("\n"))) > YAML_MARKS:
        expected = f"at most {YAML_MARKS:,} brackets and characters in a line"
        raise _Refused(0, expected, f"{brackets:,} brackets")


def _check_values(value: object) -> None:
    count = 0
    waiting = [(value, 0)]
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            expected = f"at most {MOST_VALUES:,} values, each alias counted as what it stands for"
            raise _Refused(0, expected, "more")
        if depth > DEEPEST_YAML:
            expected = f"mappings and lists in at most {DEEPEST_YAML} others"
            raise _Refused(0, expected, "deeper ones")
        if isinstance(value, dict):
            waiting += [(item, depth + 1) for item in value.values()]
        elif isinstance(value, list):
            waiting += [(item, depth + 1) for item in value]
        elif isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
            raise _Refused(0, f"integers of at most {MOST_DIGITS} digits", "a longer one")
