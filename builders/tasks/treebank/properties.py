"""Tense, number, gender, voice, person and mood: what the form of a word tells.

Tense and number are tasks of Conneau et al. (2018); gender and voice are tasks of RuSentEval
(Mikhailov et al. 2021, "RuSentEval: Linguistic source, encoder force!").
"""

from collections.abc import Mapping

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.tree import Tree, is_finite
from builders.tasks.task import Column
from builders.tasks.treebank_task import (
    ORIGIN,
    WORD,
    TreebankTask,
    of_worthwhile_classes,
    offered,
    told_by,
    without,
)
from corpora_recipes.casing import lower_case

_NUMBERS = {"Sing": "singular", "Plur": "plural"}
_GENDERS = {"Masc": "masculine", "Fem": "feminine", "Neut": "neuter", "Com": "common"}
_TENSES = {"Pres": "present", "Past": "past", "Imp": "past"}
# Sentences with so many finite verbs, or more, are compared with each other.
MANY_VERBS = 4


def _tense(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with the tense of its main verb, which has no auxiliary."""
    del draw
    main = tree.main
    if main.upos != "VERB" or not is_finite(main):
        return "without_finite_main_verb"
    if tree.related(tree.root, "aux"):
        return "with_auxiliary"
    if main.feature("Mood") not in ("Ind", ""):
        return "of_another_mood"
    tense = main.feature("Tense")
    if not tense:
        return without("Tense")
    if tense not in _TENSES:
        return "of_another_tense"
    return told_by(tree, tree.root, _TENSES[tense])


def _noun(tree: Tree, relation: str) -> int | None:
    """Return the number of the only noun with a relation to the root; None without one."""
    found = tree.related(tree.root, relation)
    if len(found) != 1 or tree.words[found[0]].upos != "NOUN" or tree.related(found[0], "conj"):
        return None
    return found[0]


def _told_by_noun(
    tree: Tree, relation: str, feature: str, names: Mapping[str, str]
) -> Candidate | str:
    """Return the sentence with what a feature says of the only noun with a relation to the root.

    Args:
        tree: of the sentence.
        relation: of the noun.
        feature: such as "Number".
        names: its values that are asked for, to their classes.
    """
    noun = _noun(tree, relation)
    if noun is None:
        return "without_one_noun"
    value = tree.words[noun].feature(feature)
    if not value:
        return without(feature)
    return told_by(tree, noun, names[value]) if value in names else f"of_another_{feature.lower()}"


def _subject_number(tree: Tree, draw: Draw) -> Candidate | str:
    del draw
    return _told_by_noun(tree, "nsubj", "Number", _NUMBERS)


def _object_number(tree: Tree, draw: Draw) -> Candidate | str:
    del draw
    return _told_by_noun(tree, "obj", "Number", _NUMBERS)


def _subject_gender(tree: Tree, draw: Draw) -> Candidate | str:
    del draw
    return _told_by_noun(tree, "nsubj", "Gender", _GENDERS)


def _object_gender(tree: Tree, draw: Draw) -> Candidate | str:
    del draw
    return _told_by_noun(tree, "obj", "Gender", _GENDERS)


def _voice(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with the voice of its main verb, if that is beyond doubt.

    Reflexive verbs may be passives; a participle without an auxiliary of the passive is a perfect,
    or a passive with an auxiliary that is not annotated as such.
    """
    del draw
    main = tree.main
    if main.upos != "VERB":
        return "without_main_verb"
    if tree.related(tree.root, "aux:pass"):
        return told_by(tree, tree.root, "passive")
    if main.feature("Voice") == "Pass":
        return told_by(tree, tree.root, "passive") if is_finite(main) else "of_unclear_voice"
    participle = main.feature("VerbForm") == "Part"
    if participle or _is_reflexive(tree) or tree.related(tree.root, "nsubj:pass"):
        return "of_unclear_voice"
    finite = _finite(tree)
    return "without_finite_verb" if finite is None else told_by(tree, tree.root, "active")


def _is_reflexive(tree: Tree) -> bool:
    """Return whether the main verb has an expletive or a reflexive pronoun."""
    return any(
        tree.words[child].relation.startswith("expl")
        or tree.words[child].feature("Reflex") == "Yes"
        for child in tree.children[tree.root]
    )


def _finite(tree: Tree) -> int | None:
    """Return the number of the finite verb of the main clause: the root, or one beside it."""
    verbs = (tree.root, *tree.related(tree.root, "aux", "cop"))
    return next((verb for verb in verbs if is_finite(tree.words[verb])), None)


def _dropped_subject(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with the person and number of its finite verb, if it has no subject."""
    del draw
    finite = _finite(tree)
    if finite is None:
        return "without_finite_verb"
    if tree.related(tree.root, "nsubj", "csubj"):
        return "with_subject"
    # What looks like its object may be the subject of a reflexive passive.
    if _is_reflexive(tree):
        return "reflexive"
    verb = tree.words[finite]
    if verb.feature("Mood") not in ("Ind", ""):
        return "of_another_mood"
    person = verb.feature("Person")
    if not person:
        return without("Person")
    number = _NUMBERS.get(verb.feature("Number"))
    if number is None:
        return "of_another_number"
    return told_by(tree, finite, f"{person} {number}")


def _subjunctive(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with whether a finite verb of it is in the subjunctive."""
    del draw
    finite = [word for word in tree.words if is_finite(word)]
    if not finite:
        return "without_finite_verb"
    if not any(word.feature("Mood") for word in finite):
        return without("Mood")
    forms = [word.form for word in finite if word.feature("Mood") == "Sub"]
    return offered(
        tree,
        label="subjunctive" if forms else "none",
        forms=tuple(map(lower_case, forms)),
        # A sentence with more clauses more likely has one.
        stratum=str(min(len(finite), MANY_VERBS)),
        columns={"words": forms},
    )


TENSE = TreebankTask(
    name="tense",
    question="Is the main verb, a simple form of the indicative, in the present or in the past?",
    labels=("present", "past"),
    needs="a sentence with a finite main verb without auxiliary, in present or past",
    example="""\
| sentence | class |
|---|---|
| Tocó fondo a los cuatro metros. | **past** |""",
    provenance=WORD,
    find=_tense,
    feature="Tense",
    carrier="finite main verbs",
)
SUBJECT_NUMBER = TreebankTask(
    name="subject_number",
    question="Is the subject of the main clause, a noun, singular or plural?",
    labels=tuple(_NUMBERS.values()),
    needs="a sentence with one noun as the subject of the main clause",
    example="""\
| sentence | class |
|---|---|
| Las redes vuelven vacías al puerto. | **plural** |""",
    provenance=WORD,
    find=_subject_number,
    feature="Number",
    carrier="nouns that are subjects",
)
OBJECT_NUMBER = TreebankTask(
    name="object_number",
    question="Is the object of the main clause, a noun, singular or plural?",
    labels=tuple(_NUMBERS.values()),
    needs="a sentence with one noun as the object of the main clause",
    example="""\
| sentence | class |
|---|---|
| El pescador remienda las redes. | **plural** |""",
    provenance=WORD,
    find=_object_number,
    feature="Number",
    carrier="nouns that are objects",
)
SUBJECT_GENDER = TreebankTask(
    name="subject_gender",
    question="Which gender has the subject of the main clause, a noun?",
    needs="a sentence with one noun as the subject of the main clause",
    example="""\
| sentence | class |
|---|---|
| La laguna no tiene fondo. | **feminine** |""",
    provenance=WORD,
    find=_subject_gender,
    settle=of_worthwhile_classes,
    feature="Gender",
    carrier="nouns that are subjects",
)
OBJECT_GENDER = TreebankTask(
    name="object_gender",
    question="Which gender has the object of the main clause, a noun?",
    needs="a sentence with one noun as the object of the main clause",
    example="""\
| sentence | class |
|---|---|
| El pescador remienda las redes. | **feminine** |""",
    provenance=WORD,
    find=_object_gender,
    settle=of_worthwhile_classes,
    feature="Gender",
    carrier="nouns that are objects",
)
VOICE = TreebankTask(
    name="voice",
    question="Is the main verb active or passive?",
    labels=("active", "passive"),
    needs="a sentence with a main verb that is clearly active or passive",
    example="""\
| sentence | class |
|---|---|
| La bocana fue dragada en verano. | **passive** |""",
    provenance=WORD,
    find=_voice,
)
DROPPED_SUBJECT = TreebankTask(
    name="dropped_subject",
    question="Which person and number has the finite verb of the main clause, whose subject is not "
    "expressed?",
    needs="a sentence without subject, whose finite verb has a person and a number",
    example="""\
| sentence | class |
|---|---|
| Zarpamos con la marea de la tarde. | **1 plural** |""",
    provenance=WORD,
    find=_dropped_subject,
    settle=of_worthwhile_classes,
    feature="Person",
    carrier="finite verbs of main clauses without subject",
)
SUBJUNCTIVE = TreebankTask(
    name="subjunctive",
    question="Is one of the verbs in the subjunctive?",
    labels=("none", "subjunctive"),
    needs="a sentence with a finite verb, some with one in the subjunctive",
    example="""\
| sentence | class |
|---|---|
| Esperan a que suba la marea. | **subjunctive** |""",
    provenance=ORIGIN | {"words": Column("strings", "the verbs in the subjunctive")},
    find=_subjunctive,
    feature="Mood",
    carrier="sentences with a finite verb",
)
