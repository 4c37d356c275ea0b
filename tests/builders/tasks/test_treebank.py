"""The tasks on treebanks: what each takes from a sentence, and what it leaves out."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from case_tables import read_tables
from parsed_text import parsed

from builders.sampling.candidates import Candidate, Tree, WordCounts
from builders.sampling.passages import Draw
from builders.tasks import TASKS
from builders.tasks.task import TreebankTask
from builders.tasks.treebank import changes
from corpora_recipes.records import ParsedSentence

TABLES = read_tables(__file__)

DRAW = Draw(1, "ds")
FINITE = "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"
THEY = "Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin"
WE = "Mood=Ind|Number=Plur|Person=1|VerbForm=Fin"


def find(name: str, sentence: ParsedSentence, draw: Draw = DRAW) -> Any:
    """Return a candidate, or why there is none."""
    task = TASKS[name]
    assert isinstance(task, TreebankTask)
    return task.find(Tree(sentence), draw)


def told(name: str, sentence: ParsedSentence) -> str:
    """Return the label and columns of a candidate, or why there is none."""
    candidate = find(name, sentence)
    if isinstance(candidate, str):
        return candidate
    return " ".join(map(str, (candidate.label, *candidate.columns.values())))


BOAT = parsed(
    "La/DET/2/det/Gender=Fem|Number=Sing "
    "barca/NOUN/3/nsubj/Gender=Fem|Number=Sing "
    f"dejó/VERB/0/root/{FINITE}/dejar "
    "las/DET/5/det/Gender=Fem|Number=Plur "
    "redes/NOUN/3/obj/Gender=Fem|Number=Plur "
    "en/ADP/8/case el/DET/8/det muelle/NOUN/3/obl/Gender=Masc|Number=Sing ./PUNCT/3/punct"
)


OF_BOAT = TABLES["boat"]


def test_what_a_sentence_tells() -> None:
    for name, answer in (line.split(" | ") for line in OF_BOAT.strip().splitlines()):
        assert told(name, BOAT) == answer, name


# The tense of a compound form is not that of its participle, nor of its auxiliary. Of coordinated
# nouns, none tells the number. Reflexive passives are neither active nor passive, nor is what may
# be a passive whose auxiliary is not annotated as such. Adjectives stand on either side.
CASES = TABLES["cases"]


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_what_is_left_out_and_why(case: str) -> None:
    name, words, answer = case.split(" | ")
    words = words.replace("FINITE", FINITE).replace("THEY", THEY).replace("WE", WE)
    words = words.replace("PAST", "Tense=Past|VerbForm=Part|Voice=Act")
    assert told(name, parsed(words)) == answer


def test_two_words_are_swapped_and_the_spaces_stay() -> None:
    sentence = parsed(
        f"Vuelve/VERB/0/root/{FINITE} ,/PUNCT/3/punct pues/ADV/1/advmod ,/PUNCT/3/punct "
        "de/ADP/7/case el/DET/7/det mar/NOUN/1/obl muy/ADV/9/advmod tarde/ADV/1/advmod "
        "hoy/NOUN/1/obl ./PUNCT/1/punct",
        tokens="Vuelve , pues , del mar muy tarde hoy .",
        joined={"del": 2},
    )
    texts = {find("bigram_shift", sentence, Draw(seed, "ds")).changed for seed in range(20)}
    assert texts == {"Vuelve, pues, del muy mar tarde hoy.", "Vuelve, pues, del mar muy hoy tarde."}


def test_words_without_spaces_are_swapped() -> None:
    spaced = parsed(
        "船/NOUN/3/nsubj 昨天/NOUN/3/obl 到/VERB/0/root 了/AUX/3/aux 码头/NOUN/3/obj "
        "。/PUNCT/3/punct"
    )
    glued = tuple(token._replace(space_after=False) for token in spaced.tokens)
    assert find("bigram_shift", replace(spaced, tokens=glued)) == "without_place"
    sentence = replace(spaced, tokens=glued, treebank="zh_own")
    texts = {find("bigram_shift", sentence, Draw(seed, "ds")).changed for seed in range(20)}
    assert texts == {"船到昨天了码头。", "船昨天了到码头。", "船昨天到码头了。"}
    assert [*find("word_content", sentence).material] == ["昨天", "码头"]


def test_pairs_of_words_are_swapped() -> None:
    texts = {find("ngram_shift", BOAT, Draw(seed, "ds")).changed for seed in range(20)}
    assert texts == {
        "La las redes barca dejó en el muelle.",
        "La barca redes en dejó las el muelle.",
        "La barca dejó en el las redes muelle.",
        "La barca dejó las el muelle redes en.",
    }


CLAUSES = (
    f"Se/PRON/2/expl acabó/VERB/0/root/{FINITE} el/DET/4/det aceite/NOUN/2/nsubj ayer/ADV/2/advmod "
    f",/PUNCT/9/punct y/CCONJ/9/cc Juan/PROPN/9/nsubj salió/VERB/2/conj/{FINITE} ./PUNCT/2/punct"
)


def test_clauses_change_places_with_capital_and_comma() -> None:
    candidate = find("coordination_inversion", parsed(CLAUSES))
    assert candidate.changed == "Juan salió, y se acabó el aceite ayer."
    assert candidate.columns == {"first_tokens": 5, "second_tokens": 2}
    assert candidate.stratum == "first longer"


def test_a_name_keeps_its_capital() -> None:
    swapped = parsed(
        f"Juan/PROPN/2/nsubj salió/VERB/0/root/{FINITE} y/CCONJ/6/cc el/DET/5/det "
        f"aceite/NOUN/6/nsubj falta/VERB/2/conj/{THEY} !/PUNCT/2/punct"
    )
    assert find("coordination_inversion", swapped).changed == "El aceite falta y Juan salió!"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Juan/PROPN/9/nsubj", "Juan/PROPN/9/obj", "with_one_subject"),
        ("y/CCONJ/9/cc", "y/CCONJ/2/cc", "without_one_conjunction"),
        ("ayer/ADV/2/advmod", "ayer/ADV/9/advmod", "with_entangled_clauses"),
        (f"2/conj/{FINITE}", "2/conj/VerbForm=Inf", "without_two_finite_verbs"),
        ("Juan/PROPN/9/nsubj", "»/PUNCT/9/punct", "with_one_subject"),
    ],
)
def test_clauses_that_cannot_be_swapped(old: str, new: str, why: str) -> None:
    assert find("coordination_inversion", parsed(CLAUSES.replace(old, new))) == why


def test_either_clause_is_the_longer_one_equally_often() -> None:
    candidates = [
        Candidate(f"s{n}", "t", "d", "l", "test", "Frase.", 9, stratum=stratum)
        for n, stratum in enumerate(["first longer"] * 5 + ["second longer"] * 3 + ["equal"])
    ]
    kept = changes.with_both_orders(candidates, WordCounts(), DRAW)
    strata = sorted(candidate.stratum for candidate in kept)
    assert strata == ["equal", *["first longer"] * 2, *["second longer"] * 2]


NOUNS = ("barca", "laguna", "tormenta", "puerta", "bahía", "marea", "ola", "orilla", "isla", "vela")


def noun_sentences(*nouns: str) -> list[ParsedSentence]:
    """Return a sentence with each noun."""
    return [
        parsed(
            f"Vimos/VERB/0/root/{THEY} la/DET/3/det {noun}/NOUN/1/obj/Gender=Fem|Number=Sing "
            "ayer/ADV/1/advmod ./PUNCT/1/punct",
            name=f"s{n}",
        )
        for n, noun in enumerate(nouns)
    ]


def settled(name: str, sentences: list[ParsedSentence]) -> dict[str, Candidate]:
    task, counts = TASKS[name], WordCounts()
    assert isinstance(task, TreebankTask)
    assert task.settle
    for sentence in sentences:
        if task.count:
            task.count(Tree(sentence), counts)
    candidates = [find(name, sentence) for sentence in sentences]
    return {candidate.id: candidate for candidate in task.settle(candidates, counts, DRAW)}


def test_an_odd_word_has_the_form_of_the_other() -> None:
    kept = settled("odd_word", noun_sentences(*NOUNS * 2))
    assert len(kept) > len(NOUNS)
    for candidate in kept.values():
        original, new = candidate.columns["original"], candidate.columns["replacement"]
        assert new in NOUNS
        assert new != original
        assert (new[0] in "aeiou") == (original[0] in "aeiou")
        assert candidate.changed == candidate.text.replace(original, new)
        assert candidate.forms == (new,)


def test_an_odd_word_is_about_as_frequent() -> None:
    kept = settled("odd_word", noun_sentences(*["barca"] * 9, *["laguna"] * 3, "marea"))
    assert kept == {}


def test_a_sentence_has_one_of_the_words_that_are_asked_for() -> None:
    # `Vimos` is in all sentences, `ola` is too short, and `proa` is never in the test.
    kept = settled("word_content", noun_sentences(*NOUNS * 12, "proa", "proa", "red"))
    labels = Counter(candidate.label for candidate in kept.values())
    assert labels == {noun: 12 for noun in NOUNS if noun != "ola"}
    for candidate in kept.values():
        assert candidate.columns == {"word": candidate.label, "position": 3}
        assert candidate.label in candidate.text


def test_the_depth_of_a_tree_is_in_words_without_punctuation() -> None:
    sentence = parsed(
        f"Decían/VERB/0/root/{THEY} que/SCONJ/5/mark la/DET/4/det laguna/NOUN/5/nsubj "
        "tenía/VERB/1/ccomp fondo/NOUN/5/obj de/ADP/8/case arena/NOUN/6/nmod ,/PUNCT/8/punct"
    )
    assert Tree(sentence).depth() == 5
    assert told("tree_depth", sentence) == "5"
