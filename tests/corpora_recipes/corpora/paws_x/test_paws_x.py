"""Tests of the recipe of PAWS-X: an archive with three tables a language."""

import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of, read_by_id
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.paws_x.recipe import blocks, read_block
from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "paws_x" / "sample"
HEADER = "id\tsentence1\tsentence2\tlabel"


def read_all(raw: Path, language: str = "es") -> tuple[dict[str, Example], Drops]:
    return read_by_id(raw, corpus_of("paws_x", language))


def archive(raw: Path, **files: bytes) -> None:
    """Write x-final.tar.gz; a file es__dev_2k is x-final/es/dev_2k.tsv."""
    with tarfile.open(raw / "x-final.tar.gz", "w:gz", compresslevel=1) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(f"x-final/{name.replace('__', '/')}.tsv")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def table(*lines: str, header: str = HEADER) -> bytes:
    return ("\n".join([header, *lines]) + "\n").encode()


def read(raw: Path, data: bytes):
    archive(raw, es__dev_2k=data)
    (block,) = blocks(raw, corpus_of("paws_x"))
    return read_block(block, corpus_of("paws_x"))


# The sample


@pytest.fixture(scope="module")
def sample() -> tuple[dict[str, Example], Drops]:
    return read_all(SAMPLE)


def test_sample_counts(sample):
    examples, drops = sample
    assert drops.as_dict() == {
        "examples": {
            "seen": 144,
            "kept": 138,
            "dropped": {"empty_text": 1, "incomplete_row": 1, "not_translated": 4},
        }
    }
    of_split = Counter(e.split for e in examples.values())
    assert of_split == {"train": 92, "validation": 23, "test": 23}
    of_class = Counter(e.label for e in examples.values())
    assert of_class == {"not_paraphrase": 73, "paraphrase": 65}


def test_sample_rows(sample):
    examples, _ = sample
    key, document = "pairs/translated_train/1", "pairs/sentence1/c7c70d0f01fb4347"
    texts = (
        "El molino de Arbeda fue vendido por la familia Lozano al ayuntamiento en 1921.",
        "En 1921, el ayuntamiento de Arbeda vendió el molino a la familia Lozano.",
    )
    first = Example(key, "pairs", texts, "not_paraphrase", None, document, split="train")
    assert examples[key] == first
    last = examples["pairs/test_2k/7218"]
    assert last.texts[0] == "La crónica la empezó un monje y la acabó una abadesa."
    assert (last.label, last.split) == ("not_paraphrase", "test")


def test_sample_in_french():
    examples, drops = read_all(SAMPLE, "fr")
    assert drops.as_dict() == {"examples": {"seen": 18, "kept": 18, "dropped": {}}}
    assert list(Counter((e.split, e.label) for e in examples.values()).values()) == [3] * 6


# Oddities


def test_english_has_another_name_for_its_training_file(tmp_path: Path):
    data = table("1\tIt rains.\tRain falls.\t1")
    archive(tmp_path, en__train=data, en__test_2k=data, es__dev_2k=data, en__notes=b"x")
    examples, _ = read_all(tmp_path, "en")
    assert {example.id: example.split for example in examples.values()} == {
        "pairs/train/1": "train",
        "pairs/test_2k/1": "test",
    }


def test_drops_are_counted(tmp_path: Path):
    rows = ["1\tNS\tLlueve.\t0", "2\tLlueve.\t NS \t1", "3\tNS", "4\tLlueve.\tNieva."]
    rows += ["5\tLlueve.", "6", "7\tLlueve.\tNieva.\t", "8\t\t\t0", "9\tLlueve.\t \t0", ""]
    result = read(tmp_path, table(*rows, "10\tEl NS manda.\tManda el NS.\t1"))
    assert [record.id for record in result.records] == ["pairs/dev_2k/10"]
    dropped = {"empty_text": 2, "incomplete_row": 4, "not_translated": 3}
    assert result.drops.as_dict()["examples"] == {"seen": 10, "kept": 1, "dropped": dropped}


def test_rows_that_end_early_before_windows_line_ends(tmp_path: Path):
    result = read(tmp_path, table("4\tLlueve.\tNieva.", "", "5\tA.\tB.\t1").replace(b"\n", b"\r\n"))
    assert [record.texts for record in result.records] == [("A.", "B.")]
    assert result.drops.as_dict()["examples"]["dropped"] == {"incomplete_row": 1}


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.sampled_from(" \"'\\"),
    min_size=1,
).filter(lambda text: text.strip() not in ("", "NS"))


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from("01")), min_size=1))
def test_no_text_swallows_another(tmp_path_factory, pairs):
    rows = [f"{i}\t{a}\t{b}\t{label}" for i, (a, b, label) in enumerate(pairs)]
    found = read(tmp_path_factory.getbasetemp(), table(*rows)).records
    names = ["not_paraphrase", "paraphrase"]
    assert [record.label for record in found] == [names[int(label)] for _, _, label in pairs]


# Bad input


@pytest.mark.parametrize(
    ("data", "line", "expected"),
    [
        # a renamed column
        (table("1\ta\tb\t0", header="id\tsentence1\tsentence_2\tlabel"), 1, "sentence2"),
        # an unknown label
        (table("1\ta\tb\t0", "2\ta\tb\t2"), 3, "among 0, 1"),
        # an empty id
        (table("1\ta\tb\t0", " \ta\tb\t0"), 3, "the column id"),
        # no id, early end
        (table("1\ta\tb\t0", "\tNS"), 3, "the column id"),
    ],
)
def test_bad_tables(tmp_path: Path, data: bytes, line: int, expected: str):
    with pytest.raises(InputError) as raised:
        read(tmp_path, data)
    assert raised.value.where.endswith(f"x-final.tar.gz, x-final/es/dev_2k.tsv, line {line}")
    assert expected in raised.value.expected


def test_a_language_that_is_not_there():
    with pytest.raises(InputError) as raised:
        blocks(SAMPLE, corpus_of("paws_x", "it"))
    assert raised.value.expected.startswith("x-final/it/ with translated_train.tsv")
    assert raised.value.found == "x-final/es, x-final/fr"
