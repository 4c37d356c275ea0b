"""The servers that publish the corpora, as a proxy on loopback: with the samples in their layout.

A command with ``environment`` reaches no other server, and none of them encrypted: ``at_home``
changes a copy of the project accordingly. In each corpus.yaml (and the table of treebanks), https
becomes http, the pins are those of the samples, and optional files that the sample has not are left
out.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlencode

import yaml
from loopback import RangeServer
from mutants import pack, unpack

from corpora_recipes.corpora.gutenberg.recipe import LISTS, decode
from corpora_recipes.fetching.sources import list_sources, sample_folder
from corpora_recipes.formats.oai import OAI, parse_page
from corpora_recipes.params import load_corpora
from corpora_recipes.recipe import Corpus, Source, recipe_names
from corpora_recipes.text.tokens import detokenize
from corpora_recipes.yaml_files import load_yaml

# The files beside recipes that name servers, and what does so in them.
FACTS = ("corpus.yaml", "treebanks.yaml")
SECTIONS = {"sources", "options", "special", "server", "languages"}


class Internet(RangeServer):
    """Serves what the samples have, under its real addresses, but for https."""

    def __init__(self, params: Path) -> None:
        """Serve all corpora of a params file that upstream has."""
        super().__init__({})
        self.etag = '"of the sample"'
        self.dead: tuple[str, ...] = ()  # beginnings of addresses that are not there
        self.unknown: set[str] = set()  # addresses asked for that nothing is known of
        self.redirects: dict[str, str] = {}  # address to another address
        self.corpora = load_corpora(params)
        for corpus in self.corpora:
            for url, data in _published(corpus):
                self.files[_plain(url)] = data
        for url in [url for url in self.files if "//github.com/" in url]:
            # As GitHub does with archives of a repository.
            new = url.replace("//github.com/", "//codeload.github.com/")
            self.files[new] = self.files.pop(url)
            self.redirects[url] = new

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a command reaches this internet and no other."""
        return {"http_proxy": self.url, "https_proxy": self.url, "no_proxy": ""}

    def _get(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path.startswith(self.dead):
            self._head(handler, None)
        elif handler.path in self.redirects:
            handler.send_response(302)
            handler.send_header("Location", self.redirects[handler.path])
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            if handler.path not in self.files:
                self.unknown.add(handler.path)
            super()._get(handler)

    def first_of_several(self) -> dict[str, list[str]]:
        """Return each corpus that has second sources: name to the addresses that come first."""
        first = {}
        for corpus in self.corpora:
            sources = [] if corpus.is_shipped else list_sources(corpus)
            urls = [s.urls[:1] for s in sources if len(s.urls) > 1 and not s.instead]
            urls += [s.urls for s in sources if any(other.urls for other in s.instead)]
            urls += [s.packed.urls for s in sources if s.packed]
            for option in ("books_urls", "servers"):
                for several in corpus.options.get(option, [])[:1]:
                    url = several["url"] if isinstance(several, dict) else several
                    urls.append((url.partition("{")[0],))
            if urls:
                plain = [_plain(url) for several in urls for url in several]
                # Of whatever date.
                first[corpus.name] = [url.partition("latest")[0] for url in plain]
        return first

    def at_home(self, project: Path) -> None:
        """Change what every recipe says of servers in a copy of the project."""
        folder = project / "corpora_recipes" / "corpora"
        for path in (folder / recipe / name for recipe in recipe_names() for name in FACTS):
            if not path.is_file():
                continue
            facts = load_yaml(path)
            if path.name == "treebanks.yaml":
                facts["languages"] = {"es": facts["languages"]["es"]}
            for section in SECTIONS & facts.keys():
                facts[section] = self._here(facts[section], section)
            text = yaml.safe_dump(facts, allow_unicode=True, sort_keys=False, width=1000)
            path.write_text(text, "utf-8")

    def _here(self, value: Any, name: str) -> Any:
        """Return a part of a corpus.yaml, whose key is ``name``, with other addresses and pins."""
        if isinstance(value, str) and re.match(r"https?://\S+$", value):
            return _plain(value)
        if isinstance(value, list):
            return [self._here(item, name) for item in value if not self._is_missing(item)]
        if type(value) is int and (data := self._file(f"/{name}")) is not None:
            return len(data)
        if not isinstance(value, dict):
            return value
        new = {
            key: self._here(item, str(key))
            for key, item in value.items()
            if not (str(key).endswith(".conllu") and self._file(f"/{key}") is None)
        }
        pins = {"sha256", "size", "git_blob"} & value.keys()
        if pins and (data := self._file(_address(value) or f"/{name}")) is not None:
            new |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
            new.pop("git_blob", None)
        return new

    def _is_missing(self, value: Any) -> bool:
        """Return whether it is an optional file that the sample does not have."""
        if not (isinstance(value, dict) and value.get("optional") and _address(value)):
            return False
        return self._file(_address(value)) is None

    def _file(self, address: str) -> bytes | None:
        """Return the file at an address, or the one whose address ends so."""
        url = _plain(address)
        url = self.redirects.get(url, url)
        if url in self.files:
            return self.files[url]
        found = [data for known, data in self.files.items() if known.endswith(url)]
        is_file = "." in PurePosixPath(url).name or "/" in url[1:]
        return found[0] if is_file and len(found) == 1 else None


def _address(source: dict[str, Any]) -> str:
    """Return the first address in a part of a corpus.yaml, "" if it has none."""
    return str(source.get("url") or next(iter(source.get("urls", [])), ""))


def _plain(url: str) -> str:
    return url.replace("https://", "http://")


def _published(corpus: Corpus) -> Iterator[tuple[str, bytes]]:
    """Yield the address and the contents of each file of a corpus."""
    if corpus.is_shipped:
        return
    sample = sample_folder(corpus)
    if publish := {"theses": _pages, "gutenberg": _books, "wikipedia": _dump}.get(corpus.recipe):
        yield from publish(corpus, sample)
        return
    for source in _all(list_sources(corpus)):
        data = _contents(source, sample)
        for url in source.urls if data is not None else ():
            yield url, data


def _all(wanted: list[Source] | tuple[Source, ...]) -> Iterator[Source]:
    for source in wanted:
        yield source
        yield from _all((*([source.packed] if source.packed else []), *source.instead))


def _contents(source: Source, sample: Path) -> bytes | None:
    """Return a file as its server has it, made of the sample's files; None if it has none."""
    name = PurePosixPath(source.file)
    if (sample / name).is_file():
        return (sample / name).read_bytes()
    if (plain := sample / name.with_suffix(".jsonl")).is_file():
        return pack(".zip", [(plain.name, plain.read_bytes())])
    if name.name == "Spanish-Movie-Reviews.zip":
        members = unpack(".zip", (sample / "corpusCine.zip").read_bytes())
        files = {PurePosixPath(member).name: data for member, data in members}
        top = "Spanish-Movie-Reviews-main"
        inside = [(f"{top}/reviews_{len(f) % 4}/xml/{f}", data) for f, data in files.items()]
        return pack(".zip", [(f"{top}/README.md", b"Reviews"), *inside])
    if match := re.fullmatch(r"STS(20)?(1[45])-es-test\.zip", name.name):
        paths = sorted((sample / f"STS{match[2]}-es-test").iterdir())
        return pack(".zip", [(f"{name.stem}/{path.name}", _natural(path)) for path in paths])
    # A repository of which the sample has the files unpacked.
    unpacked = sorted(path for other in source.instead for path in sample.glob(other.file))
    if unpacked and source.urls:
        inside = [(f"main/{path.relative_to(sample)}", path.read_bytes()) for path in unpacked]
        return pack(".zip" if name.suffix == ".zip" else ".tar.gz", inside)
    return None


def _natural(path: Path) -> bytes:
    """Return a file of SemEval in natural text, as the archives have it."""
    lines = path.read_text("utf-8").split("\n")
    texts = ("\t".join(detokenize(text, "es") for text in line.split("\t")) for line in lines)
    return "\n".join(texts).encode()


def _dump(corpus: Corpus, sample: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a dump, what its servers say of it, and the lists of their dates."""
    date = re.search(r"\d{8}", next(sample.iterdir()).name)
    assert date is not None
    sources = list_sources(replace(corpus, options={**corpus.options, "date": date[0]}))
    files: dict[str, dict[str, object]] = {}
    for source in sources:
        data = (sample / source.file).read_bytes()
        sha1 = hashlib.sha1(data).hexdigest()
        files[source.file] = {"size": len(data), "url": f"/{source.file}", "sha1": sha1}
        for url in source.urls:
            yield url, data
    jobs = {"articlesmultistreamdump": {"status": "done", "files": files}}
    for url in sources[0].urls:
        folder = url.rpartition("/")[0]
        yield f"{folder}/dumpstatus.json", json.dumps({"version": "0.8", "jobs": jobs}).encode()
        above = folder.rpartition("/")[0]
        # One that has begun.
        dates = [date[0], "20991201"]
        links = "".join(f'<a href="{day}/">{day}/</a>\n' for day in dates)
        yield f"{above}/", f"<html><pre>{links}</pre></html>".encode()
        begun = {"jobs": {"articlesmultistreamdump": {"status": "in-progress", "files": {}}}}
        yield f"{above}/{dates[1]}/dumpstatus.json", json.dumps(begun).encode()


def _pages(corpus: Corpus, sample: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the answers of the servers of theses: the sample's pages, each by its token.

    The sample is of two servers; the second one's records are given by the second of the corpus.
    """
    folders = [sample / "repositorio.uchile.cl", sample / "repositorio.uc.cl"]
    for server, folder in zip(corpus.options["servers"], folders, strict=False):
        query = {"verb": "ListRecords", "metadataPrefix": server["metadata_prefix"]}
        for path in sorted(folder.glob("page-*.xml")):
            yield f"{server['url']}?{urlencode(query)}", path.read_bytes()
            token = parse_page(path).findtext(f"{OAI}ListRecords/{OAI}resumptionToken", "")
            query = {"verb": "ListRecords", "resumptionToken": token.strip()}


def _books(corpus: Corpus, sample: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the lists of the books, and each book as the mirrors have it, in UTF-8."""
    books = {re.sub(r"\D", "", p.stem.split("-")[0]): p for p in sample.glob("*.txt")}
    lists = {f"{name}_indices.txt": None for name in LISTS}
    for source in corpus.facts.special["lists"]:
        if source["file"] in lists:
            yield source["url"], (sample / "gutenberg-dialog" / source["file"]).read_bytes()
        else:
            # Books of other languages, and under copyright, are in it too.
            lines = ["1:en:1", *(f"{number}:es:1" for number in sorted(books)), "2:es:0"]
            yield source["url"], ("\n".join(lines) + "\n").encode()
    for number, path in books.items():
        text = decode(path).replace("ISO-8859-1", "UTF-8")
        for mirror in corpus.options["books_urls"]:
            yield mirror.format(id=number), text.encode("utf-8-sig")
