"""The tasks on the sentences of a treebank: one row each, with the functions that it needs.

Conneau et al. (2018), "What you can cram into a single $&!#* vector: Probing sentence embeddings
for linguistic properties", section 2, have sentence length, word content, tree depth, top
constituents, bigram shift, tense, the two numbers, odd word and coordination inversion. Gender and
voice are tasks of RuSentEval (Mikhailov et al. 2021, "RuSentEval: Linguistic source, encoder
force!").
"""

from functools import partial
from typing import Any

from builders.tasks.task import TreebankTask, make_task
from builders.tasks.treebank import changes, properties
from builders.tasks.treebank.properties import GENDERS, NUMBERS

_number = partial(properties.of_noun, feature="Number", names=NUMBERS)
_gender = partial(properties.of_noun, feature="Gender", names=GENDERS)
_FUNCTIONS: dict[str, dict[str, Any]] = {
    "sentence_length": {"find": properties.length},
    "word_content": {"find": properties.content_words, "settle": properties.with_one_word},
    "tree_depth": {"find": properties.depth},
    "top_constituents": {"find": properties.constituents},
    "bigram_shift": {"find": partial(changes.shifted, size=1)},
    "ngram_shift": {"find": partial(changes.shifted, size=2)},
    "tense": {"find": properties.tense},
    "subject_number": {"find": partial(_number, relation="nsubj")},
    "object_number": {"find": partial(_number, relation="obj")},
    "odd_word": {
        "find": changes.replaceable,
        "count": changes.count_words,
        "settle": changes.replaced,
    },
    "coordination_inversion": {"find": changes.inverted, "settle": changes.with_both_orders},
    "subject_gender": {"find": partial(_gender, relation="nsubj")},
    "object_gender": {"find": partial(_gender, relation="obj")},
    "voice": {"find": properties.voice},
    "subject_order": {"find": properties.order},
    "dropped_subject": {"find": properties.dropped_subject},
    "subjunctive": {"find": properties.subjunctive},
}
TASKS = tuple(make_task(TreebankTask, name, **of) for name, of in _FUNCTIONS.items())
