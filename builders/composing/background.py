"""The texts that are ranked, each once, and the links between paraphrases."""

from collections.abc import Callable, Hashable
from typing import Any

from builders.composing.positives import Outcome
from corpora_recipes.hashing import keyed_hash


class Background:
    """The texts of a dataset with some name, which are the same if ``same`` gives one key."""

    def __init__(self, name: str, same: Callable[[str], Hashable]) -> None:
        """Begin without texts."""
        self._name = name
        self._same = same
        # The key of texts that count as the same, to the row with the first of them.
        self._rows: dict[Hashable, dict[str, Any]] = {}
        self._linked: dict[Hashable, set[Hashable]] = {}

    def add(self, text: str, source: str, licence: str) -> bool:
        """Add a text, and return whether it is new."""
        key = self._same(text)
        if key in self._rows:
            return False
        # The id depends neither on the seed nor on other texts.
        row_id = f"{self._name}/{keyed_hash(0, text):016x}"
        self._rows[key] = {"id": row_id, "text": text, "source": source, "licence": licence}
        return True

    def link(self, first: str, second: str) -> Outcome:
        """Make two texts positives of each other, and return the outcome of the pair."""
        left, right = self._same(first), self._same(second)
        if left == right:
            return "same_text"
        if not (left in self._rows and right in self._rows):
            return "not_in_background"
        if right in self._linked.setdefault(left, set()):
            return "repeated"
        self._linked[left].add(right)
        self._linked.setdefault(right, set()).add(left)
        return "used"

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of the dataset, in the order in which their texts were added.

        The positives of a row are in the order of their ids. Its ``document_id`` is the smallest
        id of its group of linked texts, or its own id without links.
        """
        groups = self._groups()
        return [
            row
            | {
                "positives": sorted(self._rows[k]["id"] for k in self._linked.get(key, ())),
                "document_id": groups.get(key, row["id"]),
            }
            for key, row in self._rows.items()
        ]

    def _groups(self) -> dict[Hashable, str]:
        """Return, for each linked text, the smallest id of its group."""
        smallest: dict[Hashable, str] = {}
        for start in self._linked:
            if start in smallest:
                continue
            group, todo = {start}, [start]
            while todo:
                new = self._linked[todo.pop()] - group
                group |= new
                todo += new
            smallest |= dict.fromkeys(group, min(self._rows[key]["id"] for key in group))
        return smallest
