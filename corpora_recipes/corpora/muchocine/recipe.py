"""Reads the film reviews of MuchoCine, files that are nearly XML, into labelled summaries.

The archive corpusCine.zip holds a file for each review, corpusCriticasCine/<id>.xml::

    <review author="…" title="…" rank="4" maxRank="5" source="muchocine">
        <summary>Una comedia que gana con los años.</summary>
        <body>…</body>
    </review>

It is in ISO-8859-1 without a declaration, and one in seven is not well-formed: HTML's entities,
which XML does not know, and bare & and <, nearly always in the body. So nothing is parsed as XML:
what is needed stands at the head of the file, and the body is never looked at.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpora_recipes.archives import members, read_members
from corpora_recipes.errors import InputError
from corpora_recipes.examples import collect, natural
from corpora_recipes.recipes import BlockResult, Corpus, Dropped
from corpora_recipes.records import Example
from corpora_recipes.tables import Row
from corpora_recipes.text import damage

ARCHIVE = "corpusCine.zip"
REVIEWS_A_BLOCK = 500

# Up to the summary's end everything is matched once, from the left, so that reading is linear.
_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<review\s(?P<attributes>.*?)>\s*"
    rb"<summary\s*(?:/>|>(?P<summary>.*?)</summary>)",
    re.DOTALL,
)
_RANK = re.compile(rb'\brank="([1-5])"\s+maxRank="5"')
# With a semicolon only: "R&B" is no reference, and neither is "&copia".
_REFERENCE = re.compile(r"&(?:#\d+|#[xX][\da-fA-F]+|[a-zA-Z]\w*);")
# The source has a question mark for every character that ISO-8859-1 lacks. A question in Spanish
# opens with ¿; so one that opens like ?this? was a quotation, and one like Ocean?s an apostrophe.
_LOST_APOSTROPHE = re.compile(r"(?<=[^\W\d_])\?(?=s\b)")
_LOST_QUOTES = re.compile(r'(?<![^\s("¿¡])\?(?=[\w¡(])([^?¿]*[^\s?¿])\?(?![\w?])')


@dataclass(frozen=True, slots=True)
class Reviews:
    """A block: some reviews of the archive.

    Attributes:
        key: the first of the names.
        path: the archive.
        names: the reviews' files in it.
    """

    key: str
    path: Path
    names: tuple[str, ...]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Reviews]:
    """List the reviews of the archive, a few hundred to a block.

    Raises:
        InputError: the archive is missing or damaged, or holds no review.
    """
    path = raw / ARCHIVE
    if not path.is_file():
        todo = f"fetch it, or put it there as {corpus.facts['homepage']} gives it"
        raise InputError(path, expected="the corpus's archive", found="no such file", todo=todo)
    names = [member.name for member in members(path, raw) if member.name.endswith(".xml")]
    if not names:
        raise InputError(
            path,
            expected="reviews, corpusCriticasCine/<id>.xml",
            found="no .xml file in the archive",
            todo="take the archive as its publisher gives it",
        )
    starts = range(0, len(names), REVIEWS_A_BLOCK)
    groups = [tuple(names[start : start + REVIEWS_A_BLOCK]) for start in starts]
    return [Reviews(group[0], path, group) for group in groups]


def read_block(block: Reviews, corpus: Corpus) -> BlockResult:
    """Read a block's reviews into examples of the collection ``reviews``.

    Raises:
        InputError: a file cannot be unpacked or is no review.
    """
    files = read_members(block.path, block.names)
    rows = (read_review(data, f"{block.path}, {name}") for name, data in files.items())
    return collect(rows, _example)


def read_review(data: bytes, where: str) -> Row:
    """Return what stands at the head of a review's file.

    Args:
        data: the file, well-formed or not. The summary is in ISO-8859-1 or Windows-1252, or in
            UTF-8, which Spanish in the other two never looks like; the rest may be in another.
        where: the archive and the file's name in it.

    Returns:
        id (the file's name), rank, summary (as it stands there).

    Raises:
        InputError: there is no review with a summary, or no rank from 1 to 5 out of 5.
    """
    head = _HEAD.match(data)
    if head is None:
        raise InputError(
            where,
            expected="<review …> and in it <summary>…</summary>",
            found=repr(_decode(data)[:200]),
            todo="take the archive as its publisher gives it, or correct the file",
        )
    fields = {"id": PurePosixPath(where).stem, "summary": _decode(head["summary"] or b"")}
    row = Row(where, fields)
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
    """Return a summary as natural text: references resolved, lost quotation marks put back.

    Raises:
        Dropped: "empty_text", or the name of a damage (see ``text.damage``).
    """
    text = natural(_REFERENCE.sub(lambda match: html.unescape(match[0]), text))
    if (reason := damage(text)) is not None:
        raise Dropped(reason)
    return _LOST_QUOTES.sub(r'"\1"', _LOST_APOSTROPHE.sub("'", text))


def _example(row: Row) -> Example:
    """Return the example of a review; the rule of its class is that of the published benchmark."""
    rank = int(row.fields["rank"])
    if rank == 3:
        raise Dropped("neutral_rank")
    key = f"reviews/{row.fields['id']}"
    return Example(
        id=key,
        collection="reviews",
        texts=(clean_summary(row.fields["summary"]),),
        label="positive" if rank > 3 else "negative",
        score=None,
        document_id=key,
        columns={"rank": str(rank)},
    )
