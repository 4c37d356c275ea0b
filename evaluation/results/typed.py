"""JSON values as the types of a dataclass say: what was read from a file of somebody else's."""

import math
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints


def typed(kind: Any, value: Any, where: str = "results") -> Any:
    """Return a JSON value as a type says.

    Args:
        kind: a dataclass, tuple, list, mapping, ``Literal``, optional or plain type.
        value: as JSON has it: a tuple is a list, a whole number may be a float.
        where: the name of the value, for messages.

    Raises:
        ValueError: it does not fit, or is not finite.
    """
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if kind is Any or (type(value) is kind and kind is not float):
        return value
    if origin is UnionType:
        if value is None and NoneType in parts:
            return None
        return typed(parts[0], value, where)
    if origin is Literal and value in parts:
        return value
    if kind is float and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    if origin is dict and isinstance(value, dict):
        return {key: typed(parts[1], own, f"{where}.{key}") for key, own in value.items()}
    if origin in (list, tuple) and isinstance(value, list):
        kinds = parts[:1] * len(value) if origin is list or ... in parts else parts
        if len(kinds) == len(value):
            pairs = zip(kinds, value, strict=True)
            return origin(typed(*pair, f"{where}[{at}]") for at, pair in enumerate(pairs))
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        known = get_type_hints(kind)
        needed = {own.name for own in fields(kind) if own.default is own.default_factory is MISSING}
        if wrong := sorted((needed - value.keys()) | (value.keys() - known.keys())):
            raise ValueError(f"{where}: missing or unknown: {', '.join(map(repr, wrong))}")
        return kind(**{key: typed(known[key], own, f"{where}.{key}") for key, own in value.items()})
    said = kind.__name__ if kind is origin else kind
    raise ValueError(f"{where}: {said} expected, {value!r} found")
