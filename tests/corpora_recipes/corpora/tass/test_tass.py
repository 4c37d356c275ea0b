"""Tests of the recipe of TASS 2020: tables of tweets, with and without the quoting of CSV."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of, read_blocks
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import pack, refused, write_files

from corpora_recipes.corpora.tass.recipe import TASK1, TEST_LABELS, TEST_TWEETS, blocks
from corpora_recipes.formats.tables import unquote
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

CORPUS = corpus_of("tass")
HEADER = "id\ttweet\tlabel \n"


def read(raw: Path) -> tuple[dict[str, Example], Drops]:
    """Read a folder; the examples stand in the order of the files, by id."""
    result = read_blocks(raw, CORPUS)
    examples = {record.id: record for record in result.records if isinstance(record, Example)}
    assert len(examples) == len(result.records)
    return examples, result.drops


def task1(raw: Path, table: str, name: str = "train/es.tsv") -> dict[str, Example]:
    return read(pack(raw / TASK1, {name: table}).parent)[0]


def task2(raw: Path, table: str | bytes) -> tuple[dict[str, Example], Drops]:
    return read(write_files(raw, {"task2/train.tsv": table}))


def texts(examples: Mapping[str, Example]) -> list[str]:
    return [example.texts[0] for example in examples.values()]


def test_the_tweets_without_labels_are_neither_fetched_nor_read(tmp_path):
    assert not any("test" in s.file for s in CORPUS.facts.sources if "task2" in s.file)
    task2(tmp_path, HEADER + "1\tHola\tjoy \n")
    write_files(tmp_path, {"task2/test_task2.tsv": "id\ttweet\n1\tHola\n"})
    assert [block.key for block in blocks(tmp_path, CORPUS)] == ["task2/train"]


# --- quotation marks -----------------------------------------------------------------------------


def test_in_task_1_a_mark_belongs_to_the_tweet_and_swallows_nothing(tmp_path):
    tweets = ['"Él ""dijo"" que no"', '"Hola', 'adiós" y "ya', "bien"]
    assert (
        texts(task1(tmp_path, "".join(f"{n}\t{tweet}\tP\n" for n, tweet in enumerate(tweets))))
        == tweets
    )


@pytest.mark.parametrize(("field", "tweet"), TABLES["quotes"])
def test_quoting_is_undone_in_task_2_where_a_field_is_quoted_as_a_whole(tmp_path, field, tweet):
    examples, _ = task2(tmp_path, f"{HEADER}1\t{field}\tjoy \n2\totro\tfear \n")
    assert texts(examples) == [tweet, "otro"]


@given(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])))
def test_unquoting_is_the_reverse_of_writing_csv(tweet):
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="").writerow([tweet])
    assert unquote(file.getvalue()) == tweet


# --- the test part of task 1 ---------------------------------------------------------------------


def test_tweets_and_labels_of_the_test_part_are_joined_by_id(tmp_path):
    pack(
        tmp_path / TEST_TWEETS,
        {"Test1.1/CR.tsv": '7\tQue "chiva\n9\tDiay\n', "Test1.1/ES.tsv": "7\tVale\n"},
    )
    pack(tmp_path / TEST_LABELS, {"es.tsv": "7 NEU\n", "cr.tsv": "9\tN\n7\tP\n"})
    examples, _ = read(tmp_path)
    assert [(e.id, e.texts, e.label, e.columns, e.split) for e in examples.values()] == [
        ("task1/test/cr/7", ('Que "chiva',), "positive", {"country": "cr"}, "test"),
        ("task1/test/cr/9", ("Diay",), "negative", {"country": "cr"}, "test"),
        ("task1/test/es/7", ("Vale",), "neutral", {"country": "es"}, "test"),
    ]


@pytest.mark.parametrize(("tweets", "labels", "found"), TABLES["refused"])
def test_labels_that_do_not_fit_the_tweets(tmp_path, tweets, labels, found):
    pack(tmp_path / TEST_TWEETS, {"Test1.1/PE.tsv": tweets})
    pack(tmp_path / TEST_LABELS, {"pe.tsv": labels})
    with refused("", found):
        read(tmp_path)


@pytest.mark.parametrize(
    ("tweets", "labels"), [(["MX"], []), ([], ["mx"]), (["MX", "PE"], ["pe"])], ids=str
)
def test_half_a_test_part(tmp_path, tweets, labels):
    for archive, names in ((TEST_TWEETS, tweets), (TEST_LABELS, labels)):
        if names:
            pack(tmp_path / archive, {f"{name}.tsv": "1\tN\n" for name in names})
    with pytest.raises(InputError, match="only one of the two for mx"):
        read(tmp_path)


# --- bad and odd input ---------------------------------------------------------------------------


def test_a_tweet_without_text_is_dropped_and_counted(tmp_path):
    examples, drops = task2(tmp_path, HEADER + '1\t  \tjoy \n2\t""\tfear \n3\tHola\tjoy \n')
    assert list(examples) == ["task2/train/3"]
    assert drops.dropped == {("examples", "empty_text"): 2}


def test_tweets_are_put_on_one_line_and_lose_entities_and_c1_controls(tmp_path):
    tweets = {
        "Que\u0301  pasa\xa0@ana_x &amp; co. https://t.co/1": "Qué pasa @ana_x & co. https://t.co/1",
        "Vino. \x97Ya\x85 y \x93ese\x94\x81": "Vino. —Ya… y “ese”",
    }
    table = "".join(f"{n}\t{tweet} \tP\n" for n, tweet in enumerate(tweets))
    assert texts(task1(tmp_path, table)) == list(tweets.values())


def test_a_c1_control_at_the_end_of_a_tweet_is_no_blank(tmp_path):
    assert texts(task1(tmp_path, "1\tYa veremos\x85\tP\n2\t\x85 ya \tP\n")) == [
        "Ya veremos…",
        "… ya",
    ]
    (tmp_path / TASK1).unlink()
    examples, _ = task2(tmp_path, f'{HEADER}1\tYa veremos\x85\tjoy \n2\t"Dijo ""ya""\x85" \tjoy \n')
    assert texts(examples) == ["Ya veremos…", 'Dijo "ya"…']


@pytest.mark.parametrize(
    ("table", "place", "found"),
    [
        ("id\ttweet\temotion \n1\tHola\tjoy \n", "line 1", "label"),
        (HEADER + "1\tHola\thappiness \n", "line 2", "'happiness '"),
        (HEADER + " \tHola\tjoy \n", "line 2", "none"),
        (HEADER.encode() + "1\tadiós\tjoy \n2\tadiós\tjoy \n".encode("latin-1"), "line 2", "0xf3"),
    ],
)
def test_bad_tables(tmp_path, table, place, found):
    with refused(f"train.tsv, {place}", found):
        task2(tmp_path, table)


def test_a_folder_around_the_parts_and_files_that_are_no_tables(tmp_path):
    ignored = ("README", "train/LICENSE.txt", "__MACOSX/a/dev/._uy.tsv", "a/.DS_Store")
    pack(tmp_path / TASK1, dict.fromkeys(ignored, "x") | {"a/dev/UY.TSV": "1\tBo\tN\n"})
    pack(tmp_path / TEST_TWEETS, {"README.md": "x", "Test1.1/PE.tsv": "1\tHola\n"})
    pack(tmp_path / TEST_LABELS, {"pe.tsv": "1\tN\n", "LICENSE": "x"})
    assert list(read(tmp_path)[0]) == ["task1/dev/uy/1", "task1/test/pe/1"]


@pytest.mark.parametrize("archive", [TASK1, TEST_TWEETS, TEST_LABELS])
def test_archives_without_a_table(tmp_path, archive):
    pack(tmp_path / archive, {"README": "x", "train/es.csv": "1\tHola\tP\n"})
    with refused(str(tmp_path / archive), "none in the archive"):
        blocks(tmp_path, CORPUS)


@pytest.mark.parametrize("name", ["train/cl.tsv", "test/es.tsv", "train/es-2.tsv"])
def test_tables_that_do_not_belong_to_the_task(tmp_path, name):
    with refused("", repr(name)):
        task1(tmp_path, "1\tHola\tP\n", name)
