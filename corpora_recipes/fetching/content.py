"""Tells from a file's bytes whether it can be what its name says: magic numbers, and no HTML."""

import re
from pathlib import Path
from zipfile import is_zipfile

# Ending of a name to the first bytes of every such file.
_MAGIC = {
    ".zip": (b"PK\x03\x04", b"PK\x05\x06"),
    ".gz": (b"\x1f\x8b",),
    ".tgz": (b"\x1f\x8b",),
    ".bz2": (b"BZh",),
    ".xz": (b"\xfd7zXZ\x00",),
    ".7z": (b"7z\xbc\xaf\x27\x1c",),
    ".parquet": (b"PAR1",),
}
_PAGES = (".html", ".htm", ".xhtml")
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|script)\b",
    re.IGNORECASE | re.DOTALL,
)
# What follows the last block of a bzip2 stream, at any bit: the square root of pi in BCD
# (bzip2-1.0.8, compress.c), and then a checksum of four bytes.
_BZ2_END = 0x177245385090


def wrong_kind(path: Path, name: str) -> str:
    """Return what a file is if it is not what its name says, else "".

    Of a zip or bz2 file, the end is looked at too: that of a file which was cut is missing.

    Args:
        path: the file.
        name: what it is to be called; only the ending matters.
    """
    with path.open("rb") as file:
        begin = file.read(1024)
        file.seek(max(0, path.stat().st_size - 16))
        end = file.read()
    if not begin:
        return "an empty file"
    if _HTML.match(begin) and not name.endswith(_PAGES):
        return f"a web page, which begins {_shown(begin)}"
    suffix = Path(name).suffix
    magic = _MAGIC.get(suffix, (b"",))
    if not begin.startswith(magic):
        return f"no {suffix} file: it begins {_shown(begin)}"
    if (suffix == ".zip" and not is_zipfile(path)) or (suffix == ".bz2" and not _ends_bz2(end)):
        return f"a {suffix} file without its end"
    return ""


def _ends_bz2(end: bytes) -> bool:
    """Return whether the last bytes of a file end a bzip2 stream, which may end in any bit."""
    bits = int.from_bytes(end, "big")
    return any(bits >> 32 + spare & 0xFFFFFFFFFFFF == _BZ2_END for spare in range(8))


def _shown(begin: bytes) -> str:
    return repr(begin.strip()[:40])
