"""Static word vectors from a file: word2vec, GloVe, fastText, Numberbatch, Polyglot."""

import gzip
import logging
import pickletools
import re
import struct
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal

import numpy as np

from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import InputError, ParamsError, RawError
from evaluation.encoders.encoder import Form, OneVector

if TYPE_CHECKING:
    from evaluation.arrays import Floats


# fasttext.cc: FASTTEXT_FILEFORMAT_MAGIC_INT32, as the bytes with which a file begins.
FASTTEXT_MAGIC = struct.pack("<i", 793712314)
FASTTEXT_VERSIONS = (11, 12)
FASTTEXT_SUPERVISED = 3
FASTTEXT_MODELS = (1, 2, FASTTEXT_SUPERVISED)
# dictionary.cc: the token that ends a sentence; it has no n-grams.
FASTTEXT_END = "</s>"
GZIP_MAGIC = b"\x1f\x8b"
READ_BYTES = 1 << 22
# A longer line, or word, is an error.
MAX_LINE_BYTES = 1 << 20
BLOCK_ROWS = 4096
NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
COUNT = re.compile(rb"\d{1,18}")
# A file of Polyglot (Al-Rfou, Perozzi and Skiena 2013) is a pickle; no operation of it is run. The
# codes of all that it has, which are of words and of an array of numpy, and the names in it:
PICKLE_MAGIC = b"\x80\x02"
MAX_PICKLE_BYTES = 1 << 30
_PICKLED = set("\x80(t\x85\x86\x87)]ae.NXTUqrhjJKM\x8a\x89cRb")
_PICKLED_NAMES = {"numpy.core.multiarray _reconstruct", "numpy ndarray", "numpy dtype"}
# Of ConceptNet Numberbatch, whose words are /c/LANGUAGE/word with blanks as "_": the languages that
# have the vectors of another code (Sumbler et al. 2018, Table 2).
CONCEPT = b"/c/"
NUMBERBATCH_CODES = {"hr": "sh", "id": "ms", "tl": "fil"}
_USE_TEXT = "give the model that is not quantised, or its vectors as text (.vec)"


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors: word to row, and the matrix, float32 [rows, dimension]."""

    rows: dict[str, int]
    matrix: "Floats"

    def row(self, token: str) -> int | None:
        """Return the row of a token, or of its lower-cased form, or None."""
        row = self.rows.get(token)
        return self.rows.get(token.lower()) if row is None else row

    def vector(self, token: str) -> "Floats | None":
        """Return the vector of a token, or None."""
        row = self.row(token)
        return None if row is None else self.matrix[row]


@dataclass(frozen=True)
class SubwordVectors(WordVectors):
    """A fastText model: below the words, the matrix has one row for each bucket of n-grams.

    N-grams have ``min_ngram`` to ``max_ngram`` characters; both are 0 without n-grams.
    """

    buckets: int
    min_ngram: int
    max_ngram: int

    def vector(self, token: str) -> "Floats | None":
        """Return the mean over the word, if it is known, and its n-grams; None without either."""
        row = self.row(token)
        rows = [] if row is None else [row]
        word = token if row is None or token in self.rows else token.lower()
        if word != FASTTEXT_END and self.buckets:
            hashes = ngram_hashes(f"<{word}>", self.min_ngram, self.max_ngram)
            rows += [len(self.rows) + hashed % self.buckets for hashed in hashes]
        if not rows:
            return None
        mean: Floats = self.matrix[rows].mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean


def ngram_hashes(word: str, min_ngram: int, max_ngram: int) -> Iterator[int]:
    """Yield the hashes of a word's character n-grams as fastText computes them.

    Source: fastText, dictionary.cc, computeSubwords and hash: the 32-bit FNV-1a of the UTF-8 bytes,
    each with its sign extended; no n-gram is a single "<" or ">" at the word's ends, which it has.
    """
    letters = [letter.encode() for letter in word]
    for start in range(len(letters)):
        hashed = 2166136261
        for end in range(start, min(start + max_ngram, len(letters))):
            for byte in letters[end]:
                signed = byte if byte < 128 else byte | 0xFFFFFF00
                hashed = (hashed ^ signed) * 16777619 & 0xFFFFFFFF
            length = end - start + 1
            bracket = length == 1 and start in (0, len(letters) - 1)
            if length >= min_ngram and not bracket:
                yield hashed


class VectorFile:
    """A file read in large blocks; ``position``: number of (uncompressed) bytes taken."""

    def __init__(self, path: str, raw: BinaryIO) -> None:
        self.path = path
        self.zipped = raw.read(2) == GZIP_MAGIC
        raw.seek(0)
        self._raw = raw
        self._stream = gzip.GzipFile(fileobj=raw) if self.zipped else raw
        self._data = b""
        self._at = 0
        self.position = 0

    @property
    def read(self) -> int:
        """Number of bytes of the file read."""
        return self._raw.tell()

    def _read_more(self) -> bool:
        more = self._stream.read(READ_BYTES)
        self._data = self._data[self._at :] + more
        self._at = 0
        return bool(more)

    def peek(self, count: int) -> bytes:
        """Return the next bytes without taking them, fewer at the end."""
        while len(self._data) - self._at < count and self._read_more():
            pass
        return self._data[self._at : self._at + count]

    def take(self, count: int) -> bytes:
        """Take ``count`` bytes; EOFError if there are fewer."""
        piece = self.peek(count)
        if len(piece) < count:
            raise EOFError
        self._at += count
        self.position += count
        return piece

    def take_until(self, end: bytes) -> bytes:
        """Take all before a byte, and drop it; EOFError without one in ``MAX_LINE_BYTES``."""
        while (at := self._data.find(end, self._at, self._at + MAX_LINE_BYTES)) < 0:
            if len(self._data) - self._at >= MAX_LINE_BYTES or not self._read_more():
                raise EOFError
        piece = self._data[self._at : at]
        self.position += at + 1 - self._at
        self._at = at + 1
        return piece

    def unpack(self, layout: str) -> tuple[Any, ...]:
        """Take the little-endian numbers of a layout of ``struct``; EOFError at the end."""
        return struct.unpack(f"<{layout}", self.take(struct.calcsize(f"<{layout}")))

    def error(self, position: str, expected: str, found: str, *todo: str) -> RawError:
        """Return the error at a position of the file, or of the whole file."""
        where = f"{self.path}, {position}" if position else self.path
        return RawError(where, expected, found, *todo)


def file_error(path: str, error: OSError) -> InputError:
    """Return the error of a file that cannot be read."""
    found = error.strerror or str(error)
    return ParamsError(path, "a file of word vectors", found, "correct the encoder's `path`")


@contextmanager
def open_vectors(path: str) -> Iterator[VectorFile]:
    """Open a file; errors of the disk or of the decompression become an InputError."""
    try:
        with Path(path).open("rb") as raw:
            yield VectorFile(path, raw)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        found = f"its end in the middle, or damaged data {error}".rstrip()
        raise RawError(path, "a whole file", found) from None
    except OSError as error:
        raise file_error(path, error) from None


@dataclass(frozen=True)
class Header:
    """The header of a file: the ``count`` of words or None, and how those begin that are read.

    ``content``: words and vectors of a file that is read as a whole.
    """

    dimension: int
    count: int | None
    kind: Literal["text", "binary", "pickle"]
    prefix: bytes = b""
    content: "tuple[list[bytes], Floats] | None" = None

    def position_of(self, row: int) -> str:
        """Return the position of a row, for messages."""
        if self.kind != "text":
            return f"word {row + 1}"
        return f"line {row + (1 if self.count is None else 2)}"


@dataclass(frozen=True)
class FastTextArguments:
    """The arguments of a fastText model that its vectors depend on."""

    dimension: int
    buckets: int
    min_ngram: int
    max_ngram: int


def read_header(file: VectorFile, language: str = "") -> Header | FastTextArguments:
    """Read the header, and recognise the format by it; for ``language`` see ``StaticVectors``."""
    if file.peek(4) == FASTTEXT_MAGIC:
        return _read_arguments(file)
    if file.peek(2) == PICKLE_MAGIC:
        words, matrix = _read_pickle(file)
        return Header(matrix.shape[1], len(words), "pickle", content=(words, matrix))
    binary = Path(file.path).name.removesuffix(".gz").endswith(".bin")
    # A mark before the first word, unless it is that word.
    if not binary and file.peek(4).startswith(BOM_UTF8) and file.peek(4) != BOM_UTF8 + b" ":
        file.take(len(BOM_UTF8))
    first = file.peek(MAX_LINE_BYTES).partition(b"\n")[0]
    fields = _spaced(first).split(b" ")
    count: int | None = None
    if len(fields) == 2 and all(COUNT.fullmatch(field) for field in fields):
        file.take_until(b"\n")
        count, dimension = map(int, fields)
    elif binary:
        expected = "COUNT DIMENSION, as word2vec's binary files begin, or a fastText model"
        todo = "name the file without .bin if it is text; else get it again"
        raise file.error("line 1", expected, _excerpt(first), todo)
    else:
        numbers = [bool(NUMBER.fullmatch(field)) for field in fields[1:]]
        # The last fields that are numbers: the word may have spaces.
        dimension = [False, *numbers][::-1].index(False)
    if not 0 < dimension <= MAX_LINE_BYTES or count == 0:
        expected = "COUNT DIMENSION, both above 0 and possible, or a word and its numbers"
        todo = "give a file of word2vec, GloVe or fastText"
        raise file.error("line 1", expected, _excerpt(first) if first else "nothing", todo)
    prefix = b""
    if file.peek(len(CONCEPT)) == CONCEPT:
        if not language:
            expected = "a `language:` in the encoder's entry, as the words have one"
            todo = "name it, such as `language: es`, which reads the words that begin with /c/es/"
            raise ParamsError(file.path, expected, _excerpt(file.peek(60)), todo)
        prefix = CONCEPT + NUMBERBATCH_CODES.get(language, language).encode() + b"/"
    return Header(dimension, count, "binary" if binary else "text", prefix)


def _excerpt(data: bytes) -> str:
    text = repr(data[:60].decode("utf-8", "replace"))
    return f"{text} …" if len(data) > 60 else text


def _spaced(line: bytes) -> bytes:
    """Return a line with blanks between its fields, also where it has tabs, and none at its end."""
    return line.rstrip(b" \t\r").replace(b"\t", b" ")


def read_vectors(file: VectorFile, bar: Any, language: str = "") -> WordVectors:
    """Read a file into memory, from its beginning; of a repeated word, the first vector."""
    header = read_header(file, language)
    if isinstance(header, FastTextArguments):
        return _read_model(file, header, bar)
    rows: dict[str, int] = {}
    matrix = np.empty((0, header.dimension), np.float32)
    n_words, repeated = 0, ""
    for numbers, words, vectors in _read_rows(file, header, bar):
        first = len(rows)
        is_new = np.ones(len(words), np.bool_)
        for place, word in enumerate(words):
            is_new[place] = word not in rows
            rows.setdefault(word, len(rows))
        if not repeated and not is_new.all():
            place = int(np.argmin(is_new))
            repeated = f"{words[place]!r} in {header.position_of(numbers[place])}"
        n_words += len(words)
        if len(rows) > len(matrix):
            # In place, without a copy.
            matrix.resize((len(rows) * 3 // 2, header.dimension), refcheck=False)
        matrix[first : len(rows)] = vectors[is_new]
    matrix.resize((len(rows), header.dimension), refcheck=False)
    if repeated:
        message = "%s: %s repeated words, such as %s: the first vector of each is taken"
        logging.getLogger(__name__).warning(message, file.path, n_words - len(rows), repeated)
    return WordVectors(rows, matrix)


_Rows = tuple[Sequence[int], list[bytes], "Floats"]
"""Numbers of rows in the file, their words, and their vectors."""


def _read_rows(
    file: VectorFile, header: Header, bar: Any
) -> Iterator[tuple[Sequence[int], list[str], "Floats"]]:
    """Read words and vectors in blocks, with all checks except for repeated words."""
    readers = {"text": _text_rows, "binary": _binary_rows, "pickle": _pickle_rows}
    for numbers, words, vectors in readers[header.kind](file, header):
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if bad.size:
            where, found = header.position_of(numbers[bad[0]]), _excerpt(words[bad[0]])
            found = f"NaN or an infinite number in the vector of {found}"
            raise file.error(where, "finite numbers in the range of float32", found)
        # So that words which are no UTF-8 stay different from each other, and from all tokens.
        yield numbers, [word.decode("utf-8", "surrogateescape") for word in words], vectors
        bar.update(file.read - bar.n)


def _text_rows(file: VectorFile, header: Header) -> Iterator[_Rows]:
    """Read the lines of a text file in blocks: those that begin with the header's prefix."""
    row, found = -1, not header.prefix
    while file.peek(1):
        rows: list[int] = []
        words: list[bytes] = []
        numbers: list[str] = []
        first_error: InputError | None = None
        n_unlikely = 0
        while len(words) < BLOCK_ROWS and file.peek(1):
            try:
                line = file.take_until(b"\n")
            except EOFError:
                line = file.take(len(file.peek(MAX_LINE_BYTES)))
            row += 1
            if not line.startswith(header.prefix):
                continue
            word, rest = _split_line(line.removeprefix(header.prefix), header)
            if not rest or _ends_in_number(word):
                error = _line_error(file, header, row, line)
                # A header settles that such a word has a blank, unless all words are so.
                if not rest or header.count is None:
                    raise error
                first_error, n_unlikely = first_error or error, n_unlikely + 1
            rows.append(row)
            words.append(word.replace(b"_", b" ") if header.prefix else word)
            numbers.append(rest.decode("latin-1"))
        if not words:
            break
        if first_error and n_unlikely == len(words):
            raise first_error
        try:
            vectors = np.loadtxt(numbers, np.float32, comments=None, delimiter=" ", ndmin=2)
        except ValueError as error:
            fields = (
                (n, f) for n, line in zip(rows, numbers, strict=True) for f in line.split(" ")
            )
            bad = ((n, f) for n, f in fields if not NUMBER.fullmatch(f.encode("latin-1")))
            number, field = next(bad, (rows[0], str(error)))
            expected = f"{header.dimension} numbers"
            raise file.error(header.position_of(number), expected, repr(field)) from None
        found = True
        yield rows, words, vectors
    if header.count not in (None, row + 1):
        expected = f"the number of words that follow, {row + 1}"
        raise file.error("line 1", expected, f"{header.count}")
    if not found:
        expected = f"words that begin with {header.prefix.decode()}"
        raise file.error("", expected, "none", "correct the encoder's `language`")


def _split_line(line: bytes, header: Header) -> tuple[bytes, bytes]:
    """Return the word of a line, and its numbers; none if they are not as many as there should be.

    The numbers are the last fields, so that the word may have blanks.
    """
    # word2vec and fastText write a space after the last number.
    line = line.rstrip(b" \r")
    if line.count(b" ") < header.dimension:
        line = _spaced(line)
    parts = line.rsplit(b" ", header.dimension)
    word = parts[0].rstrip(b" ")
    enough = word and len(parts) == header.dimension + 1
    return word, line[len(parts[0]) + 1 :] if enough else b""


def _ends_in_number(word: bytes) -> bool:
    space, last = word.rpartition(b" ")[1:]
    return bool(space and NUMBER.fullmatch(last))


def _line_error(file: VectorFile, header: Header, row: int, line: bytes) -> InputError:
    source = "line 1 says" if row or header.count is not None else "most files have"
    expected = f"a word and {header.dimension} numbers, one space between them, as {source}"
    fields = line.rstrip(b" \r").split(b" ")
    found = f"{len(fields) - 1} fields after the word: {_excerpt(line)}"
    return file.error(header.position_of(row), expected, found)


def _read_pickle(file: VectorFile) -> tuple[list[bytes], "Floats"]:
    """Read the words and the matrix of a file of Polyglot, without running its operations."""
    # Texts before the first name are words; after it, type, order and bytes of the array.
    words: list[bytes] = []
    array: list[bytes] = []
    texts = words
    try:
        for operation, value, _ in pickletools.genops(file.peek(MAX_PICKLE_BYTES)):
            is_name = operation.name == "GLOBAL"
            if operation.code not in _PICKLED or (is_name and value not in _PICKLED_NAMES):
                found = f"{operation.name} {value or ''}".rstrip()
                raise file.error("", "the words and the array of a file of Polyglot", found)
            if is_name:
                texts = array
            elif isinstance(value, str):
                encoding = "utf-8" if operation.name == "BINUNICODE" else "latin-1"
                texts.append(value.encode(encoding, "surrogatepass"))
    except ValueError as error:
        raise file.error("", "a whole file of Polyglot", str(error)) from None
    dimension, rest = divmod(len(array[-1]) if array else 1, 4 * max(1, len(words)))
    if not words or rest or array[1:3] != [b"f4", b"<"] or not dimension:
        expected = "words, then a matrix of float32 with a row for each"
        raise file.error("", expected, f"{len(words)} words, and {array[1:-1]} {rest}")
    return words, np.frombuffer(array[-1], "<f4").reshape(len(words), dimension)


def _pickle_rows(_file: VectorFile, header: Header) -> Iterator[_Rows]:
    assert header.content is not None
    words, matrix = header.content
    yield range(len(words)), words, matrix


def _binary_rows(file: VectorFile, header: Header) -> Iterator[_Rows]:
    """Read the words of a binary file of word2vec in blocks."""
    assert header.count is not None
    size = 4 * header.dimension
    for first in range(0, header.count, BLOCK_ROWS):
        words: list[bytes] = []
        numbers: list[bytes] = []
        rows = range(first, min(first + BLOCK_ROWS, header.count))
        for row in rows:
            try:
                # The original program ends a vector with a line feed, other programs do not.
                words.append(file.take_until(b" ").lstrip(b"\n"))
                numbers.append(file.take(size))
            except EOFError:
                found = f"no space within {MAX_LINE_BYTES} bytes"
                if len(file.peek(size)) < size:
                    found = f"the end of the file after {row} words"
                expected = f"{header.count} words, each with {size} bytes, as line 1 says"
                raise file.error(header.position_of(row), expected, found) from None
        yield rows, words, np.frombuffer(b"".join(numbers), "<f4").reshape(len(words), -1)
    if rest := file.peek(MAX_LINE_BYTES).strip(b"\n"):
        expected = f"the end, after {header.count} words of dimension {header.dimension}"
        raise file.error(f"after word {header.count}", expected, f"{len(rest)} bytes or more")


def _read_arguments(file: VectorFile) -> FastTextArguments:
    """Take magic number, version and arguments of a fastText model (args.cc, Args::load)."""
    _, version = file.unpack("ii")
    arguments = file.unpack("12id")
    dimension, model, buckets, min_ngram, max_ngram = (arguments[i] for i in (0, 7, 8, 9, 10))
    if version not in FASTTEXT_VERSIONS or model not in FASTTEXT_MODELS or dimension < 1:
        expected = "a fastText model (cbow, skipgram or supervised) of version 11 or 12"
        found = f"version {version}, model {model}, dimension {dimension}"
        raise file.error("", expected, found, "give its vectors as text (.vec)")
    if version == 11 and model == FASTTEXT_SUPERVISED:
        # fasttext.cc, loadModel: they were trained without n-grams, whatever the file says.
        max_ngram = 0
    return FastTextArguments(dimension, buckets, min_ngram, max_ngram)


def _read_model(file: VectorFile, header: FastTextArguments, bar: Any) -> SubwordVectors:
    """Read what follows the arguments (dictionary.cc, fasttext.cc, densematrix.cc: load)."""
    entries, words, _, _, pruned = file.unpack("iiiqq")
    if pruned >= 0:
        raise file.error("", "a model whose matrix is dense", "a quantised, pruned one", _USE_TEXT)
    rows: dict[str, int] = {}
    for _ in range(entries):
        word = file.take_until(b"\0").decode("utf-8", "surrogateescape")
        _, kind = file.unpack("qb")
        # 1: a label of a supervised model; the labels come after the words.
        if kind == 0:
            rows[word] = len(rows)
    (quantised,) = file.unpack("?")
    if quantised:
        raise file.error("", "a model whose matrix is dense", "a quantised one", _USE_TEXT)
    count, dimension = file.unpack("qq")
    buckets = header.buckets
    if (len(rows), count, dimension) != (words, words + buckets, header.dimension):
        expected = f"{words} different words, a matrix of {words + buckets} × {header.dimension}"
        raise file.error("", expected, f"{len(rows)} words, a matrix of {count} × {dimension}")
    offset = file.position
    # An uncompressed model is mapped: of its several GiB only the rows that are used are held.
    matrix = np.empty((count if file.zipped else 0, dimension), np.float32)
    for first in range(0, count, BLOCK_ROWS):
        last = min(first + BLOCK_ROWS, count)
        where = f"rows {first + 1} to {last} of the matrix"
        try:
            block = np.frombuffer(file.take(4 * (last - first) * dimension), "<f4")
        except EOFError:
            expected = f"{count} rows of {dimension} float32"
            raise file.error(where, expected, "the end of the file") from None
        if not np.isfinite(block).all():
            raise file.error(where, "finite numbers", "NaN or an infinite number")
        if file.zipped:
            matrix[first:last] = block.reshape(-1, dimension)
        bar.update(file.read - bar.n)
    if not file.zipped:
        matrix = np.memmap(file.path, "<f4", "r", offset, (count, dimension))
    return SubwordVectors(rows, matrix, buckets, header.min_ngram, header.max_ngram)


@dataclass(frozen=True)
class StaticVectors(OneVector):
    """The mean of a text's word vectors, read from a file.

    A token that is not in the file is looked up in lower case; if it is not found either, it is
    left out. A text without any known token gets zeros. With a model of fastText (``.bin``)
    an unknown token gets the mean of its character n-grams instead (Bojanowski et al. 2017, TACL 5,
    section 3.2), as in fastText itself.

    The formats, each also compressed with gzip:

    - text: of word2vec and fastText with a line "COUNT DIMENSION", of GloVe without it, then a word
      and its numbers, with blanks or tabs. A word may contain blanks (". . ." in glove.840B) and
      never matches a token then, but not end in a number, unless a first line says DIMENSION;
    - the text of ConceptNet Numberbatch, whose words have a language (``/c/es/casa``);
    - word2vec's binary format (``.bin``): the first line, then a word, a space and the float32;
    - fastText's own ``.bin`` (version 11 or 12), words and n-grams, unless it is quantised;
    - Polyglot's pickle, which is read without running it.

    A word that is not UTF-8 never matches a token. Of a repeated one the first vector is taken.

    Attributes:
        path: the file; the name of a binary one ends in ``.bin`` or ``.bin.gz``.
        language: code of the words' language, "" if it does not matter: of a file of several only
            its words are read, and in a run no datasets of other languages are scored.
    """

    path: str
    language: str = ""
    name: ClassVar[str] = "static"
    form: ClassVar[Form] = "tokens"

    @property
    def revision(self) -> str:
        """The first 16 hexadecimal digits of the file's SHA-256."""
        return _digest(*_cache_key(self.path))

    @property
    def dimension(self) -> int:
        """Length of a vector, from the file's first line or header."""
        return _dimension(*_cache_key(self.path), self.language)

    @property
    def options(self) -> dict[str, Any]:
        """The name of the file, without its folder; and the language, if there is one."""
        about = {"file": Path(self.path).name, "language": self.language}
        return {name: value for name, value in about.items() if value}

    def check(self) -> None:
        """See ``Encoder.check``."""
        _ = self.dimension

    def encode(self, texts: Sequence[str]) -> "Floats":
        """Return float32 [len(texts), 1, dimension]; the texts are tokens joined by spaces."""
        table = load_model(*_cache_key(self.path), self.language)
        # Each distinct token once: with fastText a vector is the mean of about twenty vectors.
        vector_of: dict[str, Floats | None] = {}
        vectors = np.zeros((len(texts), 1, self.dimension), np.float32)
        for row, text in enumerate(texts):
            tokens = _tokens(text)
            vector_of |= {token: table.vector(token) for token in tokens if token not in vector_of}
            present = [vector for token in tokens if (vector := vector_of[token]) is not None]
            if present:
                vectors[row, 0] = np.mean(present, axis=0, dtype=np.float64)
        return vectors

    def vocabulary(self) -> Iterator[tuple[list[str], "Floats"]]:
        """Yield the file's words and their vectors, float32 [words, dimension], in its order.

        They come in blocks; except for fastText's ``.bin``, only one block is in memory, so that
        repeated words are not detected. The words of fastText's ``.bin`` are those of its
        dictionary, with the vectors that ``encode`` gives them.
        """
        stamp = _cache_key(self.path)
        with open_vectors(self.path) as file, progress(stamp[1], Path(self.path).name, "B") as bar:
            header = read_header(file, self.language)
            if isinstance(header, Header):
                yield from ((words, block) for _, words, block in _read_rows(file, header, bar))
                return
        table = load_model(*stamp, self.language)
        words = list(table.rows)
        for first in range(0, len(words), BLOCK_ROWS):
            block = words[first : first + BLOCK_ROWS]
            yield block, np.array([table.vector(word) for word in block])

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        """Return the number of tokens, and of tokens that are not among the file's words.

        With fastText's ``.bin`` the words of its dictionary count, not the n-grams.
        """
        table = load_model(*_cache_key(self.path), self.language)
        rows = [table.row(token) for text in texts for token in _tokens(text)]
        return {"tokens": len(rows), "out_of_vocabulary": rows.count(None)}


def _tokens(text: str) -> list[str]:
    return [token for token in text.split(" ") if token]


def _cache_key(path: str) -> tuple[str, int, int]:
    """Return the key under which a file is cached: path, size, time of its last change."""
    try:
        file = Path(path).stat()
    except OSError as error:
        raise file_error(path, error) from None
    return path, file.st_size, file.st_mtime_ns


@lru_cache(maxsize=8)
def _digest(path: str, size: int, changed: int) -> str:
    try:
        return sha256_of(Path(path))[:16]
    except OSError as error:
        raise file_error(path, error) from None


@lru_cache(maxsize=8)
def _dimension(path: str, size: int, changed: int, language: str) -> int:
    with open_vectors(path) as file:
        return read_header(file, language).dimension


# Only one: a table may take several GiB.
@lru_cache(maxsize=1)
def load_model(path: str, size: int, changed: int, language: str = "") -> WordVectors:
    """Return the model, which stays in memory until ``release``."""
    with open_vectors(path) as file, progress(size, Path(path).name, "B") as bar:
        return read_vectors(file, bar, language)
