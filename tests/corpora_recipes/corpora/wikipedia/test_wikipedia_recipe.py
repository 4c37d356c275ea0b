"""Wikipedia: dumps to documents, by both engines; the dumps that tests generate."""

import bz2
import subprocess
import sys
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from dump_generator import SAMPLE, generate, read_header, read_pages
from dump_writer import SamplePage, write_dump
from recipe_reading import recipe_corpus

from corpora_recipes.corpora.wikipedia import recipe
from corpora_recipes.corpora.wikipedia.pages import parse_page
from corpora_recipes.corpora.wikipedia.pages import read_pages as block_pages
from corpora_recipes.corpora.wikipedia.plan import index_path, list_blocks, read_site
from corpora_recipes.fetching.sources import fetch
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import Document, Section
from corpora_recipes.running.errors import InputError

# --- wikipedia recipe ----------------------------------------------------------------------------

NAME = "eswiki-20260101-pages-articles-multistream.xml.bz2"
PLAIN_PAGES = [
    SamplePage(
        "Lago Seco",
        "El '''lago Seco''' es un [[lago]] pequeño.<ref>Nota.</ref> Está en Chile.\n\n"
        "Nadie vive allí.\n\n== Historia ==\nFue descrito en 1901. Luego se olvidó.\n* Una lista.\n"
        "\n=== Nombre ===\nSe llama así por su aspecto.\n\n== Referencias ==\n{{listaref}}\n"
        "[[Categoría:Lagos|Seco]]",
        id=3,
    ),
    SamplePage(
        "Río Hondo", "El ''río Hondo'' es [[Profundidad|profundo]].\n[[Categoría:Ríos]]", id=5
    ),
]
ODD_PAGES = [
    SamplePage("Seco", "#REDIRECCIÓN [[Lago Seco]]", id=11, redirect="Lago Seco"),
    SamplePage("Categoría:Lagos", "Lagos de aquí.", id=12, ns=14),
    SamplePage("Módulo:X", "return 1", id=13, ns=828, model="Scribunto"),
    SamplePage("Guion", "return 1", id=14, model="Scribunto"),
    SamplePage("Luna", "'''Luna''' puede ser:\n* [[Luna]].\n{{desambiguación}}", id=15),
    SamplePage("Lista", "* Uno.\n* Dos.", id=16),
    SamplePage("Cerro", "Mide {{unidad|2500|m}}.{{cita requerida}} Es {{raro}} y alto.", id=17),
]
LAKE = Document(
    "3",
    "Lago Seco",
    ["Lagos"],
    [
        Section(
            "", 1, [["El lago Seco es un lago pequeño.", "Está en Chile."], ["Nadie vive allí."]]
        ),
        Section("Historia", 2, [["Fue descrito en 1901.", "Luego se olvidó."]]),
        Section("Nombre", 3, [["Se llama así por su aspecto."]]),
    ],
)
RIVER = Document("5", "Río Hondo", ["Ríos"], [Section("", 1, [["El río Hondo es profundo."]])])
HILL = Document("17", "Cerro", [], [Section("", 1, [["Mide 2500 m."]])])
corpus = partial(recipe_corpus, "wikipedia")
WIKIEXTRACTOR = corpus(extractor="wikiextractor")


def read(folder: Path, what: Corpus) -> BlockResult:
    (block,) = recipe.blocks(folder, what)
    return recipe.read_block(block, what)


def test_documents_and_counts(tmp_path: Path) -> None:
    write_dump(tmp_path / NAME, PLAIN_PAGES + ODD_PAGES)
    result = read(tmp_path, corpus())
    assert result.records == [LAKE, RIVER, HILL]
    dropped = {"disambiguation": 1, "no_prose": 1, "not_wikitext": 1, "redirect": 1}
    dropped["other_namespace"] = 2
    assert result.drops.as_dict() == {
        "documents": {"seen": 9, "kept": 3, "dropped": dropped},
        "sentences": {"seen": 9, "kept": 8, "dropped": {"unrendered_template": 1}},
        "lines": {"seen": 3, "kept": 0, "dropped": {"list": 3}},
    }


def test_invalid_utf8_costs_one_page_and_is_counted(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "eswiki-20260101-pages-articles.xml", PLAIN_PAGES)
    data = path.read_bytes()
    path.write_bytes(data.replace(b">Lago Seco<", b">Lago \xff<"))
    result = read(tmp_path, corpus())
    assert [r.id for r in result.records] == ["5"]
    assert result.drops.dropped["documents", "invalid_utf8"] == 1
    path.write_bytes(data.replace("pequeño".encode(), "pequeño".encode("latin-1")))
    assert read(tmp_path, corpus()).drops.dropped["documents", "invalid_utf8"] == 1


@pytest.mark.parametrize(
    "lead", ["{{Ficha|a=1}}", "Sale de {{raro}} siempre."], ids=["none", "dropped"]
)
def test_an_article_without_its_lead_begins_with_an_empty_one(tmp_path: Path, lead: str) -> None:
    write_dump(tmp_path / NAME, [("Lago", f"{lead}\n== Historia ==\nFue descrito en 1901.")])
    (document,) = read(tmp_path, corpus()).records
    assert isinstance(document, Document)
    history = Section("Historia", 2, [["Fue descrito en 1901."]])
    assert document.sections == [Section("", 1, []), history]


def test_a_page_without_a_title_is_dropped_and_counted(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "eswiki-20260101-pages-articles.xml", PLAIN_PAGES)
    path.write_bytes(path.read_bytes().replace(b"<title>Lago Seco</title>", b""))
    result = read(tmp_path, corpus())
    assert result.records == [RIVER]
    (fault,) = result.drops.faults()
    assert "without title" in fault.found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"extractor": "gensim"}, "native or wikiextractor"),
        ({"sections": "leads"}, "all or lead"),
        ({"sections": "lead", "extractor": "wikiextractor"}, "all, with the extractor"),
        ({"date": "2026-01-01"}, "a date such as 20260101"),
        ({"export": "content"}, "pages_articles or content_current"),
        *(
            ({"created_after": day}, "a day such as 2026-01-01")
            for day in ("2026", "20260101", "2026-13-01", "yesterday")
        ),
    ],
)
def test_options_that_are_none_are_input_errors(tmp_path, options, message) -> None:
    for use in (recipe.sources, lambda wrong: recipe.blocks(tmp_path, wrong)):
        with pytest.raises(InputError, match=message):
            use(corpus(**options))


def test_a_dump_of_another_wiki_than_its_name_says_is_an_input_error(tmp_path: Path) -> None:
    write_dump(tmp_path / NAME.replace("eswiki", "ptwiki"), PLAIN_PAGES, wiki="eswiki")
    with pytest.raises(InputError, match=r"<dbname>eswiki</dbname> in its header"):
        recipe.blocks(tmp_path, corpus(language="pt"))


def test_the_sample_is_for_its_language_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the sample of wikipedia is in es and en"):
        fetch(corpus(language="pt"), "sample", tmp_path / "raw")
    fetch(corpus(language="es-CL"), "sample", tmp_path / "raw")
    fetch(corpus(language="en"), "sample", tmp_path / "english")
    wikis = [p.name[:6] for p in sorted(tmp_path.glob("*/*wiki*.xml.bz2"))]
    assert wikis == ["enwiki", "eswiki"]


def test_names_of_namespaces_come_from_the_header_and_the_language(tmp_path: Path) -> None:
    text = "[[Fitxer:A.jpg|thumb|Peu.]]\nUn poble és gran.\n[[categoria:Pobles]] [[Tipus:Vila|v]]"
    path = tmp_path / "cawiki-20260101-pages-articles.xml.bz2"
    write_dump(path, [("Poble", text)], wiki="cawiki", namespaces={6: "Fitxer", 14: "Tipus"})
    (document,) = read(tmp_path, corpus(language="ca")).records
    assert isinstance(document, Document)
    assert document.topics == ["Pobles", "Vila"]
    assert document.sections == [Section("", 1, [["Un poble és gran."]])]


def test_wikiextractor_gives_the_same_records_where_there_are_no_templates(tmp_path: Path) -> None:
    write_dump(tmp_path / NAME, PLAIN_PAGES + ODD_PAGES)
    result = read(tmp_path, WIKIEXTRACTOR)
    assert result.records[:2] == [LAKE, RIVER]
    # A template's value is lost in its text: "Mide." is left of the hill.
    assert [r.id for r in result.records] == ["3", "5", "17"]
    native = read(tmp_path, corpus())
    assert result.drops.as_dict()["documents"] == native.drops.as_dict()["documents"]


def test_wikiextractor_that_fails_or_hangs_is_an_input_error(tmp_path, monkeypatch) -> None:
    write_dump(tmp_path / NAME, PLAIN_PAGES)
    command = (sys.executable, "-c", "import sys; sys.exit('no luck')")
    monkeypatch.setattr(recipe, "COMMAND", command)
    with pytest.raises(InputError, match="exit status 1: no luck"):
        read(tmp_path, WIKIEXTRACTOR)
    command = (sys.executable, "-c", "import time; time.sleep(60)")
    monkeypatch.setattr(recipe, "COMMAND", command)
    monkeypatch.setattr(recipe, "TIMEOUT", 0.3)
    with pytest.raises(InputError, match=r"nothing after 0\.3 seconds"):
        read(tmp_path, WIKIEXTRACTOR)


def test_wikiextractor_is_never_imported() -> None:
    code = (
        "import sys\n"
        "from corpora_recipes.corpora.wikipedia import recipe\n"
        "heavy = {'wikiextractor', 'spacy', 'lxml', 'xml.etree.ElementTree'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- dump generator ------------------------------------------------------------------------------

ODD = [
    SamplePage('A & «B» "c"', "&lt; '''x''' &amp;nbsp; <title>no</title> <id>7</id>\n", id=7),
    SamplePage("Seco", "#REDIRECCIÓN [[Lago]]", id=9, redirect="Lago"),
    SamplePage("Lago", "El lago.\n<page>\nno\n</page>\n", id=12),
]


def index_rows(dump: Path) -> list[list[bytes]]:
    with bz2.open(index_path(dump)) as lines:
        return [line.rstrip(b"\n").split(b":", 2) for line in lines]


def fields(dump: Path) -> list[tuple[str, str, str, bool]]:
    site = read_site(dump)
    pages = [parse_page(xml, site) for xml in read_pages(dump)]
    return [(page.id, page.title(), page.text(), page.redirect) for page in pages]


def test_copies_differ_in_id_and_title_alone(tmp_path: Path) -> None:
    source = write_dump(tmp_path / "odd.xml", ODD)
    out = tmp_path / NAME
    assert generate(out, [source], times=3) == 9
    titles = [page.title + mark for mark in ("", " (×2)", " (×3)") for page in ODD]
    assert fields(out) == [
        (str(number + 1), title, ODD[number % 3].text, number % 3 == 1)
        for number, title in enumerate(titles)
    ]
    assert read_header(out) == read_header(source)
    # Everything but the title and the page's id is as it was.
    copy = list(read_pages(source))[1].replace(b"Seco</title>", "Seco (×2)</title>".encode())
    assert list(read_pages(out))[4] == copy.replace(b"<id>9</id>", b"<id>5</id>", 1)
    assert index_rows(out)[0][1:] == [b"1", "A &amp; «B» &quot;c&quot;".encode()]


def test_index_offsets_are_the_starts_of_streams_of_100_pages(tmp_path: Path) -> None:
    out = tmp_path / NAME
    assert generate(out, pages=450) == 450
    rows = index_rows(out)
    assert [int(row[1]) for row in rows] == list(range(1, 451))
    assert len({row[2] for row in rows}) == 450
    # Reading compares the index with the streams, up to the last byte.
    blocks = list_blocks(out)
    streams = [stream for block in blocks for stream in block.streams]
    assert [stream.pages for stream in streams] == [100, 100, 100, 100, 50]
    assert [stream.offset for stream in streams] == sorted({int(row[0]) for row in rows})
    titles = [parse_page(xml, block.site).title() for block in blocks for xml in block_pages(block)]
    assert [escape(title, {'"': "&quot;"}).encode() for title in titles] == [row[2] for row in rows]
    data = out.read_bytes()
    assert bz2.decompress(data[: streams[0].offset]) == read_header(SAMPLE)
    assert data.endswith(bz2.compress(b"</mediawiki>\n"))


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    files = [tmp_path / name / NAME for name in ("a", "b")]
    assert [generate(file) for file in files] == [len(list(read_pages(SAMPLE)))] * 2
    assert files[0].read_bytes() == files[1].read_bytes()
    assert index_path(files[0]).read_bytes() == index_path(files[1]).read_bytes()
