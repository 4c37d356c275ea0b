"""Finds the pages of a dump that were created after a day, reading few of its blocks.

A dump does not say when a page was created, except of pages that nobody has edited since: their
revision has no ``<parentid>``, and its time is theirs. But page ids rise with time, and so the
first id after a day is found by bisection. A tenth or more of these pages can be off the line:
imported pages have new ids and old times, and undeleted ones once got new ids. (Of the Latgalian
Wikipedia's 291 such pages none is off the line; of Afar's 270, 48 are.) So the id is that which the
fewest pages contradict, where new times at old ids, which have no such cause, count more.

Nothing in a dump tells an imported page that was edited since from a new one: it is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate

from corpora_recipes.corpora.wikipedia.page import Revision
from corpora_recipes.running.errors import InputError

# Blocks that are read at most. Bisection among 2 to the power of 18 needs 19.
MOST_BLOCKS = 20
# A block with fewer pages of a known time is judged together with the next ones, or at the end of
# the dump with the ones before.
LEAST_DATED = 5
# What a new time at an old id counts against the boundary; an old time at a new id counts 1.
WEIGHT = 3


@dataclass(frozen=True, slots=True)
class Creation:
    """Which pages of a dump were created after a day.

    Attributes:
        after: the day, as in 2026-01-01.
        block: number of the first block with such pages.
        page: id of the first such page; 0 if all pages are. No page before it is taken.
        time: when that page was created, as in 2026-01-02T03:04:05Z.
        before: the last known time, not after the day, at which a page before it was created; "" if
            all pages are taken.
        revision: the newest revision known to be of that day or older. A page whose parent
            revision is not newer existed then, whatever its id.
        blocks: the number of blocks that were read.
        dated: the number of pages in them with a known time of creation.
        off: the number of those that contradict ``page``.
    """

    after: str
    block: int
    page: int
    time: str
    before: str
    revision: int
    blocks: int
    dated: int
    off: int

    def takes(self, revision: Revision) -> bool:
        """Return whether a page was created after the day, as far as its revision tells."""
        return (
            revision.page >= self.page
            and revision.time[:10] > self.after
            and not 0 < revision.parent <= self.revision
        )

    @property
    def uncertainty(self) -> int:
        """Days between the known pages before and after the boundary, rounded up."""
        return (_day(self.time) - _day(self.before)).days + 1 if self.before else 0


def find_creation(
    count: int, read: Callable[[int], Sequence[Revision]], after: str, where: str
) -> Creation:
    """Find the first page id after a day, reading at most ``MOST_BLOCKS`` blocks.

    Args:
        count: the number of blocks of the dump, which are in the order of page ids.
        read: returns the revisions of a block, given its number.
        after: the day, as in 2026-01-01.
        where: the option that names the day, for messages.

    Raises:
        InputError: no page of the dump was created after the day, or no page names the revision
            before (as in exports before 0.7).
    """
    known: dict[int, Sequence[Revision]] = {}

    def is_late(number: int) -> bool:
        """Return whether most pages of a block, and of its neighbours, were created after it."""
        found: list[bool] = []
        for block in (*range(number, count), *reversed(range(number))):
            if block not in known:
                if len(known) == MOST_BLOCKS:
                    break
                known[block] = read(block)
            found += [r.time[:10] > after for r in known[block] if not r.parent]
            if len(found) >= LEAST_DATED:
                break
        return WEIGHT * found.count(True) > found.count(False)

    # All blocks up to ``early`` are before the day, those from ``late`` on after it. The last one
    # is looked at first: most days that are asked for are near it.
    early, late = -1, count
    middle = count - 1
    while late - early > 1 and len(known) < MOST_BLOCKS:
        if is_late(middle):
            late = middle
        else:
            early = middle
        middle = (early + late) // 2
    return _fit(known, after, where)


def _fit(known: dict[int, Sequence[Revision]], after: str, where: str) -> Creation:
    """Return the page id that the revisions of the known blocks contradict least."""
    revisions = [revision for block in known.values() for revision in block]
    dated = sorted((r.page, r.time) for r in revisions if not r.parent)
    if len(dated) == len(revisions):
        raise InputError(
            where,
            expected="a dump whose pages name the revision before (<parentid>, since export 0.7)",
            found=f"{len(revisions):,} pages, none with it",
            todo="use a newer dump, or remove the option",
        )
    late = [time[:10] > after for _, time in dated]
    cut = _cut(late)
    first = next((page for page in dated[cut:] if page[1][:10] > after), None)
    if first is None:
        raise InputError(
            where,
            expected="a day before the last pages of the dump were created",
            found=f"{after}; the newest of the {len(dated):,} pages with a known time was created "
            f"at {max((time for _, time in dated), default='(no page)')}",
            todo="name an earlier day, or take a newer dump",
        )
    before = [time for _, time in dated[:cut] if time[:10] <= after]
    edits = sorted((r.id, r.time) for r in revisions)
    edits = edits[: _cut([time[:10] > after for _, time in edits])]
    page = first[0] if before else 0
    starts = [number for number, block in known.items() if block and block[0].page <= page]
    return Creation(
        after=after,
        block=max(starts, default=0),
        page=page,
        time=first[1],
        before=max(before, default=""),
        revision=max((number for number, time in edits if time[:10] <= after), default=0),
        blocks=len(known),
        dated=len(dated),
        off=late[:cut].count(True) + late[cut:].count(False),
    )


def _cut(late: Sequence[bool]) -> int:
    """Return where a sequence is best cut into early and late ones.

    Of equally good cuts the last one is taken: better too few late ones than an early one.
    """
    steps = (WEIGHT if one else -1 for one in late)
    against = list(accumulate(steps, initial=late.count(False)))
    return len(late) - against[::-1].index(min(against))


def _day(time: str) -> date:
    return date.fromisoformat(time[:10])
