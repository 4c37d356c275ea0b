"""PeerRead: the abstract and the middle of parsed papers, and the sentences that are dropped."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import corpus_of
from recipe_reading import read_all

from corpora_recipes.corpora.peerread import recipe
from corpora_recipes.recipe import RECIPES, load_facts
from corpora_recipes.records import Document, Section
from corpora_recipes.running.errors import InputError

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


@pytest.mark.parametrize(
    "sentence",
    [
        "A rose is a rose for the two of us.",
        "I do not know what the children's teachers said.",
        "The section of the orchard near the river is old.",
    ],
)
def test_what_no_rule_drops(tmp_path: Path, sentence: str) -> None:
    assert middle(tmp_path, sentence) == ([sentence], {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The robot must\n∗ Work done abroad.\nwait for rain.", "broken"),
        ("\nStopping Criterion We can stop the search now.", "glued_heading"),
        ("It is at http://example.org now.", "markup_left"),
        ("This \ufffd is damaged.", "replacement_character"),
    ],
)
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
