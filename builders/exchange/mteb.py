"""Finds the dataset of a task of mteb: its repository, revision, columns and language."""

from dataclasses import replace
from typing import Any

from builders.exchange.hub import Source, repository_targets
from builders.exchange.language_codes import short_code
from builders.exchange.target import Columns, Location
from corpora_recipes.running.errors import InputError


def mteb_targets(
    name: str, language: str | None, columns: Columns
) -> tuple[Source, list[Location]]:
    """Download the dataset of ``mteb:TASK``, as its authors published it: labelled texts.

    What mteb does to the rows after loading them (``dataset_transform``) is not done.

    Args:
        name: the name.
        language: of a task in several languages, the one to audit.
        columns: the columns to take; none for those of the task.

    Raises:
        InputError: mteb is not installed; it knows no such task; the task has no texts with labels
            or scores, or several languages; or the Hub fails, see ``hub_targets``.
    """
    task = _task(name)
    columns = columns if columns != Columns() else _columns(name, task)
    config, language = _subset(name, task, language)
    about = task.metadata.dataset
    source, locations = repository_targets(
        about["path"], about["revision"], language=language, config=config or about.get("name", "")
    )
    return replace(source, name=name), [
        replace(location, records="examples", columns=columns) for location in locations
    ]


def _task(name: str) -> Any:
    try:
        import mteb
    except ImportError:
        raise InputError(
            name,
            expected="the package mteb, which knows its tasks",
            found="it is not installed",
            todo="pip install 'probeta[mteb]' (in a checkout: uv sync --extra mteb)",
        ) from None
    try:
        return mteb.get_task(name.removeprefix("mteb:"))
    except KeyError as error:
        raise InputError(
            name,
            expected="a task that this version of mteb knows",
            found=" ".join(str(error).split()),
            todo="correct the name; `mteb available-tasks` lists them",
        ) from None


def _columns(name: str, task: Any) -> Columns:
    kind = task.metadata.type
    if kind == "Classification":
        return Columns((task.input_column_name,), task.label_column_name)
    if kind == "PairClassification":
        texts = (task.input1_column_name, task.input2_column_name)
        return Columns(texts, task.label_column_name)
    if kind == "STS":
        return Columns(tuple(task.column_names), score="score")
    raise InputError(
        name,
        expected="a task of type Classification, PairClassification or STS",
        found=kind,
        todo="audit its dataset by name, with --columns: "
        f"hf://datasets/{task.metadata.dataset['path']}@{task.metadata.dataset['revision']}",
    )


def _subset(name: str, task: Any, language: str | None) -> tuple[str, str]:
    """Return the configuration to audit ("" for the only one) and the language of its texts."""
    languages = task.metadata.eval_langs
    subsets = languages if isinstance(languages, dict) else {"": languages}
    codes = {config: {*map(short_code, of_subset)} for config, of_subset in subsets.items()}
    fits = [
        (config, code)
        for config, (code, *others) in codes.items()
        if not others and language in (None, code)
    ]
    if len(fits) != 1:
        raise InputError(
            name,
            expected="one language",
            found=", ".join(sorted(set().union(*codes.values()))),
            todo="choose with --language, such as --language es",
        )
    return fits[0]
