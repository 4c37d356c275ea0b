"""Reads YAML files, and checks their content against declared types (pydantic)."""

import os
import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import EllipsisType, NoneType
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    Strict,
    StrictBool,
    StrictInt,
    TypeAdapter,
    ValidationError,
    WrapValidator,
)

from corpora_recipes.running.errors import InputError, ParamsError, nearest
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


# Looking for plug-ins of pydantic among all packages takes a third of its time.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

T = TypeVar("T")
_adapter: Callable[..., Any] = cache(TypeAdapter)
_UNKNOWN = ("unexpected_keyword_argument", "invalid_key")
_NAMES = {
    **{"string": "a text", "integer": "an integer", "number": "a number", "null": "null"},
    **{"boolean": "true or false", "array": "a list", "object": "keys with values"},
}


class Checked:
    """Base of the dataclasses that ``checked`` makes: a key that is no field is refused."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


def described(expected: str, todo: str = "correct the value", **limits: Any) -> Any:
    """Return what ``Annotated`` says of a type: what is expected, what to do, and its limits."""
    return Field(description=expected, json_schema_extra={"todo": todo}, **limits)


def _as_written(value: Any, check: Callable[[Any], float]) -> Any:
    check(value)
    return value


AS_WRITTEN = WrapValidator(_as_written)
Number = Annotated[float, Strict(), AS_WRITTEN]
"""An integer or a number with a point, as it is written."""
NOTHING = BeforeValidator(lambda given: given or None)
"""Of a type that may be None: what is empty, is None."""


def _once(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError
    return values


Some = Annotated[
    list[T], described("a list of one or more, each once", min_length=1), AfterValidator(_once)
]
"""Of a type: the values that are chosen."""

_QUOTE = "write it in quotes: YAML takes it for something else, and DVC refuses dates"
# YAML takes `layer: 7` and `date: 20260101` for numbers.
_Text = Annotated[
    str,
    Field(description="a text", json_schema_extra={"todo": _QUOTE, "type": ["string", "integer"]}),
    BeforeValidator(lambda given: str(given) if type(given) is int else given),
]
_LIKE: dict[type, Any] = {
    **{str: _Text, EllipsisType: _Text, int: StrictInt, bool: StrictBool},
    NoneType: Annotated[_Text | None, described("a text, or nothing", _QUOTE)],
    float: Annotated[InstanceOf[float], described("a number with a point, such as 1.0")],
    dict: Any,  # its user checks what is in it
}


def checked(kind: Callable[..., T], value: object, where: Path | str) -> T:
    """Return a value of a YAML file as a declared type: a dataclass, usually a ``Checked``.

    Args:
        kind: the type.
        value: what the file says.
        where: the file as a path, or a place in it.
    """
    try:
        return _adapter(kind).validate_python(value)  # type: ignore[no-any-return]
    except ValidationError as refused:
        faults = refused.errors(include_url=False)
    # A misspelt key is a missing one, too.
    fault = next((fault for fault in faults if fault["type"] in _UNKNOWN), faults[0])
    schema = whole = _adapter(kind).json_schema()
    keys, path, given = [], fault["loc"], fault["input"]
    of_key, unknown = path[-1:] == ("[key]",), fault["type"] in _UNKNOWN
    for part in path[:-2] if of_key else path[:-1] if unknown else path:
        if (inner := _inside(schema, part, whole)) is None:
            break  # the name of one of several types
        keys.append(f"[{part}]" if isinstance(part, int) else f".{part}")
        schema = inner
    if unknown:
        known = next(kind for kind in _alternatives(schema, whole) if "properties" in kind)
        raise unknown_key(_at(where, [*keys, f".{path[-1]}"]), path[-1], known["properties"])
    if of_key:
        schema = schema.get("propertyNames", {"type": "string"})
        keys.append(f".{given}")
    found, todo = repr(given), schema.get("todo", "")
    if of_key and not isinstance(given, str):
        found, todo = f"{found}, which YAML reads as {type(given).__name__}", "put it in quotes"
    if fault["type"] == "missing":
        found, todo = "nothing", "add it"
    raise ParamsError(_at(where, keys), _named(schema, whole), found, todo)


def _at(where: Path | str, keys: Iterable[str]) -> str:
    inside = "".join(keys)
    return f"{where}: {inside[1:]}" if inside and isinstance(where, Path) else f"{where}{inside}"


def unknown_key(where: str, key: object, known: Collection[str]) -> ParamsError:
    """Return the error for a key that is not among the known ones; ``where`` is its place."""
    near = nearest([str(key)], known)
    expected = f"keys among {', '.join(known)}" if known else "it takes no keys"
    todo = f"write {near}" if near else "correct or remove the key"
    return ParamsError(where, expected, f"{key!r}, an unknown key", todo)


def one_of(value: Any, known: Iterable[str], where: str, what: str = "", todo: str = "") -> Any:
    """Return a value if it is among the known ones; ``what`` says of what kind these are."""
    if value in (known := list(known)):
        return value
    near = nearest([str(value)], known)
    raise ParamsError(
        where,
        f"one of {', '.join(known) or '(nothing)'}{what}",
        "nothing" if value is None else repr(value),
        todo or f"write {near or 'one of these'}",
    )


def options_like(
    defaults: Mapping[str, Any], given: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return options, each like its default; None allows a text or nothing, ``...`` a text."""
    if unknown := [key for key in given if key not in defaults]:
        raise unknown_key(f"{where}.{unknown[0]}", unknown[0], defaults)
    checks = {
        key: checked(like(defaults[key]), value, f"{where}.{key}") for key, value in given.items()
    }
    return {**defaults, **checks}


def like(default: object) -> Any:
    """Return the type of an option with a default, see ``options_like``."""
    return _LIKE.get(type(default), type(default))


def _alternatives(schema: Any, whole: Any) -> Iterator[Any]:
    """Yield what a schema stands for: itself, the definition that it names, or several."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]] | schema
    for part in schema.get("anyOf", ()):
        yield from _alternatives(part, whole)
    if "anyOf" not in schema:
        yield schema


def _inside(schema: Any, part: object, whole: Any) -> Any:
    """Return the schema of what is under a key or at an index, or None."""
    for kind in _alternatives(schema, whole):
        if isinstance(part, int) and kind.get("type") == "array":
            items = kind.get("prefixItems", [kind.get("items")])
            return items[min(part, len(items) - 1)]
        patterns = kind.get("patternProperties", {}).values()
        values = (kind.get("properties", {}).get(part), kind.get("additionalProperties"), *patterns)
        if inner := next(filter(None, values), None):
            return {} if inner is True else inner
    return None


def _named(schema: Any, whole: Any) -> str:
    """Return what a schema allows, in words."""
    if "$ref" in schema:
        schema = next(_alternatives(schema, whole))
    if "properties" in schema:
        return f"keys among {', '.join(schema['properties'])}"
    if "description" in schema:
        return str(schema["description"])
    if "anyOf" in schema:
        return ", or ".join(_named(kind, whole) for kind in _alternatives(schema, whole))
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    count = f" of {schema['minItems']}" if "prefixItems" in schema else ""
    return _NAMES.get(schema.get("type"), "another value") + count
