"""Tests of the recipe for X-Probe: the sample, ranges of large files, and bad files."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import corpus_of, read_blocks
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.xprobe.recipe import blocks
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.formats import tables
from corpora_recipes.recipe import RECIPES, Corpus
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

CORPUS = corpus_of("xprobe")
COLLECTIONS = CORPUS.facts.collections
SAMPLE = RECIPES / "xprobe" / "sample"


def read(raw: Path, corpus: Corpus = CORPUS) -> tuple[list[Example], Drops]:
    result = read_blocks(raw, corpus)
    return [record for record in result.records if isinstance(record, Example)], result.drops


def write(raw: Path, name: str, text: str | bytes) -> Path:
    path = raw / "es" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return raw


@pytest.fixture(scope="module")
def sample() -> list[Example]:
    records, drops = read(SAMPLE)
    assert drops.seen == {"examples": SAMPLE_SIZE}
    assert not drops.dropped
    return records


SAMPLE_SIZE = 741
TWO_CLASSES = {"train": 24, "validation": 8, "test": 8}


def test_sample_counts(sample: list[Example]):
    counts = Counter((example.collection, example.label, example.split) for example in sample)
    assert list(dict.fromkeys(collection for collection, _, _ in counts)) == list(COLLECTIONS)
    labels = Counter(collection for collection, _, split in counts if split == "train")
    assert labels == dict.fromkeys(COLLECTIONS, 2) | {
        "sentence_length": 6,
        "tree_depth": 5,
        "word_content": 12,
    }
    for (collection, _, split), count in counts.items():
        if labels[collection] == 2:
            assert count == TWO_CLASSES[split or ""]


def test_sample_rows(sample: list[Example]):
    key, task = "sentence_length/tr/1", "sentence_length"
    texts = ("Una maestra jubilada donó su colección de mapas a la biblioteca.",)
    assert sample[0] == Example(key, task, texts, "tokens_9_to_12", None, key, {}, "train")
    last = sample[-1]
    assert (last.id, last.label, last.split) == ("coordination_inversion/te/16", "inverted", "test")


def test_the_published_numbers_are_ranks_of_the_spellings():
    for collection in COLLECTIONS.values():
        assert list(collection.labels or []) == sorted(collection.labels or [])


def test_sources():
    sources = list_sources(CORPUS)
    assert len(sources) == 27
    assert all(source.optional and source.urls for source in sources)
    known = [source for source in sources if source.sha256]
    assert [Path(source.file).stem for source in known] == ["va", "te"] * 9
    by_name = {source.file: source for source in sources}
    depth = by_name["es/tree_depth/va.txt"]
    assert depth.size == 963328
    assert depth.sha256 == by_name["es/tree_depth/te.txt"].sha256
    assert depth.urls[0].startswith("https://raw.githubusercontent.com/ltgoslo/xprobe/6a3b0c97")
    assert depth.urls[0].endswith("/es/tree_depth/va.txt")
    assert all(source.has_digest for source in sources)
    russian = list_sources(replace(CORPUS, language="ru"))
    assert russian[1].file == "ru/sentence_length/va.txt"
    assert russian[1].sha256 is None


def test_another_language(tmp_path: Path):
    path = tmp_path / "ru" / "past_present" / "te.txt"
    path.parent.mkdir(parents=True)
    path.write_text("Это так , да .\tPres\n", "utf-8")
    with pytest.raises(InputError, match=r"es/sentence_length/tr\.txt"):
        read(tmp_path)
    (example,), _ = read(tmp_path, replace(CORPUS, language="ru"))
    assert example.id == "past_present/te/1"
    assert example.texts == ("Это так, да.",)
    assert (example.label, example.split) == ("present", "test")


def test_files_that_are_missing(tmp_path: Path):
    with pytest.raises(InputError) as raised:
        blocks(tmp_path, CORPUS)
    assert raised.value.found == "none"
    write(tmp_path, "bigram_shift/va.txt", "Es así .\tO\n")
    assert [block.key for block in blocks(tmp_path, CORPUS)] == ["es/bigram_shift/va.txt:0"]


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n \r\n"])
def test_an_empty_file_is_an_error_beside_others(tmp_path: Path, data: bytes):
    write(tmp_path, "bigram_shift/va.txt", "Es así .\tO\n")
    write(tmp_path, "bigram_shift/te.txt", data)
    with pytest.raises(InputError) as raised:
        blocks(tmp_path, CORPUS)
    assert raised.value.where.endswith("es/bigram_shift/te.txt")
    assert raised.value.found == "an empty file"


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


@pytest.mark.parametrize(
    ("name", "data", "line", "expected", "found"),
    [
        ("bigram_shift/va", "Sí .\tO\nNo .\tX\n", 2, "a label among I, O", "'X'"),
        ("bigram_shift/va", "O\tSí .\n", 1, "a label among I, O", "'Sí .'"),
        ("word_content/va", "Sí .\t\n", 1, "a label", "''"),
        ("word_content/va", "La casa .\tcas\n", 1, "one of the sentence's tokens", "'cas'"),
        ("bigram_shift/va", "Sí .\tO\nNo .\n", 2, "a sentence, a tab and a label", "0 tabs"),
        ("bigram_shift/va", "te\tO\tSí .\n", 1, "a sentence, a tab and a label", "2 tabs"),
    ],
)
def test_bad_lines(
    tmp_path: Path, name: str, data: str | bytes, line: int, expected: str, found: str
):
    write(tmp_path, f"{name}.txt", data)
    with pytest.raises(InputError) as raised:
        read(tmp_path)
    assert raised.value.where.endswith(f"{name}.txt, line {line}")
    assert expected in raised.value.expected
    assert found in raised.value.found


def test_an_error_in_a_later_range_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tables, "BLOCK_BYTES", 64)
    good = "Una casa blanca .\tSing\n"
    write(tmp_path, "subj_number/tr.txt", good * 40 + "Una casa .\tsing\n" + good)
    with pytest.raises(InputError) as raised:
        read(tmp_path)
    assert raised.value.where.endswith("tr.txt, line 41")


@given(
    st.lists(
        st.tuples(st.text("abcñáé ", max_size=12), st.sampled_from(["Sing", "Plur"])), min_size=1
    ),
    st.integers(1, 60),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_ranges_of_any_size_give_the_same_examples(
    tmp_path_factory: pytest.TempPathFactory, rows, size: int, end: str, closed: bool
):
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
