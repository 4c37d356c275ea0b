"""The ceilings on what is read, so that no input can fill the memory; reading up to them.

Each is far above what the real corpora hold. They bound the memory of a worker to a few hundred
megabytes, whatever the files say of themselves. What is above one is refused, never cut.
"""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from corpora_recipes.running.errors import InputError, RawError

# --- files, in bytes -----------------------------------------------------------------------------

# Of a file, or a member of an archive, that is read whole: about 37 MB at most (XNLI).
LARGEST_FILE = 64 << 20
# Of a text that is also decoded as a whole: the longest books have 5 MB.
LARGEST_TEXT = 16 << 20
# Of an XML document: its tree takes up to 35 times as much memory; real ones have 1 MB.
LARGEST_XML = 8 << 20
# Of all members of an archive, unpacked: the 14,000 papers of PeerRead have more than 1 GB.
LARGEST_ARCHIVE = 4 << 30
# Of the directory of the archive of subtitles: the English one has 45 MB, for 450,000 members. Its
# objects take ten times as much memory.
LARGEST_DIRECTORY = 128 << 20
# Of a compressed file, or a row group, of documents: a block, whose records a worker holds.
LARGEST_PACKED = 256 << 20
# Of a row group of predictions or ranks, as it is read.
LARGEST_GROUP = 128 << 20
# Of a line: a book on one line. Parsed as JSON it takes up to 20 times as much memory.
LONGEST_LINE = 8 << 20
# Of a line of a table, whose texts are sentences: XNLI's have 3 kB.
LONGEST_ROW = 100_000
# Of the header of a dump: it has a few kilobytes.
LONGEST_HEADER = 1 << 20
# Of a page of a dump: MediaWiki keeps a text under 2 MiB, which XML can make six times as long.
LONGEST_PAGE = 32 << 20
# Of a parsed sentence with its comments: the longest has some 100 kB.
LARGEST_SENTENCE = 4 << 20
# Of a YAML file: treebanks.yaml has 73 kB.
LARGEST_YAML = 1 << 18

# --- numbers -------------------------------------------------------------------------------------

# Of an archive whose directory is held in memory: MuchoCine has 3,900.
MOST_MEMBERS = 50_000
# Of a block, whose records a worker holds: the largest, of PAWS-X, has 50,000.
MOST_RECORDS = 250_000
# Of a corpus of treebanks, whose marks the driver holds: the largest has some 200,000.
MOST_SENTENCES = 1_000_000
# Of a dataset that is tested: 100,000 are many.
MOST_TESTED = 1_000_000
# Of a table, or a compressed file: the largest of XNLI has 75,000.
MOST_LINES = 5_000_000
# Of a table: XNLI has 19.
MOST_COLUMNS = 100
# Of a file with a discourse tree: the longest texts have some hundreds.
MOST_NODES = 5_000
# Of a parsed sentence: the longest has some hundreds.
MAX_WORDS = 5_000
# Of a dump: the English Wikipedia has 230,000.
MOST_STREAMS = 1_000_000
# Of a YAML file: corpus.yaml of ParaLex has 87.
MOST_ALIASES = 100

# --- nesting -------------------------------------------------------------------------------------

# Of mappings and lists in a YAML file: params.yaml has 5.
DEEPEST_YAML = 20
# Of a document: HTML has 6.
DEEPEST_SECTION = 100
# Of lists and objects in JSON: results have 6.
DEEPEST_JSON = 50
# Of relations in a discourse tree: from 250 on, Python cannot send it between processes.
DEEPEST_TREE = 150

# --- digits --------------------------------------------------------------------------------------

# Of an integer: it fits 64 bits. Python refuses to read one of more than 4,300.
MOST_DIGITS = 18


_RIGHT_FILE = "check that it is the right file, and use it as published"


def is_number(text: str) -> bool:
    """Return whether a text is an integer without a sign, of at most ``MOST_DIGITS``."""
    return text.isdecimal() and len(text) <= MOST_DIGITS


def check_file(path: Path) -> int:
    """Return the size of a file; a pipe or a device may have no end, and is refused."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise RawError(path, "a file", "a folder, a pipe or a device", _RIGHT_FILE)
    return status.st_size


def read_whole(path: Path, most: int = LARGEST_FILE) -> bytes:
    """Return the content of a file, whose size must be what its folder says."""
    if (size := check_file(path)) > most:
        raise too_large(path, f"{size:,} bytes", most)
    with path.open("rb") as file:
        data = file.read(size + 1)
    if len(data) > size:
        raise too_large(path, f"more than the {size:,} bytes that it should have", most)
    return data


def decode_json(text: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is no JSON, has more than ``DEEPEST_JSON`` levels, or half a character.
    """
    text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level: list[Any] = [[value]] if text.count("[") + text.count("{") > DEEPEST_JSON else []
    for _ in range(DEEPEST_JSON):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for of in inner for each in of if isinstance(each, dict | list)]
    if level:
        raise ValueError(_TOO_DEEP)
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half a character, as of an emoji that was cut") from None
    return value


_TOO_DEEP = f"more than {DEEPEST_JSON} lists and objects in each other"


def too_large(where: Path | str, found: str, most: int) -> RawError:
    """Return the error for what is read whole and has too many bytes."""
    return RawError(where, f"at most {most:,} bytes, as it is read whole", found, _RIGHT_FILE)


class Lines(Protocol):
    """A file that is read by lines."""

    def readline(self, size: int, /) -> bytes:
        """Return the next line, or its first ``size`` bytes."""


def whole_lines(file: Lines, where: Path | str) -> Iterator[bytes]:
    """Yield the lines of a file, each with its line end; ``where`` is its name, for messages."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            found = f"a longer one, which begins with {line[:60]!r}"
            raise InputError(where, f"lines of at most {LONGEST_LINE:,} bytes", found, _RIGHT_FILE)
        yield line
