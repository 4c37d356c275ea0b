"""Tells the task and the kind of texts of files that do not state them."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from builders.auditing.damage import faults, group_of
from builders.tasks import TASKS
from builders.tasks.task import Task

# The folders of SentEval's and DiscoEval's descendants, in lower case, to the task that is in them.
_TASKS = {
    "sp": "sentence_position",
    "bso": "sentence_ordering",
    "dc": "discourse_coherence",
    "ssp": "section_prediction",
    "rst": "discourse_relations",
}
# Texts that are looked at, and the share that must be single whole sentences: at least 97 of 100
# are in encyclopedias and abstracts.
_LOOKED_AT, _WHOLE = 2000, 0.8
# The share of texts that may ask, exclaim, break off or begin with a dash: fewer than 1 of 100 in
# encyclopedias and abstracts, 40 of 100 in subtitles and in the dialogues of books.
_SPOKEN = 0.15
_SPEECH = re.compile(r"[-–—]|.*(?:[?!…]|\.\.)\W*$", re.DOTALL)


def task_of(folders: Iterable[str], width: int, classes: int, units: bool) -> Task | None:
    """Return the task that a folder is named after, if the rows may be instances of it.

    Args:
        folders: the names of the folders that the files are in.
        width: the number of texts in a row.
        classes: the number of classes.
        units: whether texts are lists of units.
    """
    for name in folders:
        fits = {
            "sp": width == classes == 5,
            "bso": width == 2 and classes in (0, 2),
            "dc": width >= 4 and classes == 2,
            "ssp": width == 1 and classes == 2,
            "rst": width == 2 and units,
        }
        if fits.get(name.lower()):
            return TASKS[_TASKS[name.lower()]]
    return None


def records_of(
    task: Task | None, texts: Sequence[Sequence[str]], units: bool, language: str
) -> str:
    """Return the kind of records that rows were built from.

    Args:
        task: of the rows.
        texts: for each row its texts.
        units: whether texts are lists of units.
        language: of the texts.
    """
    if units:
        return "trees"
    if task is not None and "dialogues" not in task.records:
        return task.records[0]
    if task is None and len(texts[0]) < 3:
        return "examples"
    looked = list(islice((text for row in texts for text in row), _LOOKED_AT))
    if sum(_SPEECH.match(text) is not None for text in looked) > _SPOKEN * len(looked):
        return "dialogues"
    whole = sum("mis_split" not in map(group_of, faults(text, language)) for text in looked)
    return "documents" if whole >= _WHOLE * len(looked) else "dialogues"
