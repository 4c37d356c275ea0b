"""PeerRead: abstracts and bodies from parsed papers, and the remains of PDF in them."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_all

from corpora_recipes.corpora.peerread import recipe
from corpora_recipes.corpora.peerread.recipe import (
    LOST,
    Heading,
    paragraphs,
    parse_heading,
    reasons,
    words_of,
)
from corpora_recipes.recipe import RECIPES, load_facts
from corpora_recipes.records import Document, Section
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- peerread recipe -----------------------------------------------------------------------------

FACTS = load_facts("peerread")
SAMPLE = RECIPES / "peerread" / "sample"
CORPUS = corpus_of("peerread", "en")
NAME = "data/acl_9901/train/parsed_pdfs/7.pdf.json"
ABSTRACT = "We parse recipes with pictures. The parser needs no treebank at all."
MIDDLE = "The grammar has one kind of clause. Every other sentence is a remark."


def paper(**more: Any) -> dict[str, Any]:
    sections = [
        {"heading": None, "text": "ar X\niv"},
        {"heading": "1 Introduction", "text": "Cooking is fun."},
        {"heading": "2 THE GRAMMAR", "text": MIDDLE},
        {"heading": "3 Conclusion", "text": "Pictures help."},
    ]
    fields = {"title": "Recipes", "abstractText": ABSTRACT, "sections": sections}
    return {"name": "7.pdf", "metadata": fields | more}


def write(raw: Path, record: Any) -> Path:
    path = raw / NAME
    path.parent.mkdir(parents=True)
    path.write_text(record if isinstance(record, str) else json.dumps(record), "utf-8")
    return raw


def read(raw: Path) -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, CORPUS)


def middle(raw: Path, text: str) -> tuple[list[str], dict[str, int]]:
    """Return the sentences of a middle section with this text, and the dropped ones by reason."""
    sections = [{"heading": "2 The grammar", "text": f"{MIDDLE} {text}"}]
    records, counts = read(write(raw, paper(sections=sections)))
    found = [s for section in records[0].sections for p in section.paragraphs for s in p]
    return found[2:], counts["sentences"]["dropped"]


def test_a_paper(tmp_path: Path) -> None:
    records, counts = read(write(tmp_path, paper()))
    body = ["The grammar has one kind of clause.", "Every other sentence is a remark."]
    summary = ["We parse recipes with pictures.", "The parser needs no treebank at all."]
    sections = [Section("The grammar", 2, [body])]
    assert records == [Document("acl_9901/train/7", "Recipes", [], sections, summary=summary)]
    assert counts["sections"] == {
        "seen": 3,
        "kept": 0,
        "dropped": {"conclusion": 1, "introduction": 1, "no_heading": 1},
    }


def test_an_abstract_that_is_a_section(tmp_path: Path) -> None:
    sections = [{"heading": "Abstract", "text": ABSTRACT}, {"heading": "2 Data", "text": MIDDLE}]
    records, _ = read(write(tmp_path, paper(abstractText=None, sections=sections)))
    assert len(records[0].summary) == 2
    assert [section.heading for section in records[0].sections] == ["Data"]


def test_an_abstract_with_its_label(tmp_path: Path) -> None:
    records, _ = read(write(tmp_path, paper(abstractText=f"Abstract—{ABSTRACT}")))
    assert records[0].summary[0] == "We parse recipes with pictures."


@pytest.mark.parametrize("rule", FACTS.special["sentences"], ids=lambda rule: rule["name"])
def test_each_rule_drops_its_example(tmp_path: Path, rule: dict[str, str]) -> None:
    assert re.search(rule["pattern"], rule["example"])
    assert middle(tmp_path, rule["example"]) == ([], {rule["name"]: 1})


@pytest.mark.parametrize("sentence", TABLES["kept"])
def test_what_no_rule_drops(tmp_path: Path, sentence: str) -> None:
    assert middle(tmp_path, sentence) == ([sentence], {})


@pytest.mark.parametrize(("text", "reason"), TABLES["dropped"])
def test_other_dropped_sentences(tmp_path: Path, text: str, reason: str) -> None:
    found, dropped = middle(tmp_path, text)
    assert found == []
    assert dropped[reason] >= 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sections": None}, "no_sections"),
        ({"sections": []}, "no_sections"),
        ({"abstractText": None}, "no_abstract"),
        ({"abstractText": " "}, "no_abstract"),
        ({"sections": [{"heading": "1 Introduction", "text": MIDDLE}]}, "no_middle"),
        ({"abstractText": "Wir lesen alte Rezepte mit Bildern, und der Parser braucht nichts."},
         "other_language"),
    ],
)  # fmt: skip
def test_dropped_papers(tmp_path: Path, fields: dict[str, Any], reason: str) -> None:
    records, counts = read(write(tmp_path, paper(**fields)))
    assert not records
    assert counts["documents"]["dropped"] == {reason: 1}


@pytest.mark.parametrize(
    "record",
    [
        '{"name": "7.pdf", "meta',
        [],
        {"name": "7.pdf"},
        paper(sections="none"),
        paper(sections=[{"heading": "1 Data"}]),
        paper(sections=["text"]),
        paper(sections=[{"heading": {"text": "1 Data"}, "text": "a"}]),
        paper(abstractText=["a"]),
        paper(title=7),
    ],
)
def test_what_is_not_a_record(tmp_path: Path, record: Any) -> None:
    with pytest.raises(InputError, match=r"7\.pdf\.json"):
        read(write(tmp_path, record))


def test_an_archive_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "PAPERS_A_BLOCK", 7)
    with zipfile.ZipFile(tmp_path / "PeerRead.zip", "w") as archive:
        for path in sorted(SAMPLE.rglob("*.json")):
            archive.write(path, f"PeerRead-master/{path.relative_to(SAMPLE)}")
        archive.writestr("PeerRead-master/data/acl_9917/train/reviews/1.json", "{}")
    packed, counts = read(tmp_path)
    plain, same = read(SAMPLE)
    assert counts == same
    assert sorted(packed, key=lambda r: r.id) == sorted(plain, key=lambda r: r.id)


# --- peerread text -------------------------------------------------------------------------------

WORDS = words_of(["We use large-scale maps and underline words; rewriting is hard."])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One line of prose.\nAnother of prose.", ["One line of prose.", "Another of prose."]),
        # A break inside a sentence.
        ("The text goes\non after the break.", ["The text goes on after the break."]),
        # Words at a line break, with the hyphen if the paper has it.
        ("They re-\nwriting the large-\nscale maps.", ["They rewriting the large-scale maps."]),
        ("Words with ﬁne ligatures.", ["Words with fine ligatures."]),
        # A footnote interrupts a sentence.
        ("The robot must\n∗ Work done abroad.\nwait for rain.",
         [f"The robot must {LOST}", "∗ Work done abroad.", f"{LOST} wait for rain."]),
        # A formula does.
        ("We write this as\nf (x) = ∑\ni wi xi + b (1)\nwhere the sum is finite.",
         [f"We write this as {LOST}", f"{LOST} where the sum is finite."]),
        ("It is small.\nα = 1\nIt learns a lot.", ["It is small.", f"{LOST} It learns a lot."]),
        ("The model is\nα = 1", [f"The model is {LOST}"]),
        ("ar X\niv :0\n80 4.", []),
        ("", []),
    ],
)  # fmt: skip
def test_paragraphs(text: str, found: list[str]) -> None:
    assert paragraphs(text, WORDS) == found


@given(st.text(alphabet="ab AB.-\n(1)∑"))
def test_nothing_is_said_twice(text: str) -> None:
    joined = "".join(paragraphs(text, WORDS))
    assert joined.count("a") <= text.count("a")


@pytest.mark.parametrize(("raw", "heading"), TABLES["headings"])
def test_parse_heading(raw: str, heading: list[Any] | None) -> None:
    assert parse_heading(raw) == (heading and Heading(*heading))


def test_which_sections_are_not_in_the_middle() -> None:
    ends = {"introduction": ["introduction"], "conclusion": ["conclu", "summary$"]}
    headings = ["", "1 Introduction", "1.1 Results", "2 A Summary of Rules", "2.1 Summary",
                "3 Data", "4 Conclusions and Outlook", "A Proofs"]  # fmt: skip
    found = reasons([parse_heading(heading) for heading in headings], ends)
    assert found == ["no_heading", "introduction", "introduction", None, "conclusion",
                     None, "conclusion", "appendix"]  # fmt: skip
