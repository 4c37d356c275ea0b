"""Gate 5: undamaged text."""

from collections import Counter
from collections.abc import Iterator

from builders.auditing.gates.gate import (
    Check,
    Found,
    Gate,
    count_check,
    share_check,
    shortened,
    stated,
)
from builders.exchange.target import Target
from corpora_recipes.text.damage import FAULTS, Kind, faults, group_of

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
    """Count rows with wrong characters, markup, boilerplate, damage or mis-split sentences.

    Rows that are changed on purpose look damaged, and are left out.
    """
    rows = [
        (part, number, part.sentences[number])
        for part in target.parts.values()
        for number in target.as_in_source(part)
    ]
    of_group: dict[str, list[Found]] = {group: [] for group in _WORDS}
    names: Counter[str] = Counter()
    boilerplate: list[Found] = []
    may_be_typed, typed = not target.corpus and target.records == "examples", 0
    for part, number, row in rows:
        found: dict[str, str] = {}
        for sentence in row:
            for name in faults(sentence, target.language, KINDS[target.records]):
                found.setdefault(name, shortened(sentence))
        if may_be_typed and not found.keys().isdisjoint(_TYPED):
            typed += 1
            found = {name: sentence for name, sentence in found.items() if name not in _TYPED}
        names.update(found.keys())
        of_row: dict[str, str] = {}
        for name, sentence in found.items():
            of_row.setdefault(group_of(name), f"{name}: {sentence}")
        for group, why in of_row.items():
            of_group[group].append((part, number, why))
        if any(p.search(s) for s in row for p in target.boilerplate):
            boilerplate.append((part, number, ""))
    for group, words in _WORDS.items():
        if target.task and target.task.unit == "word" and group not in _OF_WORDS:
            continue
        what, bad = f"rows with {words}", of_group[group]
        of_them = ", ".join(f"{name} {names[name]:,}" for name in FAULTS[group] if names[name])
        if not target.corpus and of_them:
            what += f" ({of_them})"
        if limit := LIMITS.get(group):
            yield share_check("text", what, len(bad) / len(rows), limit, len(rows), bad)
        else:
            yield count_check("text", what, len(bad), bad)
    if may_be_typed:
        what = f"rows with {', '.join(_TYPED)}, which people type too"
        yield stated("text", what, typed)
    if target.boilerplate:
        what = "rows with boilerplate of the corpus"
        yield count_check("text", what, len(boilerplate), boilerplate)


TEXT = Gate("text", _measure, our_fault="none")
