"""Gate 5: undamaged text."""

from collections import Counter
from collections.abc import Iterator

from builders.auditing.damage import Kind, faults, group_of
from builders.auditing.gates.gate import Check, Gate, count_check, share_check
from builders.auditing.targets.target import Target

# Group of faults to its name in words.
_WORDS = {
    "characters": "corrupted characters",
    "markup": "leftover markup",
    "extraction_damage": "extraction damage",
    "mis_split": "mis-split sentences",
}
# The share of rows that may have a fault, where detection is not exact; elsewhere it is 0.
LIMITS = {"extraction_damage": 0.02, "mis_split": 0.01}
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
    rows = [row for part in target.parts.values() for row in target.as_in_source(part)]
    of_group: Counter[str] = Counter()
    boilerplate = 0
    for row in rows:
        found = {
            group_of(name)
            for sentence in row
            for name in faults(sentence, target.language, KINDS[target.records])
        }
        of_group.update(found)
        boilerplate += any(p.search(s) for s in row for p in target.boilerplate)
    for group, words in _WORDS.items():
        if target.of_words and group not in _OF_WORDS:
            continue
        what = f"rows with {words}"
        if limit := LIMITS.get(group):
            yield share_check("text", what, of_group[group] / len(rows), limit, len(rows))
        else:
            yield count_check("text", what, of_group[group])
    if target.boilerplate:
        yield count_check("text", "rows with boilerplate of the corpus", boilerplate)


TEXT = Gate("text", _measure, our_fault="none")
