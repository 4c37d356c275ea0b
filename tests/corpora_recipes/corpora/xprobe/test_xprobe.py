"""Tests of the recipe for X-Probe: ranges of large files, and bad files."""

from dataclasses import replace
from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_examples, refused, write_files

from corpora_recipes.corpora.xprobe.recipe import blocks
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.formats import tables
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Drops, Example

TABLES = read_tables(__file__)

CORPUS = corpus_of("xprobe")
COLLECTIONS = CORPUS.facts.collections


def read(raw: Path, corpus: Corpus = CORPUS) -> tuple[list[Example], Drops]:
    return read_examples(raw, corpus)


def write(raw: Path, name: str, text: str | bytes) -> Path:
    return write_files(raw, {f"es/{name}": text})


def test_the_published_numbers_are_ranks_of_the_spellings():
    for collection in COLLECTIONS.values():
        assert list(collection.labels or []) == sorted(collection.labels or [])


def test_sources():
    sources = list_sources(CORPUS)
    assert len(sources) == 27
    assert all(source.optional and source.urls and source.has_digest for source in sources)
    known = [source for source in sources if source.sha256]
    assert [Path(source.file).stem for source in known] == ["va", "te"] * 9
    russian = list_sources(replace(CORPUS, language="ru"))[1]
    assert (russian.file, russian.sha256) == ("ru/sentence_length/va.txt", None)


def test_another_language(tmp_path: Path):
    write_files(tmp_path, {"ru/past_present/te.txt": "Это так , да .\tPres\n"})
    with refused("", "es/sentence_length/tr.txt"):
        read(tmp_path)
    (example,), _ = read(tmp_path, replace(CORPUS, language="ru"))
    assert example.id == "past_present/te/1"
    assert example.texts == ("Это так, да.",)
    assert (example.label, example.split) == ("present", "test")


def test_files_that_are_missing(tmp_path: Path):
    with refused("", "found:    none"):
        blocks(tmp_path, CORPUS)
    write(tmp_path, "bigram_shift/va.txt", "Es así .\tO\n")
    assert [block.key for block in blocks(tmp_path, CORPUS)] == ["es/bigram_shift/va.txt:0"]


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n \r\n"])
def test_an_empty_file_is_an_error_beside_others(tmp_path: Path, data: bytes):
    write(tmp_path, "bigram_shift/va.txt", "Es así .\tO\n")
    write(tmp_path, "bigram_shift/te.txt", data)
    with refused("es/bigram_shift/te.txt", "an empty file"):
        blocks(tmp_path, CORPUS)


def test_a_range_may_hold_blank_lines_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 8)
    write(tmp_path, "subj_number/tr.txt", "\n" * 20 + "Una casa .\tSing\n" + "\n" * 20)
    examples, drops = read(tmp_path)
    assert [example.id for example in examples] == ["subj_number/tr/21"]
    assert drops.seen == {"examples": 1}


def test_any_word_is_a_class_of_word_content(tmp_path: Path):
    write(tmp_path, "word_content/va.txt", "El ámbito .\támbito\nEl 404 .\t404\nÁreas .\táreas\n")
    examples, _ = read(tmp_path)
    assert [example.label for example in examples] == ["ámbito", "404", "áreas"]


def test_empty_sentences_are_dropped_and_counted(tmp_path: Path):
    write(tmp_path, "past_present/te.txt", "\tPast\n \tPres\nVino .\tPast\n")
    examples, drops = read(tmp_path)
    assert [example.id for example in examples] == ["past_present/te/3"]
    assert drops.seen == {"examples": 3}
    assert drops.dropped == {("examples", "empty_text"): 2}


def test_sentences_quoted_as_in_csv(tmp_path: Path):
    quoted = (
        '"la "" Luna "" , del mar"\tla\n"" , atraca al alba ."\tatraca\n" Vino sin abrir .\tVino\n'
    )
    write(tmp_path, "word_content/te.txt", quoted)
    examples, drops = read(tmp_path)
    assert [example.texts for example in examples] == [
        ('la "Luna", del mar',),
        ('"Vino sin abrir.',),
    ]
    assert drops.dropped == {("examples", "broken_quotation"): 1, ("marks", "csv_quotes"): 1}


@pytest.mark.parametrize(("name", "data", "line", "expected", "found"), TABLES["bad_lines"])
def test_bad_lines(tmp_path, name: str, data: str | bytes, line: int, expected: str, found: str):
    write(tmp_path, f"{name}.txt", data)
    with refused(f"{name}.txt, line {line}", expected, f"found:    {found}"):
        read(tmp_path)


@given(
    st.lists(
        st.tuples(st.text("abcñáé ", max_size=12), st.sampled_from(["Sing", "Plur"])), min_size=1
    ),
    st.integers(1, 60),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_ranges_of_any_size_give_the_same_examples(tmp_path_factory, rows, size, end, closed):
    text = end.join(f"{sentence}\t{label}" for sentence, label in rows) + end * closed
    raw = write(tmp_path_factory.mktemp("xprobe"), "subj_number/tr.txt", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "BLOCK_BYTES", size)
        examples, drops = read(raw)
    names = {"Sing": "singular", "Plur": "plural"}
    assert [(e.id, e.texts[0], e.label) for e in examples] == [
        (f"subj_number/tr/{number}", " ".join(sentence.split()), names[label])
        for number, (sentence, label) in enumerate(rows, 1)
        if sentence.strip()
    ]
    assert drops.seen == {"examples": len(rows)}
