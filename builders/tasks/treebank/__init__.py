"""The tasks on the sentences of a treebank: one row each, with the functions that it needs.

Conneau et al. (2018), "What you can cram into a single $&!#* vector: Probing sentence embeddings
for linguistic properties", section 2, have sentence length, word content, tree depth, top
constituents, bigram shift, tense, the two numbers, odd word and coordination inversion. Gender and
voice are tasks of RuSentEval (Mikhailov et al. 2021, "RuSentEval: Linguistic source, encoder
force!").
"""

from functools import partial

from builders.tasks.task import ORIGIN, Column, TreebankTask
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
_SUBJECT = "a sentence with one noun as the subject of the main clause"
_OBJECT = "a sentence with one noun as the object of the main clause"


def _shown(sentence: str, label: str) -> str:
    """Return an example: a sentence and its class."""
    return f"| sentence | class |\n|---|---|\n| {sentence} | **{label}** |"


TASKS = (
    TreebankTask(
        name="sentence_length",
        question="How many tokens does the sentence have?",
        labels=tuple(f"{first}-{last}" for first, last in LENGTHS),
        needs="a sentence of 5 to 28 tokens, of each class",
        example=_shown("Un verano llegó una draga.", "5-8"),
        provenance=ORIGIN,
        find=properties.length,
        asks_length=True,
        by_length=False,
        lengths=(LENGTHS[0][0], LENGTHS[-1][1]),
    ),
    TreebankTask(
        name="word_content",
        question="Which of the words that are asked for does the sentence contain? It contains "
        "exactly one of them.",
        needs="two words of four letters or more that occur in several sentences of every fold",
        example=_shown("La laguna está a dos leguas del pueblo.", "pueblo"),
        find=properties.content_words,
        settle=properties.with_one_word,
        by_length=False,
    ),
    TreebankTask(
        name="tree_depth",
        question="How many words are on the longest way from the root of the dependency tree to a "
        "leaf?",
        labels=tuple(map(str, DEPTHS)),
        needs="a sentence whose tree has a depth of 4, 5 or 6, as long as one of each other class",
        example=_shown("Decían que la laguna del pueblo no tenía fondo.", "4"),
        provenance=ORIGIN,
        find=properties.depth,
    ),
    TreebankTask(
        name="top_constituents",
        question="What does the main verb (V) have: a subject (S) before or after it, an object "
        "(O), an oblique or a clause as a complement (X)?",
        needs="a sentence with a verb as its root",
        example=_shown("La draga tocó fondo a los cuatro metros.", "SV+O+X"),
        provenance=ORIGIN,
        find=properties.constituents,
        settle=properties.of_worthwhile_classes,
    ),
    TreebankTask(
        name="bigram_shift",
        question="Are two neighbouring words of the sentence swapped?",
        labels=("original", "shifted"),
        unchanged="original",
        needs="two neighbouring words of different parts of speech, after the first word",
        example=_shown("La marea bajo dejó el puente la arena seca.", "shifted"),
        provenance=_OF_SHIFTS,
        find=partial(changes.shifted, size=1),
    ),
    TreebankTask(
        name="ngram_shift",
        question="Are two neighbouring pairs of words swapped, such as the third and fourth with "
        "the fifth and sixth?",
        labels=("original", "shifted"),
        unchanged="original",
        needs="four neighbouring words, after the first word",
        example=_shown("La marea el puente dejó bajo la arena seca.", "shifted"),
        provenance=_OF_SHIFTS,
        find=partial(changes.shifted, size=2),
    ),
    TreebankTask(
        name="tense",
        question="Is the main verb, a simple form of the indicative, in the present or in the "
        "past?",
        labels=("present", "past"),
        needs="a sentence with a finite main verb without auxiliary, in present or past",
        example=_shown("Tocó fondo a los cuatro metros.", "past"),
        find=properties.tense,
        feature="Tense",
        carrier="finite main verbs",
    ),
    TreebankTask(
        name="subject_number",
        question="Is the subject of the main clause, a noun, singular or plural?",
        labels=tuple(NUMBERS.values()),
        needs=_SUBJECT,
        example=_shown("Las redes vuelven vacías al puerto.", "plural"),
        find=partial(properties.of_noun, relation="nsubj", feature="Number", names=NUMBERS),
        feature="Number",
        carrier="nouns that are subjects",
    ),
    TreebankTask(
        name="object_number",
        question="Is the object of the main clause, a noun, singular or plural?",
        labels=tuple(NUMBERS.values()),
        needs=_OBJECT,
        example=_shown("El pescador remienda las redes.", "plural"),
        find=partial(properties.of_noun, relation="obj", feature="Number", names=NUMBERS),
        feature="Number",
        carrier="nouns that are objects",
    ),
    TreebankTask(
        name="odd_word",
        question="Was a noun or a verb of the sentence replaced by another one of the same form?",
        labels=("original", "replaced"),
        unchanged="original",
        needs="a noun or a verb, and another one with the same features and frequency",
        example=_shown("La draga tocó sombrero a los cuatro metros.", "replaced"),
        provenance=_OF_ODD_WORD,
        find=changes.replaceable,
        count=changes.count_words,
        settle=changes.replaced,
    ),
    TreebankTask(
        name="coordination_inversion",
        question="Were the two coordinated main clauses of the sentence swapped?",
        labels=("original", "inverted"),
        unchanged="original",
        needs="two coordinated main clauses, both with a subject or both without",
        example=_shown("El aceite se acabó el lunes y el pan era de ayer.", "inverted"),
        provenance=_OF_COORDINATION,
        find=changes.inverted,
        settle=changes.with_both_orders,
    ),
    TreebankTask(
        name="subject_gender",
        question="Which gender has the subject of the main clause, a noun?",
        needs=_SUBJECT,
        example=_shown("La laguna no tiene fondo.", "feminine"),
        find=partial(properties.of_noun, relation="nsubj", feature="Gender", names=GENDERS),
        settle=properties.of_worthwhile_classes,
        feature="Gender",
        carrier="nouns that are subjects",
    ),
    TreebankTask(
        name="object_gender",
        question="Which gender has the object of the main clause, a noun?",
        needs=_OBJECT,
        example=_shown("El pescador remienda las redes.", "feminine"),
        find=partial(properties.of_noun, relation="obj", feature="Gender", names=GENDERS),
        settle=properties.of_worthwhile_classes,
        feature="Gender",
        carrier="nouns that are objects",
    ),
    TreebankTask(
        name="voice",
        question="Is the main verb active or passive?",
        labels=("active", "passive"),
        needs="a sentence with a main verb that is clearly active or passive",
        example=_shown("La bocana fue dragada en verano.", "passive"),
        find=properties.voice,
    ),
    TreebankTask(
        name="subject_order",
        question="Does the subject of the main verb stand before it (SV) or after it (VS)?",
        labels=("SV", "VS"),
        needs="a sentence with a finite main verb and one noun or name as its subject",
        example=_shown("Un verano llegó una draga.", "VS"),
        find=properties.order,
    ),
    TreebankTask(
        name="dropped_subject",
        question="Which person and number has the finite verb of the main clause, whose subject is "
        "not expressed?",
        needs="a sentence without subject, whose finite verb has a person and a number",
        example=_shown("Zarpamos con la marea de la tarde.", "1 plural"),
        find=properties.dropped_subject,
        settle=properties.of_worthwhile_classes,
        feature="Person",
        carrier="finite verbs of main clauses without subject",
    ),
    TreebankTask(
        name="subjunctive",
        question="Is one of the verbs in the subjunctive?",
        labels=("none", "subjunctive"),
        needs="a sentence with a finite verb, some with one in the subjunctive",
        example=_shown("Esperan a que suba la marea.", "subjunctive"),
        provenance=ORIGIN | {"words": Column("strings", "the verbs in the subjunctive")},
        find=properties.subjunctive,
        feature="Mood",
        carrier="sentences with a finite verb",
    ),
)
