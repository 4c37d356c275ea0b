"""Theses: records to abstracts, and the harvest of repositories."""

import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

import pytest
from case_tables import read_tables
from misbehaving import MisbehavingServer, always, head
from recipe_reading import read_all, recipe_corpus, refused

from corpora_recipes.corpora.theses import recipe
from corpora_recipes.corpora.theses.recipe import harvest
from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import MANIFEST
from corpora_recipes.recipe import Corpus, Source, load_facts
from corpora_recipes.records import Document
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- theses recipe -------------------------------------------------------------------------------

FACTS = load_facts("theses")
LONG = (
    "El presente trabajo estudia la calidad del agua de tres ríos. Se tomaron muestras en verano "
    "y en invierno, durante dos años. Los resultados muestran diferencias claras entre estaciones."
)
ENGLISH = (
    "The present work studies the quality of the water of three rivers. Samples were taken in "
    "summer and in winter, for two years. The results show clear differences between seasons, and "
    "this abstract is made a good deal longer than the Spanish one so that length alone would win."
)


corpus = partial(recipe_corpus, "theses")


def page(path: Path, *records: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    root = '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
    path.write_text(f"{root}<ListRecords>{''.join(records)}</ListRecords></OAI-PMH>", "utf-8")
    return path


def record(metadata: str, identifier: str = "oai:h:1", status: str = "") -> str:
    name = f"<identifier>{identifier}</identifier>" if identifier else ""
    return (
        f"<record><header{status}>{name}</header>"
        + (f"<metadata>{metadata}</metadata>" if metadata else "")
        + "</record>"
    )


def oai_dc(*values: tuple[str, str]) -> str:
    inner = "".join(f"<dc:{name}>{escape(text)}</dc:{name}>" for name, text in values)
    return (
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{inner}</oai_dc:dc>'
    )


def xoai(*values: tuple[str, str]) -> str:
    inner = ""
    for path, text in values:
        leaf = f'<field name="value">{escape(text)}</field><field name="authority">x</field>'
        for name in reversed(path.split(".")):
            leaf = f'<element name="{name}">{leaf}</element>'
        inner += leaf
    return f'<metadata xmlns="http://www.lyncode.com/xoai">{inner}</metadata>'


def read(raw: Path, **options: Any) -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, corpus(**options))


def read_one(tmp_path: Path, metadata: str) -> Document:
    page(tmp_path / "page-0000.xml", record(metadata))
    ((document,), _) = read(tmp_path)
    return document


def dropped(tmp_path: Path, *records: str) -> dict[str, int]:
    page(tmp_path / "page-0000.xml", *records)
    counts: dict[str, int] = read(tmp_path)[1]["documents"]["dropped"]
    return counts


@pytest.mark.parametrize("rule", FACTS.special["not_abstracts"])
def test_statements(rule: dict[str, Any]) -> None:
    for example in rule["examples"]:
        assert re.match(rule["pattern"], example, re.I), example


@pytest.mark.parametrize(
    ("rule", "replacement"),
    [
        *((rule, "") for rule in FACTS.special["boilerplate"]),
        *((rule, "\n\n") for rule in FACTS.special["sentence_breaks"]),
    ],
)
def test_boilerplate_and_sentence_breaks(rule: dict[str, str], replacement: str) -> None:
    flags = 0 if replacement else re.I | re.S
    cut = re.sub(rule["pattern"], replacement, rule["example"], flags=flags)
    assert cut == rule["leaves"] != rule["example"]


def test_each_default_server_has_a_folder() -> None:
    folders = [source.file.split("/")[0] for source in recipe.sources(corpus())]
    assert folders[0] == "repositorio.uchile.cl"
    assert len(set(folders)) == len(folders) == 5


def test_both_forms_give_the_same_document(tmp_path: Path) -> None:
    statement = "Memoria para optar al título de Ingeniera Civil"
    topics = [("subject", text) for text in ("Ríos    Chile", "ríos chile", "Agua")]
    descriptions = [("description", statement), ("description", LONG)]
    simple = oai_dc(("title", "El  agua"), *topics, *descriptions, ("language", ""))
    full = xoai(
        ("dc.title.es_ES", "El  agua"),
        ("dc.title.alternative.es_ES", "Otra agua"),
        ("dc.subject.es_ES", "Ríos    Chile"),
        ("dc.subject.none", "ríos chile"),
        ("dc.subject.lcsh.none", "Agua"),
        ("dc.description.provenance.en", "Submitted by admin on 2013 " + "word " * 99),
        ("dc.description.none", statement),
        ("dc.description.abstract.es_ES", LONG),
        ("others.description.abstract.none", "no Dublin Core " * 30),
    )
    document = read_one(tmp_path / "a", simple)
    assert document == read_one(tmp_path / "b", full)
    assert document.title == "El agua"
    assert document.topics == ["Ríos Chile", "Agua"]
    assert [len(p) for p in document.sections[0].paragraphs] == [3]


def test_pages_stand_in_the_folder_or_below_it(tmp_path: Path) -> None:
    page(tmp_path / "page-0000.xml")
    page(tmp_path / "b.cl" / "page-0001.xml")
    (tmp_path / "b.cl" / "page-0002.xml.part").write_text("x", "utf-8")
    keys = [block.key for block in recipe.blocks(tmp_path, corpus())]
    assert keys == ["b.cl/page-0001.xml", "page-0000.xml"]


def test_other_form(tmp_path: Path) -> None:
    page(tmp_path / "page-0000.xml", record('<mets xmlns="http://www.loc.gov/METS/"/>'))
    with pytest.raises(InputError, match=r"\{http://www\.loc\.gov/METS/\}mets"):
        read(tmp_path)


def test_control_characters_that_xml_forbids(tmp_path: Path) -> None:
    text = oai_dc(("description", LONG)).replace("trabajo", "tra\x0bba&#x0b;jo\x02&#2;")
    document = read_one(tmp_path, text)
    assert document.sections[0].paragraphs[0][0].startswith("El presente trabajo estudia")


PLAIN, ARTICLE = "info:eu-repo/semantics/publishedVersion", "info:eu-repo/semantics/article"
THESES = [[], [" "], ["Tesis"], ["TESIS DE GRADO"], ["Thesis"], ["masterThesis"], ["TDPRE"]]
THESES += [["info:eu-repo/semantics/doctoralThesis"], [PLAIN, "tesis"], ["tmg"]]
OTHERS = [["Artículo"], ["Book chapter"], ["Other"], [ARTICLE, PLAIN]]


def both_forms(name: str, qualified: str, values: list[str]) -> tuple[str, str]:
    """Return a record with some values of an element, in oai_dc and in xoai."""
    simple = oai_dc(*((name, text) for text in values), ("description", LONG))
    leaves = [(qualified, text) for text in values]
    return simple, xoai(*leaves, ("dc.description.abstract.es", LONG))


@pytest.mark.parametrize("types", [*THESES, *OTHERS])
def test_types(tmp_path: Path, types: list[str]) -> None:
    for metadata in both_forms("type", "dc.type.none", types):
        reasons = {"not_a_thesis": 1} if types in OTHERS else {}
        assert dropped(tmp_path, record(metadata)) == reasons


def test_the_option(tmp_path: Path) -> None:
    one, two = (
        record(oai_dc(("type", name), ("description", LONG)), f"oai:h:{name}")
        for name in ("Tesina", "Tesis")
    )
    raw = page(tmp_path / "page-0000.xml", one, two).parent
    assert [d.id for d in read(raw)[0]] == ["oai:h:Tesis"]
    assert [d.id for d in read(raw, types=["tesina"])[0]] == ["oai:h:Tesina"]


@pytest.mark.parametrize(("dates", "reason"), TABLES["dates"])
def test_the_earliest_date_decides(tmp_path: Path, dates: list[str], reason: str | None) -> None:
    for metadata in both_forms("date", "dc.date.issued.none", dates):
        raw = page(tmp_path / "page-0000.xml", record(metadata)).parent
        counts = read(raw, created_after="2026-01-01")[1]["documents"]["dropped"]
        assert counts == ({reason: 1} if reason else {})
        assert read(raw)[1]["documents"]["dropped"] == {}


def test_the_window() -> None:
    assert recipe.window([], corpus()) is None
    window = recipe.window([], corpus(created_after="2026-01-01"))
    assert window is not None
    assert (window.after, window.until) == ("2026-01-01", "")


@pytest.mark.parametrize("day", ["2026", "20260101", "2026-02-30", "ayer", ""])
def test_no_day(day: str) -> None:
    with pytest.raises(InputError, match="a day such as 2026-01-01"):
        recipe.window([], corpus(created_after=day))


def test_spanish_abstract_beats_a_longer_english_one(tmp_path: Path) -> None:
    for values in (
        oai_dc(("description", ENGLISH), ("description", LONG), ("language", "en")),
        xoai(
            ("dc.description.abstract.en", ENGLISH),
            ("dc.description.abstract.en", LONG),
            ("dc.language.iso.en", "en_US"),
        ),
    ):
        assert read_one(tmp_path, values).sections[0].paragraphs[0][0].startswith("El presente")


def test_xoai_without_an_abstract_falls_back_on_descriptions(tmp_path: Path) -> None:
    statement = ("dc.description.none", "Tesis para optar al grado de Magíster")
    document = read_one(tmp_path, xoai(statement, ("dc.description.es", LONG)))
    assert document.sections[0].paragraphs[0][0].startswith("El presente")


def test_drops(tmp_path: Path) -> None:
    statement = (
        "Memoria para optar al título profesional de Ingeniera Civil que presenta a la "
        "Facultad de Ciencias Físicas y Matemáticas de la Universidad, con la guía de dos "
        "profesores y la revisión de una comisión de tres integrantes más"
    )
    assert dropped(
        tmp_path,
        record("", "oai:h:1", ' status="deleted"'),
        record("", "", ' status="deleted"'),
        record(oai_dc(("description", LONG)), ""),
        record("", "oai:h:2"),
        record(oai_dc(("title", "x")), "oai:h:3"),
        record(oai_dc(("description", "")), "oai:h:4"),
        record(oai_dc(("description", statement)), "oai:h:5"),
        record(oai_dc(("description", "Autor no autoriza el acceso.")), "oai:h:6"),
        record(oai_dc(("description", ENGLISH), ("language", "es")), "oai:h:7"),
        record(oai_dc(("description", LONG), ("type", "Libro")), "oai:h:9"),
        record(oai_dc(("description", LONG.replace("o", "\ufffd"))), "oai:h:8"),
    ) == {"deleted": 2, "no_abstract": 5} | dict.fromkeys(
        ["no_identifier", "other_language", "no_sentences", "not_a_thesis"], 1
    )


def test_long_abstract_may_begin_like_a_statement(tmp_path: Path) -> None:
    text = "Trabajo de campo en tres ríos. " + LONG * 2
    document = read_one(tmp_path, oai_dc(("description", text)))
    assert document.sections[0].paragraphs[0][0] == "Trabajo de campo en tres ríos."


def sections(tmp_path: Path, text: str) -> tuple[list[list[list[str]]], dict[str, Any]]:
    """Return the paragraphs of each section of an abstract, and the counts of sentences."""
    page(tmp_path / "page-0000.xml", record(oai_dc(("description", text))))
    ((document,), drops) = read(tmp_path)
    found = [[list(p) for p in section.paragraphs] for section in document.sections]
    return found, drops["sentences"]


def test_line_breaks(tmp_path: Path) -> None:
    text = LONG.replace("agua de", "agua\r\nde").replace("verano", "vera\xad\nno")
    text = text.replace(". Los", ".\n \nLos")
    assert sections(tmp_path, text)[0] == [
        [
            [
                "El presente trabajo estudia la calidad del agua de tres ríos.",
                "Se tomaron muestras en verano y en invierno, durante dos años.",
            ],
            ["Los resultados muestran diferencias claras entre estaciones."],
        ]
    ]


def test_sentence_without_full_stop_at_a_line_break(tmp_path: Path) -> None:
    text = LONG.replace("ríos. Se tomaron", "ríos\nSe tomaron") + " Trata de\nLa Serena."
    assert [[len(p) for p in s] for s in sections(tmp_path, text)[0]] == [[1, 3]]


@pytest.mark.parametrize(("reason", "damage"), TABLES["damaged"])
def test_damaged_sentence_ends_its_section(tmp_path, reason: str, damage: str) -> None:
    found, counts = sections(tmp_path, LONG.replace("invierno", damage))
    assert [[len(p) for p in s] for s in found] == [[1], [1]]
    assert counts == {"seen": 3, "kept": 2, "dropped": {reason: 1}}


def test_punctuation_is_put_in_order(tmp_path: Path) -> None:
    text = LONG.replace("ríos. Se", "ríos .Se").replace("en invierno,", "( poco ) en invierno ,")
    text = text.replace("años. Los", "años.Los")
    ((paragraphs,), _) = sections(tmp_path, text.replace("tres ríos", "''tres ríos''"))
    assert paragraphs == [
        [
            'El presente trabajo estudia la calidad del agua de "tres ríos".',
            "Se tomaron muestras en verano y (poco) en invierno, durante dos años.",
            "Los resultados muestran diferencias claras entre estaciones.",
        ]
    ]


@pytest.mark.parametrize(("last", "reason"), TABLES["beginnings"])
def test_beginnings(tmp_path: Path, last: str, reason: str | None) -> None:
    ((_,), counts) = sections(tmp_path, f"{LONG}\n\n{last}")
    assert counts["dropped"] == ({reason: 1} if reason else {})


@pytest.mark.parametrize("harmless", ["p < 0,05 y n > 3", "«<<el invierno>>»", "a e o f(x)"])
def test_no_damage(tmp_path: Path, harmless: str) -> None:
    ((((_, _, _),),), _) = sections(tmp_path, LONG.replace("invierno", harmless))


URL = "https://a.cl/oai/request"
BAD = [{"url": url} for url in (None, "a.cl/oai", 10**17, [URL], "http://[", "http://../x")]
BAD += [{"url": URL, **more} for more in ({"prefix": "x"}, {"set": 1.5}, {"metadata_prefix": [1]})]


@pytest.mark.parametrize("server", [URL, *BAD])
def test_bad_servers(server: object) -> None:
    with pytest.raises(InputError, match=r"corpora\.theses\.corpus\.servers"):
        recipe.sources(corpus(servers=[server]))


def test_one_folder_a_server_and_set() -> None:
    two = corpus(servers=[{"url": URL}, {"url": URL, "set": "com_2250/1:x"}])
    assert recipe.sources(two) == [
        Source("a.cl/page-*.xml", optional=True),
        Source("a.cl-com_2250_1_x/page-*.xml", optional=True),
    ]
    with pytest.raises(InputError, match="another host or set"):
        recipe.sources(corpus(servers=[{"url": URL}, {"url": URL}]))


@pytest.mark.parametrize(("space", "same"), [("\n" * 30_000, "\n\n"), (" " * 30_000, " ")])
def test_long_runs_of_white_space_take_no_cube_of_time(tmp_path, space: str, same: str) -> None:
    """It would take hours."""
    first, _, rest = LONG.partition(". ")
    long, short = (
        read_one(tmp_path / str(len(between)), oai_dc(("description", f"{first}.{between}{rest}")))
        for between in (space, same)
    )
    assert long.sections == short.sections


def test_comments_and_instructions_are_no_records_metadata(tmp_path: Path) -> None:
    values = oai_dc(("description", LONG))
    plain = read_one(tmp_path / "plain", values)
    assert read_one(tmp_path / "odd", f"<?x y?><!-- z -->{values}<?x?>") == plain
    assert dropped(tmp_path / "none", record("<?x y?>")) == {"no_abstract": 1}


# --- theses harvest ------------------------------------------------------------------------------

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
)
Answer = Callable[[dict[str, str]], tuple[int, dict[str, str], str]]


def oai_error(code: str) -> tuple[int, dict[str, str], str]:
    text = f'{HEAD}<request>http://x</request><error code="{code}">no good</error></OAI-PMH>'
    return 200, {}, text


class Repository:
    """Seven records in three pages; ``before`` are answers that come first, one a request."""

    def __init__(self) -> None:
        self.queries: list[dict[str, str]] = []
        self.before: list[Answer] = []
        self.expired = False
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                query = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
                owner.queries.append(query)
                answer = owner.before.pop(0) if owner.before else owner.answer
                status, headers, body = answer(query)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                data = body.encode()
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                self.close_connection = True

            def log_message(self, *args: Any) -> None:
                pass

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/oai/request"
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, query: dict[str, str]) -> tuple[int, dict[str, str], str]:
        token = query.get("resumptionToken")
        if token is None:
            if query.get("metadataPrefix") not in ("oai_dc", "xoai"):
                return oai_error("cannotDisseminateFormat")
            if query.get("set") == "nothing":
                return oai_error("noRecordsMatch")
            prefix, start = query["metadataPrefix"], 0
            chosen = "".join(f' {key}="{query[key]}"' for key in ("set", "from") if key in query)
            attributes = f' metadataPrefix="{prefix}"{chosen}'
        else:
            if self.expired or "metadataPrefix" in query:
                return oai_error("badResumptionToken")
            prefix, _, place = token.partition("/// &")
            start = int(place)
            attributes = ' resumptionToken="…"'
        records = "".join(
            "<record>"
            + ('<header status="deleted">' if number == 4 else "<header>")
            + f"<identifier>oai:x:{number}</identifier></header></record>"
            for number in range(start, min(start + 3, 7))
        )
        following = f"{prefix}/// &amp;{start + 3}" if start + 3 < 7 else ""
        return (
            200,
            {"Content-Type": "text/xml"},
            f'{HEAD}<request verb="ListRecords"{attributes}>{self.url}</request><ListRecords>'
            f'{records}<resumptionToken completeListSize="7" cursor="{start}">{following}'
            "</resumptionToken></ListRecords></OAI-PMH>",
        )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Repository]:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    monkeypatch.chdir(tmp_path)
    repository = Repository()
    yield repository
    repository.httpd.shutdown()
    repository.httpd.server_close()


def corpus_with(*servers: dict[str, Any], **options: Any) -> Corpus:
    return recipe_corpus("theses", servers=list(servers), delay_seconds=0, **options)


def pages(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


ALL = ["page-0000.xml", "page-0001.xml", "page-0002.xml"]


def test_whole_harvest_by_tokens(server: Repository, tmp_path: Path) -> None:
    harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert pages(tmp_path / "h") == ALL
    assert server.queries == [
        {"verb": "ListRecords", "metadataPrefix": "oai_dc"},
        {"verb": "ListRecords", "resumptionToken": "oai_dc/// &3"},
        {"verb": "ListRecords", "resumptionToken": "oai_dc/// &6"},
    ]
    # Complete: nothing is asked again.
    harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert len(server.queries) == 3


def test_both_prefixes_through_fetch(server: Repository, tmp_path: Path) -> None:
    corpus = corpus_with(
        {"url": server.url, "set": None, "metadata_prefix": "oai_dc"},
        {"url": server.url, "set": "col_1", "metadata_prefix": "xoai"},
    )
    sources.fetch(corpus, "upstream", tmp_path / "out")
    assert pages(tmp_path / "out" / "127.0.0.1") == ALL
    assert pages(tmp_path / "out" / "127.0.0.1-col_1") == ALL
    assert server.queries[3] == {"verb": "ListRecords", "metadataPrefix": "xoai", "set": "col_1"}
    # The same folder is a mirror of the same servers.
    (tmp_path / "out" / MANIFEST).unlink()
    (tmp_path / "mirror").mkdir()
    (tmp_path / "out").rename(tmp_path / "mirror" / "theses")
    sources.fetch(corpus, "mirror", tmp_path / "copy")
    assert pages(tmp_path / "copy" / "127.0.0.1") == ALL
    blocks = recipe.blocks(tmp_path / "copy", corpus)
    assert len(blocks) == 6
    assert recipe.read_block(blocks[1], corpus).drops.dropped == {
        ("documents", "deleted"): 1,
        ("documents", "no_abstract"): 2,
    }


def test_all_dead(server: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.before = [lambda query: (404, {}, ""), lambda query: oai_error("noRecordsMatch")]
    corpus = corpus_with({"url": server.url}, {"url": server.url, "set": "nothing"})
    with refused("", "127.0.0.1, 127.0.0.1-nothing", "an answer from at least one of the servers"):
        sources.fetch(corpus, "upstream", tmp_path / "out")
    notes = capsys.readouterr().err
    assert "127.0.0.1 gave no page and is skipped: the server answers 404" in notes
    assert "127.0.0.1-nothing gave no page and is skipped: the error noRecordsMatch" in notes


def test_one_that_stops_is_an_error_after_the_others(server: Repository, tmp_path: Path) -> None:
    server.before = [server.answer, lambda query: (404, {}, "")]
    corpus = corpus_with({"url": server.url}, {"url": server.url, "set": "col_1"})
    with pytest.raises(InputError, match="404"):
        sources.fetch(corpus, "upstream", tmp_path / "out")
    assert pages(tmp_path / "out" / "127.0.0.1") == ALL[:1]
    assert pages(tmp_path / "out" / "127.0.0.1-col_1") == ALL
    server.queries.clear()
    sources.fetch(corpus, "upstream", tmp_path / "out")
    assert pages(tmp_path / "out" / "127.0.0.1") == ALL
    # It goes on where it stopped.
    assert server.queries[0] == {"verb": "ListRecords", "resumptionToken": "oai_dc/// &3"}


def test_polite_delay(server: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("corpora_recipes.corpora.theses.recipe.time.sleep", waits.append)
    harvest(server.url, None, "oai_dc", tmp_path / "h", 2.5)
    assert waits == [2.5, 2.5]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<!DOCTYPE html><html><body><p>Mantención</p></body></html>", "found: +html"),
        ("<!DOCTYPE html><html><body><br>Mantención</html>", "begins with b'<!DOCTYPE html>"),
        (HEAD + "<ListRecords><record/>", "begins with"),
        (HEAD + "<Identify/></OAI-PMH>", "Identify"),
        (
            HEAD.replace("<OAI", '<!DOCTYPE OAI-PMH [<!ENTITY x SYSTEM "file:///etc/passwd">]><OAI')
            + "<ListRecords>&x;</ListRecords></OAI-PMH>",
            "no DOCTYPE",
        ),
    ],
)
def test_answer_that_is_no_page(server: Repository, tmp_path: Path, body: str, found: str) -> None:
    server.before = [server.answer, lambda query: (200, {}, body)]
    with pytest.raises(InputError, match=found):
        harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert pages(tmp_path / "h") == ALL[:1]


@pytest.mark.parametrize(("record_set", "prefix", "before", "words"), TABLES["errors"])
def test_errors_of_the_protocol(server, tmp_path, record_set, prefix, before, words) -> None:
    server.before = [server.answer] * before
    server.expired = True
    with refused("", *words):
        harvest(server.url, record_set, prefix, tmp_path / "h", 0)
    assert pages(tmp_path / "h") == ALL[:before]


def test_records_since_a_day(server: Repository, tmp_path: Path) -> None:
    corpus = corpus_with({"url": server.url}, created_after="2026-01-01")
    sources.fetch(corpus, "upstream", tmp_path / "out")
    first = {"verb": "ListRecords", "metadataPrefix": "oai_dc", "from": "2026-01-01"}
    assert server.queries[0] == first
    assert [sorted(query) for query in server.queries[1:]] == [["resumptionToken", "verb"]] * 2
    # What begins earlier, or at the beginning, has these records too.
    harvest(server.url, None, "oai_dc", tmp_path / "all", 0)
    harvest(server.url, None, "oai_dc", tmp_path / "all", 0, "2026-01-01")
    harvest(server.url, None, "oai_dc", tmp_path / "out" / "127.0.0.1", 0, "2026-02-01")


@pytest.mark.parametrize(("request_now", "name"), TABLES["other_pages"])
def test_pages_of_another_request_are_not_gone_on_with(server, tmp_path, request_now, name) -> None:
    harvest(server.url, None, "oai_dc", tmp_path / "h", 0, "2026-01-01")
    record_set, prefix, since = request_now
    with pytest.raises(InputError, match=f"pages with {name}"):
        harvest(server.url, record_set, prefix, tmp_path / "h", 0, since)


def oai_page(token: str, ids: list[str], cursor: str = "", size: int = 0) -> str:
    """Return a page with such records and such a token for the next one."""
    records = "".join(
        f"<record><header><identifier>{name}</identifier></header><metadata>{'x' * size}"
        "</metadata></record>"
        for name in ids
    )
    place = f' cursor="{cursor}"' if cursor else ""
    return (
        f"{HEAD}<ListRecords>{records}<resumptionToken{place}>{token}</resumptionToken>"
        "</ListRecords></OAI-PMH>"
    )


@pytest.mark.parametrize(
    ("of_number", "found", "kept"),
    [
        (lambda n: oai_page("A", [f"{n}"]), "the token 'A' once more", 1),
        (lambda n: oai_page("ABCDE"[n % 5], [f"{n}"]), "the token 'A' once more", 5),
        (lambda n: oai_page(f"{n}", [f"{n}"], str(9 - n)), "the place 8 in the list, after 9", 1),
        (lambda n: oai_page(f"{n}", [f"{n % 3}", "b"]), "the records of an earlier page", 3),
        (lambda n: oai_page(f"{n}", []), "21 pages without a record", 20),
        (lambda n: oai_page(f"{n}", [f"{n}"]), "30 pages, and a token for more", 30),
        (lambda n: oai_page(f"{n}", [f"{n}"], size=5000), "a file of at most 4,000 bytes", 0),
        (lambda n: "<a>" * 400 + "</a>" * 400, "depth", 0),
    ],
)
def test_a_server_without_an_end(server, tmp_path, monkeypatch, of_number, found, kept) -> None:
    monkeypatch.setattr("corpora_recipes.corpora.theses.recipe.MAX_PAGES", 30)
    monkeypatch.setattr("corpora_recipes.corpora.theses.recipe.LARGEST_XML", 4000)
    server.before = [lambda query, n=n: (200, {}, of_number(n)) for n in range(40)]  # type: ignore[misc]
    with pytest.raises(InputError) as error:
        harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert found in f"{error.value.expected} {error.value.found}"
    assert len(pages(tmp_path / "h")) == kept
    assert len(str(error.value)) < 1000
    # Nor does a second run, which goes on from the last oai_page, add pages without end.
    asked = len(server.queries)
    with pytest.raises(InputError):
        harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert len(server.queries) <= 2 * asked + 1


def test_hidden_records_leave_empty_pages(server: Repository, tmp_path: Path) -> None:
    server.before = [lambda query, n=n: (200, {}, oai_page(f"t{n}", [])) for n in range(3)]  # type: ignore[misc]
    server.before += [lambda query: (200, {}, oai_page("", ["a"]))]
    harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert len(pages(tmp_path / "h")) == 4


def test_a_page_may_come_without_its_length(server: Repository, tmp_path: Path) -> None:
    # The end of the XML is the end of the oai_page.
    text = oai_page("", ["a"])
    raw = MisbehavingServer(always(head("200 OK", "Content-Type: text/xml") + text.encode()))
    harvest(f"{raw.url}/oai", None, "oai_dc", tmp_path / "h", 0)
    assert pages(tmp_path / "h") == ALL[:1]
    raw.way = always(head("200 OK", "Content-Type: text/xml") + text.encode()[:-5])
    with pytest.raises(InputError, match="a complete response"):
        harvest(f"{raw.url}/oai", None, "oai_dc", tmp_path / "i", 0)
    raw.close()
    assert pages(tmp_path / "i") == []
