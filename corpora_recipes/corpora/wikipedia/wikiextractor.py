"""Reads articles through the wikiextractor command, the reference for the native extractor.

wikiextractor is AGPL: it is run as a program and never imported. It drops the values of templates,
so that sentences can have unmarked gaps ("Midió de altura."): use it for comparison, and build
datasets with the native extractor.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

from corpora_recipes.corpora.wikipedia.plan import Site
from corpora_recipes.corpora.wikipedia.wikitext import Article, Block
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.cleaning import unescape

# Seconds for one block, which takes about one; a failed worker can make the command wait forever.
TIMEOUT = 300.0
COMMAND = (sys.executable, "-m", "wikiextractor.WikiExtractor")

_HEADING = re.compile(r"<h([1-6])>(.*)</h[1-6]>")
_LIST_TAG = re.compile(r"<(/?)(?:ul|ol|dl)>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def extract(
    pages: Iterator[tuple[str, str, str, Article]], site: Site, language: str
) -> Iterator[tuple[str, str, str, Article]]:
    """Yield pages (id, title, wikitext, parsed page) with wikiextractor's text in place of ours."""
    known: list[tuple[str, str, str, Article]] = []
    with tempfile.TemporaryDirectory(prefix="probeta-") as folder:
        dump = Path(folder, "pages.xml")
        with dump.open("w", encoding="utf-8") as file:
            file.write(_header(site, language))
            for page_id, title, text, article in pages:
                known.append((page_id, title, text, article))
                file.write(
                    f"<page>\n<title>{escape(title)}</title>\n<ns>0</ns>\n<id>{page_id}</id>\n"
                    f"<revision>\n<id>1</id>\n<text>{escape(text)}</text>\n</revision>\n</page>\n"
                )
            file.write("</mediawiki>\n")
        output = Path(folder, "pages.jsonl")
        if known:
            _run(dump, output)
            with output.open(encoding="utf-8") as lines:
                texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
    for page_id, title, text, article in known:
        yield page_id, title, text, replace(article, blocks=_blocks(texts.get(page_id, "")))


def _header(site: Site, language: str) -> str:
    # Without a template namespace it would treat all pages as templates.
    names = "\n".join(
        f'<namespace key="{number}">{escape(name)}</namespace>'
        for number, name in {10: "Template", **dict(site.namespaces)}.items()
    )
    return (
        f'<mediawiki xml:lang="{escape(language)}">\n<siteinfo>\n<dbname>{escape(site.dbname)}'
        "</dbname>\n<base>https://example.org/wiki/Main</base>\n"
        f"<namespaces>\n{names}\n</namespaces>\n</siteinfo>\n"
    )


def _run(dump: Path, output: Path) -> None:
    command = [*COMMAND, str(dump), "--html", "--json", "--no-templates", "--processes", "1"]
    with output.open("wb") as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, "-q", "-o", "-"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,
        )
        try:
            status = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            found = f"nothing after {TIMEOUT:g} seconds"
        else:
            if status == 0:
                return
            errors.seek(0)
            found = f"exit status {status}: {errors.read()[-500:].decode('utf-8', 'replace')}"
        finally:
            if process.poll() is None:  # with its workers
                if sys.platform == "win32":
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    todo = "install it: `uv pip install 'wikiextractor>=3.1.0'`, or set `extractor: native`"
    raise InputError("wikiextractor", "the text of the pages", found, todo)


def _blocks(text: str) -> list[Block]:
    """Turn wikiextractor's HTML into blocks: headings, lists, and one line per paragraph."""
    blocks = [Block("", 1)]
    depth = 0
    repeated = ""
    for line in text.split("\n"):
        if match := _HEADING.fullmatch(line):
            heading = _plain(match[2])
            blocks.append(Block(heading, int(match[1])))
            depth = 0
            # wikiextractor repeats a heading like a sentence.
            repeated = heading + "."
            continue
        lists = _LIST_TAG.findall(line)
        if lists:
            depth = max(0, depth + sum(-1 if closing else 1 for closing in lists))
            continue
        plain = _plain(line)
        if depth == 0 and plain and plain != repeated and not line.startswith("<li>"):
            blocks[-1].paragraphs.append(plain)
        repeated = ""
    return blocks


def _plain(line: str) -> str:
    return _TAG.sub("", unescape(line)).strip()
