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
    </document>

An ``<s>`` is a sentence, which may cover several times. The files of one film, i.e. of one IMDb
number, are versions of each other and near duplicates: one of them is chosen by keyed hash. A
sentence is one line of the dialogue, or several if dashes separate speakers. Sentences that seem to
continue in the next one are not joined: five in six sentences that begin with a lower-case letter
follow a full stop, and are only careless spelling.

``zipfile.ZipFile`` makes an object for every member: 1.5 s and 180 MB for 300,000 of them. So the
directory is read once, to list the films, and a worker seeks its member by what that says (PKWARE's
APPNOTE.TXT 6.3.10, whose sections are cited below). Of a remote archive only these are fetched.
"""

import re
import shutil
import struct
import sys
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from lxml import etree
from tqdm import tqdm

from corpora_recipes.fetching.downloads import fetch_whole
from corpora_recipes.fetching.ranges import (
    NoRanges,
    PartialFile,
    RangeFetcher,
    parts_folder,
    read_manifest,
)
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.fetching.transfer import look_at
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.reading import order_blocks
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Source, load_facts, no_files
from corpora_recipes.records import Dialogue, Drops
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from corpora_recipes.running.limits import LARGEST_DIRECTORY, LARGEST_FILE, LARGEST_XML
from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.language import FINAL, identify, is_lower
from corpora_recipes.text.sentences import ends_in_abbreviation
from corpora_recipes.text.tidying import has_stray_quote, pair_quotes, tidy


class Bytes(Protocol):
    """A file opened for reading, whole or in parts."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to a byte."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""


@dataclass(frozen=True, slots=True)
class Member:
    """What the directory says of a member; ``offset`` is the position of its local header."""

    name: str
    flags: int
    method: int
    crc: int
    compressed: int
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class Film:
    """A block: a film, the subtitle file that is read, and how many there are.

    The key is its IMDb number, the name of its folder in the archive.
    """

    key: str
    path: Path
    member: Member
    n_versions: int


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no line of the corpus may match: those of credits."""
    rules = load_rules(_language(corpus)).rules
    return [rule.pattern for rule in rules if rule.name == "credits"]


def sources(corpus: Corpus) -> list[Source]:
    """Return the archive of the corpus."""
    name, special = archive_name(corpus), corpus.facts.special
    return [Source(name, (f"{special['base_url']}/{name}",), size=special["sizes"].get(name))]


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
        data = read_member(file, block.path, block.member)
    if n_others := block.n_versions - 1:
        result.drops.seen["documents"] += n_others
        result.drops.dropped["documents", "same_film"] += n_others
    with result.counting("documents"):
        result.records.append(Dialogue(block.key, "", _conversations(data, corpus, result.drops)))
    return result


def _language(corpus: Corpus) -> str:
    """Return the ISO 639 code: rules apply to all regions."""
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


# --- the films of an archive ---------------------------------------------------------------------

FORMS = ("raw", "xml")
# What lies between two files is fetched with them if it is at most this share of all: one request
# instead of two.
MAX_GAP_SHARE = 1 / 8


def archive_name(corpus: Corpus) -> str:
    """Return the archive's name; OPUS writes pt_br where BCP 47 has pt-BR."""
    form = corpus.options["form"]
    if form not in FORMS:
        raise ParamsError(f"{corpus.where}.corpus.form", f"one of {', '.join(FORMS)}", repr(form))
    return f"{form}/{corpus.language.lower().replace('-', '_')}.zip"


@contextmanager
def open_archive(path: Path) -> Iterator[Bytes]:
    """Open an archive that was fetched, whole or in parts."""
    if path.is_file():
        with path.open("rb") as file:
            yield file
    else:
        yield PartialFile(path)


def list_films(file: Bytes, path: Path, corpus: Corpus) -> Sequence[Film]:
    """List the films of an open archive, in the folder that language and form name."""
    folder = f"OpenSubtitles/{archive_name(corpus).removesuffix('.zip')}/"
    layout = re.compile(re.escape(folder) + r"[^/]+/([^/]+)/[^/]+\.xml")
    films: dict[str, list[Member]] = {}
    n_others = 0
    for member in list_members(file, path)[0]:
        name = member.name
        if ".." in name.split("/") or name.startswith("/") or "\\" in name:
            found = f"{name!r}, a path outside the archive's folder"
            raise RawError(path, f"members below {folder}", found)
        if match := layout.fullmatch(name):
            films.setdefault(match[1], []).append(member)
        else:
            n_others += 1
    if not films:
        expected = f"members {folder}<year>/<imdb>/<subtitle>.xml"
        raise RawError(path, expected, f"{n_others} other members")

    def order(member: Member) -> tuple[int, str]:
        return keyed_hash(corpus.seed, corpus.name, member.name, "subtitle"), member.name

    return [Film(imdb, path, min(all_, key=order), len(all_)) for imdb, all_ in films.items()]


# --- fetching a part -----------------------------------------------------------------------------


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Fetch the archive into folder ``out``: whole, or the parts that the quota needs.

    If the option ``partial`` is set, only the archive's directory is fetched, and then the subtitle
    files of as many films as the quota takes, in the order in which ``read`` takes them. To detect
    which films are accepted, they are read at once, in this process. A larger quota continues where
    this one ends. The whole archive is fetched, and a message says why, if all films are wanted or
    more than half of them, or the server does not support byte ranges; if it is there already, it
    stays.
    """
    (source,) = list_sources(corpus)
    path = out / source.file
    if corpus.options["partial"] and not path.exists():
        try:
            why = _fetch_films(corpus, source, path)
        except NoRanges as error:
            why = str(error)
        if not why:
            return
        size = look_at(source.urls[0]).size or source.size
        size_text = "size unknown" if size is None else f"{size:,} bytes"
        tqdm.write(f"fetching the whole of {source.file}, {size_text}: {why}", file=sys.stderr)
    fetch_whole([source], out)
    shutil.rmtree(parts_folder(path), ignore_errors=True)


def _fetch_films(corpus: Corpus, source: Source, path: Path) -> str:
    """Fetch what the quota needs; return why it cannot be done, "" if it was."""
    quota = corpus.documents
    if quota is None:
        return f"corpora.{corpus.name}.corpus.documents asks for all"
    with RangeFetcher(source.urls, path, source.size) as parts:
        # The answer to any range has the size of the file.
        parts.fetch(0, 1)
        assert parts.manifest is not None
        archive = _Archive(PartialFile(path, parts), path, corpus)
        if 2 * quota > len(archive.films):
            return f"more than half of its {len(archive.films):,} films are wanted"
        accepted = at = 0
        with tqdm(total=quota, desc=f"accept {corpus.name}", unit="doc", disable=None) as bar:
            # Some films are dropped: as many others are needed.
            while accepted < quota and at < len(archive.films):
                films = archive.films[at : at + quota - accepted]
                at += len(films)
                for film in archive.fetch(films):
                    try:
                        n_accepted = len(read_block(film, corpus).records)
                    except InputError:
                        archive.discard(film)
                        raise
                    accepted += n_accepted
                    bar.update(n_accepted)
        size = sum(part.stat().st_size for part in parts_folder(path).glob("*-*"))
        note = f"{source.file}: {size:,} of its {parts.manifest.size:,} bytes are present, "
        note += f"{parts.fetched:,} of them new"
        tqdm.write(note, file=sys.stderr)
    return ""


class _Archive:
    """A remote archive, whose ``films`` are in keyed-hash order."""

    def __init__(self, file: PartialFile, path: Path, corpus: Corpus) -> None:
        """Fetch the directory."""
        self._file = file
        self.films = order_blocks(list_films(file, path, corpus), corpus)
        # Where a member ends is not in the directory: before the next one, or the directory.
        members, end = list_members(file, path)
        self._ends = [*sorted(member.offset for member in members), end]

    def fetch(self, films: Iterable[Film]) -> Iterator[Film]:
        """Fetch the subtitle files of films, in the order of the archive; yield those that came."""
        in_archive = sorted(((self._range(film), film) for film in films), key=lambda pair: pair[0])
        ranges: list[tuple[int, int]] = []
        groups: list[list[Film]] = []
        for (start, stop), film in in_archive:
            if ranges and start - ranges[-1][1] <= MAX_GAP_SHARE * (stop - ranges[-1][0]):
                ranges[-1] = (ranges[-1][0], stop)
                groups[-1].append(film)
            else:
                ranges.append((start, stop))
                groups.append([film])
        fetchers = ThreadPoolExecutor(patience.CONNECTIONS)
        try:
            fetched = fetchers.map(self._file.fetch, *zip(*ranges, strict=True))
            for group, _ in zip(groups, fetched, strict=True):
                yield from group
        finally:
            fetchers.shutdown(cancel_futures=True)

    def discard(self, film: Film) -> None:
        """Remove what was fetched of a film."""
        self._file.discard(*self._range(film))

    def _range(self, film: Film) -> tuple[int, int]:
        at = bisect_right(self._ends, film.member.offset, hi=len(self._ends) - 1)
        return member_range(film.member, self._ends[at], film.path)


# --- lines of dialogue ---------------------------------------------------------------------------

# Characters: matching time can be quadratic in the length, and spoken sentences are far shorter.
MAX_SENTENCE = 1000

_DASH = "–—―-"
# A line break and a dash always begin another speaker's line.
_AT_BREAK = re.compile(rf"\n\s*(?=[{_DASH}])")
# Inside a line a single dash may do so; two are an interruption ("Yo-- no sé").
_INSIDE = re.compile(rf"(?<=\S)\s+(?=[{_DASH}](?![{_DASH}])\s*([^\s{_DASH}]))")
_STOP = r"(?:[?!]|[^\W\d_A-ZÁÉÍÓÚÑ]{2}(?:\.|…|\.\.\.))"
_GLUED = re.compile(rf"{_STOP}[»”\")\]]?(?=[{_DASH}](?:[¿¡]|[^\W\d_a-z]\w* ))")
_ENDS = re.compile(rf"[{FINAL}»”\")\]{_DASH}]$")
_LEADING = re.compile(rf"^\s*[{_DASH}][\s{_DASH}]*")
# A stop at the beginning: the text before it was in another line.
_LOST_BEGINNING = re.compile(r"[,;:)\]}!?%]|\.(?![.\w])")
# If nothing else is left of a line, no speech is lost.
_SILENT = re.compile(rf"[\s.…{_DASH}]*")
_LONG_WORD = re.compile(r"[^\W\d_]{4}")

_CLOSING = re.compile(r"[,.;:!?…%)\]}»”]+|['’]\w+|n['’]t")
_OPENING = re.compile(r"[¿¡(\[{«“]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of corpus.yaml: its matches are replaced, or lines with a match are dropped.

    The name is the kind of mark, or the reason; ``put`` is a mark's replacement, None for a drop.
    """

    name: str
    pattern: re.Pattern[str]
    put: str | None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of corpus.yaml that apply to a language, in the file's order.

    Without ``signs``, only the ``word_rules`` can match; none is a mark.
    """

    language: str
    rules: Sequence[Rule]
    word_rules: Sequence[Rule]
    signs: re.Pattern[str]

    def apply(self, line: str, drops: Drops) -> tuple[str, str | None]:
        """Return the line without marks, and the reason for dropping it or None.

        Marks are counted in the unit "marks", as seen and dropped.
        """
        reason = "too_long" if len(line) > MAX_SENTENCE else find_damage(line)
        marked = False
        for rule in self.rules if self.signs.search(line) else self.word_rules:
            if reason is not None:
                return line, reason
            if rule.put is not None:
                line, count = rule.pattern.subn(rule.put, line)
                _count_marks(drops, rule.name, count)
                marked = marked or count > 0
                if marked and not line.strip(" \n" + _DASH):
                    reason = "only_marks"
            elif rule.pattern.search(line):
                reason = rule.name
        if reason is None and is_caption(line):
            reason = "caption"
        return line, reason


@cache
def load_rules(language: str) -> Rules:
    """Return the rules for a language (ISO 639 code), compiled once in each process."""
    all_rules = load_facts("opensubtitles").special["rules"]
    language_rules = [rule for rule in all_rules if rule.get("language", language) == language]
    rules = [
        Rule(
            rule.get("mark") or rule["drop"],
            re.compile(rule["pattern"]),
            rule.get("put", "") if "mark" in rule else None,
        )
        for rule in language_rules
    ]
    signs = [rule.get("signs", "") for rule in language_rules]
    word_rules = [rule for rule, sign in zip(rules, signs, strict=True) if not sign]
    return Rules(language, rules, word_rules, re.compile(f"[{''.join(signs)}]"))


def read_lines(lines: Iterable[str], rules: Rules, drops: Drops) -> list[list[str]]:
    """Return the conversations of a film, whose sentences have the line breaks of the source.

    A dropped line ends the conversation, unless only dots and dashes are left of it ("[PORTAZO]",
    "ANA:", "…").
    """
    conversations: list[list[str]] = [[]]
    names_follow = False
    for sentence in lines:
        line, reason = rules.apply(sentence, drops)
        line = line.strip()
        if names_follow and reason is None and not line.endswith(tuple(FINAL)):
            reason = "credits"
        names_follow = reason == "credits" and line.endswith((":", " por"))
        if reason is not None:
            drops.sift("turns", line, reason)
            if not _SILENT.fullmatch(line):
                conversations.append([])
            continue
        for turn in split_turns(line):
            text = pair_quotes(tidy(clean(_LEADING.sub("", turn)), rules.language))
            _count_marks(drops, "dash", int(_LEADING.match(turn) is not None))
            if drops.sift("turns", text, _find_fault(text, rules.language)):
                conversations[-1].append(text)
            elif not _SILENT.fullmatch(text):
                conversations.append([])
    return [turns for turns in conversations if turns]


def _find_fault(turn: str, language: str) -> str | None:
    """Return why a turn cannot be used, None if it can."""
    if not any(c.isalpha() for c in turn):
        return "no_letters"
    if _LOST_BEGINNING.match(turn):
        return "lost_beginning"
    if ends_in_abbreviation(turn, language):
        return "cut_at_abbreviation"
    return "broken_quotation" if has_stray_quote(turn) else None


def is_caption(line: str) -> bool:
    """Tell whether a line is text on the screen (HACE DOS AÑOS): capitals, no stop."""
    return (
        line.isupper()
        and _LONG_WORD.search(line) is not None
        and not line.rstrip("\"»”' \n").endswith((*FINAL, ","))
    )


def split_turns(line: str) -> list[str]:
    """Split a line before dashes that mark another speaker; the dashes stay.

    Inside a line they follow a stop, or a dash at its beginning, and no small letter comes next.
    """
    turns = []
    for part in _AT_BREAK.split(_GLUED.sub(r"\g<0> ", line)):
        start = 0
        opens_with_dash = part.lstrip()[:1] in tuple(_DASH)
        for match in _INSIDE.finditer(part):
            ends = _ENDS.search(part[start : match.start()]) is not None
            if (ends or opens_with_dash) and not is_lower(match[1]):
                turns.append(part[start : match.start()])
                start = match.end()
        turns.append(part[start:])
    return [turn for turn in turns if turn.strip()]


def detokenize(parts: Sequence[Sequence[str]]) -> str:
    """Return the natural text of a sentence, from the tokens of its parts between two times.

    There is a line break instead of a space between parts. Straight quotation marks open and close
    in turn.
    """
    text = ""
    glued = True
    quotes = 0
    for tokens in parts:
        blank = "\n"
        for token in tokens:
            closes = _CLOSING.fullmatch(token) is not None
            opens = _OPENING.fullmatch(token) is not None
            if token == '"':
                quotes += 1
                closes, opens = quotes % 2 == 0, quotes % 2 == 1
            text += token if glued or closes else blank + token
            glued = opens
            blank = " "
    return text


def _count_marks(drops: Drops, name: str, count: int) -> None:
    if count:
        drops.seen["marks"] += count
        drops.dropped["marks", name] += count


# --- members of a zip archive --------------------------------------------------------------------

_LOCAL = struct.Struct("<4s5H3L2H")  # 4.3.7, local file header
_ENCRYPTED, _UTF8 = 1 << 0, 1 << 11  # 4.4.4, general purpose bit flag


class _Reading:
    """An archive for ``zipfile``, which reads the whole directory: its size has a ceiling."""

    def __init__(self, file: Bytes, path: Path) -> None:
        self.seek = file.seek
        self._file = file
        self._path = path

    def tell(self) -> int:
        """Return the position."""
        return self._file.seek(0, 1)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if size > LARGEST_DIRECTORY:
            raise _damaged(self._path, f"a directory of {size:,} bytes")
        return self._file.read(size)


def list_members(file: Bytes, path: Path) -> tuple[list[Member], int]:
    """Return the members of an archive, and where they end; ``path`` is for messages."""
    try:
        archive = zipfile.ZipFile(_Reading(file, path))
    # zipfile lets through the last two: an invalid date or name, a field that is cut.
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        raise _damaged(path, f"no zip archive, or a damaged one: {error}") from None
    members = [
        Member(
            info.orig_filename,
            info.flag_bits,
            info.compress_type,
            info.CRC,
            info.compress_size,
            info.file_size,
            info.header_offset,
        )
        for info in archive.infolist()
    ]
    return members, archive.start_dir


def read_member(file: Bytes, path: Path, member: Member) -> bytes:
    """Return the contents of a member; all that the directory says of it must be true."""
    if member.flags & _ENCRYPTED:
        raise _damaged(path, f"{member.name} is encrypted")
    if member.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _damaged(path, f"{member.name} has the compression method {member.method}")
    if max(member.size, member.compressed) > LARGEST_FILE:
        raise _size_error(path, member)
    if not 0 <= member.offset <= file.seek(0, 2):
        raise _damaged(path, f"a reference to byte {member.offset:,}, outside of it")
    file.seek(member.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
        raise _damaged(path, f"no member at byte {member.offset:,}, where {member.name} should be")
    *_, named, extra = _LOCAL.unpack(header)
    name = _decode(file.read(named), member.flags)
    if name != member.name:
        raise _damaged(path, f"{name} where {member.name} should be")
    file.seek(extra, 1)
    data = file.read(member.compressed)
    is_whole = len(data) == member.compressed
    if is_whole and member.method == zipfile.ZIP_DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            # One byte beyond the announced size reveals a wrong size.
            data = inflater.decompress(data, member.size + 1)
        except zlib.error as error:
            raise _damaged(path, f"{member.name} is damaged: {error}") from None
        is_whole = inflater.eof
    if not is_whole or len(data) != member.size:
        raise _damaged(path, f"{member.name} does not have the {member.size:,} bytes announced")
    if zlib.crc32(data) != member.crc:
        raise _damaged(path, f"{member.name} has another CRC-32 than the directory says")
    return data


def member_range(member: Member, end: int, path: Path) -> tuple[int, int]:
    """Return a member's first byte and the one after its last; what follows begins at ``end``."""
    if member.compressed > LARGEST_FILE:
        raise _size_error(path, member)
    shortest = member.offset + _LOCAL.size + member.compressed
    if shortest > end:
        raise _damaged(path, f"{member.name} would reach to byte {shortest:,}, beyond {end:,}")
    # The name and the extra field of its header have at most 65,535 bytes each.
    return member.offset, min(end, shortest + 2 * 0xFFFF)


def _decode(name: bytes, flags: int) -> str:
    return name.decode("utf-8" if flags & _UTF8 else "cp437", "replace")


def _size_error(path: Path, member: Member) -> InputError:
    size = max(member.size, member.compressed)
    return _damaged(path, f"{member.name} has {size:,} bytes, more than {LARGEST_FILE:,}")


def _damaged(path: Path, found: str) -> InputError:
    return RawError(path, "a whole zip archive of subtitle files", found)
