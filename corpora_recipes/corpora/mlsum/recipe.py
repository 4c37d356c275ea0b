"""Reads MLSUM's JSON Lines into documents: the body of a news item, and its subhead as summary.

Two lines' worth of keys (a body has no paragraphs, ``topic`` is words of the URL)::

    {"text": "El puerto cerrará. …", "summary": "Dos días sin barcos.- Las obras siguen",
     "url": "http://elpais.com/ccaa/2012/03/08/madrid/1331…_030794.html",
     "title": "…", "topic": "ccaa madrid", "date": "08/03/2012"}

A body is a page whose layout is lost. What is no text of the item in it is cut before there are
sentences: boilerplate by the patterns of corpus.yaml, captions by ``captions.py``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.errors import InputError
from corpora_recipes.json_lines import Line, LineRange, line_ranges, parse_lines, range_lines
from corpora_recipes.language import identify
from corpora_recipes.mlsum.captions import MARKS, NEAR, find_caption
from corpora_recipes.recipes import BlockResult, Corpus, Dropped
from corpora_recipes.records import Document, Drops, Split, split_at_drops
from corpora_recipes.text import (
    clean,
    damage,
    has_markup,
    has_stray_quote,
    split_sentences,
    tidy_sentences,
)

KEYS = ("text", "summary", "url", "title", "topic")
# Kinds of rules in corpus.yaml.
RULES = (
    "boilerplate",
    "sentences",
    "first_sentences",
    "after_captions",
    "subhead_breaks",
    "subhead_sentences",
)
FILES: dict[str, Split] = {"train": "train", "val": "validation", "test": "test"}
# The corpus writes tu for Turkish, whose code is tr.
CODES = {"tr": "tu"}
# Texts of fewer words are too short to tell their language.
IDENTIFIABLE = 20
# So many characters tell it, and the time to identify it grows with them.
IDENTIFIED = 1000
# So many words in a row do not recur in a text by chance, but for names of offices.
REPEATED = 10
# Fewer words between two dashes are no sentence: Bilbao - Madrid.
SHORTEST_PART = 3

# Stand in a text where something was cut: between sentences, where the sentence before the cut is
# not known to be whole, where the one after it may not be, where it is not, and where a caption
# follows. (clean() leaves none in a text.)
_HOLE, _BEFORE, _DOUBT, _AFTER, _PHOTO = "\x00", "\x01", "\x02", "\x03", "\x04"
_HOLES = re.compile(f"[{_HOLE}{_BEFORE}{_DOUBT}{_AFTER}]")
_MARKUP = re.compile(r"<\s?/|\bpic\.twitter\.com|\bt\.co/")
_BULLET = re.compile(r"^(?:[-–—•·*»]+\s+)+")
_CLOSED = re.compile(r"[.!?…][\"'”’»)\]]*$")


def sources(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the three files of the corpus's language, with their checksums."""
    code = _code(corpus)
    sources = []
    for entry in corpus.facts["sources"]:
        source = {key: value.replace("{language}", code) for key, value in entry.items()}
        sources.append(source | corpus.facts["checksums"].get(source["file"], {}))
    return sources


def blocks(raw: Path, corpus: Corpus) -> Sequence[LineRange]:
    """List the ranges of the files.

    Raises:
        InputError: one of the files is missing or empty.
    """
    names = [f"{_code(corpus)}_{part}.jsonl" for part in FILES]
    missing = [n for n in names if not (raw / n).is_file() or not (raw / n).stat().st_size]
    if missing:
        raise InputError(
            raw,
            expected=f"the files {', '.join(names)}",
            found=f"{', '.join(missing)} missing or empty",
            todo=f"run `python -m corpora_recipes fetch {corpus.name} --out {raw}`",
        )
    return [r for n in names for r in line_ranges(raw / n, n)]


def read_block(block: LineRange, corpus: Corpus) -> BlockResult:
    """Read the items of one range.

    Raises:
        InputError: a line is no item of the form above.
    """
    rules = _Rules.of(corpus)
    split = FILES[block.path.stem.rpartition("_")[2]]
    result = BlockResult()
    lines = range_lines(block)
    todo = (
        "fetch it again: remove the file and run "
        f"`python -m corpora_recipes fetch {corpus.name} --out {block.path.parent}`"
    )
    for where, row in parse_lines(lines, block.path, block.start, todo):
        result.drops.seen["documents"] += 1
        try:
            result.records.append(_document(_fields(row, where), split, rules, result.drops))
        except Dropped as dropped:
            result.drops.dropped["documents", dropped.reason] += 1
    return result


@dataclass(frozen=True, slots=True)
class _Rule:
    """A kind of boilerplate or of sentences to drop.

    Attributes:
        name: its name among the counts.
        pattern: what it looks like.
        needs: one of these is in the lower-cased text wherever the pattern matches; looking for
            them first is much faster. None are known if it is empty.
        leaves: what takes the place of boilerplate.
    """

    name: str
    pattern: re.Pattern[str]
    needs: Sequence[str]
    leaves: str

    def may_match(self, lowered: str) -> bool:
        return not self.needs or any(need in lowered for need in self.needs)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What corpus.yaml says about the texts of a language, compiled."""

    language: str
    boilerplate: Sequence[_Rule]
    agencies: Sequence[str]
    broadcasters: Sequence[str]
    sentences: Sequence[_Rule]
    first_sentences: Sequence[_Rule]
    after_captions: Sequence[_Rule]
    subhead_breaks: Sequence[_Rule]
    subhead_sentences: Sequence[_Rule]

    @classmethod
    def of(cls, corpus: Corpus) -> "_Rules":
        language = corpus.language.split("-")[0]
        own = corpus.facts["rules"].get(language, {})
        lists = own.get("lists", {})
        return cls(
            language,
            agencies=own.get("agencies", []),
            broadcasters=own.get("broadcasters", []),
            **{key: [_rule(entry, lists) for entry in own.get(key, [])] for key in RULES},
        )


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return what no sentence of the corpus may hold."""
    return [rule.pattern for rule in _Rules.of(corpus).boilerplate]


def _rule(entry: dict[str, Any], lists: dict[str, Sequence[str]]) -> _Rule:
    pattern = entry["pattern"]
    for name, words in lists.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{'|'.join(words)})")
    marks = {"inline": " ", "hole": _HOLE, "before": _BEFORE, "after": _AFTER, "photo": _PHOTO}
    return _Rule(
        entry.get("name", ""),
        re.compile(pattern),
        entry.get("needs", ()),
        marks[entry.get("cut", "hole")],
    )


def _code(corpus: Corpus) -> str:
    language = corpus.language.split("-")[0]
    return CODES.get(language, language)


def _fields(row: Any, where: Line) -> dict[str, str]:
    if not isinstance(row, dict):
        raise where.error(f"an object with the keys {', '.join(KEYS)}", repr(row)[:60])
    for key in KEYS:
        if key not in row:
            raise where.error(f"the key {key}", f"only {', '.join(row) or 'an empty object'}")
        if not isinstance(row[key], str):
            raise where.error(f"{key}, a string", repr(row[key])[:60])
    for key in ("url", "title", "topic"):
        if damage(row[key]) == "unpaired_surrogate":
            raise where.error(f"{key} in Unicode", "half a surrogate pair")
    if not row["url"].strip():
        raise where.error("the url of the item", "an empty one")
    return row


def _document(fields: dict[str, str], split: Split, rules: _Rules, drops: Drops) -> Document:
    text = clean(fields["text"])
    if not text:
        raise Dropped("no_text")
    text = _cut_captions(_cut(text, rules, drops), rules, drops)
    words = _HOLES.sub(" ", text[:IDENTIFIED])
    if len(words.split()) >= IDENTIFIABLE and identify(words) != rules.language:
        raise Dropped("other_language")
    sections = split_at_drops("", 1, [_sentences(text, rules, drops)])
    if not sections:
        raise Dropped("no_sentences")
    return Document(
        id=fields["url"].strip(),
        title=clean(fields["title"]),
        topics=list(dict.fromkeys(clean(fields["topic"]).split())),
        sections=sections,
        split=split,
        summary=_subhead(fields["summary"], rules, drops),
    )


def _cut(text: str, rules: _Rules, drops: Drops) -> str:
    """Cut the boilerplate, counting each piece under its name."""
    lowered = text.lower()
    for rule in rules.boilerplate:
        if not rule.may_match(lowered):
            continue
        text, count = rule.pattern.subn(rule.leaves, text)
        if count:
            _count(rule.name, count, drops)
            text = text.strip(f"{_HOLE} ")
    return text


def _count(name: str, count: int, drops: Drops) -> None:
    drops.seen["boilerplate"] += count
    drops.dropped["boilerplate", name] += count


def _cut_captions(text: str, rules: _Rules, drops: Drops) -> str:
    """Cut the caption that a text begins with, and those that a photo mark announces inside it."""
    if not rules.agencies:
        return text
    first, *others = text.split(_PHOTO)
    text = _without_caption(first, rules, drops)
    for piece in others:
        rest = _without_caption(piece.lstrip(), rules, drops)
        # With no credit to end it, a caption is a sentence, which may run on into the next one.
        text += (_AFTER if rest == piece.lstrip() else _HOLE) + rest
    return text


def _without_caption(text: str, rules: _Rules, drops: Drops) -> str:
    head = _HOLES.split(text, maxsplit=1)[0]
    caption = find_caption(head, rules.agencies, rules.broadcasters)
    if caption is None:
        return text
    if caption.end is not None:
        _count("caption", 1, drops)
        return text[caption.end :]
    _count("caption_without_end", 1, drops)
    sentences = split_sentences(head, rules.language)
    last = 0
    length = 0
    for i, sentence in enumerate(sentences):
        if length > NEAR:
            break
        if MARKS.search(sentence):
            last = i
        length += len(sentence) + 1
    return _DOUBT + " ".join(sentences[last + 1 :]) + text[len(head) :]


def _sentences(text: str, rules: _Rules, drops: Drops) -> list[str | None]:
    """Split a body into sentences, None in the place of one dropped or of something cut."""
    found: list[str | None] = []
    mark = ""
    for piece in re.split(f"({_HOLES.pattern})", text):
        if _HOLES.fullmatch(piece):
            # Of several marks with nothing between them the one that says most counts.
            mark = max(mark, piece)
            if piece == _BEFORE and found:
                _drop(found, -1, "glued_to_cut", drops)
            continue
        sentences = [_BULLET.sub("", s) for s in tidy_sentences(piece, rules.language)]
        kept = [_checked(s, "sentences", rules, drops) for s in sentences if s]
        if not kept:
            continue
        first = kept[0] or ""
        if mark == _AFTER:
            _drop(kept, 0, "glued_to_cut", drops)
        elif mark == _DOUBT and (name := _first_name(rules.after_captions, first)):
            _drop(kept, 0, name, drops)
        elif (mark or not found) and first[:2].islower():
            _drop(kept, 0, "fragment", drops)
        elif not found and (name := _first_name(rules.first_sentences, first)):
            _drop(kept, 0, name, drops)
        if mark and found:
            found.append(None)
        found += kept
        mark = ""
    _drop_repeated(found, drops)
    return found


def _drop_repeated(sentences: list[str | None], drops: Drops) -> None:
    """Drop sentences with a quotation of another one, which was set apart beside the text.

    Such a quotation runs on into the next sentence, so the longer of the two is the one to drop.
    """
    holders: dict[tuple[str, ...], int] = {}
    for i, sentence in enumerate(sentences):
        words = (sentence or "").split()
        for k in range(len(words) - REPEATED + 1):
            j = holders.setdefault(tuple(words[k : k + REPEATED]), i)
            one, other = sentences[j], sentences[i]
            if j != i and one is not None and other is not None:
                _drop(sentences, j if len(one) > len(other) else i, "repeated", drops)


def _drop(sentences: list[str | None], i: int, reason: str, drops: Drops) -> None:
    if sentences[i] is not None:
        drops.dropped["sentences", reason] += 1
        sentences[i] = None


def _checked(sentence: str, unit: str, rules: _Rules, drops: Drops) -> str | None:
    """Return the sentence, None if it cannot be used; count it either way."""
    drops.seen[unit] += 1
    reason = _reason(sentence, rules)
    if reason is None:
        return sentence
    drops.dropped[unit, reason] += 1
    return None


def _reason(sentence: str, rules: _Rules) -> str | None:
    if (reason := damage(sentence)) is not None:
        return reason
    if has_markup(sentence) or _MARKUP.search(sentence):
        return "markup_left"
    if sentence.count("[") != sentence.count("]"):
        return "broken_bracket"
    if has_stray_quote(sentence):
        return "broken_quotation"
    if not any(c.isalpha() for c in sentence):
        return "no_letters"
    return _first_name(rules.sentences, sentence)


def _first_name(rules: Sequence[_Rule], sentence: str) -> str | None:
    lowered = sentence.lower()
    found = (r.name for r in rules if r.may_match(lowered) and r.pattern.search(sentence))
    return next(found, None)


def _subhead(text: str, rules: _Rules, drops: Drops) -> list[str]:
    """Split a subhead into sentences, each with a full stop at its end.

    Its sentences are often parted by dashes only, and the last has no full stop. Both is the
    newspaper's way of setting subheads, and would tell them from the body by their last character.
    """
    text = _BULLET.sub("", clean(text))
    text = _HOLES.sub(" ", _cut(text, rules, drops).replace(_PHOTO, " "))
    parts = [text]
    for rule in rules.subhead_breaks:
        parts = [piece for part in parts for piece in _split(rule.pattern, part)]
    sentences = []
    for part in parts:
        for sentence in tidy_sentences(part, rules.language):
            closed = sentence if _CLOSED.search(sentence) else sentence.rstrip(" ,;:-–—") + "."
            if _checked(closed, "subhead_sentences", rules, drops) is None:
                continue
            if name := _first_name(rules.subhead_sentences, closed):
                drops.dropped["subhead_sentences", name] += 1
                continue
            sentences.append(closed)
    return sentences


def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    pieces = pattern.split(text)
    return pieces if min(len(piece.split()) for piece in pieces) >= SHORTEST_PART else [text]
