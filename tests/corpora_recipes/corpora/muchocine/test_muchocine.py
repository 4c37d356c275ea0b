"""Tests of the recipe of MuchoCine: reviews in nearly XML, labelled by their stars."""

import html
from collections.abc import Mapping
from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of, read_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from recipe_reading import checked, pack, refused, write_files

from corpora_recipes.corpora.muchocine.recipe import (
    ARCHIVES,
    REVIEWS_A_BLOCK,
    blocks,
    clean_summary,
    read_block,
    read_review,
)
from corpora_recipes.recipe import BlockResult, Dropped

TABLES = read_tables(__file__)

ARCHIVE, OF_GITHUB = ARCHIVES
CORPUS = corpus_of("muchocine")


def review(
    summary: str = "Muy buena.", rank: str = "4", body: str = "Me gustó.", title: str = "Niebla"
) -> str:
    return (
        f'<review author="Ana" title="{title}" rank="{rank}" maxRank="5" source="muchocine">\n'
        f"\t<summary>{summary}</summary>\n\t<body>{body}</body>\n</review>\n"
    )


def read(raw: Path) -> BlockResult:
    return read_blocks(raw, CORPUS)


def packed(raw: Path, files: Mapping[str, str | bytes]) -> Path:
    return pack(raw / ARCHIVE, files).parent


# Classes and oddities


@pytest.mark.parametrize(
    ("rank", "label"), [("1", "negative"), ("2", "negative"), ("4", "positive"), ("5", "positive")]
)
def test_class_by_rank(tmp_path, rank, label):
    [example] = read(packed(tmp_path, {"c/7.xml": review(rank=rank)})).records
    assert (example.id, example.label, example.columns) == ("reviews/7", label, {"rank": rank})


def test_middle_rank_and_empty_summaries_are_counted_drops(tmp_path):
    files = {
        "c/1.xml": review(rank="3"),
        "c/2.xml": review(summary=" &nbsp; \n"),
        "c/3.xml": review().replace("<summary>Muy buena.</summary>", "<summary/>"),
        "c/4.xml": review(summary="Mala\ufffdmente"),
        "c/5.xml": review(summary="EspaÃ±ola"),
        "c/6.xml": review(summary="\uf0b7 Mala"),
    }
    result = read(packed(tmp_path, files))
    assert result.records == []
    dropped = result.drops.as_dict()["examples"]["dropped"]
    assert dropped == {
        "empty_text": 2,
        "mojibake": 1,
        "neutral_rank": 1,
        "private_use_character": 1,
        "replacement_character": 1,
    }
    assert {f"examples.{reason}" for reason in dropped} < set(CORPUS.facts.drop_limits)


def test_each_file_has_its_own_encoding(tmp_path):
    text = review(summary="Cañí – “así” sí… 5 €")
    files = {
        "c/1.xml": text.encode("windows-1252"),
        "c/2.xml": text.encode("utf-8"),
        "c/3.xml": text.encode("utf-8-sig").replace(b"\n", b"\r\n"),
        "c/4.xml": b'<?xml version="1.0"?>\n' + text.encode("windows-1252"),
    }
    records = read(packed(tmp_path, files)).records
    assert [e.texts for e in records] == [("Cañí – “así” sí… 5 €",)] * 4


@pytest.mark.parametrize(
    ("inside", "outside"), [("utf-8", "windows-1252"), ("windows-1252", "utf-8")]
)
def test_the_summary_alone_says_what_it_is_in(inside, outside):
    text = review(summary="Cañí – sí…", title="Año", body="Más o menos…")
    before, summary, after = text.partition("Cañí – sí…")
    data = before.encode(outside) + summary.encode(inside) + after.encode(outside)
    assert read_review(data, "c/1.xml").fields["summary"] == "Cañí – sí…"


@pytest.mark.parametrize("body", ["una <>dulce señora", "R&B & &ldquo;más&rdquo;", "</review"])
@pytest.mark.parametrize("title", ["Niebla", 'A > "B" & C'])
def test_broken_bodies_and_titles_lose_nothing(body, title):
    text = review(body=body, title=title)
    row = read_review(text.encode("latin-1"), "corpusCine.zip, c/33.xml")
    assert row.fields == {"id": "33", "summary": "Muy buena.", "rank": "4"}


@pytest.mark.parametrize(("raw", "text"), TABLES["summaries"])
def test_clean_summary(raw, text):
    assert clean_summary(raw) == text


@pytest.mark.parametrize("digits", ["9" * 5000, "x" + "f" * 5000])
def test_a_reference_of_thousands_of_digits_is_damage(digits):
    with pytest.raises(Dropped, match="replacement_character"):
        clean_summary(f"Una comedia&#{digits};")


@settings(max_examples=30)
@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), min_size=1))
def test_any_text_survives_escaping(text):
    try:
        expected = clean_summary(text.replace("&", "&amp;"))
    except Dropped:
        return
    row = read_review(review(summary=html.escape(text)).encode(), "c/1.xml")
    assert clean_summary(row.fields["summary"]) == expected


# Bad input


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        *(
            ("c/12.xml", review(rank=rank), 'rank="1" to rank="5"')
            for rank in ("0", "6", "", "cuatro", "4.5")
        ),
        *(
            ("c/12.xml", text, "<summary>")
            for text in ("", "<html></html>", "<review rank='4'>", "<review><summary>x")
        ),
        ("leeme.txt", "hola", "no .xml file"),
    ],
)
def test_no_review(tmp_path, name, text, expected):
    with refused(name if name.endswith(".xml") else ARCHIVE, expected):
        read(packed(tmp_path, {name: text}))


@pytest.mark.parametrize(
    ("field", "value", "found"),
    [("flag", b"\x01\0", "encrypted"), ("method", b"\x63\0", "compression")],
)
def test_members_that_cannot_be_unpacked(tmp_path, field, value, found):
    raw = packed(tmp_path, {"c/1.xml": review()})
    blocks(raw, CORPUS)
    # In the header of the member and in the archive's directory.
    data = bytearray((raw / ARCHIVE).read_bytes())
    for start, offset in ((0, 6), (data.index(b"PK\1\2"), 8)):
        at = start + offset + 2 * (field == "method")
        data[at : at + 2] = value
    (raw / ARCHIVE).write_bytes(data)
    with refused("c/1.xml", found):
        read(raw)


def test_blocks_hold_every_review_once(tmp_path):
    names = [f"c/{n}.xml" for n in range(REVIEWS_A_BLOCK + 3)]
    found = blocks(packed(tmp_path, dict.fromkeys([*names, "__MACOSX/c/._1.xml"], "")), CORPUS)
    assert [len(block.files) for block in found] == [REVIEWS_A_BLOCK, 3]
    assert sorted(file.name for block in found for file in block.files) == sorted(names)


def test_the_same_rows_from_every_layout(tmp_path):
    """The publisher's archive, the one on GitHub, and its files; files of analyses are ignored."""
    texts = {n: review(f"Reseña número {n}.").encode("latin-1") for n in (10, 9, 2, 33)}
    analyses = {"2.review.pos": b"x", "2.summary.dep.xml": b"<x/>", "readme.txt": b"x"}
    layouts = {
        name: {f"{folder}/{n}.xml": texts[n] for n in order}
        | {f"{folder}/{other}": data for other, data in analyses.items()}
        for name, folder, order in (
            (ARCHIVE, "corpusCriticasCine", [2, 9, 10, 33]),
            (OF_GITHUB, "Spanish-Movie-Reviews-4f8efab/reviews_1/xml", [33, 9, 2, 10]),
            ("", "reviews_3/xml", [9, 10, 33, 2]),
        )
    }
    # Which folder a file is in decides nothing.
    files = layouts[OF_GITHUB]
    ten = "Spanish-Movie-Reviews-4f8efab/reviews_1/xml/10.xml"
    files[ten.replace("_1", "_0")] = files.pop(ten)
    found = []
    for name, files in layouts.items():
        raw = tmp_path / (name or "unpacked").partition(".")[0]
        if name:
            pack(raw / name, files)
        else:
            write_files(raw, files)
        (block,) = blocks(raw, CORPUS)
        found.append((block.key, checked(read_block(block, CORPUS))))
    assert [e.id for e in found[0][1].records] == [f"reviews/{n}" for n in (10, 2, 33, 9)]
    assert found[0] == found[1] == found[2]
    assert found[0][0] == "corpusCriticasCine/10.xml"
