"""Reads the film reviews of MuchoCine, files that are nearly XML, into labelled summaries.

The archive corpusCine.zip holds a file for each review, corpusCriticasCine/<id>.xml, beside others
with its parts of speech (<id>.review.pos)::

    <review author="…" title="…" rank="4" maxRank="5" source="muchocine">
        <summary>Una comedia que gana con los años.</summary>
        <body>…</body>
    </review>

Files are in ISO-8859-1 without a declaration, and one in seven is not well-formed: it has HTML
entities, which XML does not know, or bare & and <, nearly always in the body. So nothing is parsed
as XML: attributes and summary are at the beginning of the file, and the body is never read.

The same files are on GitHub in other folders, reviews_<n>/xml/<id>.xml, which are read as well: as
an archive, or unpacked.
"""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from corpora_recipes.formats.archives import Member, Members, list_members, read_members
from corpora_recipes.formats.tables import Row, natural_text
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Example
from corpora_recipes.running.errors import RawError
from corpora_recipes.text.cleaning import find_damage, unescape

# The publisher's, and that of GitHub.
ARCHIVES = ("corpusCine.zip", "Spanish-Movie-Reviews.zip")
REVIEWS_A_BLOCK = 500

_REVIEW = re.compile(r"[^.]+\.xml")
# Matched once from the left up to the end of the summary: linear time.
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<review\s(?P<attributes>.*?)>\s*"
    rb"<summary\s*(?:/>|>(?P<summary>.*?)</summary>)",
    re.DOTALL,
)
_RANK = re.compile(rb'\brank="([1-5])"\s+maxRank="5"')
# With a semicolon only: "R&B" is no reference, and neither is "&copia".
_REFERENCE = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[a-zA-Z]\w*);")
# The source has a question mark for every character that ISO-8859-1 lacks. Spanish questions open
# with ¿; so ?this? was a quotation, and Ocean?s had an apostrophe.
_LOST_APOSTROPHE = re.compile(r"(?<=[^\W\d_])\?(?=s\b)")
_LOST_QUOTES = re.compile(r'(?<![^\s("¿¡])\?(?=[\w¡(])([^?¿]*[^\s?¿])\?(?![\w?])')


def blocks(raw: Path, corpus: Corpus) -> Sequence[Members]:
    """List the reviews of the archive, or of the folder, a few hundred to a block."""
    archive = next((raw / name for name in ARCHIVES if (raw / name).is_file()), None)
    paths = [archive] if archive else raw.rglob("*.xml")
    files = [
        file for path in paths for file in list_members(path, raw) if _REVIEW.fullmatch(_name(file))
    ]
    if not files:
        expected = "reviews, corpusCriticasCine/<id>.xml, in an archive or unpacked"
        raise no_files(corpus, archive or raw, expected, "no .xml file")
    # In the order of the publisher's archive, so that the rows do not depend on the folders.
    files.sort(key=lambda file: (_name(file), file.key))
    starts = range(0, len(files), REVIEWS_A_BLOCK)
    groups = [tuple(files[start : start + REVIEWS_A_BLOCK]) for start in starts]
    return [Members(f"corpusCriticasCine/{_name(group[0])}", group) for group in groups]


def _name(file: Member) -> str:
    return PurePosixPath(file.key).name


def read_block(block: Members, corpus: Corpus) -> BlockResult:
    """Read a block's reviews into examples of the collection ``reviews``."""
    result = BlockResult()
    for file, data in zip(block.files, read_members(block.files), strict=True):
        with result.counting("examples", file):
            result.records.append(_example(read_review(data, file.where)))
    return result


def read_review(data: bytes, where: str) -> Row:
    """Return id (the file's name), rank and summary from the beginning of a review's file.

    The summary is in ISO-8859-1, Windows-1252 or UTF-8 (Spanish text in the first two is never
    valid UTF-8); the rest of the file may differ, and be malformed.
    """
    head = _HEAD.match(data)
    if head is None:
        found = repr(_decode(data)[:200])
        raise RawError(where, "<review …> and in it <summary>…</summary>", found)
    fields = {"id": PurePosixPath(where).stem, "summary": _decode(head["summary"] or b"")}
    row = Row(where, 0, fields)
    rank = _RANK.search(head["attributes"])
    if rank is None:
        found = repr(_decode(head["attributes"])[:200])
        raise row.error('rank="1" to rank="5", and maxRank="5"', found)
    fields["rank"] = rank[1].decode("ascii")
    return row


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("windows-1252", "replace")


def clean_summary(text: str) -> str:
    """Return a summary as natural text: references resolved, lost quotation marks restored."""
    text = natural_text(_REFERENCE.sub(lambda match: unescape(match[0]), text))
    if (reason := find_damage(text)) is not None:
        raise Dropped(reason)
    return _LOST_QUOTES.sub(r'"\1"', _LOST_APOSTROPHE.sub("'", text))


def _example(row: Row) -> Example:
    """Return the example of a review, with the class that the published benchmark derives."""
    rank = int(row.fields["rank"])
    if rank == 3:
        raise Dropped("neutral_rank")
    key = f"reviews/{row.fields['id']}"
    return Example(
        id=key,
        collection="reviews",
        texts=(clean_summary(row.fields["summary"]),),
        label="positive" if rank > 3 else "negative",
        columns={"rank": str(rank)},
    )
