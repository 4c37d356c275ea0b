"""Reads the tweets of TASS 2020 and their manual labels: polarity (task 1), emotion (task 2).

Task 1 is ``Task1-train-dev.zip`` with a table for each part and country, ``train/es.tsv`` …
``dev/uy.tsv``, without a header: id, tweet and N, NEU or P, separated by tabs. A quotation mark is
an ordinary character in them, and some tweets have a single one. The optional test part comes in
two archives: ``Test1.1.zip`` with the tweets (``Test1.1/ES.tsv`` …: id, tweet) and
``tass2020-test-gold.zip`` with their labels (``es.tsv`` …: id, label), joined here by id.

Task 2 is ``task2/train.tsv`` and ``task2/dev.tsv``, with a header; each label, and the name of that
column, is followed by a space::

    id	tweet	label
    1	"Dijo ""sí"".  Y se fue."	joy

These tables were written as CSV: a tweet that had a quotation mark or a line break is enclosed in
quotation marks, and those inside are doubled. Line breaks were later replaced by spaces, so that
each row is one line. The tweets of the test part were released without labels and are not read.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, list_members
from corpora_recipes.recipe import BlockResult, Corpus, no_files
from corpora_recipes.records import Example, Split
from corpora_recipes.running.errors import RawError

TASK1 = "Task1-train-dev.zip"
TEST_TWEETS, TEST_LABELS = "Test1.1.zip", "tass2020-test-gold.zip"
COUNTRIES = ("cr", "es", "mx", "pe", "uy")

_SPLITS: dict[str, Split] = {"train": "train", "dev": "validation"}
_COLUMNS = ("id", "tweet", "label")
_C1 = re.compile("[\x80-\x9f]")
_ENTITY = re.compile("&(?:amp|lt|gt);")
# Separated by a tab or spaces.
_LABEL = re.compile(r"\s*(?P<id>\S+)\s+(?P<label>\S+)\s*")


@dataclass(frozen=True, slots=True)
class Part:
    """A block: the tweets of one part of a task, in task 1 of one country."""

    key: str  # the beginning of the tweets' ids, such as "task1/train/es" or "task2/dev"
    collection: str  # "task1" or "task2"
    split: Split
    columns: dict[str, str]  # values that all of its tweets share
    tweets: Member
    gold: Member | None = None  # the labels, if they are not in the table of the tweets


def blocks(raw: Path, corpus: Corpus) -> Sequence[Part]:
    """List the parts that exist."""
    parts = [*_task1(raw), *_task1_test(raw), *_task2(raw)]
    if not parts:
        raise no_files(corpus, raw, f"{TASK1}, task2/train.tsv or task2/dev.tsv")
    return parts


def _task1(raw: Path) -> Iterator[Part]:
    if not (raw / TASK1).exists():
        return
    for member in _archived_tables(raw / TASK1, raw):
        part = PurePosixPath(member.name).parent.name
        country = _country(member)
        if part not in _SPLITS:
            raise _table_error(member)
        yield Part(f"task1/{part}/{country}", "task1", _SPLITS[part], {"country": country}, member)


def _task1_test(raw: Path) -> Iterator[Part]:
    files = [raw / TEST_TWEETS, raw / TEST_LABELS]
    present = [path for path in files if path.exists()]
    if not present:
        return
    archives = [{_country(m): m for m in _archived_tables(path, raw)} for path in present]
    for country in sorted(set().union(*archives)):
        if len(archives) == 1 or not all(country in files for files in archives):
            expected = f"a table of tweets of each country, and in {TEST_LABELS} one of labels"
            found = f"only one of the two for {country}"
            raise RawError(raw / TEST_TWEETS, expected, found, "add both files, or neither")
        tweets, gold = (files[country] for files in archives)
        yield Part(f"task1/test/{country}", "task1", "test", {"country": country}, tweets, gold)


def _task2(raw: Path) -> Iterator[Part]:
    for part, split in _SPLITS.items():
        path = raw / "task2" / f"{part}.tsv"
        if path.exists():
            (member,) = list_members(path, raw)
            yield Part(f"task2/{part}", "task2", split, {}, member)


def _archived_tables(path: Path, raw: Path) -> list[Member]:
    """Return the tables of an archive; other files, such as a README, are ignored."""
    files = [member for member in list_members(path, raw) if member.name.lower().endswith(".tsv")]
    if not files:
        raise RawError(path, f"tables named {', '.join(COUNTRIES)} (.tsv)", "none in the archive")
    return files


def _country(member: Member) -> str:
    country = PurePosixPath(member.name).stem.lower()
    if country not in COUNTRIES:
        raise _table_error(member)
    return country


def _table_error(member: Member) -> RawError:
    expected = f"tables named {', '.join(COUNTRIES)} (.tsv), for task 1 in train/ and dev/"
    return RawError(member.where, expected, repr(member.name))


def read_block(block: Part, corpus: Corpus) -> BlockResult:
    """Read the tweets of a part.

    A tweet's id is "<collection>/<part>/<country>/<id of the source>", in task 2 without a country;
    if the source gives one id to several tweets of a table, "#2", "#3" … are appended to the later
    ones. Tweets are as in the source, on one line, without CSV quoting (task 2); the three entities
    that Twitter's interface writes are replaced by their characters, and C1 control characters by
    the windows-1252 characters of the same code. Dropped: ``empty_text``.
    """
    times_met: Counter[str] = Counter()

    def example(row: tables.Row) -> Example:
        tweet_id = row.filled("id")
        label = tables.parse_class(row.fields["label"], block.collection, corpus, row)
        # Repaired before it is stripped: the C1 control for … (U+0085) counts as white space.
        tweet = _repair(row.fields["tweet"]).strip()
        tweet = tables.unquote(tweet) if block.collection == "task2" else tweet
        times_met[tweet_id] += 1
        name = f"{block.key}/{tweet_id}"
        if times_met[tweet_id] > 1:
            name += f"#{times_met[tweet_id]}"
        return Example(
            id=name,
            collection=block.collection,
            texts=(tables.natural_text(tweet),),
            label=label,
            columns=block.columns,
            split=block.split,
        )

    return tables.collect_examples(_rows(block), example)


def _repair(text: str) -> str:
    """Replace C1 controls by windows-1252 characters, and the entities of <, > and &."""
    text = _C1.sub(lambda c: c[0].encode("latin-1").decode("cp1252", errors="ignore"), text)
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _rows(block: Part) -> Iterator[tables.Row]:
    data, where = block.tweets.read(), block.tweets.where
    if block.gold is None:
        yield from tables.table_rows(data, where, _COLUMNS, header=block.collection == "task2")
        return
    labels: dict[str, tables.Row] = {}
    expected = "an id that is not repeated, and its label"
    for row in tables.matched_rows(block.gold.read(), block.gold.where, _LABEL, expected):
        if row.fault or row.fields["id"] not in labels:
            labels[row.fault.where if row.fault else row.fields["id"]] = row
        else:
            yield row.refused(expected, f"id {row.fields['id']!r} again")
    for row in tables.table_rows(data, where, _COLUMNS[:2], header=False):
        tweet_id = row.fields["id"].strip()
        if row.fault:
            yield row
        elif label := labels.pop(tweet_id, None):
            yield replace(row, fields={**row.fields, "label": label.fields["label"]})
        else:
            expected = f"a tweet whose label is in {block.gold.where}, once"
            yield row.refused(expected, f"id {tweet_id!r}")
    for row in labels.values():
        yield row if row.fault else row.refused(f"a tweet of this id in {where}", "none")
