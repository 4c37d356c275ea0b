"""The tasks on the sentences of a treebank, one function for each."""

from builders.tasks.treebank import (
    changes,
    coordination,
    properties,
    shifts,
    structure,
    surface,
)
from builders.tasks.treebank_task import TreebankTask

TASKS: tuple[TreebankTask, ...] = (
    surface.LENGTH,
    surface.CONTENT,
    structure.DEPTH,
    structure.CONSTITUENTS,
    shifts.BIGRAM,
    shifts.NGRAM,
    properties.TENSE,
    properties.SUBJECT_NUMBER,
    properties.OBJECT_NUMBER,
    changes.ODD_WORD,
    coordination.COORDINATION,
    properties.SUBJECT_GENDER,
    properties.OBJECT_GENDER,
    properties.VOICE,
    structure.ORDER,
    properties.DROPPED_SUBJECT,
    properties.SUBJUNCTIVE,
)
