"""The gates of the audit: what each measures on a dataset, its limit, and whether it is met."""

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal

import numpy as np

from builders import baselines as trivial
from builders.audit_targets import Part, Target
from builders.baselines import Labels, correlation_error, row_order, standard_error
from builders.damage import FAULTS, Kind, faults, group_of
from builders.passages import has_words, is_telling, mark
from corpora_recipes.casing import lower_case
from corpora_recipes.language import MINIMUM_LETTERS, is_language, is_too_short
from corpora_recipes.records import SPLITS

# Below this many test rows a score says little: one standard error is above 1.6 points.
SMALL_TEST = 1000
# Standard errors within which a measurement is not told from its limit: some hundred are made at
# once, of which two standard errors would let several miss by chance.
ERRORS = 3

# The correlation for which the standard error on a test is stated.
STATED_CORRELATION = 0.8

# The limits, as shares. A leaked test sentence gives an answer
# away; half a point more than chance from looking sentences up, two from the order of rows and five
# from length are more than the spread of a clean dataset; damage below two rows in a hundred moves
# no comparison.
SEEN_IN_TRAIN = 0.001
SEEN_ELSEWHERE = 0.52
ROW_ORDER = 0.02
LENGTH = 0.05
DAMAGED, MIS_SPLIT = 0.02, 0.01
LANGUAGE = 0.99

# Two terms are seeds, and one or more are looked for.
FEWEST_TERMS = 3

Verdict = Literal["pass", "miss", "within chance", "inherited", "not applicable"]

# What a text is, for the detection of damage, by the kind of records that it comes from.
KINDS: dict[str, Kind] = {
    "documents": "sentence",
    "dialogues": "turn",
    "trees": "fragment",
    "examples": "example",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One measurement of a gate.

    Attributes:
        gate: the gate's name, a key of ``GATES``.
        what: what was measured, in words.
        value: a share 0 … 1, a correlation -1 … 1, or a count.
        limit: what the value may not be above (or, for language, below); None for what is only
            stated.
        verdict: "pass", "miss", "inherited" for a miss that params.yaml declares, "within chance"
            if the value is beyond the limit by no more than ``ERRORS`` standard errors, and "not
            applicable".
        correlation: whether the value is a correlation.
    """

    gate: str
    what: str
    value: float
    limit: float | None
    verdict: Verdict
    correlation: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What a dataset is compared with.

    Attributes:
        sentences: hash of a normalised sentence to the number of rows, of all datasets that are
            audited together, that hold it.
        boilerplate: the patterns of its corpus that must not occur.
    """

    sentences: Mapping[int, int]
    boilerplate: Sequence[re.Pattern[str]]


def leakage(target: Target, _: Context) -> Iterator[Check]:
    """Gate 1: no instance (texts in any order) in two splits or folds, no test text in train."""
    seen: dict[tuple[int, ...], set[str]] = {}
    for name, part in target.apart().items():
        for row in part.sentences:
            seen.setdefault(tuple(sorted(map(mark, row))), set()).add(name)
    twice = sum(len(names) > 1 for names in seen.values())
    folds = target.has_folds
    yield _count("leakage", f"instances in two {'folds' if folds else 'splits'}", twice)
    known = asked = 0
    for train, test in target.trials():
        marks = {mark(s) for row in train.sentences for s in row}
        telling = [mark(s) for row in test.sentences for s in row if is_telling(s)]
        known += sum(m in marks for m in telling)
        asked += len(telling)
    if asked:
        what = "{}sentences of six words or more that occur in {}".format(
            *(("", "another fold") if folds else ("test ", "train"))
        )
        yield _share("leakage", what, known / asked, SEEN_IN_TRAIN, asked)
    flags = [flag for part in target.tested() for flag in part.columns.get("also_in", ())]
    if flags and not folds:
        what = "test rows whose text the column also_in finds in another split"
        yield Check("leakage", what, sum(map(bool, flags)), None, "pass")


def donors(target: Target, context: Context) -> Iterator[Check]:
    """Gate 2 (DC): a replacing sentence is seen nowhere else, and looking up tells nothing."""
    if target.task is None or target.task.name != "discourse_coherence":
        yield _not_applicable("donors")
        return
    parts = target.parts.values()
    replaced = [
        row[place - 1]
        for part in parts
        for row, place in zip(part.texts, part.columns.get("replaced_position", ()), strict=False)
        if place is not None
    ]
    if replaced:
        elsewhere = sum(context.sentences[mark(s)] > 1 for s in replaced if is_telling(s))
        what = "replacing sentences of six words or more that stand in another row of any dataset"
        yield _count("donors", what, elsewhere)
    own = Counter(m for part in parts for row in part.texts for m in set(map(mark, row)))
    # Split by split: a small test that is given away must not drown in a large train.
    found = []
    for part in parts:
        seen = [any(is_telling(s) and own[mark(s)] > 1 for s in row[1:-1]) for row in part.texts]
        right = sum(map(operator.ne, map(bool, part.labels), seen)) / len(seen)
        found.append((max(right, 1 - right), len(seen)))
    accuracy, rows = max(found)
    what = 'accuracy of "a middle sentence was seen elsewhere", in the worst split'
    yield _share("donors", what, accuracy, SEEN_ELSEWHERE, rows)


def rows_in_order(target: Target, _: Context) -> Iterator[Check]:
    """Gate 3: neither the parity nor the place of a row tells its label, or its rounded score.

    What is learnt of train is tried on the other splits; of parity and cycle what is learnt of the
    first half of a split on its second, and of the position what is learnt of every other row on
    those between.
    """
    classes = len(target.labels)
    lowest = 0
    if target.scored:
        scores = np.concatenate([part.scores for part in target.parts.values()]).round()
        lowest = int(scores.min())
        classes = int(scores.max()) - lowest + 1

    def answers(part: Part) -> Labels:
        return part.scores.round().astype(np.int64) - lowest if target.scored else part.labels

    numbers = {split: answers(part) for split, part in target.parts.items()}
    cycles, tenths = ["parity", "cycle"], ["position"]
    pairs = [
        ("", cycles + tenths, answers(train), answers(test)) for train, test in target.trials()
    ]
    if "train" in numbers and "validation" in numbers:
        pairs.append(("", cycles + tenths, numbers["train"], numbers["validation"]))
    for own in numbers.values():
        # Both halves begin at the same place of a cycle.
        half = len(own) // (2 * classes) * classes
        if half and len(np.unique(own[:half])) > 1:
            pairs.append((", in halves of a split", cycles, own[:half], own[half : 2 * half]))
        if len(np.unique(own[::2])) > 1:
            pairs.append((", in every other row of a split", tenths, own[::2], own[1::2]))
    right: dict[str, float] = {}
    base: dict[str, float] = {}
    rows: Counter[str] = Counter()
    for how, names, known, asked in pairs:
        found = row_order(known, asked, classes)
        for name in names:
            what = f"accuracy from the {name} of a row{how}"
            rows[what] += len(asked)
            right[what] = right.get(what, 0.0) + found[name] * len(asked)
            # What always answering with one class reaches is not the order's merit.
            base[what] = base.get(what, 0.0) + _majority(known, asked) * len(asked)
    for what, count in rows.items():
        limit = max(1 / classes, base[what] / count) + ROW_ORDER
        yield _share("row_order", what, right[what] / count, limit, count)


def baselines(target: Target, _: Context) -> Iterator[Check]:
    """Gate 4: what trivial cues reach; length alone must not do in what we construct.

    Of folds each is tried with what is fitted on the others, and all rows are counted together.
    """
    if target.scored:
        pairs = [row for part in target.tested() for row in part.texts]
        scores = np.concatenate([part.scores for part in target.tested()])
        for name, correlation in trivial.trivial_similarities(pairs, scores).items():
            yield Check("baselines", name, correlation, None, "pass", correlation=True)
        return
    classes = len(target.labels)
    constructed = target.task is not None and target.task.constructed
    right: Counter[str] = Counter()
    rows = 0
    for train, test in target.trials():
        cues = trivial.trivial_baselines(_plain(train), _plain(test), classes)
        for name, accuracy in cues.items():
            right[name] += round(accuracy * len(test.labels))
        rows += len(test.labels)
    for name, count in right.items():
        if name == "length" and constructed:
            yield _share("baselines", name, count / rows, 1 / classes + LENGTH, rows)
        else:
            yield Check("baselines", name, count / rows, None, "pass")


def _plain(part: Part) -> trivial.Part:
    return trivial.Part(part.texts, part.labels)


# The faults of characters and of markup; the others are those of sentences, and one word is none.
_OF_WORDS = ("characters", "markup")


def text(target: Target, context: Context) -> Iterator[Check]:
    """Gate 5: whole characters, no markup or boilerplate, hardly any damage or mis-split."""
    rows = [row for part in target.parts.values() for row in part.sentences]
    of_group: Counter[str] = Counter()
    boilerplate = 0
    for row in rows:
        found = {
            group_of(name)
            for sentence in row
            for name in faults(sentence, target.language, KINDS[target.records])
        }
        of_group.update(found)
        boilerplate += any(p.search(s) for s in row for p in context.boilerplate)
    limits = dict.fromkeys(FAULTS, 0.0)
    limits |= {"extraction_damage": DAMAGED, "mis_split": MIS_SPLIT}
    names = {"characters": "spoilt characters", "markup": "markup left"}
    for group, limit in limits.items():
        if target.of_words and group not in _OF_WORDS:
            continue
        what = f"rows with {names.get(group, group.replace('_', ' '))}"
        if limit:
            yield _share("text", what, of_group[group] / len(rows), limit, len(rows))
        else:
            yield _count("text", what, of_group[group])
    if context.boilerplate:
        yield _count("text", "rows with boilerplate of the corpus", boilerplate)


def language(target: Target, _: Context) -> Iterator[Check]:
    """Gate 6: the rows are in the dataset's language; those too short to tell are counted.

    Single words do not tell their language.
    """
    if target.of_words:
        yield _not_applicable("language")
        return
    rows = [" ".join(row) for part in target.parts.values() for row in part.sentences]
    other = sum(not is_language(row, target.language) for row in rows)
    what = f"rows in another language than {target.language}"
    yield _share("language", what, other / len(rows), 1 - LANGUAGE, len(rows))
    what = f"rows too short to tell (under {MINIMUM_LETTERS} letters in words without a capital)"
    short = sum(map(is_too_short, rows)) / len(rows)
    yield Check("language", what, short, None, "pass")


def labels(target: Target, _: Context) -> Iterator[Check]:
    """Gate 7: exact balance where the task promises it, one label for one instance.

    Where neighbours are asked for: links between rows that hold, and clusters of different terms.
    """
    if target.of_neighbours:
        yield from (
            _links(target) if "positives" in target.tested()[0].columns else _clusters(target)
        )
        return
    if target.task is not None and target.task.constructed:
        uneven = 0
        for part in target.parts.values():
            counts = Counter(part.labels.tolist())
            uneven += len({counts[label] for label in range(len(target.labels))}) > 1
        yield _count("labels", "splits whose classes are not equally frequent", uneven)
    of: dict[tuple[int, ...], set[float]] = {}
    for part in target.parts.values():
        answers: list[float] = (part.scores if target.scored else part.labels).tolist()
        for row, answer in zip(part.texts, answers, strict=True):
            of.setdefault(tuple(map(mark, row)), set()).add(answer)
    conflicts = sum(len(found) > 1 for found in of.values())
    answer_name = "scores" if target.scored else "labels"
    yield _count("labels", f"instances with two {answer_name}", conflicts)


def _links(target: Target) -> Iterator[Check]:
    """Check the rows of a ranking, and the positives that they name."""
    parts = target.parts.values()
    ids = [row_id for part in parts for row_id in part.columns["id"]]
    texts = [row[0] for part in parts for row in part.texts]
    links = [named for part in parts for named in part.columns["positives"]]
    named = dict(zip(ids, map(set, links), strict=True))
    unknown = itself = one_sided = twice = 0
    for row_id, positives in zip(ids, links, strict=True):
        itself += row_id in positives
        twice += len(positives) - len(set(positives))
        for positive in positives:
            if positive not in named:
                unknown += 1
            else:
                one_sided += row_id not in named[positive]
    yield _count("labels", "rankings without a query", int(not any(links)))
    elsewhere = sum(len(part.texts) for split, part in target.parts.items() if split != "test")
    yield _count("labels", "rows in another split than test", elsewhere)
    yield _count("labels", "positives that are no row", unknown)
    yield _count("labels", "positives that a row names again", twice)
    yield _count("labels", "rows that are their own positive", itself)
    yield _count("labels", "positives of which the row is none itself", one_sided)
    yield _count("labels", "rows with the id of another", len(ids) - len(named))
    yield _count("labels", "rows with the text of another", len(texts) - len(set(texts)))
    empty = sum(not has_words(row) for row in texts)
    yield _count("labels", "rows without a letter or a digit", empty)
    alike = len(set(texts)) - len(set(map(mark, set(texts))))
    what = "further rows that differ from another in case, punctuation and symbols alone"
    yield Check("labels", what, alike, None, "pass")


def _clusters(target: Target) -> Iterator[Check]:
    """Check that each term of a cluster is there once, and state which cannot be asked."""
    rows = [row for part in target.parts.values() for row in part.texts]
    few = sum(len(row) < FEWEST_TERMS for row in rows)
    # No limit: they are part of what was published, and score 0 by definition.
    yield Check("labels", "clusters of fewer than three terms, which score 0", few, None, "pass")
    repeated = sum(len(row) - len(set(row)) for row in rows)
    yield _count("labels", "terms that a cluster has twice", repeated)


def size(target: Target, _: Context) -> Iterator[Check]:
    """Gate 8: the size of the test and the standard error of a score on it are stated."""
    if target.of_neighbours:
        yield from _sizes(target)
        return
    rows = sum(len(part.texts) for part in target.tested())
    what = "rows, each of which is tested in one fold" if target.has_folds else "test rows"
    yield Check("size", what, rows, None, "pass")
    if target.scored:
        error = correlation_error(STATED_CORRELATION, rows)
        what = f"standard error of a correlation of {STATED_CORRELATION} on them"
        yield Check("size", what, error, None, "pass", correlation=True)
    else:
        error = standard_error(0.5, rows)
        yield Check("size", "standard error of an accuracy of 50 % on them", error, None, "pass")


def _sizes(target: Target) -> Iterator[Check]:
    """State how much is asked of neighbours."""

    def stated(what: str, value: float) -> Check:
        return Check("size", what, value, None, "pass")

    columns = target.tested()[0].columns
    if "positives" in columns:
        asking = [bool(positives) for positives in columns["positives"]]
        groups = len(set(compress(target.tested()[0].documents or (), asking)))
        yield stated("queries", sum(asking))
        yield stated("pairs of a query and a positive", sum(map(len, columns["positives"])))
        yield stated("groups of texts that positives link", groups)
        if groups:
            error = standard_error(0.5, groups)
            yield stated("standard error of a hit rate of 50 % on so many groups", error)
        return
    rows = target.tested()[0].texts
    yield stated("clusters", len(rows))
    # What is looked up: as written, or in lower case, where terms may fall together.
    yield stated("terms", sum(map(len, rows)))
    yield stated("different terms", len({term for row in rows for term in row}))
    folded = {lower_case(term) for row in rows for term in row}
    yield stated("different terms in lower case", len(folded))
    capital = sum(term != lower_case(term) for row in rows for term in row)
    yield stated("terms with a capital letter", capital)


def documents(target: Target, _: Context) -> Iterator[Check]:
    """Gate 9: no document in two splits; whole trees and a sorted label map in DR.

    In a ranking, rows that positives link are of one document.
    """
    if any(part.documents is None for part in target.parts.values()):
        yield _not_applicable("documents")
        return
    holders: dict[str, set[str]] = {}
    for name, part in target.apart().items():
        for document in part.documents or ():
            holders.setdefault(document, set()).add(name)
    twice = sum(len(found) > 1 for found in holders.values())
    yield _count(
        "documents", f"documents in two {'folds' if target.has_folds else 'splits'}", twice
    )
    if any("positives" in part.columns for part in target.parts.values()):
        yield _count("documents", "positives in another document than their row", _parted(target))
    if target.task is not None and target.task.name == "discourse_relations":
        yield _count("documents", "trees of n units without n - 1 rows", _broken_trees(target))
        unsorted = int(target.labels != sorted(target.labels))
        yield _count("documents", "label maps out of order", unsorted)


def _parted(target: Target) -> int:
    """Return the number of positives in another document than the row that names them."""
    parted = 0
    for part in target.parts.values():
        documents = part.documents or ()
        of = dict(zip(part.columns["id"], documents, strict=True))
        for document, positives in zip(documents, part.columns["positives"], strict=True):
            parted += sum(of.get(positive, document) != document for positive in positives)
    return parted


def _broken_trees(target: Target) -> int:
    rows: Counter[str] = Counter()
    units: dict[str, int] = {}
    for part in target.parts.values():
        lasts = zip(
            part.documents or (), part.columns["left_last"], part.columns["right_last"], strict=True
        )
        for document, left, right in lasts:
            rows[document] += 1
            units[document] = max(units.get(document, 0), left + 1, right + 1)
    return sum(rows[document] != count - 1 for document, count in units.items())


GATES: dict[str, tuple[str, Callable[[Target, Context], Iterator[Check]]]] = {
    "leakage": ("1. No leak between splits", leakage),
    "donors": ("2. Donors are seen nowhere else", donors),
    "row_order": ("3. Row order carries nothing", rows_in_order),
    "baselines": ("4. Trivial baselines", baselines),
    "text": ("5. Undamaged text", text),
    "language": ("6. One language", language),
    "labels": ("7. Balance and consistent labels", labels),
    "size": ("8. Test size", size),
    "documents": ("9. Documents and trees are whole", documents),
}
"""Gate name to its title and what measures it; the tenth is measured with the scores."""


# Gates that ask what tells a label or a score, and of which split: not asked of neighbours.
TOLD_BY_ANSWERS = ("leakage", "donors", "row_order", "baselines")


def audit_dataset(target: Target, context: Context) -> list[Check]:
    """Measure every gate on a dataset; a split that is missing leaves out what needs it."""
    checks: list[Check] = []
    tested = target.has_folds or "test" in target.parts
    taught = target.has_folds or "train" in target.parts
    for name, (_, measure) in GATES.items():
        if target.of_neighbours and name in TOLD_BY_ANSWERS:
            checks.append(_not_applicable(name))
            continue
        needs = {"baselines": tested and (taught or target.scored), "size": tested}
        checks += measure(target, context) if needs.get(name, True) else [_not_applicable(name)]
    return checks


def count_sentences(targets: Sequence[Target]) -> Counter[int]:
    """Return in how many rows of all targets each sentence stands, by its mark.

    Examples are left out: a text that stands alone does not tell what it stood beside.
    """
    return Counter(
        m
        for target in targets
        if target.records != "examples"
        for split in SPLITS
        if split in target.parts
        for row in target.parts[split].sentences
        for m in set(map(mark, row))
    )


def _majority(known: Labels, asked: Labels) -> float:
    return float((asked == np.bincount(known).argmax()).mean())


def _count(gate: str, what: str, count: int) -> Check:
    return Check(gate, what, count, 0, "miss" if count else "pass")


def _share(gate: str, what: str, share: float, limit: float, rows: int) -> Check:
    return Check(gate, what, share, limit, _verdict(share, limit, standard_error(limit, rows)))


def _verdict(value: float, limit: float, error: float) -> Verdict:
    if value <= limit:
        return "pass"
    return "within chance" if value - limit <= ERRORS * error else "miss"


def _not_applicable(gate: str) -> Check:
    return Check(gate, "", 0, None, "not applicable")
