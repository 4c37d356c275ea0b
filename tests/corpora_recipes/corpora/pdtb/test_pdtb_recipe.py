"""Tests of reading the Penn Discourse Treebank and treebanks in its format."""

from pathlib import Path

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import checked, refused
from recipe_reading import read_settled as read

from corpora_recipes.corpora.pdtb.recipe import blocks, read_block
from corpora_recipes.formats.treebanks import Texts
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

TEXT = "The shop stayed open, although it rained. Few people came; nobody bought a thing."


def the_corpus(language: str = "en", treebank: str = "any") -> Corpus:
    return corpus_of("pdtb", language, treebank=treebank)


def span(text: str, *parts: str) -> str:
    """Return the spans of parts of a text, as an annotation writes them."""
    return ";".join(f"{text.index(part)}..{text.index(part) + len(part)}" for part in parts)


def row(kind: str, first: str, second: str, sense: str = "", **columns: str) -> str:
    """Write a line of 34 columns; further columns as ``c27="Rejected"``."""
    fields = [""] * 34
    fields[0], fields[8], fields[14], fields[20] = kind, sense, first, second
    for name, value in columns.items():
        fields[int(name.removeprefix("c"))] = value
    return "|".join(fields)


def read_rows(
    folder: Path, *rows: str, text: str = TEXT, language: str = "en"
) -> tuple[list[Example], dict[str, int]]:
    """Return the examples of the lines of one text, and the drops by reason."""
    name = "ted_mdb/English/ann/01/talk.txt"
    for part, content in (("ann", "\n".join(rows) + "\n"), ("raw", text)):
        path = folder / name.replace("ann", part)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    block = Texts("x", folder, "ted_mdb_en", (name,), {name: "train"})
    result = checked(read_block(block, the_corpus(language)))
    records = [record for record in result.records if isinstance(record, Example)]
    return records, {reason: n for (_, reason), n in result.drops.dropped.items() if n}


OPEN = span(TEXT, "The shop stayed open")
RAINED = span(TEXT, "it rained")
FEW = span(TEXT, "Few people came")
NOBODY = span(TEXT, "nobody bought a thing")
CONCESSION = "Comparison.Concession.Arg2-as-denier"


# 48 columns


def test_sections_are_splits(tmp_path: Path) -> None:
    for section in range(25):
        folder = tmp_path / f"pdtb2/{section:02}"
        folder.mkdir(parents=True)
        (folder / f"wsj_{section:02}01.pipe").touch()
    (found,) = blocks(tmp_path, the_corpus())
    splits = {name.split("/")[1]: split for name, split in found.splits.items()}
    assert list(splits) == [f"{n:02}" for n in range(2, 24)]
    assert list(splits.values()) == ["train"] * 13 + ["validation"] * 4 + ["test"] * 5


def test_senses_of_both_connectives(tmp_path: Path) -> None:
    fields = [""] * 48
    fields[0], fields[9], fields[10] = "Implicit", "so", "and"
    fields[11], fields[13] = "Expansion", "Contingency.Cause.result"
    fields[14] = "Expansion.Conjunction"
    fields[22], fields[24] = "0..9", "It rained"
    fields[32], fields[34] = "11..15;16..23", "the  path was wet"
    (tmp_path / "pdtb2/02").mkdir(parents=True)
    (tmp_path / "pdtb2/02/wsj_0201.pipe").write_text("|".join(fields) + "\r\n")
    (example,) = read(tmp_path, the_corpus())[0].values()
    assert example.texts == ("It rained", "the path was wet")
    # A sense of one level is no class of the second.
    assert example.label == "Contingency.Cause"
    assert example.columns["second_sense"] == "Expansion.Conjunction"


@pytest.mark.parametrize("columns", [47, 49, 34])
def test_a_row_with_another_number_of_columns(tmp_path: Path, columns: int) -> None:
    (tmp_path / "pdtb2/02").mkdir(parents=True)
    path = tmp_path / "pdtb2/02/wsj_0201.pipe"
    path.write_text("|".join(["Explicit"] + [""] * (columns - 1)))
    with refused(f"{path}, line 1", "48 columns between bars", f"{columns} in 'Explicit|"):
        read(tmp_path, the_corpus())


# 34 columns


def test_an_explicit_relation(tmp_path: Path) -> None:
    connective = span(TEXT, "although")
    line = row("Explicit", OPEN, RAINED, CONCESSION, c1=connective)
    ((example,), drops) = read_rows(tmp_path, line)
    assert drops == {}
    assert example == Example(
        "ted_mdb_en/talk/1",
        "explicit",
        ("The shop stayed open", "it rained"),
        "Comparison.Concession",
        None,
        "ted_mdb_en/talk",
        {"second_sense": "", "connective": "although", "first_in_text": "Arg1"},
        "train",
    )


def test_discontinuous_arguments_lose_the_commas_around_their_gap(tmp_path: Path) -> None:
    text = "The shop, however, stayed open. However, it rained, as we said, all day."
    first = span(text, "The shop,", ", stayed open")
    second = span(text, ", it rained,", ", all day")
    line = row("Implicit", first, second, CONCESSION, c7="but")
    ((example,), _) = read_rows(tmp_path, line, text=text)
    assert example.texts == ("The shop, stayed open", "it rained, all day")
    assert example.columns["connective"] == "but"


def test_the_second_argument_may_stand_first(tmp_path: Path) -> None:
    ((example,), _) = read_rows(tmp_path, row("Explicit", NOBODY, FEW, CONCESSION))
    assert example.columns["first_in_text"] == "Arg2"
    assert example.texts == ("nobody bought a thing", "Few people came")


@pytest.mark.parametrize(("columns", "second"), TABLES["second_senses"])
def test_a_second_sense_of_the_same_line(tmp_path, columns: dict[str, str], second: str) -> None:
    ((example,), _) = read_rows(tmp_path, row("Explicit", OPEN, RAINED, CONCESSION, **columns))
    assert (example.label, example.columns["second_sense"]) == ("Comparison.Concession", second)


def test_a_second_sense_on_a_line_of_its_own(tmp_path: Path) -> None:
    senses = (CONCESSION, "Temporal.Synchronous", "Comparison.Concession", "Contingency.Cause")
    rows = [row("Explicit", OPEN, RAINED, sense) for sense in senses]
    ((example,), drops) = read_rows(tmp_path, *rows)
    assert (example.id, example.label) == ("ted_mdb_en/talk/1", "Comparison.Concession")
    assert example.columns["second_sense"] == "Temporal.Synchronous"
    assert drops == {"second_sense": 2, "repeated": 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (row("EntRel", OPEN, RAINED), "other_type"),
        (row("Explicit", OPEN, RAINED, CONCESSION, c27="Rejected"), "rejected"),
        (row("Explicit", "", "", "", c27="Rejected"), "rejected"),
        (row("Explicit", OPEN, RAINED), "no_sense"),
        (row("Implicit", OPEN, RAINED, "NoRel"), "other_sense"),
        (row("Implicit", OPEN, RAINED, "Expansion"), "other_sense"),
        (row("Implicit", OPEN, RAINED, "Cmparison.Concession"), "other_sense"),
        (row("Explicit", OPEN, "", CONCESSION), "empty_text"),
    ],
)
def test_drops_are_counted(tmp_path: Path, line: str, reason: str) -> None:
    kept, drops = read_rows(tmp_path, line, row("Implicit", FEW, NOBODY, "Contingency.Cause"))
    assert [example.id for example in kept] == ["ted_mdb_en/talk/2"]
    assert drops == {reason: 1}


@pytest.mark.parametrize(("sense", "label"), TABLES["classes"])
def test_classes_are_senses_of_two_levels(tmp_path: Path, sense: str, label: str) -> None:
    ((example,), _) = read_rows(tmp_path, row("Implicit", FEW, NOBODY, sense))
    assert example.label == label


def test_withheld_text_is_never_a_row(tmp_path: Path) -> None:
    text = "___ ____ ______ ____ ________ __ ______."
    kept, drops = read_rows(tmp_path, row("Explicit", "0..8", "9..20", CONCESSION), text=text)
    assert (kept, drops) == ([], {"withheld_text": 1})


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_line_end_and_a_byte_order_mark_count_once(tmp_path: Path, line_end: str) -> None:
    text = "\ufeffDükkân açıktı.\nYağmur yağdı.\nKimse gelmedi."
    line = row("Implicit", span(text, "Yağmur yağdı"), span(text, "Kimse gelmedi"), CONCESSION)
    ((example,), _) = read_rows(tmp_path, line, text=text.replace("\n", line_end))
    assert example.texts == ("Yağmur yağdı", "Kimse gelmedi")


@pytest.mark.parametrize(
    ("spans", "expected", "found"),
    [
        ("0..9000", f"within the {len(TEXT)} characters", "'0..9000'"),
        ("0..4;5", "spans such as", "'0..4;5'"),
        ("9..4", "spans such as", "'9..4'"),
        (f"4..{'9' * 5000}", "spans such as", f"'4..{'9' * 57}'"),
        ("٣..٥", "spans such as", "'٣..٥'"),
    ],
)
def test_spans_that_cannot_be(tmp_path: Path, spans: str, expected: str, found: str) -> None:
    good = row("Implicit", FEW, NOBODY, CONCESSION)
    with refused("ann/01/talk.txt, line 2", expected, f"found:    {found}\n"):
        read_rows(tmp_path, good, row("Implicit", OPEN, spans, CONCESSION))


def test_an_unknown_type_and_a_missing_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"one of Explicit, Implicit, AltLex.*\n.*'Explict'"):
        read_rows(tmp_path, row("Explict", OPEN, RAINED, CONCESSION))
    read_rows(tmp_path, row("Implicit", OPEN, RAINED, CONCESSION))
    raw = tmp_path / "ted_mdb/English/raw/01/talk.txt"
    raw.unlink()
    (block,) = blocks(tmp_path, the_corpus())
    result = read_block(block, the_corpus())
    assert result.drops.dropped == {("examples", "unreadable"): 1}
    with refused(str(raw)):
        checked(result)


def test_texts_that_were_annotated_twice_are_in_one_split(tmp_path: Path) -> None:
    for name, text in {"a_inter": "Bir.", "a_intra": "Bir.", "b": "İki.", "c": "Üç."}.items():
        for part in ("ann", "raw"):
            folder = tmp_path / "ted_mdb/Turkish" / part / "01"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.txt").write_text(text if part == "raw" else "", "utf-8")
    (found,) = blocks(tmp_path, the_corpus("tr"))
    assert found.treebank == "ted_mdb_tr"
    splits = {Path(name).stem: split for name, split in found.splits.items()}
    assert splits["a_inter"] == splits["a_intra"]
    assert set(splits.values()) == {"train", "validation", "test"}


@given(st.lists(st.text("ab,;é \n", min_size=1, max_size=9), min_size=2, max_size=2))
def test_any_two_spans_are_read_back(tmp_path_factory, parts: list[str]) -> None:
    text = "|".join(parts)
    folder = tmp_path_factory.mktemp("spans")
    first, second = f"0..{len(parts[0])}", f"{len(parts[0]) + 1}..{len(text)}"
    kept, drops = read_rows(folder, row("Implicit", first, second, CONCESSION), text=text)
    expected = [" ".join(part.lstrip(",;: \n").split()) for part in parts]
    if all(expected):
        assert [example.texts for example in kept] == [tuple(expected)]
    else:
        assert drops == {"empty_text": 1}
