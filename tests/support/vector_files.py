"""Files of word vectors in the forms in which others publish them."""

import struct
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

Words = Mapping[str, Sequence[float]]


def text_of(words: Words) -> str:
    """Return words and their vectors as lines."""
    return "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in words.items())


def polyglot(words: Words, kind: bytes = b"f4", function: bytes = b"_reconstruct") -> bytes:
    """Return a file of Polyglot: what Python 2 wrote of (words, array), of the second protocol."""
    numbers = [number for vector in words.values() for number in vector]
    size = len(next(iter(words.values())))
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    out = BytesIO()

    def put(number: int) -> bytes:
        return b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<i", number)

    out.write(b"\x80\x02(")
    for number, word in enumerate(words):
        text = word.encode()
        out.write(b"X" + struct.pack("<i", len(text)) + text + put(number + 1))
    out.write(b"t" + put(len(words) + 1))
    out.write(b"cnumpy.core.multiarray\n" + function + b"\nq\x02cnumpy\nndarray\nq\x03")
    out.write(b"K\x00\x85U\x01bq\x04\x87Rq\x05(K\x01J" + struct.pack("<i", len(words)))
    out.write(
        b"K" + bytes([size]) + b"\x86cnumpy\ndtype\nq\x06U\x02" + kind + b"q\x07K\x00K\x01\x87R"
    )
    out.write(b"q\x08(K\x03U\x01<q\x09NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb")
    out.write(b"\x89T" + struct.pack("<i", len(data)) + data + b"q\x0atb\x86q\x0b.")
    return out.getvalue()


def numberbatch(words: Mapping[str, Words]) -> str:
    """Return ConceptNet Numberbatch's file of some languages, by code."""
    lines = [
        f"/c/{code}/{word.replace(' ', '_')} {' '.join(map(str, vector))}\n"
        for code, of_language in words.items()
        for word, vector in of_language.items()
    ]
    size = len(next(iter(next(iter(words.values())).values())))
    return f"{len(lines)} {size}\n" + "".join(lines)


def senna(words: Words, folder: Path) -> tuple[Path, Path]:
    """Write Senna's list of words, and its matrix, below a folder, and return their paths."""
    listed, matrix = folder / "hash" / "words.lst", folder / "embeddings" / "embeddings.txt"
    for path in (listed, matrix):
        path.parent.mkdir(parents=True)
    listed.write_text("".join(f"{word}\n" for word in words), "utf-8")
    rows = (" ".join(map(str, vector)) for vector in words.values())
    matrix.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return listed, matrix
