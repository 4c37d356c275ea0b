"""Reads books of Project Gutenberg, or the released dialogues, into records of dialogues.

A book is a text file between two markers, whose spelling has changed over the years::

    Title: Trafalgar
    Character set encoding: ISO-8859-1

    ***START OF THE PROJECT GUTENBERG EBOOK TRAFALGAR***
    …
    --¿Y se salvaron?--preguntó mi ama.
    …
    ***END OF THE PROJECT GUTENBERG EBOOK TRAFALGAR***

The file name contains its number: ``pg16961.txt`` and ``16961-0.txt`` are in UTF-8, ``16961-8.txt``
(and ``16961.txt``, in ASCII) are older. ``gutenberg-dialog/{train,dev,test}_indices.txt`` hold the
numbers of the books of each split, one per line, for books in all languages.

The released form, ``{train,dev,test}.txt``, has one utterance per line and an empty line between
dialogues; it does not name the books.
"""

import codecs
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tqdm import tqdm

from corpora_recipes.corpora.gutenberg.speech import MAX_TURN_WORDS, Style, Turn, conversations
from corpora_recipes.fetching.downloads import download, note_digests
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Pin, Source, no_files
from corpora_recipes.records import Dialogue, Drops, Split
from corpora_recipes.running.errors import EncodingError, InputError, ParamsError, RawError
from corpora_recipes.running.limits import LARGEST_TEXT, MOST_RECORDS, read_whole
from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.language import identify

LISTS: dict[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
FOLDER = "gutenberg-dialog"
# So many of the books in a language may be missing; so many in a row mean that the mirrors refuse
# all of them.
MAX_MISSING_SHARE, MAX_MISSING_IN_A_ROW = 0.05, 5
# A split without a book in the lists gets one in TRAIN_BOOKS_PER_FILLED train books, and at least
# MIN_FILLED: some books have little dialogue, and a coherence row needs another book.
TRAIN_BOOKS_PER_FILLED, MIN_FILLED = 5, 2
# With fewer turns per 10,000 words, a book's dashes are those of lists and exercises. Csaky and
# Recski (2021) require 150 delimiters, which excludes novels with dialogue in some chapters only.
MIN_TURNS = 20
# Characters for language identification: notes and front matter can be in another language.
MIN_STRETCH = 3000

# The best file of a book first: UTF-8, then the older encodings.
_NAMES = (r"pg(\d+)\.txt", r"(\d+)-0\.txt", r"(\d+)-8\.txt", r"(\d+)\.txt")
_TO_TITLE_END = r"(?:[^*]|\*(?!\*)){0,400}?(?:\*{2,3}|(?=\n[ \t]*\n))"
# Character sets among the encodings that headers state.
_CHARSET = re.compile(
    r"utf-?8|us-ascii|ascii|(?:iso-?)?8859-\d{1,2}|(?:windows|cp)-?125\d|mac-?roman"
)
_LATIN_1 = re.compile(r"(?:iso-?)?8859-1|(?:iso-)?latin-?1|(?:us-)?ascii|iso-646-us.*")
_START = re.compile(
    rf"\*{{2,3}}\s*START\s+OF\s+TH(?:E|IS)\s+PROJECT\s+GUTENBERG\s+E-?(?:BOOK|TEXT){_TO_TITLE_END}"
    r"|\*END[* ]*THE SMALL PRINT!.*",
    re.IGNORECASE,
)
_END = re.compile(
    r"\*{2,3}\s*END\s+OF\s+TH(?:E|IS)\s+PROJECT\s+GUTENBERG\s+E-?(?:BOOK|TEXT)"
    r"|^[ \t]*End\s+of\s+(?:the\s+|this\s+)?Project\s+Gutenberg",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Book:
    """A block: the file of one book, and the number of other files of the same book."""

    key: str
    path: Path
    split: Split | None
    n_duplicates: int


@dataclass(frozen=True, slots=True)
class Released:
    """A block: a file of released dialogues, all of one split."""

    key: str
    path: Path
    split: Split


def sources(corpus: Corpus) -> list[Source]:
    """Return the patterns of the texts and of the lists, for mirrors, which may lack the lists."""
    return [Source("*.txt"), Source(f"{FOLDER}/*.txt", optional=True)]


def fetch_upstream(corpus: Corpus, out: Path) -> None:
    """Download the book lists, and the public-domain books in the corpus's language.

    A book that no mirror gives as text is skipped and counted. The mirrors change their files from
    time to time: the manifest of the folder has the SHA-256 of each book.
    """
    for source in corpus.facts.special["lists"]:
        target = out / FOLDER / source["file"]
        if not target.is_file():
            pin = Pin(sha256=source.get("sha256"), size=source.get("size"))
            download([source["url"]], target, pin=pin)
    ids = _ids_in_language(out / FOLDER / "langs.txt", corpus.language.partition("-")[0])
    # The mirror that gave the last book is the first to be asked for the next one.
    mirrors: list[str] = list(corpus.options["books_urls"])
    missing: list[int] = []
    in_a_row = 0
    for number in tqdm(ids, desc="fetch books", unit="book", disable=None):
        target = out / f"pg{number}.txt"
        if target.is_file():
            in_a_row = 0
            continue
        urls = [mirror.format(id=number) for mirror in mirrors]
        try:
            url = download(urls, target, check=_check_book).url
        except InputError as error:
            found = " ".join(error.found.split())
            tqdm.write(f"book {number} is skipped: {found}", file=sys.stderr)
            missing.append(number)
            in_a_row += 1
            if in_a_row == MAX_MISSING_IN_A_ROW:
                raise
        else:
            in_a_row = 0
            mirrors.insert(0, mirrors.pop(urls.index(url)))
        time.sleep(corpus.options["delay_seconds"])
    if len(missing) > max(1, MAX_MISSING_SHARE * len(ids)):
        expected = f"at least {1 - MAX_MISSING_SHARE:.0%} of the {len(ids):,} books of the lists"
        found = f"{len(missing):,} missing: {', '.join(map(str, missing))}"
        todo = "run fetch again later, which asks for these only; or add one to `books_urls`"
        raise InputError(", ".join(corpus.options["books_urls"]), expected, found, todo)
    if missing:
        tqdm.write(f"{len(missing):,} of {len(ids):,} books are missing", file=sys.stderr)
    note_digests(out, sorted(path.name for path in out.glob("pg*.txt")))


def _ids_in_language(path: Path, language: str) -> list[int]:
    """Read the dataset's list of ``number:language:1``, with 0 for books under copyright."""
    ids = []
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        if line and not re.fullmatch(r"[0-9]{1,9}:[\w-]+:[01]", line):
            expected = "number:language:1, or 0 at the end for a book under copyright"
            raise RawError(f"{path}, line {number}", expected, repr(line[:60]))
        if line.endswith(f":{language}:1"):
            ids.append(int(line.partition(":")[0]))
    return ids


def _read_text(path: Path) -> str:
    try:
        return re.sub("\r\n?", "\n", read_whole(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RawError(f"{path}, byte {error.start}", "a text in UTF-8", str(error)) from None


def _check_book(path: Path) -> None:
    with path.open("rb") as file:
        begin = file.read(200)
    if begin.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"<", b""):
        todo = "the server may limit requests: fetch again later, or set other `books_urls`"
        raise InputError(path, "the text of a book", f"{begin[:60]!r}", todo)


# --- which books, and their splits ---------------------------------------------------------------


def blocks(raw: Path, corpus: Corpus) -> Sequence[Book | Released]:
    """List the books, one file each, and the files of released dialogues."""
    files: dict[str, list[Path]] = {}
    for pattern in _NAMES:
        for path in sorted(raw.glob("*.txt")):
            if path.is_file() and (match := re.fullmatch(pattern, path.name)):
                files.setdefault(str(int(match[1])), []).append(path)
    released = [
        Released(name, path, split)
        for name, split in LISTS.items()
        if (path := raw / f"{name}.txt").is_file()
    ]
    if not files and not released:
        expected = "books (pg<number>.txt, <number>-0.txt …), or train.txt, dev.txt and test.txt"
        raise no_files(corpus, raw, expected)
    if files and corpus.language.partition("-")[0] != "es":
        expected = "es: the rules that separate speech from narration are for Spanish books"
        todo = "for other languages use the released files, train.txt, dev.txt and test.txt"
        raise ParamsError(f"{corpus.where}.corpus.language", expected, corpus.language, todo)
    splits = assign_splits(sorted(files), _read_lists(raw / FOLDER), corpus)
    books = [Book(i, paths[0], splits[i], len(paths) - 1) for i, paths in sorted(files.items())]
    return [*books, *released]


def assign_splits(
    books: Sequence[str], lists: dict[Split, set[str]], corpus: Corpus
) -> dict[str, Split | None]:
    """Return the split of each available book, None for a book in no list.

    If the lists name no available book for validation or test, a fifth of the train books (at
    least two, but never the last) are used, by the keyed hash of their numbers.
    """
    splits: dict[str, Split | None] = {
        book: next((split for split, ids in lists.items() if book in ids), None) for book in books
    }
    train = sorted(
        (book for book in books if splits[book] == "train"),
        key=lambda book: keyed_hash(corpus.seed, corpus.name, book, "fill up"),
    )
    share = max(MIN_FILLED, len(train) // TRAIN_BOOKS_PER_FILLED)
    for split in lists:
        if split not in splits.values():
            for _ in range(min(share, len(train) - 1)):
                splits[train.pop(0)] = split
    return splits


def _read_lists(folder: Path) -> dict[Split, set[str]]:
    if not folder.is_dir():
        return {}
    lists = {}
    for name, split in LISTS.items():
        path = folder / f"{name}_indices.txt"
        lines = _read_text(path).split("\n") if path.is_file() else ["no such file"]
        for number, line in enumerate(lines, 1):
            if line.strip() and not re.fullmatch(r"[0-9]{1,9}", line.strip()):
                todo = f"put the dataset's three lists there, or remove {folder.name} to split "
                todo += "the books by keyed hash"
                raise RawError(f"{path}, line {number}", "the number of a book", line[:60], todo)
        lists[split] = {str(int(line)) for line in lines if line.strip()}
    return lists


# --- reading -------------------------------------------------------------------------------------


def read_block(block: Book | Released, corpus: Corpus) -> BlockResult:
    """Read one book, or one file of released dialogues."""
    result = BlockResult()
    if isinstance(block, Released):
        return _released(block)
    if block.n_duplicates:
        result.drops.seen["documents"] += block.n_duplicates
        result.drops.dropped["documents", "duplicate_book"] += block.n_duplicates
    with result.counting("documents", str(block.path)):
        result.records.append(_book(block, corpus.language.partition("-")[0], result.drops))
    return result


def _book(block: Book, language: str, drops: Drops) -> Dialogue:
    text = decode(block.path)
    body = find_body(text)
    if body is None:
        raise Dropped("no_markers")
    turns, is_language = _read_body(body, language, drops)
    if not is_language:
        raise Dropped("other_language")
    if not turns or drops.seen["turns"] / max(1, len(body.split())) < MIN_TURNS / 10_000:
        raise Dropped("no_dialogue")
    return Dialogue(block.key, _title(text), turns, block.split)


def decode(path: Path) -> str:
    """Return the text of a book's file, with \\n as line ends.

    The encoding is UTF-8 if the bytes are valid UTF-8, else the one that the header states, else
    ISO-8859-1, or Windows-1252 if there are bytes that are control characters in ISO-8859-1.
    """
    data = read_whole(path, LARGEST_TEXT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        stated = re.search(rb"Character set encoding:[ \t]*(\S[^\r\n]*)", data[:20_000])
        name = stated[1].decode("ascii", "replace").strip() if stated else "ISO-8859-1"
        charset = "utf-8" if data.startswith(codecs.BOM_UTF8) else "-".join(name.lower().split())
        if _LATIN_1.fullmatch(charset):
            charset = "cp1252" if re.search(rb"[\x80-\x9f]", data) else "latin-1"
        elif not _CHARSET.fullmatch(charset):
            expected = "a text in UTF-8, or a character set after `Character set encoding:`"
            found = f"byte {error.start} is not UTF-8, and {name[:60]!r}"
            raise EncodingError(path, expected, found) from None
        try:
            text = data.decode(charset)
        except (UnicodeError, LookupError) as reason:
            at = reason.start if isinstance(reason, UnicodeDecodeError) else error.start
            expected = f"text in {charset}" if stated else "text in UTF-8, ISO-8859-1 or cp1252"
            found = f"{data[at : at + 8]!r} ({reason})"
            raise EncodingError(f"{path}, byte {at}", expected, found) from None
    return re.sub(r"\r\n?", "\n", text)


def find_body(text: str) -> str | None:
    """Return the text between the markers, None if one of them is missing."""
    starts = list(_START.finditer(text))
    if not starts:
        return None
    end = _END.search(text, starts[-1].end())
    return text[starts[-1].end() : end.start()] if end else None


def _title(text: str) -> str:
    match = re.search(r"(?m)^Title:[ \t]*(.*(?:\n[ \t]+\S.*)*)", text)
    return clean(match[1]) if match else ""


def _read_body(body: str, language: str, drops: Drops) -> tuple[list[list[str]], bool]:
    """Return the conversations, and whether any part of the book is in the corpus's language."""
    style = Style.of(body)
    runs: list[list[str]] = []
    is_language = False
    for matches, stretch in groupby(_cut_stretches(body), lambda text: identify(text) == language):
        is_language = is_language or matches
        for conversation in conversations("\n\n".join(stretch), style):
            runs.extend(_split_runs(conversation, matches, drops))
    return runs, is_language


def _cut_stretches(body: str) -> Iterator[str]:
    """Yield pieces of whole paragraphs, all but the last of at least MIN_STRETCH characters."""
    piece: list[str] = []
    length = 0
    for paragraph in re.split(r"\n[ \t]*\n", body):
        piece.append(paragraph)
        length += len(paragraph)
        if length >= MIN_STRETCH:
            yield "\n\n".join(piece)
            piece, length = [], 0
    if "".join(piece).strip():
        yield "\n\n".join(piece)


def _split_runs(
    conversation: Sequence[Turn], is_language: bool, drops: Drops
) -> Iterator[list[str]]:
    """Yield the runs of at least two usable turns; single turns are dropped."""
    run: list[str] = []
    for turn in [*conversation, None]:
        if turn is not None:
            text = clean(turn.text)
            reason = turn.reason or _reason(text) or (None if is_language else "other_language")
            if drops.sift("turns", text, reason):
                run.append(text)
                continue
        if len(run) == 1:
            drops.dropped["turns", "alone"] += 1
        elif run:
            yield run
        run = []


def _reason(turn: str) -> str | None:
    """Return why a turn cannot be used, None if it can."""
    if (reason := find_damage(turn)) is not None:
        return reason
    if not any(c.isalpha() for c in turn):
        return "no_letters"
    if turn.count("«") != turn.count("»"):
        return "unequal_quotes"
    return "too_long" if len(turn.split()) > MAX_TURN_WORDS else None


def _released(block: Released) -> BlockResult:
    """Read a file of one record per dialogue."""
    result = BlockResult()
    data = re.sub(rb"\r\n?", b"\n", read_whole(block.path)).removeprefix(codecs.BOM_UTF8).strip()
    for number, lines in enumerate(re.split(rb"\n(?:[ \t]*\n)+", data), 1):
        where = f"{block.path}, dialogue {number}"
        if number > MOST_RECORDS:
            raise RawError(block.path, f"at most {MOST_RECORDS:,} dialogues in a file", "more")
        with result.counting("documents", where):
            try:
                turns = [Turn(line) for line in lines.decode().split("\n") if line.strip()]
            except UnicodeDecodeError as error:
                raise EncodingError(where, "a text in UTF-8", str(error)) from None
            if not (runs := list(_split_runs(turns, True, result.drops))):
                raise Dropped("no_dialogue")
            result.records.append(Dialogue(f"{block.key}-{number}", "", runs, block.split))
    return result
