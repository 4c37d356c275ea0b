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
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from corpora_recipes.corpora.opensubtitles.archive import list_members, read_member, read_record
from corpora_recipes.corpora.opensubtitles.lines import detokenize, load_rules, read_lines
from corpora_recipes.facts import Source
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus, Dropped
from corpora_recipes.records import Dialogue, Drops
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.language import identify

FORMS = ("raw", "xml")


@dataclass(frozen=True, slots=True)
class Film:
    """A block: the subtitle files of one film.

    Attributes:
        key: its IMDb number, the name of its folder in the archive.
        path: the archive.
        positions: positions of its files' directory records in the archive.
    """

    key: str
    path: Path
    positions: tuple[int, ...]


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no line of the corpus may match: those of credits."""
    rules = load_rules(_language(corpus)).rules
    return [rule.pattern for rule in rules if rule.name == "credits"]


def sources(corpus: Corpus) -> list[Source]:
    """Return the archive of the corpus.

    Raises:
        InputError: the option ``form`` is neither raw nor xml.
    """
    name = _archive(corpus)
    url = f"https://object.pouta.csc.fi/OPUS-OpenSubtitles/v2018/{name}"
    return [Source(name, (url,), size=corpus.facts.special["sizes"].get(name))]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Film]:
    """List the films of the archive.

    Raises:
        InputError: the archive is missing or damaged, has a member outside its folder, or holds no
            subtitle files of this form and language.
    """
    path = raw / _archive(corpus)
    folder = f"OpenSubtitles/{_archive(corpus).removesuffix('.zip')}/"
    if not path.is_file():
        raise InputError(
            path,
            expected="the archive of subtitle files",
            found="no such file",
            todo=f"run `probeta fetch {corpus.name} --out {raw}`",
        )
    layout = re.compile(re.escape(folder) + r"[^/]+/([^/]+)/[^/]+\.xml")
    films: dict[str, list[int]] = {}
    others = 0
    for name, position in list_members(path):
        if ".." in name.split("/") or name.startswith("/") or "\\" in name:
            raise InputError(
                path,
                expected=f"members below {folder}",
                found=f"{name!r}, a path outside the archive's folder",
                todo="fetch it again; if that does not help, inspect it with other tools",
            )
        if match := layout.fullmatch(name):
            films.setdefault(match[1], []).append(position)
        else:
            others += 1
    if not films:
        raise InputError(
            path,
            expected=f"members {folder}<year>/<imdb>/<subtitle>.xml",
            found=f"{others} other members",
            todo="check that the file is the archive of this form and language",
        )
    return [Film(imdb, path, tuple(positions)) for imdb, positions in films.items()]


def read_block(block: Film, corpus: Corpus) -> BlockResult:
    """Read one film.

    Raises:
        InputError: this part of the archive is damaged.
    """
    result = BlockResult()
    drops = result.drops
    with block.path.open("rb") as file:
        files = [read_record(file, block.path, position) for position in block.positions]
        chosen = min(
            files,
            key=lambda f: (keyed_hash(corpus.seed, corpus.name, f.name, "subtitle"), f.name),
        )
        data = read_member(file, block.path, chosen)
    drops.seen["documents"] += len(files)
    if len(files) > 1:
        drops.dropped["documents", "same_film"] += len(files) - 1
    try:
        conversations = _conversations(data, corpus, drops)
    except Dropped as dropped:
        drops.dropped["documents", dropped.reason] += 1
    else:
        result.records.append(Dialogue(block.key, "", conversations))
    return result


def _archive(corpus: Corpus) -> str:
    """Return the archive's name; OPUS writes pt_br where BCP 47 has pt-BR."""
    form = corpus.options["form"]
    if form not in FORMS:
        raise InputError(
            f"{corpus.where}.corpus.form",
            expected=f"one of {', '.join(FORMS)}",
            found=repr(form),
            todo="write one of these; the default is raw",
        )
    return f"{form}/{corpus.language.lower().replace('-', '_')}.zip"


def _language(corpus: Corpus) -> str:
    """Return the ISO 639 code: rules apply to a language in all regions."""
    return corpus.language.split("-")[0]


def _conversations(data: bytes, corpus: Corpus, drops: Drops) -> list[list[str]]:
    """Return the conversations of a subtitle file.

    Raises:
        Dropped: the film cannot be used.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
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
