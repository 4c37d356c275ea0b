"""Tests of the recipe for SQC: the sample, every oddity of the format, and bad files."""

from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.sqc.recipe import blocks, read_block
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.recipe import RECIPES, BlockResult
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

CORPUS = corpus_of("sqc")
CLASSES = CORPUS.facts.collections["questions"].labels


def read(raw: Path) -> dict[str, BlockResult]:
    return {block.key: read_block(block, CORPUS) for block in blocks(raw, CORPUS)}


def questions(tmp_path: Path, text: str | bytes, name: str = "train.txt") -> list[Example]:
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / name).write_bytes(data)
    return list(read(tmp_path)[name].records)


def test_sample():
    results = read(RECIPES / "sqc" / "sample")
    assert list(results) == ["train.txt", "test.txt"]
    train, test = (results[name].records for name in ("train.txt", "test.txt"))
    classes = ("abbreviation", "description", "entity", "human", "location", "number")
    for part, counts in ((train, (11, 20, 23, 18, 18, 20)), (test, (6, 7, 7, 6, 7, 7))):
        assert Counter(q.label for q in part) == dict(zip(classes, counts, strict=True))
    assert {question.split for question in train} == {"train"}
    assert {question.split for question in test} == {"test"}
    assert [sum(not q.columns["fine_class"] for q in part) for part in (train, test)] == [16, 6]
    assert all(not result.drops.dropped for result in results.values())
    assert results["train.txt"].drops.seen == {"examples": 110}
    assert train[0] == Example(
        "questions/train/1",
        "questions",
        ("¿En que ciudad se encuentra la Torre de Belem?",),
        "location",
        None,
        "questions/train/1",
        {"fine_class": "city"},
        "train",
    )
    last = test[-1]
    assert (last.id, last.label, last.split) == ("questions/test/40", "description", "test")


def test_sources_are_of_one_state_and_pinned():
    train, test = list_sources(CORPUS)
    assert (train.file, test.file) == ("train.txt", "test.txt")
    assert (train.size, test.size) == (408178, 45463)
    assert train.sha256
    assert test.sha256
    assert test.urls[0].endswith("/test.txt.depecrated")
    assert train.optional
    assert test.optional


@pytest.mark.parametrize(
    ("line", "fine", "question"),
    [
        ("NUM: ¿ Cuantos son ?", "", "¿Cuantos son?"),
        ("NUM:count  ¿ Cuantos son ?", "count", "¿Cuantos son?"),
        ("NUM:count Diga : ¿ son dos ?", "count", "Diga: ¿son dos?"),
        ("NUM:count ¿ A las 10:30 ?", "count", "¿A las 10:30?"),
        ("NUM:count ¿ Cuantos\tson ?", "count", "¿Cuantos son?"),
        ("NUM:count cafe\N{COMBINING ACUTE ACCENT} ?", "count", "café?"),
    ],
)
def test_a_line(tmp_path: Path, line: str, fine: str, question: str):
    (example,) = questions(tmp_path, f"{line}\n")
    assert example.label == "number"
    assert example.columns == {"fine_class": fine}
    assert example.texts == (question,)


def test_ids_are_the_numbers_of_the_lines(tmp_path: Path):
    read = questions(tmp_path, "HUM:ind ¿ Uno ?\n\n   \nHUM:ind ¿ Cuatro ?\n", "test.txt")
    assert [example.id for example in read] == ["questions/test/1", "questions/test/4"]


def test_empty_questions_are_dropped_and_counted(tmp_path: Path):
    (tmp_path / "train.txt").write_text(
        "NUM:count\nNUM:count \nNUM: \nHUM:ind ¿ Quien ?\n", "utf-8"
    )
    result = read(tmp_path)["train.txt"]
    assert [example.id for example in result.records] == ["questions/train/4"]
    assert result.drops.seen == {"examples": 4}
    assert result.drops.dropped == {("examples", "empty_text"): 3}


@pytest.mark.parametrize(
    ("data", "where", "expected", "found"),
    [
        ("hum:ind ¿ Si ?\n", "train.txt, line 1", "a label among ABBR, DESC", "hum"),
        ("¿ Quien es ?\n", "train.txt, line 1", "a class, a colon", "¿ Quien es ?"),
        ("HUM ind ¿ Quien ?\n", "train.txt, line 1", "a class, a colon", "HUM ind"),
        (":ind ¿ Quien ?\n", "train.txt, line 1", "a class, a colon", ":ind"),
        ("HUM:ind\t¿ Quien ?\n", "train.txt, line 1", "a class, a colon", "HUM:ind"),
        (b"HUM:ind Quien ?\nNUM: \xbf Cuantos ?\n", "train.txt, line 2", "UTF-8", "0xbf"),
    ],
)
def test_bad_lines(tmp_path: Path, data: str | bytes, where: str, expected: str, found: str):
    with pytest.raises(InputError) as raised:
        questions(tmp_path, data)
    assert raised.value.where.endswith(where)
    assert expected in raised.value.expected
    assert found in raised.value.found


@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted(CLASSES)),
            st.sampled_from(["", "ind", "gr", "other"]),
            st.lists(st.text("abcñáé", min_size=1), min_size=1),
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows):
    folder = tmp_path_factory.mktemp("sqc")
    lines = [f"{coarse}:{fine} {' '.join(words)}\n" for coarse, fine, words in rows]
    read = questions(folder, "".join(lines))
    assert [(q.label, q.columns["fine_class"], q.texts[0]) for q in read] == [
        (CLASSES[coarse], fine, " ".join(words)) for coarse, fine, words in rows
    ]
