"""The tasks on the sentences of a treebank, one function for each."""

from builders.tasks.treebank import (
    coordination,
    inflection,
    odd_word,
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
    inflection.TENSE,
    inflection.SUBJECT_NUMBER,
    inflection.OBJECT_NUMBER,
    odd_word.ODD_WORD,
    coordination.COORDINATION,
    inflection.SUBJECT_GENDER,
    inflection.OBJECT_GENDER,
    inflection.VOICE,
    structure.ORDER,
    inflection.DROPPED_SUBJECT,
    inflection.SUBJUNCTIVE,
)
