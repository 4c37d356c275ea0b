"""arXiv: abstracts from the metadata snapshot, and their LaTeX as text."""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_all, refused, write_lines

from corpora_recipes.corpora.arxiv import recipe
from corpora_recipes.corpora.arxiv.recipe import LOST, plain
from corpora_recipes.recipe import Corpus, load_facts
from corpora_recipes.records import Document
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- arxiv recipe --------------------------------------------------------------------------------

FACTS = load_facts("arxiv")
ABSTRACT = "  We count the trees of a park. Most of\nthem are old.\n"
CORPUS = Corpus("arxiv", "arxiv", "en", None, 1111, {}, {}, FACTS)


def row(abstract: str = ABSTRACT, **more: Any) -> dict[str, Any]:
    return {"id": "9901.00001", "title": "A\n  park", "categories": "math.CO cs.DM"} | {
        "abstract": abstract,
        **more,
    }


def snapshot(folder: Path, *rows: Any) -> Path:
    return write_lines(folder, "arxiv-metadata-oai-snapshot.json", *rows)


def page(folder: Path, *records: str) -> Path:
    (folder / "page-0000.xml").write_text(
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
        f"{''.join(records)}</ListRecords></OAI-PMH>",
        "utf-8",
    )
    return folder


def record(fields: dict[str, str]) -> str:
    inner = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in fields.items())
    return (
        "<record><header><identifier>oai:arXiv.org:1</identifier></header><metadata>"
        f'<arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/">{inner}</arXivRaw>'
        "</metadata></record>"
    )


def read(raw: Path) -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, CORPUS)


def sentences(raw: Path) -> list[list[list[str]]]:
    """Return the sentences by section and paragraph of the one document."""
    (document,), _ = read(raw)
    return [[list(p) for p in section.paragraphs] for section in document.sections]


def test_a_line_of_the_snapshot(tmp_path: Path) -> None:
    (document,), _ = read(snapshot(tmp_path, row()))
    assert (document.id, document.title, document.topics) == ("9901.00001", "A park", ["math"])
    assert document.split is None
    assert sentences(tmp_path) == [[["We count the trees of a park.", "Most of them are old."]]]


def test_a_record_of_a_page_is_the_same_document(tmp_path: Path) -> None:
    one, two = tmp_path / "json", tmp_path / "xml"
    one.mkdir()
    two.mkdir()
    deleted = '<record><header status="deleted"/></record>'
    # Comments and instructions of XML are no fields.
    noted = record(row()).replace("</arXivRaw>", "<!-- a --><?b c?></arXivRaw>")
    found, counts = read(page(two, noted, deleted))
    assert found == read(snapshot(one, row()))[0]
    assert counts["documents"] == {"seen": 2, "kept": 1, "dropped": {"deleted": 1}}


def test_paragraphs_hyphens_and_notes(tmp_path: Path) -> None:
    abstract = (
        "  Abstract: A one-\ndimensional park.\nIt is long.\n  Its trees are tall. (Abridged)\n"
    )
    assert sentences(snapshot(tmp_path, row(abstract))) == [
        [["A one-dimensional park.", "It is long."], ["Its trees are tall."]]
    ]


def test_a_sentence_with_latex_that_is_lost_ends_a_section(tmp_path: Path) -> None:
    abstract = r"We walk. The \foo{park} is of size $n$. It is old. Trees grow."
    assert sentences(snapshot(tmp_path, row(abstract))) == [
        [["We walk."]],
        [["It is old.", "Trees grow."]],
    ]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (row("  \n"), "no_abstract"),
        (row("This paper has been withdrawn by the author due to an error."), "withdrawn"),
        (row("The manuscript is temporarily withdrawn."), "withdrawn"),
        (row("Withdrawn."), "withdrawn"),
        (row(comments="This paper has been withdrawn"), "withdrawn"),
        (row("Nous comptons les vieux arbres du parc, qui sont grands."), "other_language"),
        (row(r"The \foo of $\bar"), "no_sentences"),
    ],
)  # fmt: skip
def test_dropped_documents(tmp_path: Path, fields: dict[str, Any], reason: str) -> None:
    records, counts = read(snapshot(tmp_path, fields))
    assert not records
    assert counts["documents"]["dropped"] == {reason: 1}


@pytest.mark.parametrize("abstract", TABLES["withdrawing"])
def test_what_is_only_about_withdrawing_stays(tmp_path: Path, abstract: str) -> None:
    assert sentences(snapshot(tmp_path, row(abstract))) == [[[abstract]]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "1", "title": "x", "categ', "line 2"),
        ([1], "an object with the keys id, title, categories, abstract"),
        ({"id": "1", "title": "x", "abstract": "y"}, "categories, a string"),
        (row() | {"abstract": 7}, "abstract, a string"),
        (row() | {"id": None}, "the id of the paper"),
        (row(id=" "), "the id of the paper"),
        (row(title="\ud800"), "half a character"),
    ],
)
def test_bad_lines(tmp_path: Path, line: Any, message: str) -> None:
    with refused("arxiv-metadata-oai-snapshot.json, line 2", message):
        read(snapshot(tmp_path, row(), line))


def test_a_page_in_another_form(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"page-0000\.xml, record 1"):
        read(page(tmp_path, "<record><header/><metadata><dc/></metadata></record>"))


@pytest.mark.parametrize(
    ("name", "message"), [("archive.zip", "unzip archive.zip"), (".fetched.json", "kaggle")]
)
def test_folders_without_metadata(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(InputError, match=message):
        recipe.blocks(tmp_path, CORPUS)


# --- arxiv latex ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        *TABLES["plain"],
        (r"the method of \cite{a} fails", f"the method of {LOST} fails"),
        # What is lost.
        (r"the \mymacro here", f"the {LOST} here"),
        (r"by $\begin{array} a \end{array}$.", f"by {LOST}."),
        (f"by ${'x+' * 30}x$.", f"by {LOST}."),
        ("a $ sign", f"a {LOST} sign"),
        ("of $n$. %and more", f"of n. {LOST}and more"),
    ],
)
def test_plain(latex: str, text: str) -> None:
    assert plain(latex) == text


@given(st.text())
def test_any_text_without_latex_stays(text: str) -> None:
    if not set(text) & set("\\${}`~%^_\ufe69❴❵\x01\x02") and "--" not in text:
        assert plain(text) == text


@given(st.text(alphabet="\\${}^_~`'%-[](). aAbn1\n"))
def test_any_latex_is_put_in_plain_text_or_lost(text: str) -> None:
    found = plain(text)
    assert "\x01" not in found
    assert "\x02" not in found
    assert not (found.count("\\") and "\\" not in text)
