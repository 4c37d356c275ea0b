"""Makes a document of a row, or says what is wrong with it."""

from collections.abc import Sequence
from typing import Any, Literal, get_args

from corpora_recipes.corpora.documents.rows import Where, paragraphs
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import SPLITS, Document, Drops, split_at_drops
from corpora_recipes.running.limits import DEEPEST_SECTION
from corpora_recipes.text.cleaning import clean, damage
from corpora_recipes.text.sentences import split_sentences

Key = Literal["id", "title", "summary", "text", "paragraphs", "sections", "topics", "split"]
KEYS = get_args(Key)
SECTION_KEYS = ("heading", "level", "paragraphs")


def document_of(row: Any, where: Where, language: str, drops: Drops) -> Document:
    """Return the document of a row, without the sentences that it counts as dropped.

    A row without the key ``id`` gets the digest of its texts, and is counted as one.
    """
    fields = _fields(row, KEYS, where, "a document")
    forms = [key for key in ("text", "paragraphs", "sections") if key in fields]
    if len(forms) != 1:
        found = " and ".join(forms or fields) or "nothing"
        raise where.error("exactly one of text, paragraphs and sections", found)
    if row.get("id", "digest") in (None, ""):
        raise where.error("an id", repr(row["id"]), "give each document a unique id, or none an id")
    if "text" in fields:
        parts = [("", 1, paragraphs(_string(fields["text"], "text", where)))]
    elif "paragraphs" in fields:
        parts = [("", 1, _strings(fields["paragraphs"], "paragraphs", where))]
    else:
        parts = [_section(value, where) for value in _list(fields["sections"], "sections", where)]
    if "id" not in fields:
        drops.seen["digests_as_ids"] += 1
        texts = (text for heading, _, texts in parts for text in (heading, *texts))
        fields["id"] = f"{keyed_hash(0, *texts):016x}"
    split = fields.get("split") or None
    if split is not None and split not in SPLITS:
        raise where.error(f"split among {', '.join(SPLITS)}", repr(split))
    return Document(
        id=_name(fields["id"], "id", where),
        title=clean(_string(fields.get("title", ""), "title", where)),
        topics=_topics(fields.get("topics", []), where),
        sections=[
            section
            for heading, level, texts in parts
            for section in split_at_drops(clean(heading), level, _sentences(texts, language, drops))
        ],
        split=split,
        summary=_summary(_string(fields.get("summary", ""), "summary", where), language, drops),
    )


def _topics(value: Any, where: Where) -> list[str]:
    """Return the topics of a list, or the only one, which may be the number of a class."""
    topics = value if isinstance(value, list) else [value]
    return list(filter(None, (clean(_name(topic, "topics", where)) for topic in topics)))


def _section(value: Any, where: Where) -> tuple[str, int, list[str]]:
    fields = _fields(value, SECTION_KEYS, where, "a section")
    heading = _string(fields.get("heading", ""), "heading", where)
    level = fields.get("level", 2 if heading else 1)
    if type(level) is not int or not 1 <= level <= DEEPEST_SECTION:
        raise where.error(f"level, an integer from 1 to {DEEPEST_SECTION}", repr(level)[:60])
    if "paragraphs" not in fields:
        raise where.error("paragraphs in each section", f"none in {heading!r}")
    return heading, level, _strings(fields["paragraphs"], "paragraphs", where)


def _summary(text: str, language: str, drops: Drops) -> list[str]:
    (sentences,) = _sentences([text], language, drops, "summary_sentences")
    return [sentence for sentence in sentences if sentence is not None]


def _sentences(
    texts: Sequence[str], language: str, drops: Drops, unit: str = "sentences"
) -> list[list[str | None]]:
    """Split paragraphs into sentences, with None in place of dropped ones."""
    paragraphs: list[list[str | None]] = []
    for text in texts:
        paragraphs.append([])
        for sentence in split_sentences(clean(text), language):
            reason = damage(sentence) or ("" if any(map(str.isalpha, sentence)) else "no_letters")
            paragraphs[-1].append(drops.sift(unit, sentence, reason))
    return paragraphs


def _fields(value: Any, known: Sequence[str], where: Where, what: str) -> dict[str, Any]:
    """Return the keys that have a value; null counts as a missing key."""
    if not isinstance(value, dict):
        raise where.error(f"{what}, an object with keys among {', '.join(known)}", repr(value)[:60])
    unknown = [key for key in value if key not in known]
    if unknown:
        expected = f"{what} with keys among {', '.join(known)}"
        todo = "rename or remove it; or name those to read in `columns` of the corpus's entry, as "
        todo += f"in columns: {{text: {unknown[0]}}}: all others are ignored then"
        raise where.error(expected, ", ".join(map(str, unknown)), todo)
    return {key: content for key, content in value.items() if content is not None}


def _list(value: Any, key: str, where: Where) -> list[Any]:
    if not isinstance(value, list):
        raise where.error(f"{key}, a list", repr(value)[:60])
    return value


def _strings(value: Any, key: str, where: Where) -> list[str]:
    each = f"{key}, a list of strings: each"
    return [_string(item, each, where) for item in _list(value, key, where)]


def _name(value: Any, key: str, where: Where) -> str:
    return _string(str(value) if type(value) is int else value, key, where)


def _string(value: Any, key: str, where: Where) -> str:
    if not isinstance(value, str):
        is_number = isinstance(value, int | float)
        todo = f'put it in quotes: "{value}"' if is_number else "correct it"
        raise where.error(f"{key}, a string", repr(value)[:60], todo)
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise where.error(f"{key} in Unicode", "half a surrogate pair", "write it in UTF-8")
    return value
