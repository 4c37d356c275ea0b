r"""Reads arXiv's metadata into documents, one per abstract.

The metadata come as JSON Lines (the snapshot arxiv-metadata-oai-snapshot.json, 2.5 million lines)::

    {"id": "0704.0001", "title": "…", "comments": "37 pages", "categories": "math.CO cs.CG",
     "abstract": "  We describe the $(k,\\ell)$-pebble game\nwith colors …\n", …}

or as pages of OAI-PMH records in the form arXivRaw, with elements of the same names. An abstract
has line breaks at 80 characters (a line that begins with a space begins a paragraph) and LaTeX:
accents, quotation marks, dashes, fonts, citations, and formulae that fit a line of plain text
("$\alpha \leq 10^{-3}$" becomes "α ≤ 10⁻³"). What has no plain text is replaced by ``LOST``, and
its sentence is dropped. The maintained converter (pylatexenc) reads a whole LaTeX grammar, at a
hundredth of the speed that two million abstracts need.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from corpora_recipes.formats import tables
from corpora_recipes.formats.oai import OAI, Page, iter_records
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Document, Drops, split_at_drops
from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.language import identify
from corpora_recipes.text.tidying import find_flaw, tidy_sentences
from corpora_recipes.yaml_files import load_yaml

RAW = "{http://arxiv.org/OAI/arXivRaw/}"
KEYS = ("id", "title", "categories", "abstract")
PACKED = (".zip", ".gz", ".bz2", ".xz", ".7z")

_WITHDRAWN = re.compile(
    r"\bwithdrawn (?:by|due|because|from|since|for|pending|as)\b"
    r"|\b(?:paper|article|manuscript|submission|preprint|version|work|note|letter|abstract)\b"
    r"[^.]{0,60}\b(?:is|was|been|being)\s+(?:\w+\s+)?(?:withdrawn|retracted)\b"
    r"|\A\W*(?:withdrawn|retracted)\b"
)
_PARAGRAPH = re.compile(r"\n[ \t]*(?=\n|[ \t])")
_WRAPPED = re.compile(r"(?<=\w-)\n(?=\w)")
_ABRIDGED = re.compile(r"\s*[\[(](?:\w+ )?abridged[^\[\]()]{0,20}[\])]\.?\s*\Z", re.IGNORECASE)
_LABEL = re.compile(r"\W{0,3}(?:abstract|summary)\s*[:.—–-]+\s*", re.IGNORECASE)
# An abstract without any of these words is rarely in English.
_ENGLISH = re.compile(r"\b(?:the|of|and)\b")


def blocks(raw: Path, corpus: Corpus) -> Sequence[tables.LineRange | Page]:
    """List the ranges of the files of JSON Lines, and the pages."""
    listed: list[tables.LineRange | Page] = []
    for path in sorted(raw.rglob("[!.]*")):
        name = path.relative_to(raw).as_posix()
        if path.suffix == ".json":
            listed += tables.line_ranges(path, name)
        elif path.suffix == ".xml":
            listed.append(Page(name, path))
        elif path.suffix in PACKED:
            expected = "the snapshot unpacked, so that several processes can read it"
            todo = f"unpack it (`unzip {path.name}`, or gunzip, …) and put the .json file there"
            raise InputError(path, expected, "a packed file", todo)
    if not listed:
        expected = "arxiv-metadata-oai-snapshot.json, or pages of records in the form arXivRaw"
        raise no_files(corpus, raw, expected, "no such file, or an empty one")
    return listed


def read_block(block: tables.LineRange | Page, corpus: Corpus) -> BlockResult:
    """Read one range or page."""
    result = BlockResult()
    language = corpus.language.partition("-")[0]
    for location, row in _lines(block) if isinstance(block, tables.LineRange) else _page(block):
        with result.counting("documents", location):
            fields = _fields(
                location.parse(row) if isinstance(location, tables.Line) else row, location
            )
            result.records.append(_document(fields, language, result.drops))
    return result


def _lines(block: tables.LineRange) -> Iterator[tuple[tables.Line, bytes]]:
    todo = "fetch the file again, or correct the line"
    return tables.locate_lines(tables.range_lines(block), block.path, block.start, todo)


def _page(block: Page) -> Iterator[tuple[tables.Row, Any]]:
    """Yield the location of each record, and its element."""
    for where, record in iter_records(block.path):
        yield tables.Row(where, 0, {}), record


def _fields(row: Any, location: tables.Line | tables.Row) -> Mapping[str, Any]:
    """Return the fields of an object of JSON, or of the element of a record."""
    if isinstance(row, RawError):
        raise row
    if isinstance(row, etree._Element):
        header, raw = row.find(f"{OAI}header"), row.find(f"{OAI}metadata/{RAW}arXivRaw")
        if header is not None and header.get("status") == "deleted":
            raise Dropped("deleted")
        if raw is None:
            raise location.error("a record with metadataPrefix=arXivRaw", "another form")
        row = {child.tag.removeprefix(RAW): child.text or "" for child in raw}
    if not isinstance(row, dict):
        raise location.error(f"an object with the keys {', '.join(KEYS)}", repr(row)[:60])
    for key in KEYS:
        if key in row and row[key] is None:
            row[key] = ""  # a null is an empty text
        if not isinstance(row.get(key), str):
            found = repr(row[key])[:60] if key in row else f"only {', '.join(row) or 'nothing'}"
            raise location.error(f"{key}, a string", found)
    if not row["id"].strip():
        raise location.error("the id of the paper", "an empty one")
    return row


def _document(fields: Mapping[str, Any], language: str, drops: Drops) -> Document:
    raw = fields["abstract"].strip()
    if not raw:
        raise Dropped("no_abstract")
    comments = fields.get("comments")
    if _is_withdrawn(raw) or (isinstance(comments, str) and _is_withdrawn(comments)):
        raise Dropped("withdrawn")
    if not (language == "en" and _ENGLISH.search(raw)) and identify(raw) != language:
        raise Dropped("other_language")
    paragraphs = [
        [_check_sentence(sentence, drops) for sentence in tidy_sentences(clean(lines), language)]
        for lines in _PARAGRAPH.split(plain(_strip_notes(raw)))
    ]
    sections = split_at_drops("", 1, paragraphs)
    if not sections:
        raise Dropped("no_sentences")
    archive = fields["categories"].split(maxsplit=1)[:1]
    return Document(
        id=fields["id"].strip(),
        title=clean(plain(fields["title"])),
        topics=[category.partition(".")[0] for category in archive],
        sections=sections,
    )


def _is_withdrawn(text: str) -> bool:
    lowered = text.lower()
    return ("withdrawn" in lowered or "retracted" in lowered) and bool(_WITHDRAWN.search(lowered))


def _strip_notes(abstract: str) -> str:
    """Return an abstract without its label, the note that it was abridged, and breaks in words."""
    if label := _LABEL.match(abstract):
        abstract = abstract[label.end() :]
    if "bridged" in abstract[-30:].lower():
        abstract = _ABRIDGED.sub("", abstract)
    return _WRAPPED.sub("", abstract) if "-\n" in abstract else abstract


def _check_sentence(sentence: str, drops: Drops) -> str | None:
    """Count the sentence and return it, or None if it cannot be used."""
    reason = find_flaw(sentence)
    if LOST in sentence:
        reason = "latex"
    elif sentence.count("(") != sentence.count(")") or sentence.count("[") != sentence.count("]"):
        reason = "broken_bracket"
    return drops.sift("sentences", sentence, reason)


# --- LaTeX ---------------------------------------------------------------------------------------

_TABLE: dict[str, Any] = load_yaml(Path(__file__).with_name("latex.yaml"))

LOST = "\ufffc"  # OBJECT REPLACEMENT CHARACTER
# A formula with more characters is not read as part of its sentence.
MAX_FORMULA = 40

_LATEX = re.compile(r"[\\${}`~]|--")
_ACCENTS: dict[str, str] = _TABLE["accents"]
_ACCENT = re.compile(
    r"""\\(?:(['`^"~=.])\s*|([uvHcdbkr])(?:\s+|(?=[{\\])))"""
    r"(?:\{\s*(?:\\([ij])\b|([^\W\d_]))\s*\}|\\([ij])\b\s*|([^\W\d_]))"
)
_LETTERS: dict[str, str] = _TABLE["letters"]
_LETTER = re.compile(
    rf"\{{?\\({'|'.join(sorted(_LETTERS, key=len, reverse=True))})(?![a-zA-Z])(?:\{{\}}|\}}|[ ]?)"
)
_REFERS = re.compile(r"\\(?:cite|ref|onlinecite|footnote|label)")
# At the end of a clause a citation can go; a sentence that has it as a noun is lost.
_CITATION = re.compile(
    r"[\s~]*[\[(]?\\(?:cite[a-zA-Z]*|ref|onlinecite|footnote|label)\*?"
    r"(?:\[[^\]]{0,200}\]){0,2}\{[^{}]{0,500}\}[\])]?(?=\s*(?:[.,;:)]|\Z))"
)
_FONT = re.compile(
    r"\\(?:emph|text(?:it|bf|sc|tt|rm|sf|sl|up|normal)?|mbox|textsuperscript|underline|uppercase)"
    r"\s*\{([^{}]*)\}"
    r"|\{\\(?:em|it|bf|sc|tt|rm|sf|sl|itshape|bfseries|small|large)\b\s*([^{}]*?)(?:\\/)?\}"
)
_ESCAPED = re.compile(r"\\([%&#_{}])")
_SPACE = re.compile(r"\\(?:[ ,;:!/@\n-]|\\|newline\b|par\b|noindent\b|quad\b|hspace\{[^{}]*\})")
_FORMULA = re.compile(
    r"\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.{1,500}?)\\\)|\\\[(.{1,500}?)\\\]", re.DOTALL
)
_PRICE = re.compile(r"\$(?=\d[\d.,]*(?:[ -]|\Z))")
# Three words of a language are no formula: two prices, or a dollar sign that was forgotten.
_WORDS = re.compile(r"(?<![\\\w])[a-z]{3,} [a-z]{3,} ")
_QUOTED = re.compile(r"(?<![\w`])`(?!`)([^`'\n]+)'(?![\w'])")
_DASHES = re.compile("--+")
# A tie joins words, or a number and its unit; elsewhere a tilde means "about" ("z~2.5").
_TIE = re.compile(r"~(?=\S)(?:(?<=[.,)]~)|(?<=[a-z][a-z]~))|~(?=[^\W\d])(?<=\d~)|~(?=\s)(?<=\S~)")
_SYMBOL = re.compile(r"\\([a-zA-Z]+)")
_BRACED_SCRIPT = re.compile(r"([\^_])\{([\w,+*-]{1,12})\}")
_CAPITALS = re.compile(r"\{([\w -]*)\}")
_COMMENT = re.compile(r"%(?=[^\W\d])(?<=\s%)|\A%")
# Signs that stand for others until the rest of the LaTeX is gone.
_PUT_BACK = (("\ufe69", "$"), ("❴", "{"), ("❵", "}"), ("\x01", "^"), ("\x02", "_"))
_REST = re.compile(r"\\[a-zA-Z@]+\*?|[\\{}]|\$(?!\d)")


def plain(text: str) -> str:
    """Return a text without LaTeX, with ``LOST`` where something could not be put in plain text."""
    if not _LATEX.search(text):
        return text
    # Each test is much faster than the search that it saves, and most abstracts have few signs.
    if "\\" in text:
        text = _ACCENT.sub(_compose_accent, text).replace("\\$", "\ufe69")
        if _REFERS.search(text):
            text = _CITATION.sub("", text)
    if "$" in text or "\\" in text:
        text = _FORMULA.sub(_formula, text)
    if "\\" in text or "{" in text:
        text = _running_text(text)
    if "$" in text:
        text = _PRICE.sub("\ufe69", text)
    if "~" in text:
        text = _TIE.sub(" ", text)
    if "--" in text:
        text = _DASHES.sub(_dash, text)
    if "`" in text:
        text = _QUOTED.sub(r"‘\1’", text)
    if "%" in text:
        text = _COMMENT.sub(LOST, text)
    text = _REST.sub(LOST, text)
    for sign, meant in _PUT_BACK:
        if sign in text:
            text = text.replace(sign, meant)
    return text


def _running_text(text: str) -> str:
    """Return a text without the LaTeX outside of formulae."""
    text = _LETTER.sub(lambda match: _LETTERS[match[1]], text)
    before = ""
    while before != text:
        before, text = text, _FONT.sub(lambda f: f[1] if f[1] is not None else f[2], text)
    text = _SYMBOL.sub(lambda f: _SYMBOLS.get(f[1], f[0]), text)
    text = _ESCAPED.sub(r"\1", _SPACE.sub(" ", _BRACED_SCRIPT.sub(_script, text)))
    # Braces that keep capitals: "{B}ayesian".
    return _CAPITALS.sub(r"\1", text)


def _compose_accent(match: re.Match[str]) -> str:
    mark = _ACCENTS[match[1] or match[2]]
    letter = next(group for group in match.groups()[2:] if group)
    return unicodedata.normalize("NFC", letter + mark)


def _dash(match: re.Match[str]) -> str:
    """Return a dash; but an arrow, an option of a program or the minus of a number as it is."""
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    spaced = (before in " \n") == (after in " \n")
    if len(match[0]) > 3 or not spaced or before == "<" or after == ">":
        return match[0]
    return "—" if len(match[0]) == 3 else "–"


# --- formulae ------------------------------------------------------------------------------------

_SYMBOLS: dict[str, str] = {
    **_TABLE["tight"],
    "sim": "∼",
    **{name: f" {sign} " for name, sign in _TABLE["spaced"].items()},
}
_FUNCTIONS = frozenset(_TABLE["functions"])
_COMMAND = re.compile(r"\\([a-zA-Z]+)\s*")
_LAYOUT = re.compile(rf"\\(?:{'|'.join(_TABLE['layout'])})(?![a-zA-Z])[ ]?")
_BLANK = re.compile(r"\\(?:[ ,;:]|quad\b|qquad\b|hspace\{[^{}]*\})|~")
_NOTHING = re.compile(r"\\[!/]")
_OVER: dict[str, str] = _TABLE["over"]
_OVER_LETTER = re.compile(rf"\\({'|'.join(_OVER)})(?:\s+|\s*(?=[{{\\]))(?:\{{(\w)\}}|(\w))")
_FRACTION = re.compile(r"\\[td]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*(?:\{([^{}]*)\}|(\w))")
_SCRIPT = re.compile(r"([\^_])\s*(?:\{([^{}]*)\}|([^{}\s\\]))")
_BRACED = re.compile(r"\{([^{}^_\\]*)\}")
# A script that was read, so that it is not read again.
_DONE = {"^": "\x01", "_": "\x02"}
_RAISED = str.maketrans("0123456789+-−()n'", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁽⁾ⁿ′")
_LOWERED = str.maketrans("0123456789+-−()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")
_RAISABLE = re.compile(r"[\d+\-−n']+|[+-]?n?")
_LOWERABLE = re.compile(r"[\d+\-−]+")
_TWO_BLANKS = re.compile(r"\s{2,}")
_OPERATOR = re.compile(r"\s*([<>])\s*|(?<=[^\s(,])\s*=\s*(?=\S)")


def _formula(match: re.Match[str]) -> str:
    inner = next(group for group in match.groups() if group)
    if _WORDS.search(inner) and "\\" not in inner:
        return match[0]  # what is left of the dollar signs decides
    text = _BLANK.sub(" ", _NOTHING.sub("", inner.replace("\n", " ")))
    text = _LAYOUT.sub("", text)
    text = _OVER_LETTER.sub(
        lambda f: unicodedata.normalize("NFC", (f[2] or f[3]) + _OVER[f[1]]), text
    )
    text = _COMMAND.sub(_symbol, text)
    before = ""
    while before != text:
        before = text
        text = _SCRIPT.sub(_script, text)
        text = _ROOT.sub(lambda f: f"√{_put_in_brackets(f[1] or f[2])}", text)
        text = _FRACTION.sub(lambda f: f"{_put_in_brackets(f[1])}/{_put_in_brackets(f[2])}", text)
        text = _BRACED.sub(r"\1", text)
    text = text.replace("\x01", "^").replace("\x02", "_")
    text = text.replace("\\%", "%").replace("\\#", "#").replace("\\&", "&")
    text = text.replace("\\|", "‖").replace("\\{", "❴").replace("\\}", "❵")
    text = _OPERATOR.sub(lambda f: f" {f[1] or '='} ", text)
    text = _TWO_BLANKS.sub(" ", text.replace("❴", "{").replace("❵", "}")).strip()
    braces = text.count("{") == text.count("}") == inner.count("\\{")
    if "\\" in text or not braces or not text or len(text) > MAX_FORMULA:
        return LOST
    # The braces of a set are no LaTeX.
    return text.replace("{", "❴").replace("}", "❵")


def _symbol(match: re.Match[str]) -> str:
    name = match[1]
    if name in _FUNCTIONS:
        before = " " if match.string[match.start() - 1 : match.start()].isalnum() else ""
        after = " " if match.string[match.end() : match.end() + 1].isalnum() else ""
        return before + name + after
    return _SYMBOLS.get(name, match[0])


def _script(match: re.Match[str]) -> str:
    inner = (match[2] if match[2] is not None else match[3]).strip()
    if match[1] == "^":
        if inner in ("°", "′", "*", "†", "⋆"):
            return inner
        if _RAISABLE.fullmatch(inner):
            return inner.translate(_RAISED)
    elif _LOWERABLE.fullmatch(inner):
        return inner.translate(_LOWERED)
    return _DONE[match[1]] + _put_in_brackets(inner) if inner else ""


def _put_in_brackets(text: str) -> str:
    """Return a part of a formula, in brackets if it has several signs."""
    text = text.strip()
    return text if re.fullmatch(r"[+-]?[\w.′∞*]*|\([^()]*\)", text) else f"({text})"
