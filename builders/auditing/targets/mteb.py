"""Finds the dataset of a task of mteb: its repository, revision, columns and language."""

from dataclasses import replace
from typing import Any

from builders.auditing.targets.hub import Source, repository_targets
from builders.auditing.targets.target import Columns, Location
from corpora_recipes.language_codes import short_code
from corpora_recipes.running.errors import InputError

_PREFIX = "mteb:"


def is_name(said: str) -> bool:
    """Return whether a target is a task of mteb."""
    return said.startswith(_PREFIX)


def mteb_targets(
    said: str,
    *,
    task: str | None,
    language: str | None,
    records: str | None,
    columns: Columns | None,
) -> tuple[Source, list[Location]]:
    """Download the dataset of ``mteb:TASK``, as its authors published it.

    What mteb does to the rows after loading them (``dataset_transform``) is not done.

    Args:
        said: the name.
        task: as for ``find_targets``.
        language: of a task in several languages, the one to audit.
        records: as for ``find_targets``; labelled texts by default.
        columns: as for ``find_targets``; those of the task by default.

    Raises:
        InputError: mteb is not installed; it knows no such task; the task has no texts with labels
            or scores, or several languages; or the Hub fails, see ``hub_targets``.
    """
    found = _task(said)
    chosen = columns if columns not in (None, Columns()) else _columns(said, found)
    config, code = _subset(said, found, language)
    about = found.metadata.dataset
    source, locations = repository_targets(
        about["path"], about["revision"], "", language=code, config=config or about.get("name", "")
    )
    return replace(source, name=said), [
        replace(place, task=task, records=records or "examples", columns=chosen)
        for place in locations
    ]


def _task(said: str) -> Any:
    try:
        import mteb
    except ImportError:
        raise InputError(
            said,
            expected="the package mteb, which knows its tasks",
            found="it is not installed",
            todo="pip install 'probeta[mteb]' (in a checkout: uv sync --extra mteb)",
        ) from None
    try:
        return mteb.get_task(said.removeprefix(_PREFIX))
    except KeyError as error:
        raise InputError(
            said,
            expected="a task that this version of mteb knows",
            found=" ".join(str(error).split()),
            todo="correct the name; `mteb available-tasks` lists them",
        ) from None


def _columns(said: str, task: Any) -> Columns:
    kind = task.metadata.type
    if kind == "Classification":
        return Columns((task.input_column_name,), task.label_column_name)
    if kind == "PairClassification":
        texts = (task.input1_column_name, task.input2_column_name)
        return Columns(texts, task.label_column_name)
    if kind == "STS":
        return Columns(tuple(task.column_names), score="score")
    raise InputError(
        said,
        expected="a task of type Classification, PairClassification or STS",
        found=kind,
        todo="audit its dataset by name, with --columns: "
        f"hf://datasets/{task.metadata.dataset['path']}@{task.metadata.dataset['revision']}",
    )


def _subset(said: str, task: Any, language: str | None) -> tuple[str, str]:
    """Return the configuration to audit ("" for the only one) and the language of its texts."""
    languages = task.metadata.eval_langs
    subsets = languages if isinstance(languages, dict) else {"": languages}
    codes = {name: {short_code(one) for one in of_subset} for name, of_subset in subsets.items()}
    fits = [
        (name, next(iter(own)))
        for name, own in codes.items()
        if len(own) == 1 and language in (None, *own)
    ]
    if len(fits) != 1:
        raise InputError(
            said,
            expected="one language",
            found=", ".join(sorted({code for own in codes.values() for code in own})),
            todo="choose with --language, such as --language es",
        )
    return fits[0]
