"""Reads the file of a dump from any byte on: as it is, or its bz2 streams, or their blocks.

bzip2 compresses 900 kB at a time. Each such block begins with 48 bits, at any bit of a byte, that
mark it, and a stream ends with 48 others: bzip2recover finds blocks by these marks. So a file of
one long stream can be read by many workers.
"""

import bz2
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from corpora_recipes.fetching.ranges import part_range
from corpora_recipes.running.errors import InputError, RawError

# Bytes read at once, and the most that are decompressed at once.
CHUNK, DECOMPRESSED = 1 << 18, 1 << 20

_BLOCK, _END = 0x314159265359, 0x177245385090
_MARK_BITS, _CRC_BITS = 48, 32
# A compressed block has at most a hundredth more bytes than its content; in bits.
_LONGEST = 8 * 1_000_000
# Bytes from the first of a mark to the last, wherever in a byte it begins.
_SPAN = 7
# The five bytes that a mark fills, to the mark and the bit of the byte before in which it begins.
_MIDDLES = {
    (mark << (8 - bit)).to_bytes(_SPAN)[1:6]: (mark, bit)
    for mark in (_BLOCK, _END)
    for bit in range(8)
}
_MIDDLE = re.compile(b"|".join(map(re.escape, _MIDDLES)), re.DOTALL)


def read_plain(path: Path, start: int) -> Iterator[bytes]:
    """Yield a file in chunks, from byte ``start`` on."""
    with path.open("rb") as file:
        file.seek(start)
        while chunk := file.read(CHUNK):
            yield chunk


def read_streams(
    path: Path, start: int = 0, part: Path | None = None, *, single: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Decompress a file from the bz2 stream at byte ``start`` on, or this stream alone.

    ``part`` is the file with that part of it, if it was not fetched whole.

    Yields:
        (compressed bytes read up to here, chunk of at most DECOMPRESSED bytes).
    """
    offset = start
    shift = part_range(part.name)[0] if part else 0
    with _open_part(path, part) if part else path.open("rb") as file:
        file.seek(start - shift)
        data = file.read(CHUNK)
        if not data and not single:
            return
        while True:
            decompressor = bz2.BZ2Decompressor()
            while not decompressor.eof:
                try:
                    if decompressor.needs_input and not data and not (data := file.read(CHUNK)):
                        raise EOFError(f"its end at byte {file.tell() + shift:,}")
                    chunk = decompressor.decompress(data, DECOMPRESSED)
                except (OSError, EOFError) as error:
                    where = f"{path}, stream at byte {offset:,}"
                    found = f"{error}: the dump is cut or damaged, or not that of its index"
                    raise RawError(where, "a whole bz2 stream", found) from None
                data = b""
                if chunk or decompressor.eof:
                    yield file.tell() + shift - len(decompressor.unused_data), chunk
            data = decompressor.unused_data or file.read(CHUNK)
            offset = file.tell() + shift - len(data)
            if single or not data:
                return


def _open_part(dump: Path, part: Path) -> BinaryIO:
    start, stop = part_range(part.name)
    size = part.stat().st_size if part.is_file() else None
    if size != stop - start:
        expected = f"bytes {start:,} to {stop - 1:,} of {dump.name}, {stop - start:,} in all"
        found = "no such file" if size is None else f"{size:,} bytes"
        todo = "run `probeta fetch` after each change of quota, seed or code"
        raise InputError(part, expected, found, todo)
    return part.open("rb")


def read_blocks(path: Path, start: int) -> Iterator[tuple[int, bytes]]:
    """Decompress the blocks of a bz2 file whose marks begin at byte ``start`` or later.

    Yields:
        (byte in which the block begins, its content): usually 900 kB, at most 46 MB.
    """
    with path.open("rb") as searched, path.open("rb") as file:
        begin = None
        for bit, mark in _marks(searched, start):
            if begin is not None:
                content = _decompress(file, begin, bit)
                if content is None and bit - begin <= _LONGEST:
                    continue  # these 48 bits are no mark, but occur by chance in the block
                if content is None:
                    raise _damaged(path, begin, "a damaged block")
                yield begin // 8, content
            begin = bit if mark == _BLOCK else None
    if begin is not None:
        raise _damaged(path, begin, "a damaged block, or a cut file")


def check_end(path: Path) -> None:
    """Check that a bz2 file ends where a stream ends; raises InputError if not."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(3) == b"BZh":
            for bit, mark in _marks(file, max(0, size - 2 * _SPAN - _CRC_BITS // 8)):
                if mark == _END and (bit + _MARK_BITS + _CRC_BITS + 7) // 8 == size:
                    return
    raise _damaged(path, 8 * size, "another end: the file is cut, or no bz2 file")


def _marks(file: BinaryIO, offset: int) -> Iterator[tuple[int, int]]:
    """Yield (bit of the file, mark) of all marks from byte ``offset`` on."""
    file.seek(offset)
    data = b""
    while chunk := file.read(CHUNK):
        data += chunk
        for match in _MIDDLE.finditer(data):
            first = match.start() - 1
            if first < 0 or first + _SPAN > len(data):
                continue  # it began before ``offset``; or the next chunk has its end
            mark, bit = _MIDDLES[match[0]]
            bits = int.from_bytes(data[first : first + _SPAN])
            if bits >> (8 - bit) & ((1 << _MARK_BITS) - 1) == mark:
                yield 8 * (offset + first) + bit, mark
        done = max(0, len(data) - _SPAN + 1)
        data = data[done:]
        offset += done


def _decompress(file: BinaryIO, begin: int, end: int) -> bytes | None:
    """Return the content of the block in bits ``begin`` to ``end``; None if they are no block."""
    bits = end - begin
    file.seek(begin // 8)
    data = file.read((end + 7) // 8 - begin // 8)
    block = int.from_bytes(data) >> (-end % 8) & ((1 << bits) - 1)
    if bits < _MARK_BITS + _CRC_BITS:
        return None
    # The checksum follows the mark; a stream of one block has the same at its end.
    crc = block >> (bits - _MARK_BITS - _CRC_BITS) & ((1 << _CRC_BITS) - 1)
    stream = (block << _MARK_BITS | _END) << _CRC_BITS | crc
    bits += _MARK_BITS + _CRC_BITS
    decompressor = bz2.BZ2Decompressor()
    try:
        stream_bytes = (stream << (-bits % 8)).to_bytes((bits + 7) // 8)
        content = decompressor.decompress(b"BZh9" + stream_bytes)
    except OSError:
        return None
    return content if decompressor.eof else None


def _damaged(path: Path, bit: int, found: str) -> RawError:
    return RawError(f"{path}, byte {bit // 8:,}", "whole blocks of a bz2 stream", found)
