"""Gate 6: one language."""

from collections.abc import Iterator

from builders.auditing.gates.gate import Check, Gate, share_check, stated
from builders.auditing.target import Target
from corpora_recipes.languages import corpora_by_language
from corpora_recipes.text.language import (
    MIN_LETTERS,
    can_identify,
    identify,
    is_language,
    is_too_short,
)

OTHER_LANGUAGE = 0.01


def _measure(target: Target) -> Iterator[Check]:
    """Identify the language of every row, and count the rows that are too short for that."""
    part_rows = list(target.rows())
    rows = [" ".join(part.sentences[number]) for part, number in part_rows]
    judgements = [(is_language(row, target.language), is_too_short(row)) for row in rows]
    others = [n for n, (in_language, _) in enumerate(judgements) if not in_language]
    flagged = ((*part_rows[n], f"rather {identify(rows[n])}") for n in others)
    what = f"rows that are not in the dataset's language, {target.language}"
    yield share_check("language", what, len(others) / len(rows), OTHER_LANGUAGE, len(rows), flagged)
    what = (
        f"rows too short to identify their language (under {MIN_LETTERS} letters in words "
        "without a capital)"
    )
    yield stated("language", what, sum(short for _, short in judgements) / len(rows))


def _applies(target: Target) -> bool:
    """Return whether the texts are more than words, in a language that can be identified."""
    if target.task and target.task.unit == "word":
        return False
    code = target.language.partition("-")[0]
    return can_identify(code) or code not in corpora_by_language()


LANGUAGE = Gate("language", _measure, _applies, our_fault="none")
