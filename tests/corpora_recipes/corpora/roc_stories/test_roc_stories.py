"""ROCStories: the tables, quotation marks in them, and what is dropped."""

from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from conftest import corpus_of
from recipe_reading import read_all, refused

from corpora_recipes.corpora.roc_stories import recipe
from corpora_recipes.records import Document, Section
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

CORPUS = corpus_of("roc_stories", "en")
HEADER = "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5"


def table(folder: Path, *lines: str, header: str = HEADER, end: str = "\n") -> Path:
    text = "".join(line + end for line in (header, *lines))
    (folder / "ROCStories_winter2017.csv").write_bytes(text.encode())
    return folder


def read(raw: Path) -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, CORPUS)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_quoted_fields(tmp_path: Path, end: str) -> None:
    line = '7,Ana,"Ana, who is six, ran.","She said ""no"" .",It got lost.,She cried.,It came back.'
    records, _ = read(table(tmp_path, line, end=end))
    paragraph = ["Ana, who is six, ran.", 'She said "no".', "It got lost.", "She cried."]
    assert records == [Document("7", "Ana", [], [Section("", 1, [[*paragraph, "It came back."]])])]


def test_a_damaged_sentence_ends_a_section(tmp_path: Path) -> None:
    records, counts = read(table(tmp_path, "7,Ana,A a.,B b.,C \ufffd c.,D d.,E e."))
    assert [s.paragraphs for s in records[0].sections] == [[["A a.", "B b."]], [["D d.", "E e."]]]
    assert counts["sentences"]["dropped"] == {"replacement_character": 1}


def test_a_story_without_a_sentence_is_dropped(tmp_path: Path) -> None:
    records, counts = read(table(tmp_path, "7,Ana,A a.,B b.,  ,D d.,E e."))
    assert not records
    assert counts["documents"]["dropped"] == {"missing_sentence": 1}


@pytest.mark.parametrize(("lines", "line", "message"), TABLES["bad_lines"])
def test_bad_lines(tmp_path: Path, lines: list[str], line: int, message: str) -> None:
    with refused(f"ROCStories_winter2017.csv, line {line}", message):
        read(table(tmp_path, *lines))


def test_another_table(tmp_path: Path) -> None:
    header = "InputStoryid,InputSentence1,InputSentence2"
    with pytest.raises(InputError, match="no storyid, storytitle"):
        read(table(tmp_path, "7,A a.,B b.", header=header))
