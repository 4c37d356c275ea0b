"""Reads MLSUM's JSON Lines into documents: the body of a news item, and its subhead as summary.

The keys of a line (a body has no paragraphs, ``topic`` consists of words of the URL)::

    {"text": "El puerto cerrará. …", "summary": "Dos días sin barcos.- Las obras siguen",
     "url": "http://elpais.com/ccaa/2012/03/08/madrid/1331…_030794.html",
     "title": "…", "topic": "ccaa madrid", "date": "08/03/2012"}

A body is a page whose layout is lost. Before it is split into sentences, boilerplate is removed by
the patterns of corpus.yaml, and the caption of the first picture, which the first sentence follows
without a boundary except the credit at the caption's end::

    El alcalde, en el pleno. En vídeo, su intervención. FOTO: ANA RUIZ (EFE) | VÍDEO: ATLAS La junta
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from corpora_recipes.formats.tables import Line, LineRange, line_ranges, locate_lines, range_lines
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, Source, no_files
from corpora_recipes.records import Document, Drops, Split, split_at_drops
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.language import identify
from corpora_recipes.text.sentences import split_sentences
from corpora_recipes.text.tidying import find_flaw, tidy_sentences

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
# The language of texts with fewer words is not identified.
MIN_IDENTIFIABLE = 20
# Characters used to identify the language: they suffice, and more take more time.
MAX_IDENTIFIED = 1000
# Sequences of so many words do not recur in a text by chance, except names of offices.
N_REPEATED_WORDS = 10
# Fewer words between two dashes are no sentence: Bilbao - Madrid.
MIN_PART_WORDS = 3

# Marks of a cut: between sentences; after a sentence that may be incomplete; before one that may be
# incomplete; before one that is incomplete; before a caption. (clean() removes these characters.)
_HOLE, _BEFORE, _DOUBT, _AFTER, _PHOTO = "\x00", "\x01", "\x02", "\x03", "\x04"
_HOLES = re.compile(f"[{_HOLE}{_BEFORE}{_DOUBT}{_AFTER}]")
_MARKUP = re.compile(r"<\s?/|\bpic\.twitter\.com|\bt\.co/")
_BULLET = re.compile(r"^(?:[-–—•·*»]+\s+)+")
_CLOSED = re.compile(r"[.!?…][\"'”’»)\]]*$")


def sources(corpus: Corpus) -> list[Source]:
    """Return the three files of the corpus's language, with their checksums, packed if possible."""
    code = _code(corpus)
    pins, archives = (corpus.facts.special[key] for key in ("checksums", "archives"))
    files = []
    for source in corpus.facts.sources:
        file, *urls = (text.replace("{language}", code) for text in (source.file, *source.urls))
        archive, *archive_urls = (text.replace(".jsonl", ".zip") for text in (file, *urls))
        pin = archives.get(archive)
        packed = None if pin is None else Source(archive, tuple(archive_urls), **pin)
        files.append(Source(file, tuple(urls), packed=packed, **pins.get(file, {})))
    return files


def blocks(raw: Path, corpus: Corpus) -> Sequence[LineRange]:
    """List the ranges of the files; raises InputError if one is missing or empty."""
    names = [f"{_code(corpus)}_{part}.jsonl" for part in FILES]
    missing = [n for n in names if not (raw / n).is_file() or not (raw / n).stat().st_size]
    if missing:
        found = f"{', '.join(missing)} missing or empty"
        raise no_files(corpus, raw, f"the files {', '.join(names)}", found)
    return [r for n in names for r in line_ranges(raw / n, n)]


def read_block(block: LineRange, corpus: Corpus) -> BlockResult:
    """Read the items of one range."""
    rules = _Rules.of(corpus)
    split = FILES[block.path.stem.rpartition("_")[2]]
    result = BlockResult()
    todo = f"remove the file, and run `probeta fetch --only {corpus.name}`"
    for line, data in locate_lines(range_lines(block), block.path, block.start, todo):
        with result.counting("documents", line):
            fields = _fields(line.parse(data), line)
            result.records.append(_document(fields, split, rules, result.drops))
    return result


@dataclass(frozen=True, slots=True)
class _Rule:
    """A kind of boilerplate, which ``leaves`` replaces, or of sentences to drop."""

    name: str
    pattern: re.Pattern[str]
    # Wherever the pattern matches, the lower-cased text contains one of these, if there are any;
    # searching for them first is much faster.
    needs: Sequence[str]
    leaves: str

    def may_match(self, lowered: str) -> bool:
        return not self.needs or any(need in lowered for need in self.needs)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of corpus.yaml for the texts of a language, compiled."""

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
        rules = corpus.facts.special["rules"].get(language, {})
        lists = rules.get("lists", {})
        return cls(
            language,
            agencies=rules.get("agencies", []),
            broadcasters=rules.get("broadcasters", []),
            **{key: [_rule(entry, lists) for entry in rules.get(key, [])] for key in RULES},
        )


def boilerplate(corpus: Corpus) -> list[re.Pattern[str]]:
    """Return the patterns that no sentence of the corpus may match."""
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


def _fields(row: Any, line: Line) -> dict[str, str]:
    if not isinstance(row, dict):
        raise line.error(f"an object with the keys {', '.join(KEYS)}", repr(row)[:60])
    for key in KEYS:
        if key not in row:
            raise line.error(f"the key {key}", f"only {', '.join(row) or 'an empty object'}")
        if not isinstance(row[key], str | None):
            raise line.error(f"{key}, a string", repr(row[key])[:60])
    # A null is an empty text.
    fields: dict[str, str] = {key: row[key] or "" for key in KEYS}
    if not fields["url"].strip():
        raise line.error("the url of the item", "an empty one")
    return fields


def _document(fields: dict[str, str], split: Split, rules: _Rules, drops: Drops) -> Document:
    text = clean(fields["text"])
    if not text:
        raise Dropped("no_text")
    text = _cut_captions(_cut_boilerplate(text, rules, drops), rules, drops)
    words = _HOLES.sub(" ", text[:MAX_IDENTIFIED])
    if len(words.split()) >= MIN_IDENTIFIABLE and identify(words) != rules.language:
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


def _cut_boilerplate(text: str, rules: _Rules, drops: Drops) -> str:
    """Remove the boilerplate, counting each piece by its name."""
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
    """Remove the caption at the beginning of a text, and captions after photo marks inside it."""
    if not rules.agencies:
        return text
    first, *pieces = text.split(_PHOTO)
    text = _remove_caption(first, rules, drops)
    for piece in pieces:
        remainder = _remove_caption(piece.lstrip(), rules, drops)
        # Without a credit, a caption is a sentence, which may be joined to the next one.
        text += (_AFTER if remainder == piece.lstrip() else _HOLE) + remainder
    return text


def _remove_caption(text: str, rules: _Rules, drops: Drops) -> str:
    head = _HOLES.split(text, maxsplit=1)[0]
    end = find_caption(head, rules.agencies, rules.broadcasters)
    if end == 0:
        return text
    _count("caption_without_end" if end == ENDLESS else "caption", 1, drops)
    if end != ENDLESS:
        return text[end:]
    sentences = split_sentences(head, rules.language)
    last = 0
    length = 0
    for i, sentence in enumerate(sentences):
        if length > MAX_UNMARKED_CAPTION:
            break
        if MARKS.search(sentence):
            last = i
        length += len(sentence) + 1
    return _DOUBT + " ".join(sentences[last + 1 :]) + text[len(head) :]


def _sentences(text: str, rules: _Rules, drops: Drops) -> list[str | None]:
    """Split a body into sentences, with None in place of dropped sentences and of cuts."""
    body: list[str | None] = []
    mark = ""
    for piece in re.split(f"({_HOLES.pattern})", text):
        if _HOLES.fullmatch(piece):
            # Of several adjacent marks the strongest one counts.
            mark = max(mark, piece)
            if piece == _BEFORE and body:
                _drop(body, -1, "glued_to_cut", drops)
            continue
        sentences = [_BULLET.sub("", s) for s in tidy_sentences(piece, rules.language)]
        checked = [_check_sentence(s, "sentences", rules, drops) for s in sentences if s]
        if not checked:
            continue
        first = checked[0] or ""
        if mark == _AFTER:
            _drop(checked, 0, "glued_to_cut", drops)
        elif mark == _DOUBT and (name := _first_name(rules.after_captions, first)):
            _drop(checked, 0, name, drops)
        elif (mark or not body) and first[:2].islower():
            _drop(checked, 0, "fragment", drops)
        elif not body and (name := _first_name(rules.first_sentences, first)):
            _drop(checked, 0, name, drops)
        if mark and body:
            body.append(None)
        body += checked
        mark = ""
    _drop_repeated(body, drops)
    return body


def _drop_repeated(sentences: list[str | None], drops: Drops) -> None:
    """Drop sentences that repeat words of another one: pull quotes beside the text."""
    holders: dict[tuple[str, ...], int] = {}
    for i, sentence in enumerate(sentences):
        words = (sentence or "").split()
        for k in range(len(words) - N_REPEATED_WORDS + 1):
            j = holders.setdefault(tuple(words[k : k + N_REPEATED_WORDS]), i)
            first, second = sentences[j], sentences[i]
            if j != i and first is not None and second is not None:
                _drop(sentences, j if len(first) > len(second) else i, "repeated", drops)


def _drop(sentences: list[str | None], i: int, reason: str, drops: Drops) -> None:
    if sentences[i] is not None:
        drops.dropped["sentences", reason] += 1
        sentences[i] = None


def _check_sentence(sentence: str, unit: str, rules: _Rules, drops: Drops) -> str | None:
    """Count the sentence and return it, or None if it cannot be used."""
    reason = find_flaw(sentence)
    if reason in (None, "broken_quotation", "no_letters"):
        if _MARKUP.search(sentence):
            reason = "markup_left"
        elif sentence.count("[") != sentence.count("]"):
            reason = "broken_bracket"
    return drops.sift(unit, sentence, reason or _first_name(rules.sentences, sentence))


def _first_name(rules: Sequence[_Rule], sentence: str) -> str | None:
    lowered = sentence.lower()
    names = (r.name for r in rules if r.may_match(lowered) and r.pattern.search(sentence))
    return next(names, None)


def _subhead(text: str, rules: _Rules, drops: Drops) -> list[str]:
    """Split a subhead into sentences, each with a full stop at its end."""
    text = _BULLET.sub("", clean(text))
    text = _HOLES.sub(" ", _cut_boilerplate(text, rules, drops).replace(_PHOTO, " "))
    parts = [text]
    for rule in rules.subhead_breaks:
        parts = [piece for part in parts for piece in _parts(rule.pattern.split(part), part)]
    sentences = []
    for part in parts:
        for sentence in tidy_sentences(part, rules.language):
            closed = sentence if _CLOSED.search(sentence) else sentence.rstrip(" ,;:-–—") + "."
            if _check_sentence(closed, "summary_sentences", rules, drops) is None:
                continue
            if name := _first_name(rules.subhead_sentences, closed):
                drops.dropped["summary_sentences", name] += 1
                continue
            sentences.append(closed)
    return sentences


def _parts(pieces: list[str], text: str) -> list[str]:
    return pieces if min(len(piece.split()) for piece in pieces) >= MIN_PART_WORDS else [text]


# --- captions ------------------------------------------------------------------------------------

# In characters: a caption ends within the first, and within the second if only a name in capitals
# marks its end; marks of a caption occur within the second.
MAX_CAPTION, MAX_UNMARKED_CAPTION = 600, 350
# Maximal number of words in a credit, and of names joined by marks in it.
MAX_CREDIT_WORDS, MAX_NAMES = 40, 4
# Maximal number of words in a person's name before the agency or mark of a credit.
MAX_NAME_WORDS = 5

_WORD = re.compile(r"[|/©]|[^\s|/©]+")
_LABEL = re.compile(
    r"\(?(?:fotos?|fotograf[íi]as?|v[íi]deos?|im[áa]gen(?:es)?|realizaci[óo]n|redacci[óo]n"
    r"|gr[áa]ficos?|grafismo|edici[óo]n|ilustraci[óo]n|producci[óo]n|montaje):",
    re.IGNORECASE,
)
_MARK = re.compile(r"[|/©;,+–—-]|y|Y")
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+")
_PARTICLES = frozenset(("de", "del", "la", "las", "los", "van", "von", "di", "da", "y", "i", "EL"))
VIDEO = re.compile(r"\W*en (?:el |un |este )?v[íi]deo\b", re.IGNORECASE)
# Marks of text that belongs to a caption.
MARKS = re.compile(
    r"(?:(?<!\S)|\()(?:FOTOS?|Fotos?|V[ÍI]DEOS?|V[íi]deos?|IMAGEN):\s"
    r"|(?:^|(?<=[.)/]) ?)En (?:el )?v[íi]deo[,:]"
)
_ENDS = frozenset(".!?…)”»’'\"")
_OPENS = "\"'«“‘¿¡([—"
_ARTICLES = frozenset(("EL", "LA", "LOS", "LAS", "UN", "UNA"))


# A caption without a credit that marks its end, only words such as "En vídeo".
ENDLESS = -1


def find_caption(text: str, agencies: Sequence[str], broadcasters: Sequence[str]) -> int:
    """Return where the caption at the beginning of a text ends: 0 without one, or ENDLESS.

    Names of picture agencies and broadcasters are in lower case. Those of broadcasters, which occur
    in names of programmes too, are credits only after a mark such as "VÍDEO:".
    """
    limit = text.find(" ", 2 * MAX_CAPTION, 3 * MAX_CAPTION)
    words = list(_WORD.finditer(text, 0, limit if limit >= 0 else 3 * MAX_CAPTION))
    credits = _Credits(
        words,
        frozenset(tuple(name.split()) for name in agencies),
        frozenset(tuple(name.split()) for name in broadcasters),
    )
    start = 0
    while (after := credits.next_end(start)) is not None:
        end = words[after].start() if after < len(words) else words[-1].end()
        # A video has another caption, after that of the picture.
        if not VIDEO.match(text, end):
            return end
        start = after
    return ENDLESS if start or MARKS.search(text, 0, MAX_UNMARKED_CAPTION) else 0


@dataclass(frozen=True, slots=True)
class _Credits:
    words: Sequence[re.Match[str]]
    agencies: frozenset[tuple[str, ...]]
    broadcasters: frozenset[tuple[str, ...]]

    def next_end(self, start: int) -> int | None:
        """Return the index of the word after the first complete credit from ``start`` on."""
        for first in range(start, len(self.words)):
            if self.words[first].start() - self.words[start].start() > MAX_CAPTION:
                return None
            if self._may_begin(first, start) and (end := self._end(first)) is not None:
                return end
        return None

    def _may_begin(self, i: int, start: int) -> bool:
        word = self.words[i][0]
        if _LABEL.match(word) or word in ("|", "©"):
            return True
        if word[0] == "(" and self._agency(i):
            return word[-1] != "."
        if word == "/":
            # Not one after a time of day, in a television guide.
            return (
                start < i < len(self.words) - 1
                and not self.words[i - 1][0][-1].isdigit()
                and bool(self._agency(i + 1) or _LABEL.match(self.words[i + 1][0]))
            )
        near = self.words[i].start() - self.words[start].start() <= MAX_UNMARKED_CAPTION
        run = self._capitals(i) if near and word not in _ARTICLES else 0
        if i == start or self.words[i - 1][0][-1] in _ENDS:
            return run >= 2 or bool(self._agency(i)) or self._name(i) > 0
        # Without a stop before it, at least three words in capitals, or two and an agency.
        return run >= 3 or (run == 2 and bool(self._agency(i + 2)))

    def _end(self, i: int) -> int | None:
        """Return the index of the word after the credit at i, None if no credit begins there."""
        ends: list[int] = []
        named = False
        last = min(i + MAX_CREDIT_WORDS, len(self.words))
        while i < last:
            word = self.words[i][0]
            if size := self._agency(i):
                i += size
                named = True
                ends.append(i)
            elif _LABEL.match(word) or _MARK.fullmatch(word):
                named = True
                i += 1
            elif size := self._capitals(i):
                # A single word in capitals may equally begin the text (PSOE).
                if size > 1 or not ends or self._marked(i):
                    ends += range(i + min(size, 2) if named else i + size, i + size + 1)
                i += size
            elif size := self._name(i):
                i += size
            elif ends and (size := self._bracketed(i)):
                i += size
                ends.append(i)
            else:
                break
        return next((end for end in reversed(ends) if self._text_may_begin(end, named)), None)

    def _marked(self, i: int) -> bool:
        before = self.words[i - 1][0] if i else ""
        return before in ("|", "/", "©") or _LABEL.match(before) is not None

    def _agency(self, i: int) -> int:
        """Return the number of words in the agency's name at i, 0 without such a name."""
        marked = self._marked(i)
        for size in (3, 2, 1):
            names = [m[0].strip("().,:;").casefold() for m in self.words[i : i + size]]
            if len(names) < size:
                continue
            # Short names may be words: ap, ep.
            clear = len(names[0]) > 2 or marked or self.words[i][0].strip("().,:;").isupper()
            if (tuple(names) in self.agencies and (clear or self.words[i][0][0] == "(")) or (
                marked and tuple(names) in self.broadcasters
            ):
                return size
        return 0

    def _capitals(self, i: int) -> int:
        """Return the number of words in the name in capitals at i, 0 without such a name."""
        size = 0
        letters = 0
        for match in islice(self.words, i, i + MAX_CREDIT_WORDS):
            word = match[0].strip("().,:;@")
            is_name = len(word) > 1 and not any(c.isdigit() for c in word)
            if _LABEL.match(match[0]) or not word.isupper() or not word[0].isalpha():
                break
            if not is_name and not _INITIALS.fullmatch(match[0].strip("(),:;@")):
                break
            size += 1
            letters = max(letters, len(word))
            if match[0][-1] in ",:;":
                break
        # EE UU, CC OO
        return size if letters > 2 else 0

    def _name(self, i: int, names: int = MAX_NAMES) -> int:
        """Return the number of words in the name at i before an agency or a mark, else 0."""
        for size in range(1, MAX_NAME_WORDS + 1):
            if i + size >= len(self.words):
                return 0
            word = self.words[i + size - 1][0]
            if not (word[0].isupper() or word in _PARTICLES or word[0] == "@"):
                return 0
            if word[-1] in _ENDS and not _INITIALS.fullmatch(word) and word[-1] != ")":
                return 0
            following = self.words[i + size][0]
            if following in ("|", "/") or (following[0] == "(" and self._agency(i + size)):
                return size if self._source_follows(i + size, names) else 0
            if size > 1 and self._agency(i + size) and not following[0].islower():
                return size
        return 0

    def _bracketed(self, i: int) -> int:
        """Return the number of words in the bracketed name at i, 0 without such a name."""
        for size in range(1, MAX_NAME_WORDS + 1):
            words = [m[0] for m in self.words[i : i + size]]
            if words[-1][-1] == ")":
                name = " ".join(words)[1:-1]
                is_source = tuple(name.casefold().split()) in self.agencies | self.broadcasters
                return size if words[0][0] == "(" and (is_source or name.istitle()) else 0
        return 0

    def _source_follows(self, i: int, names: int) -> bool:
        """Tell whether an agency, a label or a name in capitals follows the mark at i."""
        if self._agency(i):
            return True
        return i + 1 < len(self.words) and self._is_source(i + 1, names)

    def _is_source(self, i: int, names: int) -> bool:
        return bool(
            self._agency(i)
            or self._capitals(i)
            or _LABEL.match(self.words[i][0])
            or (names and self._name(i, names - 1))
        )

    def _text_may_begin(self, i: int, named: bool) -> bool:
        """Tell whether the text can begin with word i; with a number only after an agency."""
        if self.words[i - 1][0][-1] in ",:;.":
            return False
        if i == len(self.words):
            return True
        word = self.words[i][0]
        if _LABEL.match(word):
            return False
        return word[0] in _OPENS or word[0].isupper() or (named and word[0].isdigit())
