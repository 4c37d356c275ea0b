"""Sentence length and word content: what the surface of a sentence holds.

Conneau et al. (2018), "What you can cram into a single $&!#* vector: Probing sentence embeddings
for linguistic properties", section 2.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.tree import Tree
from builders.sampling.word_counts import WordCounts
from builders.tasks.treebank_task import ORIGIN, WORD, TreebankTask, offered
from corpora_recipes.casing import lower_case
from corpora_recipes.records import Split

# Conneau et al. (2018): six bins of 5 to 28 tokens.
LENGTHS = ((5, 8), (9, 12), (13, 16), (17, 20), (21, 25), (26, 28))
# Conneau et al. (2018) ask for 1,000 words of four letters or more.
MOST_WORDS = 1000
SHORTEST_WORD = 4
# A word that is in more of the sentences is left out: few would have another one alone.
COMMON = 0.1
# Rows of a word: multiples of these, so that a word that is asked for is also learnt.
ROWS_OF_A_WORD: dict[Split, int] = {"train": 4, "validation": 1, "test": 1}


def _length(tree: Tree, draw: Draw) -> Candidate | str:
    del draw
    length = len(tree.tokens)
    label = next(f"{first}-{last}" for first, last in LENGTHS if first <= length <= last)
    return offered(tree, label=label)


def _words(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with its content words that are tokens: form to place."""
    del draw
    places: dict[str, int] = {}
    for number, word in enumerate(tree.words):
        token = tree.token_of[number]
        long = len(word.form) >= SHORTEST_WORD and word.form.isalpha()
        if word.upos in ("NOUN", "VERB", "ADJ") and long and tree.tokens[token].words == 1:
            places.setdefault(lower_case(word.form), token)
    return offered(tree, material=places) if places else "without_content_word"


def _targets(
    candidates: Sequence[Candidate], counts: WordCounts, draw: Draw
) -> Sequence[Candidate]:
    """Return the sentences with exactly one of the words that are asked for, with it as label.

    Asked for are the most frequent words, if every split has some rows of them. Of more words, each
    has fewer rows, and more sentences have two of them; of more rows a word, fewer words have as
    many. So both numbers are those that give the most rows in all.
    """
    del counts, draw
    frequency = Counter(form for candidate in candidates for form in candidate.material)
    rare = (form for form, count in frequency.items() if count <= COMMON * len(candidates))
    ranked = sorted(rare, key=lambda form: (-frequency[form], form))[:MOST_WORDS]
    best: list[Candidate] = []
    size = number = 0
    while number < len(ranked):
        number = min(2 * number + 2, len(ranked))
        asked = set(ranked[:number])
        found = ((c, asked.intersection(c.material)) for c in candidates)
        only = [(c, next(iter(words))) for c, words in found if len(words) == 1]
        rows = Counter((word, c.split) for c, word in only)
        # How many times the rows that a word needs it has.
        times = {w: min(rows[w, s] // n for s, n in ROWS_OF_A_WORD.items()) for w in asked}
        for least in range(1, max(times.values()) + 1):
            kept = {word for word, having in times.items() if having >= least}
            if len(kept) > 1 and len(kept) * least >= size:
                size = len(kept) * least
                best = [_asked(c, word) for c, word in only if word in kept]
    return best


def _asked(candidate: Candidate, word: str) -> Candidate:
    columns = {"word": word, "position": candidate.material[word] + 1}
    return replace(candidate, label=word, columns=columns, material=None)


LENGTH = TreebankTask(
    name="sentence_length",
    question="How many tokens does the sentence have?",
    labels=tuple(f"{first}-{last}" for first, last in LENGTHS),
    needs="a sentence of 5 to 28 tokens, of each class",
    example="""\
| sentence | class |
|---|---|
| Un verano llegó una draga. | **5-8** |""",
    provenance=ORIGIN,
    find=_length,
    asks_length=True,
    by_length=False,
    lengths=(LENGTHS[0][0], LENGTHS[-1][1]),
)

CONTENT = TreebankTask(
    name="word_content",
    question="Which of the words that are asked for does the sentence contain? It contains exactly "
    "one of them.",
    needs="two words of four letters or more that occur in several sentences of every split",
    example="""\
| sentence | class |
|---|---|
| La laguna está a dos leguas del pueblo. | **pueblo** |""",
    provenance=WORD,
    find=_words,
    settle=_targets,
    by_length=False,
)
