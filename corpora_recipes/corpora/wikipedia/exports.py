"""MediaWiki Content File Exports: a wiki's current pages in several files, with their checksums.

They succeed the pages-articles dumps (https://wikitech.wikimedia.org/wiki/MediaWiki_Content_File_Exports).
A folder ``<wiki>/<date>/xml/bzip2`` has files ``<wiki>-<date>-p<first>p<last>.xml.bz2``, named by
their page ids, ``SHA256SUMS``, and ``_SUCCESS``, which is written when all else is complete. Each
file is a whole dump, of pages of all namespaces.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.facts import Source
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.errors import InputError

SUMS, SUCCESS = "SHA256SUMS", "_SUCCESS"
_SHARD = re.compile(r"(?P<wiki>\w+)-(?P<date>\d{4}-\d\d-\d\d)-p(?P<first>\d+)p\d+\.xml\.bz2")
# As sha256sum writes it; its * stands for a file that was read as binary.
_SUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def folder_of(wiki: str, date: str) -> str:
    """Return the path of a wiki's export; ``date`` is as in 20260801, or "*"."""
    day = date if date == "*" else f"{date[:4]}-{date[4:6]}-{date[6:]}"
    return f"{wiki}/{day}/xml/bzip2"


def export_sources(wiki: str, date: str) -> list[Source]:
    """Return the raw files of an export, or of all there are, as patterns.

    Args:
        wiki: such as "eswiki".
        date: such as 20260801, or "latest".
    """
    folder = folder_of(wiki, "*" if date == "latest" else date)
    names = (f"{wiki}-*-p*p*.xml.bz2", SUMS, SUCCESS)
    return [Source(f"{folder}/{name}") for name in names]


def read_sums(text: str, where: Path | str, wiki: str) -> dict[str, str]:
    """Return the SHA-256 of each file of an export, in the order of their page ids.

    Args:
        text: of SHA256SUMS.
        where: its file or address, for messages.
        wiki: such as "eswiki".

    Raises:
        InputError: a line has another form, or no file of this wiki is listed.
    """
    sums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _SUM.fullmatch(line)
        if match is None:
            raise InputError(
                f"{where}, line {number}",
                expected="a SHA-256, two blanks and a file's name",
                found=repr(line[:100]),
                todo="fetch the file again",
            )
        shard = _SHARD.fullmatch(match[2])
        if shard and shard["wiki"] == wiki:
            sums[match[2]] = match[1]
    if not sums:
        raise InputError(
            where,
            expected=f"sums of files {wiki}-<date>-p<first>p<last>.xml.bz2",
            found=f"{len(text.splitlines())} lines, none of such a file",
            todo="use the folder xml/bzip2 of this wiki and date",
        )
    return {name: sums[name] for name in sorted(sums, key=_first_id)}


def find_shards(raw: Path, wiki: str) -> list[Path]:
    """Return the files of the newest export of a wiki in a folder, in the order of page ids.

    Raises:
        InputError: no export is there, or the newest is not complete: it lacks _SUCCESS, or its
            files are not those of its SHA256SUMS.
    """
    found: dict[tuple[str, Path], set[str]] = {}
    for path in raw.rglob(f"{wiki}-*.xml.bz2"):
        if match := _SHARD.fullmatch(path.name):
            found.setdefault((match["date"], path.parent), set()).add(path.name)
    if not found:
        raise InputError(
            raw,
            expected=f"an export {folder_of(wiki, '*')}/{wiki}-<date>-p<first>p<last>.xml.bz2",
            found="no file of that name" if raw.is_dir() else "no such folder",
            todo="run fetch, or put the files into such a folder, with "
            f"{SUMS} and {SUCCESS} beside them",
        )
    (_, folder), names = max(found.items())
    for name in (SUCCESS, SUMS):
        if not (folder / name).is_file():
            raise InputError(
                folder / name,
                expected=f"a complete export, with {SUMS} and {SUCCESS}",
                found="no such file",
                todo="an export without it was not finished: fetch it again, or take another date",
            )
    sums = read_sums((folder / SUMS).read_text("utf-8"), folder / SUMS, wiki)
    if names != sums.keys():
        lacking, others = sorted(sums.keys() - names), sorted(names - sums.keys())
        raise InputError(
            folder,
            expected=f"the files that {SUMS} lists",
            found=f"{lacking[0]} missing" if lacking else f"{others[0]}, which it does not list",
            todo="fetch the export again",
        )
    return [folder / name for name in sums]


def check_sums(shards: Sequence[Path], wiki: str) -> None:
    """Compare the files of an export, as ``find_shards`` returned them, with its SHA256SUMS.

    Raises:
        InputError: one has another checksum.
    """
    sums = shards[0].with_name(SUMS)
    expected = read_sums(sums.read_text("utf-8"), sums, wiki)
    for path in shards:
        found = sha256_of(path)
        if found != expected[path.name]:
            raise InputError(
                path,
                expected=f"SHA-256 {expected[path.name]}, as {SUMS} says",
                found=f"SHA-256 {found}",
                todo=f"fetch the file and {SUMS} again",
            )


def _first_id(name: str) -> int:
    match = _SHARD.fullmatch(name)
    assert match is not None
    return int(match["first"])
