"""Reads params.yaml: its seed, sources and corpora.

The other sections are checked in ``builders.plan.params`` and in the modules ``params`` of
evaluation.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.yaml_text import load_yaml

SECTIONS = ("corpora", "rankings", "audit", "encoders", "trained", "probing", "evalrank", "paralex")
# Names of corpora, datasets and rankings; those of encoders are only folders, and never configs.
NAME = r"[a-z0-9_]{1,100}"
ENCODER_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}"
_EXPECTED = {
    NAME: "a name of lower-case letters, digits and _, 100 at most",
    ENCODER_NAME: "a name of letters, digits, _ and -, 100 at most, which begins with one of the "
    "first two",
}
TOP_KEYS = ("seed", "sources", *SECTIONS)
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"seed": 1111, "sources": "sample", "encoders": {"char_hash": {}, "use_multilingual": {}}}
)
"""What a file need not say; other sections are empty then."""


def load_params(path: Path) -> dict[str, Any]:
    """Read params.yaml and check its top level and all names in it.

    Returns:
        ``seed`` (int), ``sources`` (str), and each of ``SECTIONS``, a dict; what the file lacks is
        that of ``DEFAULTS``, or empty.

    Raises:
        InputError: the file is missing or not YAML, a key is unknown, a value has another type, or
            a name is invalid or repeated.
    """
    try:
        given = load_yaml(path)
    except FileNotFoundError:
        raise InputError(
            path,
            expected="the parameters of the run",
            found="no such file",
            todo="run from the project's folder, or name the file with --params",
        ) from None
    params: dict[str, Any] = {key: {} for key in SECTIONS} | dict(DEFAULTS)
    params |= known_keys(given, str(path), TOP_KEYS)
    types = {"seed": int, "sources": str} | dict.fromkeys(SECTIONS, dict)
    for key, kind in types.items():
        if not isinstance(params.get(key), kind) or isinstance(params[key], bool):
            raise InputError(
                f"{path}: {key}",
                expected={int: "an integer, such as 1111", str: "a text"}.get(
                    kind, "keys with entries"
                ),
                found=repr(params.get(key)) if key in params else "nothing",
                todo="see params.yaml in the repository for an example",
            )
    _check_names(params["corpora"], f"{path}: corpora")
    named = (("rankings", NAME), ("encoders", ENCODER_NAME), ("trained", ENCODER_NAME))
    for section, pattern in named:
        for name in params[section]:
            check_name(name, f"{path}: {section}.{name}", pattern)
    for name in params["trained"].keys() & params["encoders"].keys():
        raise InputError(
            f"{path}: trained.{name}",
            expected="a name that no entry of `encoders` has",
            found=f"encoders.{name}",
            todo="rename one of the two: both are encoders of the run",
        )
    return params


def shipped_params() -> Path:
    """Return the params.yaml of the samples: that of the checkout, or its copy in the wheel."""
    copy = Path(__file__).with_name("params.yaml")
    return copy if copy.exists() else Path(__file__).parents[1] / "params.yaml"


def known_keys(value: object, where: str, known: Collection[str]) -> dict[str, Any]:
    """Return a mapping of params.yaml if all its keys are known.

    Raises:
        InputError: it is not a mapping, or has another key.
    """
    if not isinstance(value, dict):
        raise InputError(
            where,
            expected=f"keys among {', '.join(known)}",
            found=repr(value),
            todo="write these keys",
        )
    unknown = [str(key) for key in value if key not in known]
    if unknown:
        raise InputError(
            where,
            expected=f"keys among {', '.join(known)}",
            found=", ".join(unknown),
            todo="correct or remove the unknown keys",
        )
    return value


def some_of(
    given: Mapping[str, Any], key: str, choices: Sequence[str], default: Sequence[str], where: str
) -> list[str]:
    """Return the list under a key of a section, or the default.

    Args:
        given: the section.
        key: of the section.
        choices: the allowed values.
        default: the list if the key is missing.
        where: of the section, for messages.

    Raises:
        InputError: it is not a list, is empty, or has an unknown or repeated value.
    """
    values = given.get(key, list(default))
    right = isinstance(values, list) and values and all(value in choices for value in values)
    if not right or len(set(values)) < len(values):
        raise InputError(
            f"{where}.{key}",
            expected=f"a list of one or more of {', '.join(choices)}, each once",
            found=repr(values),
            todo="correct the list",
        )
    return list(values)


def check_name(name: object, where: str, pattern: str = NAME) -> None:
    """Check a name, which is used for a stage and folders, and which DVC writes into a shell.

    Args:
        name: a key of params.yaml, a text unless YAML reads it as a number or a date.
        where: its place, for messages.
        pattern: ``NAME`` or ``ENCODER_NAME``.

    Raises:
        InputError: it is no text, or the pattern does not allow it.
    """
    if not isinstance(name, str) or not re.fullmatch(pattern, name):
        kind = "" if isinstance(name, str) else f", which YAML reads as {type(name).__name__}"
        raise InputError(
            where,
            expected=_EXPECTED[pattern],
            found=f"{name!r}{kind}",
            todo="rename it: it is the name of a stage and of folders"
            + (", or put it in quotes" if kind else ""),
        )


def _check_names(corpora: dict[str, Any], where: str) -> None:
    datasets: Counter[str] = Counter()
    for name, entry in corpora.items():
        check_name(name, f"{where}.{name}")
        named = entry.get("datasets") if isinstance(entry, dict) else None
        for dataset in named if isinstance(named, dict) else ():
            check_name(dataset, f"{where}.{name}.datasets.{dataset}")
            datasets[dataset] += 1
    if twice := sorted(name for name, count in datasets.items() if count > 1):
        raise InputError(
            where,
            expected="names of datasets that no other corpus uses",
            found=f"{', '.join(twice)} more than once",
            todo="rename one: the name is a folder and a config of the package",
        )
