"""Reads the subtitle files of an OPUS archive into dialogues, one per film.

The archive ``raw/es.zip`` (or ``xml/es.zip``, with tokenised sentences) has the members
``OpenSubtitles/raw/es/<year>/<imdb>/<subtitle>.xml``::

    <document id="4213">
      <s id="1">
        <time id="T1S" value="00:01:12,480" />
    - ¿Quién ha cerrado
    la puerta? - Yo no.
        <time id="T1E" value="00:01:15,020" />
      </s>
      <s id="2"> … <w id="2.1">Nadie</w><w id="2.2">.</w> … </s>      (in xml/es.zip)
      <meta> … </meta>
    </document>

An ``<s>`` is a sentence, which may cover several times. The files of one film, i.e. of one IMDb
number, are versions of each other and near duplicates: one of them is chosen by keyed hash. A
sentence is one line of the dialogue, or several if dashes separate speakers. Sentences that seem to
continue in the next one are not joined: five in six sentences that begin with a lower-case letter
follow a full stop, and are only careless spelling.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree

from corpora_recipes.corpora.opensubtitles.archive import read_member
from corpora_recipes.corpora.opensubtitles.films import (
    Film,
    archive_name,
    choose,
    fetch,
    list_films,
    open_archive,
)
from corpora_recipes.corpora.opensubtitles.lines import detokenize, load_rules, read_lines
from corpora_recipes.facts import Source
from corpora_recipes.fetching.ranges import read_manifest
from corpora_recipes.missing import no_files
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Dialogue, Drops
from corpora_recipes.running.limits import LARGEST_XML
from corpora_recipes.text.language import identify


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no line of the corpus may match: those of credits."""
    rules = load_rules(_language(corpus)).rules
    return [rule.pattern for rule in rules if rule.name == "credits"]


def sources(corpus: Corpus) -> list[Source]:
    """Return the archive of the corpus."""
    name = archive_name(corpus)
    url = f"{corpus.facts.special['base_url']}/{name}"
    return [Source(name, (url,), size=corpus.facts.special["sizes"].get(name))]


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Download the archive, or what the quota needs of it: see ``films.fetch``."""
    fetch(corpus, out, read_block)


def blocks(raw: Path, corpus: Corpus) -> Sequence[Film]:
    """List the films of the archive; raises InputError if it is missing, or see ``list_films``."""
    path = raw / archive_name(corpus)
    if not path.is_file() and read_manifest(path) is None:
        raise no_files(corpus, path, "the archive of subtitle files", "no such file")
    with open_archive(path) as file:
        return list_films(file, path, corpus)


def read_block(block: Film, corpus: Corpus) -> BlockResult:
    """Read one film; raises InputError if this part of the archive is damaged."""
    result = BlockResult()
    with open_archive(block.path) as file:
        data = read_member(file, block.path, choose(file, block, corpus))
    if others := len(block.positions) - 1:
        result.drops.seen["documents"] += others
        result.drops.dropped["documents", "same_film"] += others
    with result.counting("documents"):
        result.records.append(Dialogue(block.key, "", _conversations(data, corpus, result.drops)))
    return result


def _language(corpus: Corpus) -> str:
    """Return the ISO 639 code: rules apply to a language in all regions."""
    return corpus.language.split("-")[0]


def _conversations(data: bytes, corpus: Corpus, drops: Drops) -> list[list[str]]:
    """Return the conversations of a subtitle file; raises Dropped if it cannot be used."""
    if len(data) > LARGEST_XML:
        raise Dropped("too_large")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise Dropped("malformed_xml") from None
    lines = list(_lines(root))
    text = " ".join(lines)
    if sum(map(str.isupper, text)) > sum(map(str.islower, text)):
        raise Dropped("capitals")
    language = _language(corpus)
    if text and identify(text) != language:
        raise Dropped("other_language")
    conversations = read_lines(lines, load_rules(language), drops)
    if not conversations:
        raise Dropped("no_lines")
    return conversations


def _lines(root: etree._Element) -> Iterator[str]:
    """Yield the text of each sentence, with a line break in place of each time."""
    for sentence in root.iter("s"):
        if sentence.find(".//w") is None:
            yield "\n".join(map(str, sentence.itertext())).strip()
            continue
        parts: list[list[str]] = [[]]
        for element in sentence.iter("w", "time"):
            if element.tag == "time":
                parts.append([])
            elif element.text and element.text.strip():
                parts[-1].append(element.text.strip())
        yield detokenize(parts)
