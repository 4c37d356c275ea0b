"""The tasks on the sentences of a treebank: one row each, with the functions that it needs.

Conneau et al. (2018), "What you can cram into a single $&!#* vector: Probing sentence embeddings
for linguistic properties", section 2, have sentence length, word content, tree depth, top
constituents, bigram shift, tense, the two numbers, odd word and coordination inversion. Gender and
voice are tasks of RuSentEval (Mikhailov et al. 2021, "RuSentEval: Linguistic source, encoder
force!").
"""

from functools import partial

from builders.tasks.task import ORIGIN, Column, TreebankTask, about
from builders.tasks.treebank import changes, properties
from builders.tasks.treebank.properties import DEPTHS, GENDERS, LENGTHS, NUMBERS

_OF_SHIFTS = ORIGIN | {
    "position": Column(
        "integer", "the number of the first token that was moved, null if none was moved"
    ),
    "swapped": Column("string", "the moved tokens in their new order, null if none was moved"),
}
_OF_ODD_WORD = ORIGIN | {
    "position": Column("integer", "the number of the replaced token, null if none is"),
    "original": Column("string", "the word that was replaced, null if none was"),
    "replacement": Column("string", "the word in its place, null if none is"),
}
_OF_COORDINATION = ORIGIN | {
    "first_tokens": Column(
        "integer", "tokens of the clause that came first, null if they were not swapped"
    ),
    "second_tokens": Column("integer", "tokens of the other one"),
}

TASKS = (
    TreebankTask(
        **about("sentence_length"),
        labels=tuple(f"{first}-{last}" for first, last in LENGTHS),
        provenance=ORIGIN,
        find=properties.length,
        asks_length=True,
        by_length=False,
        lengths=(LENGTHS[0][0], LENGTHS[-1][1]),
    ),
    TreebankTask(
        **about("word_content"),
        find=properties.content_words,
        settle=properties.with_one_word,
        by_length=False,
    ),
    TreebankTask(
        **about("tree_depth"),
        labels=tuple(map(str, DEPTHS)),
        provenance=ORIGIN,
        find=properties.depth,
    ),
    TreebankTask(
        **about("top_constituents"),
        provenance=ORIGIN,
        find=properties.constituents,
        least_share=0.9,
    ),
    TreebankTask(
        **about("bigram_shift"),
        labels=("original", "shifted"),
        unchanged="original",
        provenance=_OF_SHIFTS,
        find=partial(changes.shifted, size=1),
    ),
    TreebankTask(
        **about("ngram_shift"),
        labels=("original", "shifted"),
        unchanged="original",
        provenance=_OF_SHIFTS,
        find=partial(changes.shifted, size=2),
    ),
    TreebankTask(
        **about("tense"),
        labels=("present", "past"),
        find=properties.tense,
        feature="Tense",
        carrier="finite main verbs",
    ),
    TreebankTask(
        **about("subject_number"),
        labels=tuple(NUMBERS.values()),
        find=partial(properties.of_noun, relation="nsubj", feature="Number", names=NUMBERS),
        feature="Number",
        carrier="nouns that are subjects",
    ),
    TreebankTask(
        **about("object_number"),
        labels=tuple(NUMBERS.values()),
        find=partial(properties.of_noun, relation="obj", feature="Number", names=NUMBERS),
        feature="Number",
        carrier="nouns that are objects",
    ),
    TreebankTask(
        **about("odd_word"),
        labels=("original", "replaced"),
        unchanged="original",
        provenance=_OF_ODD_WORD,
        find=changes.replaceable,
        count=changes.count_words,
        settle=changes.replaced,
    ),
    TreebankTask(
        **about("coordination_inversion"),
        labels=("original", "inverted"),
        unchanged="original",
        provenance=_OF_COORDINATION,
        find=changes.inverted,
        settle=changes.with_both_orders,
    ),
    TreebankTask(
        **about("subject_gender"),
        find=partial(properties.of_noun, relation="nsubj", feature="Gender", names=GENDERS),
        least_share=0.5,
        feature="Gender",
        carrier="nouns that are subjects",
    ),
    TreebankTask(
        **about("object_gender"),
        find=partial(properties.of_noun, relation="obj", feature="Gender", names=GENDERS),
        least_share=0.5,
        feature="Gender",
        carrier="nouns that are objects",
    ),
    TreebankTask(**about("voice"), labels=("active", "passive"), find=properties.voice),
    TreebankTask(**about("subject_order"), labels=("SV", "VS"), find=properties.order),
    TreebankTask(
        **about("dropped_subject"),
        find=properties.dropped_subject,
        least_share=0.9,
        feature="Person",
        carrier="finite verbs of main clauses without subject",
    ),
    TreebankTask(
        **about("subjunctive"),
        labels=("none", "subjunctive"),
        provenance=ORIGIN | {"words": Column("strings", "the verbs in the subjunctive")},
        find=properties.subjunctive,
        feature="Mood",
        carrier="sentences with a finite verb",
    ),
)
