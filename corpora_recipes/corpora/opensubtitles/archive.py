"""Reads single members of a large zip archive, without holding its directory in memory.

``zipfile.ZipFile`` makes an object for every member: 1.5 s and 180 MB for 300,000 of them, in each
worker. Here the directory is read once, as a stream; a worker seeks the directory record of a
member by its position in the file, and from there the member. Zip64 is supported. The format is
PKWARE's APPNOTE.TXT 6.3.10, whose sections are cited below. Of a remote archive, only what is read
is fetched (``partial_file.PartialFile``).
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.running.limits import LARGEST_FILE, MOST_SUBTITLES

_CHUNK = 1 << 20

_RECORD = struct.Struct("<4s6H3L5H2L")  # 4.3.12, central directory header
_LOCAL = struct.Struct("<4s5H3L2H")  # 4.3.7, local file header
_END = struct.Struct("<4s4H2LH")  # 4.3.16, end of central directory record
_LOCATOR = struct.Struct("<4sLQL")  # 4.3.15, zip64 end of central directory locator
_END64 = struct.Struct("<4sQ2H2L4Q")  # 4.3.14, zip64 end of central directory record
_FULL = 0xFFFFFFFF  # the value is in the zip64 extra field (4.5.3)
_ENCRYPTED, _UTF8 = 1 << 0, 1 << 11  # 4.4.4, general purpose bit flag
_STORED, _DEFLATED = 0, 8  # 4.4.5, compression method


class Bytes(Protocol):
    """A file opened for reading, whole or in parts."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to a byte."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""


@dataclass(frozen=True, slots=True)
class Member:
    """The directory record of a member; ``offset`` is the position of its local header."""

    name: str
    flags: int
    method: int
    crc: int
    compressed: int
    size: int
    offset: int


def list_members(file: Bytes, path: Path) -> Iterator[tuple[Member, int]]:
    """Yield the directory record of each member, and its position; ``path`` is for messages."""
    start, left = find_directory(file, path)
    file.seek(start)
    data, at, base, count = b"", 0, start, 0
    while left or at < len(data):
        end = _end_of_record(data, at)
        if end is None:
            chunk = file.read(min(_CHUNK, left))
            if not chunk:
                raise _damaged(path, "its directory ends inside a record")
            left -= len(chunk)
            base += at
            data, at = data[at:] + chunk, 0
            continue
        if not data.startswith(b"PK\1\2", at):
            raise _damaged(path, f"no directory record at byte {base + at:,}")
        count += 1
        if count > MOST_SUBTITLES:
            raise _damaged(path, f"more than {MOST_SUBTITLES:,} members")
        yield _member(data[at:end], path), base + at
        at = end


def read_record(file: Bytes, path: Path, position: int) -> Member:
    """Read the directory record at a position that ``list_members`` gave."""
    _seek(file, path, position)
    # Most records are shorter.
    data = file.read(512)
    end = _end_of_record(data, 0)
    if end is None and len(data) == 512:
        data += file.read(3 * 0xFFFF)
        end = _end_of_record(data, 0)
    if end is None or not data.startswith(b"PK\1\2"):
        raise _damaged(path, f"no directory record at byte {position:,}")
    return _member(data[:end], path)


def read_member(file: Bytes, path: Path, member: Member) -> bytes:
    """Return the contents of a member; all that the directory says of it must be true."""
    if member.flags & _ENCRYPTED:
        raise _damaged(path, f"{member.name} is encrypted")
    if member.method not in (_STORED, _DEFLATED):
        raise _damaged(path, f"{member.name} has the compression method {member.method}")
    if max(member.size, member.compressed) > LARGEST_FILE:
        raise _too_large(path, member)
    _seek(file, path, member.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != b"PK\3\4":
        raise _damaged(path, f"no member at byte {member.offset:,}, where {member.name} should be")
    *_, named, extra = _LOCAL.unpack(header)
    name = _decode(file.read(named), member.flags)
    if name != member.name:
        raise _damaged(path, f"{name} where {member.name} should be")
    file.seek(extra, 1)
    data = file.read(member.compressed)
    whole = len(data) == member.compressed
    if whole and member.method == _DEFLATED:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            # One byte beyond the announced size reveals a wrong size.
            data = inflater.decompress(data, member.size + 1)
        except zlib.error as error:
            raise _damaged(path, f"{member.name} is damaged: {error}") from None
        whole = inflater.eof
    if not whole or len(data) != member.size:
        raise _damaged(path, f"{member.name} does not have the {member.size:,} bytes announced")
    if zlib.crc32(data) != member.crc:
        raise _damaged(path, f"{member.name} has another CRC-32 than the directory says")
    return data


def member_range(member: Member, end: int, path: Path) -> tuple[int, int]:
    """Return a member's first byte and the one after its last; what follows begins at ``end``."""
    if member.compressed > LARGEST_FILE:
        raise _too_large(path, member)
    shortest = member.offset + _LOCAL.size + member.compressed
    if shortest > end:
        raise _damaged(path, f"{member.name} would reach to byte {shortest:,}, beyond {end:,}")
    # The name and the extra field of its header have at most 65,535 bytes each.
    return member.offset, min(end, shortest + 2 * 0xFFFF)


def find_directory(file: Bytes, path: Path) -> tuple[int, int]:
    """Return the position of the central directory, and its size in bytes."""
    # The number of its records is not reliable: some writers give it modulo 65,536.
    length = file.seek(0, 2)
    tail_at = max(0, length - _LOCATOR.size - _END.size - 0xFFFF)
    file.seek(tail_at)
    tail = file.read()
    at = len(tail)
    while (at := tail.rfind(b"PK\5\6", 0, at)) >= 0:
        # The comment, the record's last field, ends at the end of the file.
        if len(tail) - at >= _END.size:
            *_, size, start, comment = _END.unpack_from(tail, at)
            if at + _END.size + comment == len(tail):
                break
    else:
        raise _damaged(path, "no zip archive, or a truncated one")
    if at >= _LOCATOR.size and tail.startswith(b"PK\6\7", at - _LOCATOR.size):
        _seek(file, path, _LOCATOR.unpack_from(tail, at - _LOCATOR.size)[2])
        end64 = file.read(_END64.size)
        if len(end64) < _END64.size or end64[:4] != b"PK\6\6":
            raise _damaged(path, "its zip64 end record is not where it should be")
        *_, size, start = _END64.unpack(end64)
    if start + size > tail_at + at:
        raise _damaged(path, f"a directory that would reach to byte {start + size:,}")
    return start, size


def _member(record: bytes, path: Path) -> Member:
    """Return what a whole directory record says."""
    fields = _RECORD.unpack_from(record)
    _, _, _, flags, method, _, _, crc, compressed, size, named, extra, *_, offset = fields
    end = _RECORD.size + named
    name = _decode(record[_RECORD.size : end], flags)
    if _FULL in (size, compressed, offset):
        large = _zip64_values(record[end : end + extra])
        # The field holds those of the three that are too large, in this order.
        size, compressed, offset = (
            next(large, -1) if value == _FULL else value for value in (size, compressed, offset)
        )
        if -1 in (size, compressed, offset):
            raise _damaged(path, f"{name} lacks its zip64 sizes")
    return Member(name, flags, method, crc, compressed, size, offset)


def _end_of_record(data: bytes, at: int) -> int | None:
    """Return the end of the directory record, None if it is beyond the data."""
    if at + _RECORD.size > len(data):
        return None
    named, extra, comment = _RECORD.unpack_from(data, at)[10:13]
    end: int = at + _RECORD.size + named + extra + comment
    return end if end <= len(data) else None


def _seek(file: Bytes, path: Path, position: int) -> None:
    if position > file.seek(0, 2):
        raise _damaged(path, f"a reference to byte {position:,}, beyond its end")
    file.seek(position)


def _zip64_values(extra: bytes) -> Iterator[int]:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            values = extra[at + 4 : at + 4 + size]
            yield from (value for (value,) in struct.iter_unpack("<Q", values[: size // 8 * 8]))
            return
        at += 4 + size


def _decode(name: bytes, flags: int) -> str:
    return name.decode("utf-8" if flags & _UTF8 else "cp437", "replace")


def _too_large(path: Path, member: Member) -> InputError:
    size = max(member.size, member.compressed)
    return _damaged(path, f"{member.name} has {size:,} bytes, more than {LARGEST_FILE:,}")


def _damaged(path: Path, found: str) -> InputError:
    return RawError(path, "a whole zip archive of subtitle files", found)
