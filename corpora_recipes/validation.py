"""Validates values of YAML and JSON files against declared types, with pydantic."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import EllipsisType, NoneType
from typing import Annotated, Any, TypeVar

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

from corpora_recipes.running.errors import MOST_NAMES, ParamsError, list_names, nearest, suggest

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
    """Base of the dataclasses that ``validate`` makes: a key that is no field is refused."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


def described(expected: str, todo: str = "correct the value", **limits: Any) -> Any:
    """Return what ``Annotated`` says of a type: what is expected, what to do, and its limits."""
    return Field(description=expected, json_schema_extra={"todo": todo}, **limits)


def _as_written(value: Any, check: Callable[[Any], float]) -> Any:
    check(value)
    return value


AS_WRITTEN = WrapValidator(_as_written)
# An integer or a number with a point, as it is written.
Number = Annotated[float, Strict(), AS_WRITTEN]
# Turns an empty value into None, in a type that may be None.
EMPTY_AS_NONE = BeforeValidator(lambda value: value or None)


def _check_unique(values: list[T]) -> list[T]:
    if len(set(values)) < len(values):
        raise ValueError
    return values


# A list of one or more different values.
UniqueList = Annotated[
    list[T],
    described("a list of one or more, each once", min_length=1),
    AfterValidator(_check_unique),
]

_QUOTE = "write it in quotes: YAML takes it for something else, and DVC refuses dates"
# YAML takes `layer: 7` and `date: 20260101` for numbers.
_Text = Annotated[
    str,
    Field(description="a text", json_schema_extra={"todo": _QUOTE, "type": ["string", "integer"]}),
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
]
_OPTION_TYPES: dict[type, Any] = {
    **{str: _Text, EllipsisType: _Text, int: StrictInt, bool: StrictBool},
    NoneType: Annotated[_Text | None, described("a text, or nothing", _QUOTE)],
    float: Annotated[InstanceOf[float], described("a number with a point, such as 1.0")],
    tuple: Annotated[_Text | UniqueList[_Text], described("a text, or a list of texts, each once")],
    dict: Any,  # its user checks what is in it
}


def validate(kind: Callable[..., T], value: object, where: Path | str) -> T:
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
    keys, path, value = [], fault["loc"], fault["input"]
    is_key, unknown = path[-1:] == ("[key]",), fault["type"] in _UNKNOWN
    for part in path[:-2] if is_key else path[:-1] if unknown else path:
        if (inner := _subschema(schema, part, whole)) is None:
            break  # the name of one of several types
        keys.append(f"[{part}]" if isinstance(part, int) else f".{part}")
        schema = inner
    if unknown:
        fields = next(kind for kind in _alternatives(schema, whole) if "properties" in kind)
        raise unknown_key_error(
            _locate(where, [*keys, f".{path[-1]}"]), path[-1], fields["properties"]
        )
    if is_key:
        schema = schema.get("propertyNames", {"type": "string"})
        keys.append(f".{value}")
    found, todo = repr(value), schema.get("todo", "")
    if is_key and not isinstance(value, str):
        found, todo = f"{found}, which YAML reads as {type(value).__name__}", "put it in quotes"
    if len(choices := schema.get("enum", ())) > MOST_NAMES:
        todo = suggest([str(value)], choices)
    if fault["type"] == "missing":
        found, todo = "nothing", "add it"
    raise ParamsError(_locate(where, keys), _describe_schema(schema, whole), found, todo)


def _locate(where: Path | str, keys: Iterable[str]) -> str:
    inside = "".join(keys)
    return f"{where}: {inside[1:]}" if inside and isinstance(where, Path) else f"{where}{inside}"


def unknown_key_error(where: str, key: object, allowed: Collection[str]) -> ParamsError:
    """Return the error for a key that is not allowed; ``where`` is its place."""
    near = nearest([str(key)], allowed)
    expected = f"keys among {', '.join(allowed)}" if allowed else "it takes no keys"
    todo = f"write {near}" if near else "correct or remove the key"
    return ParamsError(where, expected, f"{key!r}, an unknown key", todo)


def check_choice(
    value: Any, choices: Iterable[str], where: str, kind: str = "", todo: str = ""
) -> Any:
    """Return a value if it is one of the choices; ``kind`` describes these in the message."""
    if value in (choices := list(choices)):
        return value
    near = nearest([str(value)], choices)
    some = list_names(choices) if len(choices) > MOST_NAMES else ", ".join(choices)
    todo = todo or "write one of these"
    raise ParamsError(
        where,
        f"one of {some or '(nothing)'}{kind}",
        "nothing" if value is None else repr(value),
        f"did you mean {near}? Or {todo}" if near else todo,
    )


def merge_options(
    defaults: Mapping[str, Any], options: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """Return options, each like its default; None allows a text or nothing, ``...`` a text."""
    if unknown := [key for key in options if key not in defaults]:
        raise unknown_key_error(f"{where}.{unknown[0]}", unknown[0], defaults)
    validated = {
        key: validate(option_type(defaults[key]), value, f"{where}.{key}")
        for key, value in options.items()
    }
    return {**defaults, **validated}


def option_type(default: object) -> Any:
    """Return the type of an option with a default, see ``merge_options``."""
    return _OPTION_TYPES.get(type(default), type(default))


def _alternatives(schema: Any, whole: Any) -> Iterator[Any]:
    """Yield what a schema stands for: itself, the definition that it names, or several."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]] | schema
    for part in schema.get("anyOf", ()):
        yield from _alternatives(part, whole)
    if "anyOf" not in schema:
        yield schema


def _subschema(schema: Any, part: object, whole: Any) -> Any:
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


def _describe_schema(schema: Any, whole: Any) -> str:
    """Return what a schema allows, in words."""
    if "$ref" in schema:
        schema = next(_alternatives(schema, whole))
    if "properties" in schema:
        return f"keys among {', '.join(schema['properties'])}"
    if "description" in schema:
        return str(schema["description"])
    if "anyOf" in schema:
        return ", or ".join(_describe_schema(kind, whole) for kind in _alternatives(schema, whole))
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    count = f" of {schema['minItems']}" if "prefixItems" in schema else ""
    return _NAMES.get(schema.get("type"), "another value") + count
