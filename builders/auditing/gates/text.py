"""Gate 5: undamaged text, and in third-party datasets no boilerplate and no rows in one."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from builders.auditing.gates.gate import (
    Check,
    FlaggedRow,
    Gate,
    count_check,
    share_check,
    shorten,
    stated,
)
from builders.auditing.target import Target
from corpora_recipes.text.damage import FAULTS, Kind, find_faults, group_of
from corpora_recipes.text.language import count_words
from corpora_recipes.text.tokens import is_blank, normalise

# Group of faults to its name in words.
_WORDS = {
    "characters": "corrupted characters",
    "markup": "leftover markup",
    "extraction_damage": "extraction damage",
    "mis_split": "mis-split sentences",
}
# The share of rows that may have a fault, where detection is not exact; elsewhere it is 0.
LIMITS = {"extraction_damage": 0.02, "mis_split": 0.01}
# In tweets, reviews and the like of others, people type these themselves: 'kill', "what?no", ↑.
_TYPED = ("question_mark_for_letter", "doubled_apostrophes", "footnote_mark")
# The groups that a single word can have; the others are faults of sentences.
_OF_WORDS = ("characters", "markup")
# Kind of records to the kind of text, for the detection of damage.
KINDS: dict[str, Kind] = {
    "documents": "sentence",
    "dialogues": "turn",
    "trees": "fragment",
    "examples": "example",
    "parsed_sentences": "fragment",  # treebanks have headlines and lists, too
}


def _measure(target: Target) -> Iterator[Check]:
    """Count rows with wrong characters, markup, boilerplate, damage or mis-split sentences."""
    rows = [
        (part, number) for part in target.parts.values() for number in target.as_in_source(part)
    ]
    flagged_of_group: dict[str, list[FlaggedRow]] = {group: [] for group in _WORDS}
    names: Counter[str] = Counter()
    boilerplate: list[FlaggedRow] = []
    blank = [(part, row, "") for part, row in target.rows() if any(map(is_blank, part.texts[row]))]
    yield count_check("text", "rows with a text that is empty or only marks", len(blank), blank)
    may_be_typed, n_typed = not target.corpus and target.records == "examples", 0
    for part, number in rows:
        sentence_of_fault: dict[str, str] = {}
        for sentence in part.sentences[number]:
            for name in find_faults(sentence, target.language, KINDS[target.records]):
                sentence_of_fault.setdefault(name, shorten(sentence))
        if may_be_typed and not sentence_of_fault.keys().isdisjoint(_TYPED):
            n_typed += 1
            sentence_of_fault = {
                name: sentence for name, sentence in sentence_of_fault.items() if name not in _TYPED
            }
        names.update(sentence_of_fault.keys())
        reason_of_group: dict[str, str] = {}
        for name, sentence in sentence_of_fault.items():
            reason_of_group.setdefault(group_of(name), f"{name}: {sentence}")
        for group, why in reason_of_group.items():
            flagged_of_group[group].append((part, number, why))
        sentences = part.sentences[number]
        if any(pattern.search(text) for text in sentences for pattern in target.boilerplate):
            boilerplate.append((part, number, ""))
    for group, words in _WORDS.items():
        if target.task and target.task.unit == "word" and group not in _OF_WORDS:
            continue
        what, damaged = f"rows with {words}", flagged_of_group[group]
        counts = ", ".join(f"{name} {names[name]:,}" for name in FAULTS[group] if names[name])
        if not target.corpus and counts:
            what += f" ({counts})"
        if limit := LIMITS.get(group):
            yield share_check("text", what, len(damaged) / len(rows), limit, len(rows), damaged)
        else:
            yield count_check("text", what, len(damaged), damaged)
    if may_be_typed:
        what = f"rows with {', '.join(_TYPED)}, which people type too"
        yield stated("text", what, n_typed)
    if target.boilerplate:
        what = "rows with boilerplate of the corpus"
        yield count_check("text", what, len(boilerplate), boilerplate)


TEXT = Gate("text", _measure, our_fault="none")


# Texts that begin or end with the same words, in so many rows and in one class only, are
# boilerplate. Fewer words or rows would be turns of phrase ("On the other hand").
_ENDS, _ROWS = 5, 5
BOILERPLATE = 0.005
# A row holds others if one of its texts is so many times longer than all but one text in a
# thousand, of a thousand or more.
_TIMES, _IN = 5, 1000


def _boilerplate(target: Target) -> Iterator[Check]:
    """Count the rows of one text that share its beginning or end with rows of their class only."""
    rows = list(target.rows())
    holders: dict[tuple[str, ...], list[int]] = {}
    for number, (part, row) in enumerate(rows):
        words = normalise(part.texts[row][0]).split()
        if len(words) >= _ENDS:
            holders.setdefault(("begins", *words[:_ENDS]), []).append(number)
            holders.setdefault(("ends", *words[-_ENDS:]), []).append(number)
    reasons: dict[int, str] = {}
    for (how, *words), numbers in holders.items():
        if len(numbers) >= _ROWS:
            classes = {int(part.labels[row]) for part, row in map(rows.__getitem__, numbers)}
            if len(classes) == 1:
                reason = (
                    f"{how} with “{' '.join(words)}”, as {len(numbers) - 1} others of its class"
                )
                reasons |= dict.fromkeys(numbers, reason)
    flagged: Iterator[FlaggedRow] = ((*rows[number], reasons[number]) for number in sorted(reasons))
    what = "rows that begin or end like others of their class, and like none of another"
    yield share_check("text", what, len(reasons) / len(rows), BOILERPLATE, len(rows), flagged)


def _swallowed(target: Target) -> Iterator[Check]:
    """Count the texts that are far longer than all others: several rows in one."""
    lengths = [
        (count_words(text), part, row) for part, row in target.rows() for text in part.texts[row]
    ]
    usual_length = int(np.sort([length for length, _, _ in lengths])[-1 - len(lengths) // _IN])
    flagged: list[FlaggedRow] = [
        (part, row, f"{length} words; {_IN - 1} of {_IN:,} texts have {usual_length} or fewer")
        for length, part, row in lengths
        if length > _TIMES * usual_length
    ]
    yield count_check(
        "text", "texts so long that they must hold several rows", len(flagged), flagged
    )


BOILERPLATE_OF_OTHERS = Gate(
    "text",
    _boilerplate,
    applies=lambda target: (
        not target.corpus
        and target.constructed
        and bool(target.labels)
        and len(next(iter(target.parts.values())).texts[0]) == 1
    ),
)
SWALLOWED = Gate(
    "text",
    _swallowed,
    applies=lambda target: (
        not target.corpus and sum(len(part.texts[row]) for part, row in target.rows()) >= _IN
    ),
)
