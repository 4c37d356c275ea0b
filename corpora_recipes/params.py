"""Reads params.yaml: its seed, sources and corpora.

The other sections are checked in ``builders.plan.params`` and in the modules ``params`` of
evaluation.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import StrictInt

from corpora_recipes.checking import Checked, checked, described
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.yaml_text import load_yaml

_RENAME = "rename it: it is the name of a stage and of folders"
# Names of corpora, datasets and rankings; those of encoders are only folders, and never configs.
# DVC writes them into a shell.
_NAME = "a name of lower-case letters, digits and _, 100 at most"
_ENCODER_NAME = "a name of letters, digits, _ and -, 100 at most, the first a letter or a digit"
Name = Annotated[str, described(_NAME, _RENAME, pattern="^[a-z0-9_]{1,100}$")]
EncoderName = Annotated[
    str, described(_ENCODER_NAME, _RENAME, pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")
]
Section = Annotated[dict[Any, Any], described("keys with entries", "see params.yaml as shipped")]


@dataclass(kw_only=True)
class Params(Checked):
    """The top level of params.yaml, with what a file need not say."""

    seed: Annotated[StrictInt, described("an integer, such as 1111")] = 1111
    sources: str = "sample"
    corpora: dict[Name, Any] = field(default_factory=dict)
    rankings: dict[Name, Any] = field(default_factory=dict)
    audit: Section = field(default_factory=dict)
    encoders: dict[EncoderName, Any] = field(
        default_factory=lambda: {"char_hash": {}, "use_multilingual": {}}
    )
    trained: dict[EncoderName, Any] = field(default_factory=dict)
    probing: Section = field(default_factory=dict)
    evalrank: Section = field(default_factory=dict)
    paralex: Section = field(default_factory=dict)


def load_params(path: Path) -> dict[str, Any]:
    """Read params.yaml; return its ``Params`` as a dict, its top level and all names checked.

    Raises:
        InputError: the file is missing or not YAML, a key is unknown, a value has another type, or
            a name is invalid or repeated.
    """
    try:
        params = vars(checked(Params, load_yaml(path), path))
    except FileNotFoundError:
        raise InputError(
            path,
            expected="the parameters of the run",
            found="no such file",
            todo="run from the project's folder, or name the file with --params",
        ) from None
    datasets: Counter[str] = Counter()
    for name, entry in params["corpora"].items():
        named = entry.get("datasets") if isinstance(entry, dict) else None
        if isinstance(named, dict):
            datasets.update([*checked(dict[Name, Any], named, f"{path}: corpora.{name}.datasets")])
    if twice := sorted(name for name, count in datasets.items() if count > 1):
        raise InputError(
            f"{path}: corpora",
            expected="names of datasets that no other corpus uses",
            found=f"{', '.join(twice)} more than once",
            todo="rename one: the name is a folder and a config of the package",
        )
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
