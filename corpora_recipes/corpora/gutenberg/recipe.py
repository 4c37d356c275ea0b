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

from corpora_recipes.corpora.gutenberg.speech import (
    LONGEST_TURN,
    Style,
    Turn,
    conversations,
)
from corpora_recipes.facts import Pin, Source
from corpora_recipes.fetching.downloads import download
from corpora_recipes.fetching.pins import note_digests
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import BlockResult, Corpus
from corpora_recipes.records import Dialogue, Drops, Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.limits import LARGEST_TEXT, MOST_RECORDS, read_whole
from corpora_recipes.text.cleaning import clean, damage
from corpora_recipes.text.language import identify

LISTS: dict[str, Split] = {"train": "train", "dev": "validation", "test": "test"}
FOLDER = "gutenberg-dialog"
# So many of the books in a language may be missing; so many in a row mean that the mirrors refuse
# all of them.
MOST_MISSING, IN_A_ROW = 0.05, 5
# For a split without a book in the lists, one in FILL_UP train books is used, and at least FEWEST:
# some books have little dialogue, and a coherence row needs a sentence of another book.
FILL_UP, FEWEST = 5, 2
# With fewer turns per 10,000 words, a book's dashes are those of lists and exercises. Csaky and
# Recski (2021) require 150 delimiters, which excludes novels with dialogue in some chapters only.
FEWEST_TURNS = 20
# Characters for language identification: notes and front matter can be in another language.
STRETCH = 3000

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
    others: int


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

    Existing files are not downloaded again. A book that no mirror gives as text is left out and
    counted. The mirrors change their files from time to time: the manifest of the folder has the
    SHA-256 of each book.

    Raises:
        InputError: a list cannot be had; more than one book and more than MOST_MISSING of all are
            missing, or IN_A_ROW books one after the other.
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
            got = download(urls, target, check=_check_book)
        except InputError as error:
            found = " ".join(error.found.split())
            tqdm.write(f"book {number} is left out: {found}", file=sys.stderr)
            missing.append(number)
            in_a_row += 1
            if in_a_row == IN_A_ROW:
                raise
        else:
            in_a_row = 0
            mirrors.insert(0, mirrors.pop(urls.index(got.url)))
        time.sleep(corpus.options["delay_seconds"])
    if len(missing) > max(1, MOST_MISSING * len(ids)):
        raise InputError(
            ", ".join(corpus.options["books_urls"]),
            expected=f"at least {1 - MOST_MISSING:.0%} of the {len(ids):,} books of the lists",
            found=f"{len(missing):,} missing: {', '.join(map(str, missing[:10]))}"
            + (" …" if len(missing) > 10 else ""),
            todo="run fetch again later, which asks for these only; or add one to `books_urls`",
        )
    if missing:
        tqdm.write(f"{len(missing):,} of {len(ids):,} books are missing", file=sys.stderr)
    note_digests(out, sorted(path.name for path in out.glob("pg*.txt")))


def _ids_in_language(path: Path, language: str) -> list[int]:
    """Read the dataset's list of ``number:language:1``, with 0 for books under copyright."""
    ids = []
    for number, line in enumerate(_read_list(path).split("\n"), 1):
        if line and not re.fullmatch(r"[0-9]{1,9}:[\w-]+:[01]", line):
            raise InputError(
                f"{path}, line {number}",
                expected="number:language:1, or 0 at the end for a book under copyright",
                found=repr(line[:60]),
                todo="remove the file and fetch again",
            )
        if line.endswith(f":{language}:1"):
            ids.append(int(line.partition(":")[0]))
    return ids


def _read_list(path: Path) -> str:
    try:
        return read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, byte {error.start}",
            expected="a list of books in UTF-8",
            found=str(error),
            todo="remove the file and fetch again",
        ) from None


def _check_book(path: Path) -> None:
    with path.open("rb") as file:
        begin = file.read(200)
    if begin.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"<", b""):
        raise InputError(
            path,
            expected="the text of a book",
            found=f"{begin[:60]!r}",
            todo="the server may be limiting requests: fetch again later, or set "
            "`books_urls` to other mirrors",
        )


# --- which books, and their splits ---------------------------------------------------------------


def blocks(raw: Path, corpus: Corpus) -> Sequence[Book | Released]:
    """List the books, one file each, and the files of released dialogues.

    Raises:
        InputError: no file was found, a book list is missing or damaged, or this recipe has no
            dialogue rules for the language of the books.
    """
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
        raise InputError(
            raw,
            expected="books (pg<number>.txt, <number>-0.txt or <number>-8.txt), or train.txt, "
            "dev.txt and test.txt",
            found="none",
            todo=f"run `probeta fetch --only {corpus.name}`",
        )
    if files and corpus.language.partition("-")[0] != "es":
        raise InputError(
            f"{corpus.where}.corpus.language",
            expected="es: the rules that separate speech from narration are for Spanish books",
            found=corpus.language,
            todo="for other languages use the released files, train.txt, dev.txt and test.txt",
        )
    splits = assign_splits(sorted(files), _read_lists(raw / FOLDER), corpus)
    books = [Book(i, paths[0], splits[i], len(paths) - 1) for i, paths in sorted(files.items())]
    return [*books, *released]


def assign_splits(
    books: Sequence[str], lists: dict[Split, set[str]], corpus: Corpus
) -> dict[str, Split | None]:
    """Return the split of each book.

    Args:
        books: the numbers of the available books.
        lists: split to the numbers of its books; empty if there are no lists.
        corpus: its seed and name key the choice of books for an empty split.

    Returns:
        Book to split, None for a book in no list. If the lists name no available book for
        validation or test, a fifth of the train books (at least two, but never the last) are used.
    """
    found: dict[str, Split | None] = {
        book: next((split for split, ids in lists.items() if book in ids), None) for book in books
    }
    train = sorted(
        (book for book in books if found[book] == "train"),
        key=lambda book: keyed_hash(corpus.seed, corpus.name, book, "fill up"),
    )
    share = max(FEWEST, len(train) // FILL_UP)
    for split in lists:
        if split not in found.values():
            for _ in range(min(share, len(train) - 1)):
                found[train.pop(0)] = split
    return found


def _read_lists(folder: Path) -> dict[Split, set[str]]:
    if not folder.is_dir():
        return {}
    lists = {}
    for name, split in LISTS.items():
        path = folder / f"{name}_indices.txt"
        lines = _read_list(path).split("\n") if path.is_file() else ["no such file"]
        for number, line in enumerate(lines, 1):
            if line.strip() and not re.fullmatch(r"[0-9]{1,9}", line.strip()):
                raise InputError(
                    f"{path}, line {number}",
                    expected="the number of a book",
                    found=line[:60],
                    todo=f"put the dataset's three lists there, or remove {folder.name} to split "
                    "the books by keyed hash",
                )
        lists[split] = {str(int(line)) for line in lines if line.strip()}
    return lists


# --- reading -------------------------------------------------------------------------------------


def read_block(block: Book | Released, corpus: Corpus) -> BlockResult:
    """Read one book, or one file of released dialogues.

    A book that cannot be decoded is dropped, and the error is printed on stderr.

    Raises:
        InputError: a file of released dialogues is not in UTF-8.
    """
    result = BlockResult()
    if isinstance(block, Released):
        result.records.extend(_released(block, result.drops))
        return result
    result.drops.seen["documents"] += 1 + block.others
    if block.others:
        result.drops.dropped["documents", "duplicate_book"] += block.others
    try:
        text = decode(block.path)
    except InputError as error:
        tqdm.write(str(error), file=sys.stderr)
        result.drops.dropped["documents", "undecodable"] += 1
        return result
    body = find_body(text)
    if body is None:
        result.drops.dropped["documents", "no_markers"] += 1
        return result
    found, is_language = _read_body(body, corpus.language.partition("-")[0], result.drops)
    share = result.drops.seen["turns"] / max(1, len(body.split()))
    if not is_language:
        result.drops.dropped["documents", "other_language"] += 1
    elif not found or share < FEWEST_TURNS / 10_000:
        result.drops.dropped["documents", "no_dialogue"] += 1
    else:
        result.records.append(Dialogue(block.key, _title(text), found, block.split))
    return result


def decode(path: Path) -> str:
    """Return the text of a book's file, with \\n as line ends.

    The encoding is UTF-8 if the bytes are valid UTF-8, else the one that the header states, else
    ISO-8859-1, or Windows-1252 if there are bytes that are control characters in ISO-8859-1.

    Raises:
        InputError: the bytes are not valid in that encoding, or the encoding is unknown.
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
            raise InputError(
                path,
                expected="a text in UTF-8, or the name of a character set such as ISO-8859-1 after "
                "`Character set encoding:`",
                found=f"byte {error.start} is not UTF-8, and {name[:60]!r}",
                todo="correct the header, or save the file as UTF-8",
            ) from None
        try:
            text = data.decode(charset)
        except (UnicodeError, LookupError) as reason:
            at = reason.start if isinstance(reason, UnicodeDecodeError) else error.start
            raise InputError(
                f"{path}, byte {at}",
                expected=f"text in {charset}" if stated else "text in UTF-8, ISO-8859-1 or cp1252",
                found=f"{data[at : at + 8]!r} ({reason})",
                todo="fetch the file again, or save it as UTF-8",
            ) from None
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
    found: list[list[str]] = []
    is_language = False
    for matches, stretch in groupby(_stretches(body), lambda text: identify(text) == language):
        is_language = is_language or matches
        for conversation in conversations("\n\n".join(stretch), style):
            found.extend(_without_drops(conversation, matches, drops))
    return found, is_language


def _stretches(body: str) -> Iterator[str]:
    """Yield pieces of whole paragraphs, each (except the last) of at least STRETCH characters."""
    piece: list[str] = []
    length = 0
    for paragraph in re.split(r"\n[ \t]*\n", body):
        piece.append(paragraph)
        length += len(paragraph)
        if length >= STRETCH:
            yield "\n\n".join(piece)
            piece, length = [], 0
    if "".join(piece).strip():
        yield "\n\n".join(piece)


def _without_drops(
    conversation: Sequence[Turn], is_language: bool, drops: Drops
) -> Iterator[list[str]]:
    """Yield the runs of at least two usable turns; single turns are dropped."""
    run: list[str] = []
    for turn in [*conversation, None]:
        if turn is not None:
            text = clean(turn.text)
            reason = turn.reason or _reason(text) or (None if is_language else "other_language")
            drops.seen["turns"] += 1
            if reason is None:
                run.append(text)
                continue
            drops.dropped["turns", reason] += 1
        if len(run) == 1:
            drops.dropped["turns", "alone"] += 1
        elif run:
            yield run
        run = []


def _reason(turn: str) -> str | None:
    """Return why a turn cannot be used, None if it can."""
    if (reason := damage(turn)) is not None:
        return reason
    if not any(c.isalpha() for c in turn):
        return "no_letters"
    if turn.count("«") != turn.count("»"):
        return "unequal_quotes"
    return "too_long" if len(turn.split()) > LONGEST_TURN else None


def _released(block: Released, drops: Drops) -> Iterator[Dialogue]:
    """Yield one record per dialogue."""
    try:
        text = re.sub("\r\n?", "\n", read_whole(block.path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{block.path}, byte {error.start}",
            expected="released dialogues in UTF-8",
            found=str(error),
            todo="fetch the file again",
        ) from None
    for number, lines in enumerate(re.split(r"\n(?:[ \t]*\n)+", text.strip()), 1):
        if number > MOST_RECORDS:
            raise InputError(
                block.path,
                expected=f"at most {MOST_RECORDS:,} dialogues in a file",
                found="more",
                todo="check that it is the right file",
            )
        drops.seen["documents"] += 1
        turns = [Turn(line) for line in lines.split("\n") if line.strip()]
        if found := list(_without_drops(turns, True, drops)):
            yield Dialogue(f"{block.key}-{number}", "", found, block.split)
        else:
            drops.dropped["documents", "no_dialogue"] += 1
