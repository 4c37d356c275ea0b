"""Which prompt the texts of a dataset get, from an encoder that takes prompts."""

from collections.abc import Iterable

from builders.tasks import TASKS
from builders.tasks.groups import GROUPS
from corpora_recipes.running.errors import InputError, nearest
from evaluation.data.instances import Dataset
from evaluation.data.texts import unique_texts
from evaluation.encoders.encoder import Described, Encoder

DEFAULT = "default"


def prompt_of(encoder: Described, dataset: Dataset) -> str | None:
    """Return the prompt of a dataset's texts; None without one.

    Words of several datasets are compared with each other: all get the default.
    """
    task = TASKS[dataset.task]
    own = () if task.unit == "word" else (dataset.name, task.group.abbreviation)
    names = (*own, DEFAULT)
    return next((encoder.prompts[name] for name in names if name in encoder.prompts), None)


def prompted_texts(encoder: Described, datasets: Iterable[Dataset]) -> dict[str | None, set[str]]:
    """Return prompt to all texts that get it, each once."""
    texts: dict[str | None, set[str]] = {}
    for dataset in datasets:
        own = unique_texts(dataset, encoder.form)
        texts.setdefault(prompt_of(encoder, dataset), set()).update(own)
    return texts


def check_prompt_names(encoder: Encoder, datasets: Iterable[str]) -> None:
    """Check that all prompts are of datasets, of groups, or the default.

    Args:
        encoder: whose prompts.
        datasets: the names of all datasets.

    Raises:
        InputError: there is no dataset or group of some name.
    """
    groups = [group.abbreviation for group in GROUPS]
    known = [DEFAULT, *groups, *datasets]
    if unknown := [name for name in encoder.prompts if name not in known]:
        like = nearest(unknown, known)
        raise InputError(
            f"prompts of encoder {encoder.name}",
            expected=f"names among {', '.join(known)}",
            found=", ".join(map(repr, unknown)),
            todo=f"did you mean {like}?" if like else "write one of these names",
        )
