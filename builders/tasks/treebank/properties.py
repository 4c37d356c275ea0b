"""What the tree of a sentence tells: its length, shape, and the forms of its words.

Each function takes a sentence and the dataset's draw, and returns the sentence with its class, or
the reason why it has none. What is a verb, a subject or an object, Universal Dependencies say.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from builders.sampling.candidates import (
    Candidate,
    Tree,
    WordCounts,
    as_candidate,
    is_finite,
    labelled_by_word,
)
from builders.sampling.passages import Draw
from corpora_recipes.text.language import is_letters
from corpora_recipes.text.tokens import lower_case

# Conneau et al. (2018): six bins of 5 to 28 tokens.
LENGTHS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
# Conneau et al. (2018) ask for 1,000 words of four letters or more.
MAX_WORDS = 1000
SHORTEST_WORD = 4
# In scripts without spaces, whose signs stand for more.
SHORTEST_UNSPACED_WORD = 2
# Rows of a word: multiples of these, so that a word that is asked for is also learnt.
ROW_STEP_PER_WORD = 6
# A word that is in more of the sentences is left out: few would have another one alone.
COMMON = 0.1
# Three neighbouring depths: with more, few sentences of one length have all of them.
DEPTHS = range(4, 7)
NUMBERS = {"Sing": "singular", "Plur": "plural"}
GENDERS = {"Masc": "masculine", "Fem": "feminine", "Neut": "neuter", "Com": "common"}
_TENSES = {"Pres": "present", "Past": "past", "Imp": "past"}
# Sentences with so many finite verbs, or more, are compared with each other.
MANY_VERBS = 4


def length(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with the bin of its length; it has 5 to 28 tokens."""
    tokens = len(tree.tokens)
    label = next(f"{first}-{last}" for first, last in LENGTHS if first <= tokens <= last)
    return as_candidate(tree, label=label)


def content_words(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with its content words that are tokens: form to place."""
    places: dict[str, int] = {}
    shortest = SHORTEST_WORD if tree.spaces else SHORTEST_UNSPACED_WORD
    for number, word in enumerate(tree.words):
        token = tree.token_of[number]
        long = len(word.form) >= shortest and is_letters(word.form)
        if word.upos in ("NOUN", "VERB", "ADJ") and long and tree.tokens[token].words == 1:
            places.setdefault(lower_case(word.form), token)
    return as_candidate(tree, material=places) if places else "without_content_word"


def with_one_word(candidates: Sequence[Candidate], _: WordCounts, __: Draw) -> Sequence[Candidate]:
    """Return the sentences with exactly one of the words that are asked for, with it as label.

    Asked for are the most frequent words, if there are some rows of them. Of more words, each has
    fewer rows, and more sentences have two of them; of more rows a word, fewer words have as many.
    So both numbers are those that give the most rows in all.
    """
    frequency = Counter(form for candidate in candidates for form in candidate.material)
    rare = (form for form, count in frequency.items() if count <= COMMON * len(candidates))
    ranked = sorted(rare, key=lambda form: (-frequency[form], form))[:MAX_WORDS]
    best_candidates: list[Candidate] = []
    max_rows = n_words = 0
    while n_words < len(ranked):
        n_words = min(2 * n_words + 2, len(ranked))
        words = set(ranked[:n_words])
        shared = ((c, words.intersection(c.material)) for c in candidates)
        single_word = [(c, next(iter(common))) for c, common in shared if len(common) == 1]
        rows = Counter(word for _, word in single_word)
        for rows_per_word in range(
            ROW_STEP_PER_WORD, max(rows.values(), default=0) + 1, ROW_STEP_PER_WORD
        ):
            words_kept = {word for word, having in rows.items() if having >= rows_per_word}
            if len(words_kept) > 1 and len(words_kept) * rows_per_word >= max_rows:
                max_rows = len(words_kept) * rows_per_word
                best_candidates = [
                    _of_word(c, word) for c, word in single_word if word in words_kept
                ]
    return best_candidates


def _of_word(candidate: Candidate, word: str) -> Candidate:
    columns = {"word": word, "position": candidate.material[word] + 1}
    return replace(candidate, label=word, columns=columns, material=None)


def depth(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with the depth of its tree."""
    levels = tree.depth()
    return as_candidate(tree, label=str(levels)) if levels in DEPTHS else "of_another_depth"


def constituents(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with what its main verb has: a subject, an object, other complements."""
    if tree.main.upos != "VERB":
        return "without_main_verb"
    parts = ["V"]
    if subjects := tree.related(tree.root, "nsubj", "csubj"):
        parts = ["SV" if subjects[0] < tree.root else "VS"]
    if tree.related(tree.root, "obj"):
        parts.append("O")
    if tree.related(tree.root, "obl", "ccomp", "xcomp"):
        parts.append("X")
    return as_candidate(tree, label="+".join(parts))


def order(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with whether its subject, a noun or a name, precedes its main verb."""
    if tree.main.upos != "VERB" or not is_finite(tree.main):
        return "without_finite_main_verb"
    subjects = tree.related(tree.root, "nsubj")
    if len(subjects) != 1 or tree.words[subjects[0]].upos not in ("NOUN", "PROPN"):
        return "without_one_noun_as_subject"
    return labelled_by_word(tree, tree.root, "SV" if subjects[0] < tree.root else "VS")


def tense(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with the tense of its main verb, which has no auxiliary."""
    main = tree.main
    if main.upos != "VERB" or not is_finite(main):
        return "without_finite_main_verb"
    if tree.related(tree.root, "aux"):
        return "with_auxiliary"
    if main.feature("Mood") not in ("Ind", ""):
        return "of_another_mood"
    value = main.feature("Tense")
    if not value:
        return "without_tense"
    return (
        labelled_by_word(tree, tree.root, _TENSES[value])
        if value in _TENSES
        else "of_another_tense"
    )


def of_noun(
    tree: Tree, _: Draw, *, relation: str, feature: str, names: Mapping[str, str]
) -> Candidate | str:
    """Return the sentence with what a feature says of the only noun with a relation to the root.

    ``names`` are the values that are asked for, to their classes.
    """
    nouns = tree.related(tree.root, relation)
    if len(nouns) != 1 or tree.words[nouns[0]].upos != "NOUN" or tree.related(nouns[0], "conj"):
        return "without_one_noun"
    value = tree.words[nouns[0]].feature(feature)
    if not value:
        return f"without_{feature.lower()}"
    if value not in names:
        return f"of_another_{feature.lower()}"
    # Plurals have more letters: a sentence with one has longer words.
    stratum = f"{len(tree.text) / len(tree.tokens):.0f}" if feature == "Number" else ""
    return labelled_by_word(tree, nouns[0], names[value], stratum)


def voice(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with the voice of its main verb, if that is beyond doubt.

    Reflexive verbs may be passives; a participle without an auxiliary of the passive is a perfect,
    or a passive with an auxiliary that is not annotated as such.
    """
    main = tree.main
    if main.upos != "VERB":
        return "without_main_verb"
    if tree.related(tree.root, "aux:pass"):
        return labelled_by_word(tree, tree.root, "passive")
    if main.feature("Voice") == "Pass":
        return (
            labelled_by_word(tree, tree.root, "passive") if is_finite(main) else "of_unclear_voice"
        )
    participle = main.feature("VerbForm") == "Part" and not is_finite(main)
    if participle or _is_reflexive(tree) or tree.related(tree.root, "nsubj:pass"):
        return "of_unclear_voice"
    return (
        "without_finite_verb"
        if _finite(tree) is None
        else labelled_by_word(tree, tree.root, "active")
    )


def _is_reflexive(tree: Tree) -> bool:
    """Return whether the main verb has an expletive or a reflexive pronoun."""
    words = (tree.words[child] for child in tree.children[tree.root])
    return any(w.relation.startswith("expl") or w.feature("Reflex") == "Yes" for w in words)


def _finite(tree: Tree) -> int | None:
    """Return the number of the finite verb of the main clause: the root, or one beside it."""
    verbs = (tree.root, *tree.related(tree.root, "aux", "cop"))
    finite = [verb for verb in verbs if is_finite(tree.words[verb])]
    # A participle that stands for a finite verb has the person of its auxiliary.
    with_person = (verb for verb in finite if tree.words[verb].feature("Person"))
    return next(with_person, next(iter(finite), None))


def dropped_subject(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with the person and number of its finite verb, if it has no subject."""
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
    person, number = verb.feature("Person"), NUMBERS.get(verb.feature("Number"))
    if not person:
        return "without_person"
    return labelled_by_word(tree, finite, f"{person} {number}") if number else "of_another_number"


def subjunctive(tree: Tree, _: Draw) -> Candidate | str:
    """Return the sentence with whether a finite verb of it is in the subjunctive."""
    finite = [word for word in tree.words if is_finite(word)]
    if not finite:
        return "without_finite_verb"
    if not any(word.feature("Mood") for word in finite):
        return "without_mood"
    forms = [word.form for word in finite if word.feature("Mood") == "Sub"]
    return as_candidate(
        tree,
        label="subjunctive" if forms else "none",
        forms=tuple(map(lower_case, forms)),
        # A sentence with more clauses more likely has one.
        stratum=str(min(len(finite), MANY_VERBS)),
        columns={"words": forms},
    )
