"""Harvesting by OAI-PMH against a server on loopback."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from misbehaving import MisbehavingServer, always, head
from recipe_reading import recipe_corpus, refused

from corpora_recipes.corpora.theses import recipe
from corpora_recipes.corpora.theses.recipe import harvest
from corpora_recipes.fetching import patience, sources
from corpora_recipes.fetching.downloads import MANIFEST
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

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


class TestSeveralServers:
    def test_all_dead(
        self, server: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        server.before = [lambda query: (404, {}, ""), lambda query: oai_error("noRecordsMatch")]
        corpus = corpus_with({"url": server.url}, {"url": server.url, "set": "nothing"})
        with refused(
            "", "127.0.0.1, 127.0.0.1-nothing", "an answer from at least one of the servers"
        ):
            sources.fetch(corpus, "upstream", tmp_path / "out")
        notes = capsys.readouterr().err
        assert "127.0.0.1 gave no page and is skipped: the server answers 404" in notes
        assert "127.0.0.1-nothing gave no page and is skipped: the error noRecordsMatch" in notes

    def test_one_that_stops_is_an_error_after_the_others(
        self, server: Repository, tmp_path: Path
    ) -> None:
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


@pytest.mark.parametrize(
    ("record_set", "prefix", "before", "words"),
    [
        ("nothing", "oai_dc", 0, ["verb=ListSets"]),
        (None, "marc21", 0, ["correct `metadata_prefix`"]),
        (
            None,
            "oai_dc",
            1,
            ["remove this server's folder", "the error badResumptionToken: no good"],
        ),
    ],
)
def test_errors_of_the_protocol(
    server: Repository,
    tmp_path: Path,
    record_set: str | None,
    prefix: str,
    before: int,
    words: list[str],
) -> None:
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


@pytest.mark.parametrize(
    ("request_now", "name"),
    [
        ((None, "xoai", None), "metadataPrefix"),
        (("col_1", "oai_dc", None), "set"),
        ((None, "oai_dc", "2025-12-31"), "from"),
        ((None, "oai_dc", None), "from"),
    ],
)
def test_pages_of_another_request_are_not_gone_on_with(
    server: Repository, tmp_path: Path, request_now: tuple[Any, str, Any], name: str
) -> None:
    harvest(server.url, None, "oai_dc", tmp_path / "h", 0, "2026-01-01")
    record_set, prefix, since = request_now
    with pytest.raises(InputError, match=f"pages with {name}"):
        harvest(server.url, record_set, prefix, tmp_path / "h", 0, since)


def page(token: str, ids: list[str], cursor: str = "", size: int = 0) -> str:
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
        (lambda n: page("A", [f"{n}"]), "the token 'A' once more", 1),
        (lambda n: page("ABCDE"[n % 5], [f"{n}"]), "the token 'A' once more", 5),
        (lambda n: page(f"{n}", [f"{n}"], str(9 - n)), "the place 8 in the list, after 9", 1),
        (lambda n: page(f"{n}", [f"{n % 3}", "b"]), "the records of an earlier page", 3),
        (lambda n: page(f"{n}", []), "21 pages without a record", 20),
        (lambda n: page(f"{n}", [f"{n}"]), "30 pages, and a token for more", 30),
        (lambda n: page(f"{n}", [f"{n}"], size=5000), "a file of at most 4,000 bytes", 0),
        (lambda n: "<a>" * 400 + "</a>" * 400, "depth", 0),
    ],
)
def test_a_server_without_an_end(
    server: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    of_number: Callable[[int], str],
    found: str,
    kept: int,
) -> None:
    monkeypatch.setattr("corpora_recipes.corpora.theses.recipe.MAX_PAGES", 30)
    monkeypatch.setattr("corpora_recipes.corpora.theses.recipe.LARGEST_XML", 4000)
    server.before = [lambda query, n=n: (200, {}, of_number(n)) for n in range(40)]  # type: ignore[misc]
    with pytest.raises(InputError) as error:
        harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert found in f"{error.value.expected} {error.value.found}"
    assert len(pages(tmp_path / "h")) == kept
    assert len(str(error.value)) < 1000
    # Nor does a second run, which goes on from the last page, add pages without end.
    asked = len(server.queries)
    with pytest.raises(InputError):
        harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert len(server.queries) <= 2 * asked + 1


def test_hidden_records_leave_empty_pages(server: Repository, tmp_path: Path) -> None:
    server.before = [lambda query, n=n: (200, {}, page(f"t{n}", [])) for n in range(3)]  # type: ignore[misc]
    server.before += [lambda query: (200, {}, page("", ["a"]))]
    harvest(server.url, None, "oai_dc", tmp_path / "h", 0)
    assert len(pages(tmp_path / "h")) == 4


def test_a_page_may_come_without_its_length(server: Repository, tmp_path: Path) -> None:
    # The end of the XML is the end of the page.
    text = page("", ["a"])
    raw = MisbehavingServer(always(head("200 OK", "Content-Type: text/xml") + text.encode()))
    harvest(f"{raw.url}/oai", None, "oai_dc", tmp_path / "h", 0)
    assert pages(tmp_path / "h") == ALL[:1]
    raw.way = always(head("200 OK", "Content-Type: text/xml") + text.encode()[:-5])
    with pytest.raises(InputError, match="a complete response"):
        harvest(f"{raw.url}/oai", None, "oai_dc", tmp_path / "i", 0)
    raw.close()
    assert pages(tmp_path / "i") == []
