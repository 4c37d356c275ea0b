"""The encoders of params.yaml, given or trained, and their vectors."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from corpora_recipes.checking import NOTHING, checked, described
from corpora_recipes.params import load_params
from corpora_recipes.running.errors import OutputError, ParamsError
from corpora_recipes.running.folders import EMBEDDINGS, TRAINED
from corpora_recipes.running.left_out import read_left_out
from corpora_recipes.running.memo import Cache, digest_files

if TYPE_CHECKING:
    from evaluation.encoders.encoder import Encoder

Options = Annotated[
    dict[Any, Any] | None, described("options, such as {dimension: 512}, or nothing"), NOTHING
]


def encoders_params(params: Mapping[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    """Return the encoders of a run: those of `encoders`, and models that are `trained`.

    Args:
        params: what ``load_params`` returned.
        path: of params.yaml, for messages.

    Returns:
        Name to options.
    """
    given = checked(dict[str, Options], params["encoders"], f"{path}: encoders")
    trained = {
        name: {"encoder": "sentence_transformers", "model": (TRAINED / name).as_posix()}
        for name in params.get("trained", {})
    }
    entries = {name: entry or {} for name, entry in given.items()} | trained
    lower = Counter(name.lower() for name in entries)
    if alike := [name for name in entries if lower[name.lower()] > 1]:
        expected = "names that differ in more than case: some systems have one folder for them"
        raise ParamsError(f"{path}: encoders", expected, ", ".join(alike), "rename one")
    return entries


def encoders_of(path: Path) -> "dict[str, Callable[[], Encoder]]":
    """Return what makes each encoder of params.yaml, but those that `train` has left out.

    Args:
        path: of params.yaml.
    """
    from evaluation.encoders import make_encoder

    without = read_left_out("train")
    return {
        name: partial(make_encoder, name, entry, f"{path}: encoders.{name}")
        for name, entry in encoders_params(load_params(path), path).items()
        if name not in without
    }


def stores_of(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return each of ``encoders_params`` to the one under whose name its vectors are stored.

    That is the first entry that differs in `postprocessing` alone, best one without.
    """
    owners: dict[str, str] = {}
    stores = {}
    for name in sorted(entries, key=lambda name: "postprocessing" in entries[name]):
        kind = {"encoder": name, **entries[name], "postprocessing": None}
        stores[name] = owners.setdefault(json.dumps(kind, sort_keys=True, default=str), name)
    return stores


def embedded_encoders(path: Path) -> "dict[str, tuple[Callable[[], Encoder], str]]":
    """Return the encoders of params.yaml whose vectors `embed` has not left out.

    Name to what makes it, and the name of its store, see ``stores_of``.
    """
    without, encoders = read_left_out("embed"), encoders_of(path)
    stores = stores_of(encoders_params(load_params(path), path))
    return {
        name: (make, stores[name])
        for name, make in encoders.items()
        if stores[name] in encoders and stores[name] not in without
    }


def vectors_of(name: str) -> dict[str, str]:
    """Return path to SHA-256 of the files of an encoder's vectors."""
    files, known = digest_files([EMBEDDINGS / name]), Cache("embed").files(name)
    if known and files != known:
        wrong = sorted(path for path in {*files, *known} if files.get(path) != known.get(path))
        expected = f"the vectors of {name} as `probeta embed` has left them"
        found = "another file" if wrong[0] in files else "no such file"
        todo = f"run `probeta embed --only {name}`, which encodes what is damaged again"
        raise OutputError(wrong[0], expected, found, todo)
    return files
