"""The verb `doctor`: what servers, mirrors and users' files are said to be, and exit codes."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from loopback import RangeServer

from corpora_recipes.corpora.theses.recipe import examine as examine_theses
from corpora_recipes.corpora.theses.recipe import examine_server
from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import Locked
from corpora_recipes.fetching.transfer import Remote, look_at
from corpora_recipes.recipe import RECIPES, Corpus, CorpusFacts, Finding, Recipe, Source
from probeta.cli import doctor, main
from probeta.cli.doctor import Report, examine, examine_file, make_asker

Capsys = pytest.CaptureFixture[str]
DATA = b"x" * 1500


pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.fixture
def served() -> Iterator[RangeServer]:
    server = RangeServer({"/a.zip": DATA, "/b.zip": DATA})
    yield server
    server.close()


def file(server: RangeServer, name: str = "a.zip", **facts: Any) -> Source:
    return Source(name, urls=(f"{server.url}/{name}",), **facts)


def seen(source: Source, lock: Locked | None = None) -> Finding:
    return examine_file(source, Path("raw"), look_at, {source.urls[0]: lock} if lock else {})


def test_a_file_that_is_as_it_should_be(served: RangeServer) -> None:
    finding = seen(file(served, size=len(DATA)))
    assert (finding.fault, finding.to_download) == ("", len(DATA))
    Path("raw").mkdir()
    Path("raw/a.zip").write_bytes(DATA)
    assert seen(file(served, size=len(DATA))).to_download == 0
    assert all(asked in (None, "bytes=0-0") for asked in served.asked("/a.zip"))


@pytest.mark.parametrize(
    ("remote", "fault"),
    [
        (Remote("", "", 200, 1500), "1,500 bytes, but 1,400 in corpus.yaml: the file has changed"),
        (Remote("", "404", 404), "404"),
        (Remote("", "", 200, 900, "text/html", True), "a web page instead of the file"),
        (Remote("", "TLS: certificate has expired"), "TLS: certificate has expired; if a proxy"),
        (Remote("", "no answer in time"), "a.example: no answer in time"),
    ],
)
def test_why_a_file_cannot_be_taken(remote: Remote, fault: str) -> None:
    source = Source("a.zip", ("https://a.example/a.zip",), size=1400)
    assert fault in examine_file(source, Path("raw"), lambda url: remote, {}).fault


def test_a_host_without_an_answer_is_not_asked_again(served: RangeServer) -> None:
    hosts: dict[str, str] = {}
    host, ask = served.url.removeprefix("http://"), make_asker(hosts)
    assert (ask(f"{served.url}/a.zip").fault, hosts) == ("", {host: ""})
    hosts[host] = "no answer in time"
    assert ask(f"{served.url}/b.zip").fault == "no answer in time"
    assert not served.asked("/b.zip")
    dead = ask("http://127.0.0.1:1/a.zip").fault
    assert hosts == {host: "no answer in time", "127.0.0.1:1": dead}


def test_a_second_address_or_another_file_will_do(served: RangeServer) -> None:
    url = f"{served.url}/gone.zip"
    for source, note in (
        (Source("a.zip", urls=(url, f"{served.url}/a.zip")), "gone.zip: "),
        (Source("a.txt", urls=(url,), packed=file(served)), ""),
        (Source("c.zip", urls=(url,), instead=(file(served, "b.zip"),)), "b.zip instead"),
    ):
        finding = seen(source)
        assert (finding.fault, finding.to_download) == ("", len(DATA))
        assert note in finding.note
    served.ranges = False
    assert "an interrupted download starts again" in seen(file(served)).note


def test_a_stale_lock(served: RangeServer) -> None:
    served.modified = "Mon, 02 Mar 2026 10:00:00 GMT"
    finding = seen(file(served), lock=Locked("2026-01-01", "a.zip", len(DATA), "0" * 64))
    assert not finding.fault
    assert "changed on 2026-03-02, after sources.lock of 2026-01-01" in finding.note
    assert "changed" not in seen(file(served), lock=Locked("2026-04-01", "a", 1500)).note
    assert "in sources.lock" in seen(file(served), lock=Locked("2026-04-01", "a", 9)).fault


def corpus(*files: Source, manual: str = "", **options: Any) -> Corpus:
    facts = CorpusFacts("Mine", "documents", "es", "CC0", "", sources=files, manual=manual)
    return Corpus("mine", "fake", "es", None, 1, options, {}, facts)


def examined(corpus: Corpus, origin: str = "upstream") -> Report:
    return examine(corpus, origin, Path("raw"), look_at, {})


def no_hook(*arguments: Any) -> Any:
    raise NotImplementedError


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def make(**hooks: Any) -> None:
        made = Recipe(no_hook, no_hook, **hooks)
        monkeypatch.setattr(sources, "load_recipe", lambda name: made)
        monkeypatch.setattr("probeta.cli.doctor.load_recipe", lambda name: made)

    make()
    return make


def test_a_corpus_of_servers(served: RangeServer, recipe: Callable[..., None]) -> None:
    recipe(examine=lambda corpus: [Finding("repository", note="is there")])
    mine = corpus(file(served), file(served, "b.zip"))
    report = examined(mine)
    assert (report.verdict, report.sizes) == ("ok", [None, 1500, 1500])
    assert [finding.what for finding in report.findings] == ["repository", "a.zip", "b.zip"]
    served.files.pop("/b.zip")
    assert examined(mine).verdict == "failed"
    # What only a fetch can ask.
    recipe(fetch_upstream=no_hook)
    report = examined(corpus(Source("*.xml")))
    assert (report.verdict, report.sizes) == ("unknown", [None])


@pytest.mark.usefixtures("recipe")
def test_a_corpus_that_must_be_asked_for() -> None:
    mine = corpus(Source("a.zip"), manual="Ask for it.")
    report = examined(mine)
    assert (report.verdict, report.sizes) == ("missing", [])
    assert "Ask for it." in report.findings[0].note
    Path("raw").mkdir()
    Path("raw/a.zip").write_bytes(DATA)
    assert examined(mine).verdict == "ok"


@pytest.mark.usefixtures("recipe")
def test_a_mirror_and_a_path() -> None:
    mine = corpus(Source("a.zip", urls=("http://127.0.0.1:9/a.zip",)))
    assert examined(mine, ".").verdict == "failed"
    Path("fake").mkdir()
    Path("fake/a.zip").write_bytes(DATA)
    report = examined(mine, ".")
    assert (report.verdict, report.origin) == ("ok", ".")
    assert examined(corpus(Source("*.zip"), path="nowhere")).verdict == "failed"


OAI = '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">%s</OAI-PMH>'


def test_a_repository(served: RangeServer) -> None:
    url = f"{served.url}/oai"
    identify = OAI % "<Identify><repositoryName>Tesis</repositoryName></Identify>"
    prefix = "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix></metadataFormat>"
    formats = OAI % f"<ListMetadataFormats>{prefix}</ListMetadataFormats>"
    served.files["/oai?verb=Identify"] = identify.encode()
    served.files["/oai?verb=ListMetadataFormats"] = formats.encode()
    finding = examine_server("tesis", url, "oai_dc")
    assert (finding.fault, finding.note) == ("", "is 'Tesis', whose size is not known before")
    assert "those it has: oai_dc" in examine_server("tesis", url, "xoai").fault
    servers = [{"url": url}, {"url": f"{served.url}/gone".replace("127.0.0.1", "localhost")}]
    first, second = examine_theses(corpus(servers=servers))
    assert (first.fault, second.fault) == ("", "")
    assert second.note.startswith("skipped: ")
    assert all(finding.fault for finding in examine_theses(corpus(servers=servers[1:])))
    served.files["/oai?verb=Identify"] = (OAI % '<error code="badVerb">no</error>').encode()
    assert "the error badVerb: no" in examine_server("tesis", url, "oai_dc").fault
    assert "404" in examine_server("tesis", f"{served.url}/gone", "oai_dc").fault


def params(**changes: Any) -> None:
    documents = RECIPES / "documents" / "sample" / "documents.jsonl"
    entries = {
        "mine": {"corpus": {"recipe": "documents", "path": str(documents), "language": "es"}},
        "tass": {"corpus": {"recipe": "tass", "sources": "upstream"}},
        "sqc": {"corpus": {"recipe": "sqc"}},
    }
    text = yaml.safe_dump({"corpora": entries} | changes, sort_keys=False)
    Path("params.yaml").write_text(text, "utf-8")


def test_one_line_for_each_corpus(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    monkeypatch.delenv("PROBETA_CONTACT", raising=False)
    params()
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mine: ok; /")
    assert lines[1] == "tass: missing; upstream"
    assert lines[2].startswith("  TASS 2020: none or not all; ")
    assert "Register at http://tass.sepln.org/2020/" in lines[2]
    assert lines[3] == "sqc: ok; sample"
    assert lines[4].startswith("disk: to download 0 bytes at most, ")
    assert lines[5].startswith("contact: none, which Wikimedia asks for: export PROBETA_CONTACT=")
    assert lines[6].startswith("licence of tass: ")
    assert "; cite " in lines[6]


def test_without_a_network(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    entries = {"xnli": {"corpus": {"recipe": "xnli"}}, "fac": {"corpus": {"recipe": "fac"}}}
    params(corpora=entries, sources="upstream")
    asked = []

    def silent(url: str, **options: Any) -> Remote:
        asked.append(url)
        return Remote(url, "no answer in time")

    monkeypatch.setattr("probeta.cli.doctor.look_at", silent)
    assert main(["doctor"]) == 1
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0] == f"you seem to be offline: none of {len(asked)} hosts answers"
    assert lines[1:3] == ["xnli: unknown; no server was asked", "fac: unknown; no server was asked"]
    assert len(asked) == len(set(asked)) == sum(line.startswith("host ") for line in lines)
    assert any(line.startswith("disk: to download unknown, ") for line in lines)
    assert "a network" in said.err
    assert main(["doctor", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["disk"]["to_download"], report["disk"]["unknown"]) == (None, 2)
    # A server whose certificate is refused is a network.
    tls = Remote("x", "TLS: certificate has expired")
    monkeypatch.setattr("probeta.cli.doctor.look_at", lambda url, **options: tls)
    assert main(["doctor"]) == 1
    assert "you seem to be offline" not in capsys.readouterr().out


def test_json_and_exit_codes(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    params()
    assert main(["doctor", "sqc", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [found["corpus"] for found in report["corpora"]] == ["sqc"]
    assert report["disk"]["to_download"] == 0
    params(sources="nowhere")
    assert main(["doctor", "sqc", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["corpora"][0]["verdict"] == "failed"
    assert "faults in sqc" in said.err
    params()
    monkeypatch.setattr(doctor, "free_at", lambda folder: -1)
    assert main(["doctor", "sqc"]) == 1
    assert "too small a disk" in capsys.readouterr().err
