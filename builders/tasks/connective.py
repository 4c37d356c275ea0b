"""Connectives (CONN): which one opened the second of two neighbouring sentences?

It is taken out, with its comma, and the next letter is made a capital. After the connectives of
Koto, Lau and Baldwin (2021, "Discourse probing of pretrained language models") and the pairs of
sentences of Sileo et al. (2019, "Mining discourse markers for unsupervised sentence representation
learning"), with a list for each language, ``connectives.yaml``.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.sampling.passages import Draw, Passage, sentences_in
from builders.tasks.task import PassageTask, make_task
from corpora_recipes.records import SPLITS, Document
from corpora_recipes.yaml_files import load_yaml

# A class has as many rows in each split.
MIN_ROWS_PER_CLASS = 5
# Width of the bins of length, in which classes are balanced: what opens with "es decir" is short.
STEP = 0.4
# Of a text: its first letter and the marks before it.
_START = re.compile(r"^\W*\w")
_LISTS: dict[str, list[str]] = load_yaml(Path(__file__).with_name("connectives.yaml"))
# Language to how a sentence begins, the longest first, to its connective.
OPENINGS = {
    language: {
        f"{name[0].upper()}{name[1:]} ": name.rstrip(",")
        for name in sorted(names, key=len, reverse=True)
    }
    for language, names in _LISTS.items()
}


def passages(document: Document, draw: Draw) -> list[Passage]:
    """Return the pairs of neighbours in a section whose second sentence opened with a connective.

    No sentence is in two pairs.
    """
    assert document.split is not None  # `read` decides every split
    openings = OPENINGS.get(draw.language, {})
    found: list[Passage] = []
    for number, section in enumerate(document.sections):
        before = ""
        for place, sentence in enumerate(sentences_in(section)):
            opening = next(filter(sentence.startswith, openings), "")
            if not before or not opening:
                before = sentence
                continue
            rest = sentence.removeprefix(opening)
            pair = (before, _START.sub(lambda start: start[0].upper(), rest))
            of = f"{document.id}#{number}.{place}", document.id, document.split
            found.append(Passage(*of, (), pair, len(found), openings[opening]))
            before = ""
    return found


def settle(passages: Sequence[Passage]) -> list[Passage]:
    """Leave out the connectives that are too rare, as all classes are made as rare as the rarest.

    There are as many classes, the most frequent first, as leave at least half of the rows that
    the best number of classes leaves.
    """
    frequency = Counter(passage.label for passage in passages)
    ranked = sorted(frequency, key=lambda label: (-frequency[label], label))
    split_passages = [[p for p in passages if p.split == split] for split in SPLITS]
    rows = {}
    for count in range(2, len(ranked) + 1):
        sizes = [len(_levelled(of, ranked[:count])[ranked[0]]) for of in split_passages]
        if min(sizes) >= MIN_ROWS_PER_CLASS:
            rows[count] = count * sum(sizes)
    max_rows = max(rows.values(), default=0)
    classes = ranked[: max((count for count, n in rows.items() if 2 * n >= max_rows), default=0)]
    return [passage for passage in passages if passage.label in classes]


def instances(passages: Sequence[Passage], _: Draw, quota: int) -> list[dict[str, Any]]:
    """Return rows of one split, equally many of each connective."""
    passages_of_class = _levelled(passages, dict.fromkeys(p.label for p in passages))
    n_per_class = quota // max(len(passages_of_class), 1)
    return [
        {"passage": source.id, "sentences": list(source.sentences), "label": label}
        for label, sources in passages_of_class.items()
        for source in sources[:n_per_class]
    ]


def _levelled(passages: Sequence[Passage], labels: Collection[str]) -> dict[str, list[Passage]]:
    """Return label to its passages: of each length as many as the label with the fewest has."""
    lengths = [int(math.log(len(passage.sentences[1])) / STEP) for passage in passages]
    cells = Counter((n, p.label) for n, p in zip(lengths, passages, strict=True))
    room = {cell: min(cells[cell[0], label] for label in labels) for cell in cells}
    levelled: dict[str, list[Passage]] = {label: [] for label in labels}
    for length, passage in zip(lengths, passages, strict=True):
        cell = length, passage.label
        if passage.label in levelled and room[cell]:
            room[cell] -= 1
            levelled[passage.label].append(passage)
    return levelled


_task = make_task(PassageTask, "connective", passages=passages, settle=settle, instances=instances)
TASK = replace(_task, needs=_task.needs.format(languages=", ".join(OPENINGS)))
