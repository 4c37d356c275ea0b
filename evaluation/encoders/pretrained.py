"""Pretrained models in the layout of the Hugging Face Hub: location, revision, loading."""

import json
import os
import re
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora_recipes.running.errors import InputError, ParamsError
from evaluation.encoders.encoder import Form, Postprocessed, option

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Source:
    """A model that was found: an id on the Hub with its commit, or a local folder without one.

    Its files are in ``folder``, in the Hub's cache or where they are; ``config`` is its JSON file.
    """

    model: str
    commit: str | None
    folder: Path
    config: Any = field(compare=False)

    @property
    def revision(self) -> str:
        """The commit, or a digest of the folder's files."""
        return self.commit or _folder_digest(self.folder)

    @property
    def again(self) -> str:
        """Further advice, besides saving the model again."""
        return f"; or download it again: hf download {self.model}" if self.commit else ""

    def error(self, expected: str, found: str, todo: str) -> InputError:
        """Return an error at this model."""
        return InputError(f"model {self.model}", expected, found, todo)

    def load(self, loader: Any, **options: Any) -> Any:
        """Return the model loaded by ``loader``, a class with ``from_pretrained`` or a callable."""
        load = getattr(loader, "from_pretrained", loader)
        # A model with weights is read as a folder: by its name, the Hub would be asked for each
        # optional file that it does not have.
        model = str(self.folder)
        if self.commit and not _has_weights(self.folder):
            model, options = self.model, options | {"revision": self.commit}
        try:
            return load(model, **options)
        # Many classes, of several libraries: the Hub, JSON, safetensors, pickle, torch.
        except Exception as error:
            expected = "all files of a model and its tokeniser, of a type transformers supports"
            todo = f"save the model again, with its tokeniser{self.again}"
            raise self.error(expected, shortened(error), todo) from error

    def check_vocabulary(self, tokenizer: Any) -> None:
        """Check that a tokeniser has words: without its files transformers makes one without."""
        # Some of those have a space.
        if len(tokenizer.get_vocab().keys() - set(tokenizer.all_special_tokens)) <= 1:
            expected = "a tokeniser with its vocabulary (tokenizer.json, vocab.txt or similar)"
            todo = f"save the tokeniser with `save_pretrained` in the model's folder{self.again}"
            raise self.error(expected, "no vocabulary", todo)


@dataclass(frozen=True, eq=False, repr=False)  # __eq__ and __repr__ would look for the model
class Pretrained(Postprocessed):
    """What encoders share that are models in this layout."""

    model: str
    asked_revision: str = option("revision", "main")
    form: ClassVar[Form] = "natural"
    parallel: ClassVar[bool] = False
    file: ClassVar[str]
    """The JSON file that every such model has in its top folder."""

    @property
    def source(self) -> Source:
        """The model, after it was found."""
        return find_model(self.model, self.asked_revision, self.file)

    @property
    def revision(self) -> str:
        """The commit of the Hub, or a digest of the folder's files."""
        return self.source.revision


@cache
def find_model(model: str, revision: str, file: str) -> Source:
    """Find a model, in a folder, in the Hub's cache on this machine, or on the Hub, in that order.

    The cache is before the Hub, so that a model stays the same until it is downloaded again. Every
    such model has the JSON ``file`` in its top folder.
    """
    where = f"model {model}"
    if Path(model).is_dir():
        path = Path(model, file)
        if not path.is_file():
            todo = "save the model there with `save_pretrained`, or correct `model:`"
            raise ParamsError(path, "a model folder, which has this file", "no such file", todo)
        return Source(model, None, Path(model), _read_json(path))
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", model):
        expected = "a folder, or an id of the Hugging Face Hub, such as organisation/name"
        raise ParamsError(where, expected, "no such folder", "correct `model:`")
    # Only for a model of the Hub.
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        try:
            path = Path(hf_hub_download(model, file, revision=revision, local_files_only=True))
        except LocalEntryNotFoundError:
            path = Path(hf_hub_download(model, file, revision=revision))
    except (OSError, ValueError) as error:
        raise ParamsError(
            where,
            f"a folder, or a model of the Hugging Face Hub that has {file}, revision {revision}",
            f"no such folder; {shortened(error)}",
            "correct `model:` and `revision:`; for a model that is not downloaded yet, go online, "
            "and for one that is private or gated, run `hf auth login`",
        ) from error
    # .../snapshots/<commit>/<file>
    return Source(model, path.parent.name, path.parent, _read_json(path))


def label(model: str) -> str:
    """Return an id of the Hub, or a folder's name; folders of one name differ in their revision."""
    return Path(model).resolve().name if Path(model).is_dir() else model


def is_local(model: str) -> bool:
    """Return whether a model is, or is meant to be, a folder and not an id of the Hub."""
    return Path(model).is_dir() or model.startswith((".", "/", "~"))


def prepare_torch(torch: Any) -> "torch.device":
    """Make torch deterministic; return the device to use, the GPU if there is one."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # Only a warning: some models count positions with an operation that torch refuses, although
    # it is deterministic for integers.
    torch.use_deterministic_algorithms(True, warn_only=True)
    device: torch.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return device


def shortened(error: Exception) -> str:
    """Return the kind of an error of a library, and its message on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(path, "JSON", str(error), "save or download the model again") from None


def _has_weights(folder: Path) -> bool:
    return any(path.suffix in (".safetensors", ".bin") for path in folder.rglob("*"))


@cache
def _folder_digest(folder: Path) -> str:
    """Return the digest of names and contents of a folder's files, but not hidden or Markdown."""
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not is_hidden and path.suffix.lower() != ".md":
            with path.open("rb") as stream:
                content = file_digest(stream, lambda: blake2b(digest_size=16))
            digest.update(f"{name.as_posix()}\n{content.hexdigest()}\n".encode())
    return digest.hexdigest()
