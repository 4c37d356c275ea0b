"""The verb `doctor`: what servers, mirrors and users' files are said to be, and exit codes."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from loopback import RangeServer

from corpora_recipes.corpora.theses import recipe as theses
from corpora_recipes.corpora.theses.harvest import examine_server
from corpora_recipes.doctor.examining import asking, examine, of_file
from corpora_recipes.facts import CorpusFacts, Source
from corpora_recipes.fetching import cost, sources
from corpora_recipes.fetching.pins import Locked
from corpora_recipes.fetching.session import Remote, look_at
from corpora_recipes.recipe import RECIPES, Corpus, Finding, Recipe
from evaluation.commands import main

DATA = b"x" * 1500


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[RangeServer]:
    monkeypatch.chdir(tmp_path)
    server = RangeServer({"/a.zip": DATA, "/b.zip": DATA})
    yield server
    server.close()


def file(server: RangeServer, name: str = "a.zip", **facts: Any) -> Source:
    return Source(name, urls=(f"{server.url}/{name}",), **facts)


def seen(source: Source, lock: Locked | None = None) -> Finding:
    return of_file(source, Path("raw"), look_at, {source.urls[0]: lock} if lock else {})


def test_a_file_that_is_as_it_should_be(served: RangeServer) -> None:
    found = seen(file(served, size=len(DATA)))
    assert (found.fault, found.to_download) == ("", len(DATA))
    Path("raw").mkdir()
    Path("raw/a.zip").write_bytes(DATA)
    assert seen(file(served, size=len(DATA))).to_download == 0
    assert all(asked in (None, "bytes=0-0") for asked in served.asked("/a.zip"))


@pytest.mark.parametrize(
    ("facts", "words"),
    [({"size": 1400}, "1,500 bytes, but 1,400 in corpus.yaml"), ({}, "")],
)
def test_a_size_that_is_not_that_of_the_pin(served: RangeServer, facts: Any, words: str) -> None:
    assert words in seen(file(served, **facts)).fault


def test_a_file_that_is_not_there(served: RangeServer) -> None:
    assert "404" in seen(file(served, "c.zip")).fault


def test_a_server_that_is_not_there(served: RangeServer) -> None:
    served.close()
    found = seen(file(served))
    assert found.fault
    assert found.to_download is None


def test_a_host_without_an_answer_is_not_asked_again(served: RangeServer) -> None:
    hosts: dict[str, str] = {}
    host, ask = served.url.removeprefix("http://"), asking(hosts)
    assert (ask(f"{served.url}/a.zip").fault, hosts) == ("", {host: ""})
    hosts[host] = "no answer in time"
    assert ask(f"{served.url}/b.zip").fault == "no answer in time"
    assert not served.asked("/b.zip")
    dead = ask("http://127.0.0.1:1/a.zip").fault
    assert hosts == {host: "no answer in time", "127.0.0.1:1": dead}


def test_a_second_address_or_another_file_will_do(served: RangeServer) -> None:
    second = Source("a.zip", urls=(f"{served.url}/gone.zip", f"{served.url}/a.zip"))
    found = seen(second)
    assert not found.fault
    assert "gone.zip: " in found.note
    packed = Source("a.txt", urls=(f"{served.url}/gone.txt",), packed=file(served))
    assert not seen(packed).fault
    instead = Source("c.zip", urls=(f"{served.url}/c.zip",), instead=(file(served, "b.zip"),))
    found = seen(instead)
    assert (found.fault, found.to_download) == ("", len(DATA))
    assert "b.zip instead" in found.note


def test_a_web_page_is_no_archive(served: RangeServer) -> None:
    said = Remote("http://x/a.zip", "", 200, 900, "text/html", True)
    found = of_file(Source("a.zip", urls=("http://x/a.zip",)), Path("raw"), lambda url: said, {})
    assert "a web page instead of the file" in found.fault


def test_a_fault_of_certificates_has_a_hint(served: RangeServer) -> None:
    said = Remote("https://x/a.zip", "TLS: certificate has expired")
    found = of_file(Source("a.zip", urls=("https://x/a.zip",)), Path("raw"), lambda url: said, {})
    assert "set REQUESTS_CA_BUNDLE" in found.fault


def test_a_server_without_ranges_is_noted(served: RangeServer) -> None:
    served.ranges = False
    assert "an interrupted download starts again" in seen(file(served)).note


def test_a_stale_lock(served: RangeServer) -> None:
    served.modified = "Mon, 02 Mar 2026 10:00:00 GMT"
    old = Locked("2026-01-01", "a.zip", len(DATA), "0" * 64)
    found = seen(file(served), lock=old)
    assert not found.fault
    assert "changed on 2026-03-02, after sources.lock of 2026-01-01" in found.note
    assert "changed" not in seen(file(served), lock=Locked("2026-04-01", "a", 1500)).note
    assert "in sources.lock" in seen(file(served), lock=Locked("2026-04-01", "a", 9)).fault


def corpus(*files: Source, manual: str = "", **options: Any) -> Corpus:
    facts = CorpusFacts("Mine", "documents", "es", "CC0", "", sources=files, manual=manual)
    return Corpus("mine", "fake", "es", None, 1, options, {}, facts)


def nothing(*arguments: Any) -> Any:
    raise NotImplementedError


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def make(**hooks: Any) -> None:
        made = Recipe(nothing, nothing, **hooks)
        monkeypatch.setattr(sources, "load_recipe", lambda name: made)
        monkeypatch.setattr("corpora_recipes.doctor.examining.load_recipe", lambda name: made)

    make()
    return make


def test_a_corpus_of_servers(served: RangeServer, recipe: Callable[..., None]) -> None:
    recipe(examine=lambda corpus: [Finding("repository", note="is there")])
    mine = corpus(file(served), file(served, "b.zip"))
    found = examine(mine, "upstream", Path("raw/mine"), look_at, {})
    assert (found.verdict, found.sizes) == ("ok", [None, 1500, 1500])
    assert [own.what for own in found.findings] == ["repository", "a.zip", "b.zip"]
    served.files.pop("/b.zip")
    found = examine(mine, "upstream", Path("raw/mine"), look_at, {})
    assert found.verdict == "failed"


def test_what_only_a_fetch_can_ask_is_unknown(recipe: Callable[..., None]) -> None:
    recipe(fetch_upstream=nothing)
    found = examine(corpus(Source("*.xml")), "upstream", Path("raw"), look_at, {})
    assert (found.verdict, found.sizes) == ("unknown", [None])


def test_a_corpus_that_must_be_asked_for(recipe: Callable[..., None], tmp_path: Path) -> None:
    mine = corpus(Source("a.zip"), manual="Ask for it.")
    found = examine(mine, "upstream", tmp_path / "raw", look_at, {})
    assert (found.verdict, found.sizes) == ("missing", [])
    assert "Ask for it." in found.findings[0].note
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.zip").write_bytes(DATA)
    assert examine(mine, "upstream", tmp_path / "raw", look_at, {}).verdict == "ok"


def test_a_mirror_and_a_path(recipe: Callable[..., None], tmp_path: Path) -> None:
    mine = corpus(Source("a.zip", urls=("http://127.0.0.1:9/a.zip",)))
    found = examine(mine, str(tmp_path), tmp_path / "raw", look_at, {})
    assert found.verdict == "failed"
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "a.zip").write_bytes(DATA)
    found = examine(mine, str(tmp_path), tmp_path / "raw", look_at, {})
    assert (found.verdict, found.origin) == ("ok", str(tmp_path))
    own = corpus(Source("*.zip"), path=str(tmp_path / "nowhere"))
    assert examine(own, "upstream", tmp_path / "raw", look_at, {}).verdict == "failed"


OAI = '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">%s</OAI-PMH>'


def test_a_repository(served: RangeServer) -> None:
    url = f"{served.url}/oai"
    identify = OAI % "<Identify><repositoryName>Tesis</repositoryName></Identify>"
    prefix = "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix></metadataFormat>"
    formats = OAI % f"<ListMetadataFormats>{prefix}</ListMetadataFormats>"
    served.files["/oai?verb=Identify"] = identify.encode()
    served.files["/oai?verb=ListMetadataFormats"] = formats.encode()
    found = examine_server("tesis", url, "oai_dc")
    assert (found.fault, found.note) == ("", "is 'Tesis', whose size is not known before")
    assert (
        examine_server("tesis", url, "xoai").fault
    ) == "no records in the form xoai; those it has: oai_dc"
    servers = [{"url": url}, {"url": f"{served.url}/gone".replace("127.0.0.1", "localhost")}]
    mine = replace(corpus(), options={"servers": servers})
    own, other = theses.examine(mine)
    assert (own.fault, other.fault) == ("", "")
    assert other.note.startswith("left out: ")
    assert all(
        found.fault for found in theses.examine(replace(mine, options={"servers": servers[1:]}))
    )
    refused = OAI % '<error code="badVerb">no</error>'
    served.files["/oai?verb=Identify"] = refused.encode()
    assert "the error badVerb: no" in examine_server("tesis", url, "oai_dc").fault
    assert "404" in examine_server("tesis", f"{served.url}/gone", "oai_dc").fault


def params(folder: Path, **changes: Any) -> None:
    documents = RECIPES / "jsonl" / "sample" / "documents.jsonl"
    entries = {
        "mine": {"corpus": {"recipe": "jsonl", "path": str(documents), "language": "es"}},
        "tass": {"corpus": {"recipe": "tass", "sources": "upstream"}},
        "sqc": {"corpus": {"recipe": "sqc"}},
    }
    text = yaml.safe_dump(
        {"seed": 1, "sources": "sample", "corpora": entries} | changes, sort_keys=False
    )
    (folder / "params.yaml").write_text(text, "utf-8")


def test_one_line_for_each_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROBETA_CONTACT", raising=False)
    params(tmp_path)
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mine: ok; /")
    assert lines[1].startswith("tass: missing; upstream; ")
    assert "Register at http://tass.sepln.org/2020/" in lines[1]
    assert lines[2] == "sqc: ok; sample"
    assert lines[3].startswith("disk: 0 bytes to download at most, ")
    assert lines[4].startswith("contact: none, which Wikimedia asks for: export PROBETA_CONTACT=")
    assert lines[5].startswith("licence of tass: ")
    assert "; cite " in lines[5]


def test_json_and_exit_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    params(tmp_path)
    assert main(["doctor", "sqc", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [found["corpus"] for found in report["corpora"]] == ["sqc"]
    assert report["disk"]["to_download"] == 0
    params(tmp_path, sources="nowhere")
    assert main(["doctor", "sqc", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["corpora"][0]["verdict"] == "failed"
    assert "faults in sqc" in said.err
    params(tmp_path)
    monkeypatch.setattr(cost, "free_at", lambda folder: -1)
    assert main(["doctor", "sqc"]) == 1
    assert "too small a disk" in capsys.readouterr().err
