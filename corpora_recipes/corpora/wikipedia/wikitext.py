"""Turns wikitext into sections of running prose: a pass over the tokens, and one over the lines.

The first pass follows MediaWiki's preprocessor: a stack of open ``{{`` and ``[[``, where a closing
mark closes the innermost one or nothing, so that time is always linear in the length of the page.
It leaves text with marks (templates.MARKS) where markup was removed; tags, quotation marks and
entities follow (``plain``). The second pass sorts lines into headings, lists and paragraphs, which
prose.py splits into sentences.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from corpora_recipes.corpora.wikipedia.templates import (
    BOX,
    DISAMBIGUATION,
    FORMULA,
    HOLE,
    MARKS,
    NOTHING,
    SILENT,
    Wiki,
    find_rule,
    load_wiki,
    render,
    superscript,
)
from corpora_recipes.text.cleaning import unescape
from corpora_recipes.yaml_files import load_yaml

# Kind to its tags, in a dictionary as an ordered set.
_TAGS: dict[str, dict[str, None]] = {
    kind: dict.fromkeys(tags)
    for kind, tags in load_yaml(Path(__file__).with_name("tags.yaml")).items()
}
# Deeper nesting than MediaWiki's limit (100) is an error or an attack: it stays literal.
_MAX_DEPTH = 100

_TOKEN = re.compile(
    # 1, 2: a link without markup in it, whose words open no block at the start of a line
    r"\[\[([^\[\]{}<>|\n% *#:;=][^\[\]{}<>|\n%]*+)"
    r"(?:\|((?:[^\[\]{}<>|\n *#:;=][^\[\]{}<>|\n]*+)?+))?+\]\]"
    r"|\{\{([^{}\[\]<]++)\}\}"  # 3: a template without markup in it
    r"|\[\[|\]\]|\{\{++|\}\}++"
    r"|<!--"
    # 4: a tag whose content is not wikitext, or shows nothing
    rf"|<({'|'.join(_TAGS['special'])})(?=[\s/>])[^<>]*+>",
    re.IGNORECASE,
)
_HEADING_LINE = re.compile(r"\n=[^\n]+=[ \t]*(?=\n|\Z)")
_PAIRS = (("{{", "}}"), ("[[", "]]"), ("<!--", "-->"))
_MAX_TRIES = 8  # headings that may be inside other markup, such as a commented-out section
_COMMENTS = re.compile(r"(?:<!--(?>.*?(?:-->|\Z))([ \t]*+))++(\n?)", re.DOTALL)
_NAME = re.compile(r"[^|{}\[\]<>]*+")
_BRACES = re.compile(
    r"(\{\{++)|(\}\}++)|<!--(?>.*?(?:-->|\Z))|<nowiki>(?>.*?(?:</nowiki>|\Z))", re.DOTALL
)
# Characters of markup, as references that are resolved when no markup is left.
_LITERAL = str.maketrans({"\n": " "} | {c: f"&#{ord(c)};" for c in "[]{}<>|=*#:;'~_"})
# What opens a list, a preformatted line, a heading or a row at the start of a line.
_OPENS_BLOCK = " *#:;=|"
_APART = f"\n{NOTHING}\n{NOTHING}"  # text after it opens no block
_MAX_PARTS = 20  # of a line, that are searched for text

# A table starts at the beginning of a line; "|}}" ends a template, not a table; "|}}}" ends both.
_TABLE = re.compile(r"\n[ \t:*#]*+(?:(\{\|)|(\|\})(?!\}(?!\}))|(?===[^\n]*==[ \t]*+(?:\n|\Z)))")
_SMALL_IMAGE = re.compile(r"\|\s*(?:\d{1,2}(?:x\d+)?|x\d{1,2})\s*px")
_MEDIA = re.compile(
    r"[^|\n]+\.(?:jpe?g|png|gif|svg|tiff?|og[gvam]|web[mp]|pdf|djvu|mid|wav|flac|mp3)\s*(?:\||\Z)",
    re.IGNORECASE,
)
_MARK = re.compile(f"[{MARKS}]")
_AROUND_PREFIX = MARKS + " \t\n"
_PIPE_TRICK = re.compile(r"\s*\([^()]*\)\s*$|,\s.*$")
_AFTER_HEADING = "".join(filter(str.isspace, map(chr, range(0x3001)))) + MARKS
# First character of a line to its kind; others are lists.
_KINDS = {" ": "preformatted", "|": "table", "{": "table"}
_SHOWN_MARK = re.compile(f"[{HOLE}{FORMULA}{SILENT}]")
_EMPTY_LINE = re.compile(rf"[\s{MARKS}.,;:()·•*|-]*")


@dataclass(slots=True)
class Block:
    """Paragraphs of text under one heading, with marks where markup was removed.

    The heading is "" before the first one; the level is 1 there, else the number of equals signs.
    """

    heading: str
    level: int
    paragraphs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Article:
    """A page without its markup.

    ``topics`` are its categories that are about its subject, without prefix and sort key.
    ``lines``: kind to the number of lines that readers see and that are dropped, as no prose.
    """

    blocks: list[Block]
    topics: list[str]
    disambiguation: bool
    lines: dict[str, int]


class Parser:
    """Parses the pages of one wiki."""

    def __init__(self, language: str, namespaces: tuple[tuple[int, str], ...]) -> None:
        """Take the wiki's language, and (number, local name) of each of its namespaces."""
        self.wiki: Wiki = load_wiki(language)
        names = [(number, name.casefold()) for number, name in namespaces]
        self.media = frozenset(["media", *(name for number, name in names if number == -2)])
        self.file = self.wiki.file | {name for number, name in names if number == 6}
        self.category = self.wiki.category | {name for number, name in names if number == 14}

        marks = [name for name, rule in self.wiki.rules.items() if rule[0] == "disambiguation"]
        self.disambiguation = re.compile(rf"\{{\{{\s*+{_any_of(marks)}\s*+[|}}]")
        self.topic = re.compile(rf"\[\[\s*+({_any_of(self.category)}\s*+):([^\[\]{{}}<>|\n]++)")

    def parse(self, title: str, text: str, *, lead_only: bool = False) -> Article:
        """Return a page's prose and categories.

        With ``lead_only`` it stops at the first heading; the rest is only searched for categories
        and for the mark of a disambiguation page.
        """
        for mark in MARKS:
            text = text.replace(mark, "\ufffd")
        text, body = _split_lead(text) if lead_only else (text, "")
        page = _Page(self, title)
        lines = page.lines
        blocks = _blocks(plain(page.flatten(_remove_tables(text, lines)), lines), lines)
        if body:
            page.search(body)
        marked = page.disambiguation or not self.wiki.disambiguation_categories.isdisjoint(
            map(str.casefold, page.topics)
        )
        no_topics = self.wiki.no_topics
        topics = [t for t in page.topics if not (no_topics and no_topics.fullmatch(t))]
        return Article(blocks[:1] if lead_only else blocks, topics, marked, dict(lines))


class _Page:
    """The first pass over one page."""

    def __init__(self, parser: Parser, title: str) -> None:
        self.parser = parser
        self.title = title
        self.topics: dict[str, None] = {}
        self.lines: dict[str, int] = defaultdict(int)
        self.disambiguation = False
        self.plain_boxes = True
        self.unclosed_box = False

    def flatten(self, text: str) -> str:
        """Return the text without comments, templates, links and tags with special content."""
        search = _TOKEN.search
        link, template = self._link, self._template
        out: list[str] = []
        stack: list[tuple[str, list[str]]] = []
        unclosed: set[str] = set()
        position = 0
        while match := search(text, position):
            begin, end = match.span()
            if begin > position:
                out.append(text[position:begin])
            position = end
            group = match.lastindex
            if group is None:
                character = text[begin]
                if character == "<":
                    mark, position = _skip_comments(text, begin)
                    if mark is not None:
                        out.append(mark)
                    elif out:  # a line of its own goes with the blanks before it
                        out[-1] = out[-1].rstrip(" \t")
                elif character == "[":
                    if len(stack) < _MAX_DEPTH:
                        stack.append(("[[", out))
                        out = []
                    else:
                        out.append("[[")
                elif character == "{":
                    count = end - begin
                    if count == 2 and (after := self._skip_box(text, end)):
                        out.append(NOTHING)
                        position = after
                        continue
                    out, n_unused = self._open(count, stack, out)
                    if n_unused:
                        out.append("{" * n_unused)
                elif character == "]":
                    if stack and stack[-1][0] == "[[":
                        target, bar, label = "".join(out).partition("|")
                        out = stack.pop()[1]
                        out.append(link(target, label if bar else None))
                    else:
                        out.append("]]")
                else:
                    out = self._close(end - begin, stack, out)
            elif group == 2:
                # Most links; others, and those without a label, are looked at.
                target, label = match.group(1, 2)
                out.append(label if label and ":" not in target else link(target, label))
            elif group == 1:
                target = match[1]
                out.append(link(target, None) if ":" in target or "''" in target else target)
            elif group == 3:
                out.append(template(match[3], out))
            else:
                mark, position = _skip_tag(text, match, unclosed, self.lines)
                out.append(mark)
        out.append(text[position:])
        # Unclosed markup is literal text, as in MediaWiki.
        parts: list[str] = []
        for opening, outer in stack:
            parts += outer
            parts.append(opening)
        return "".join(parts + out)

    def search(self, text: str) -> None:
        """Collect the categories of a text, and whether it marks a disambiguation page."""
        for prefix, name in self.parser.topic.findall(text):
            if _namespace(prefix) in self.parser.category:
                self._add_topic(name)
        if self.parser.disambiguation.search(text):
            self.disambiguation = True

    def _skip_box(self, text: str, begin: int) -> int:
        """Return the end of a template that shows nothing, without parsing its content."""
        name = _NAME.match(text, begin)
        if self.unclosed_box or name is None:
            return 0
        rule, _ = find_rule(name[0], self.parser.wiki)
        if rule is None or rule[0] != "nothing":
            return 0
        if self.plain_boxes:
            if end := _end_of_plain_box(text, name.end()):
                return end
            # This may have scanned the whole page and is not tried again: time stays linear.
            self.plain_boxes = False
        depth = 1
        for match in _BRACES.finditer(text, name.end()):
            if match[1]:
                depth += len(match[1]) // 2
            elif match[2]:
                closed = len(match[2]) // 2
                if closed >= depth:
                    return match.start() + 2 * depth
                depth -= closed
        # Not tried again on this page: time stays linear.
        self.unclosed_box = True
        return 0

    def _open(
        self, count: int, stack: list[tuple[str, list[str]]], out: list[str]
    ) -> tuple[list[str], int]:
        """Open templates for ``count`` braces; return the innermost parts and unused braces."""
        if count == 3 and len(stack) < _MAX_DEPTH:
            stack.append(("{{{", out))
            return [], 0
        while count > 1 and len(stack) < _MAX_DEPTH:
            stack.append(("{{", out))
            out = []
            count -= 2
        return out, count

    def _close(self, count: int, stack: list[tuple[str, list[str]]], out: list[str]) -> list[str]:
        while count > 1 and stack and stack[-1][0] != "[[":
            content = "".join(out)
            opening, out = stack.pop()
            if opening == "{{":
                out.append(self._template(content, out))
                count -= 2
            elif count > 2:
                # A template's parameter, which has no value in an article.
                _, bar, default = content.partition("|")
                out.append(default if bar else HOLE)
                count -= 3
            else:
                out.append("{")
                out.append(self._template(content, out))
                count -= 2
        if count:
            out.append("}" * count)
        return out

    def _template(self, content: str, out: list[str]) -> str:
        """Return what a template shows after the text in ``out``."""
        rendered = render(content, self.title, self.parser.wiki)
        if rendered == BOX:
            if "".join(out[-_MAX_PARTS:]).rpartition("\n")[2].strip(_AROUND_PREFIX):
                return HOLE
            self.lines["box"] += 1 + content.count("\n")
            return NOTHING
        if rendered == DISAMBIGUATION:
            self.disambiguation = True
            return NOTHING
        return rendered

    def _link(self, target: str, label: str | None) -> str:
        """Return the visible text of an internal link."""
        if ":" in target:
            prefix, _, name = target.partition(":")
            prefix = _namespace(prefix)
            if prefix == "":
                target = name
            elif prefix in ("http", "https") and name.startswith("//"):
                # An external link in brackets, whose words stand after a blank.
                words = target if label is None else f"{target}|{label}"
                return f"[[{words}]]" if " " in words else NOTHING if label is None else HOLE
            elif prefix in self.parser.category:
                self._add_topic(name)
                return NOTHING
            elif prefix in self.parser.media:
                return SILENT
            elif prefix in self.parser.file or _MEDIA.match(target):
                # A small image inside a line is a symbol that the sentence needs.
                options = f"|{label or ''}"
                small = _SMALL_IMAGE.search(options) and not self.parser.wiki.framed.search(options)
                return HOLE if small else NOTHING
            elif prefix in self.parser.wiki.interlanguage:
                return HOLE
        if "\n" in target:
            return f"[[{target}{'' if label is None else '|' + label}]]"
        if label is None:
            if "%" in target or "''" in target:
                target = unquote(target).translate(_LITERAL)
            return _inline(target)
        # The pipe trick: [[Mercurio (planeta)|]] shows "Mercurio".
        return _inline(label or _PIPE_TRICK.sub("", target.rpartition(":")[2]))

    def _add_topic(self, name: str) -> None:
        topic = " ".join(name.replace("_", " ").split())
        if topic and not _MARK.search(topic):
            self.topics.setdefault(topic)


def _inline(text: str) -> str:
    """Return text that opens no block at the start of a line."""
    return NOTHING + text if text[:1] in _OPENS_BLOCK else text  # "" is in any string


# Pages name the same few hundred.
@lru_cache(maxsize=1 << 12)
def _namespace(prefix: str) -> str:
    """Return the name of a namespace, or the code of a language, as the tables have it."""
    return prefix.replace("_", " ").strip(_AROUND_PREFIX).casefold()


def _end_of_plain_box(text: str, begin: int) -> int:
    """Return the end of a template with only complete templates inside; 0 if uncertain."""
    depth = 1
    end = begin
    while depth:
        closing = text.find("}}", end)
        if closing < 0:
            return 0
        depth += text.count("{{", end, closing) - 1
        end = closing + 2
    # Runs of other lengths, and braces that do not count.
    odd = ("{{{", "}}}", "<!--", "<nowiki")
    return 0 if any(text.find(mark, begin, end + 1) >= 0 for mark in odd) else end


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern for these names in any case; without names it matches nothing."""
    forms = "|".join(re.escape(name).replace(r"\ ", "[ _]") for name in sorted(names))
    return f"(?i:{forms})" if forms else "(?!)"


def _split_lead(text: str) -> tuple[str, str]:
    """Split a page before its first heading that is not inside other markup."""
    for match in islice(_HEADING_LINE.finditer(text), _MAX_TRIES):
        lead = text[: match.start()]
        # The search for one character is much faster than that for two.
        if not any(o[1] in lead and lead.count(o) > lead.count(c) for o, c in _PAIRS):
            return lead, text[match.start() :]
    return text, ""


def _skip_comments(text: str, begin: int) -> tuple[str | None, int]:
    """Return what comments at ``begin`` leave (None: not even their line), and where they end."""
    match = _COMMENTS.match(text, begin)
    assert match is not None
    blanks, newline = match[1], match[2]
    before = begin
    while before and text[before - 1] in " \t":
        before -= 1
    if newline and (before == 0 or text[before - 1] == "\n"):
        return None, match.end()
    return blanks, match.end() - len(newline)


def _skip_tag(
    text: str, match: re.Match[str], unclosed: set[str], lines: dict[str, int]
) -> tuple[str, int]:
    """Return the replacement of a tag and its content, and the position after it."""
    tag = match[4].lower()
    content = ""
    end = match.end()
    if not match[0].endswith("/>"):
        closing = None if tag in unclosed else _closing(tag).search(text, end)
        if closing is None:
            # Not searched for again: time stays linear.
            unclosed.add(tag)
            if tag in _TAGS["regions"]:
                return match[0], end
            return (NOTHING if tag in ("references", "section") else HOLE), end
        content = text[end : closing.start()]
        end = closing.end()
    if tag == "nowiki":
        return _inline(content).translate(_LITERAL), end
    if tag in _TAGS["formulas"]:
        return FORMULA, end
    if tag in _TAGS["shown_apart"]:
        lines[tag] += 1 + content.count("\n")
        return _APART, end
    return (NOTHING if tag in _TAGS["show_nothing"] else HOLE), end


@cache
def _closing(tag: str) -> re.Pattern[str]:
    return re.compile(rf"</{tag}\s*+>", re.IGNORECASE)


def _remove_tables(text: str, lines: dict[str, int]) -> str:
    """Remove tables before their content is parsed; unclosed ones end at a heading."""
    if "{|" not in text:
        return text
    text = "\n" + text
    out = []
    depth = 0
    position = begin = 0
    for match in _TABLE.finditer(text):
        opens, closes = match.groups()
        if opens:
            if depth == 0:
                begin = match.start()
                out.append(text[position:begin])
            depth += 1
        elif depth:
            depth = depth - 1 if closes else 0
            if depth == 0:
                out.append("\n" + NOTHING if closes else "")
                position = match.end() if closes else match.start()
                lines["table"] += text.count("\n", begin, position)
    if depth:
        lines["table"] += text.count("\n", begin)
    else:
        out.append(text[position:])
    return "".join(out)[1:]


def _blocks(text: str, dropped: dict[str, int]) -> list[Block]:
    """Sort lines into headings, paragraphs and others, which are counted in ``dropped``."""
    block = Block("", 1)
    blocks = [block]
    lines: list[str] = []
    is_empty = _EMPTY_LINE.fullmatch
    for line in text.split("\n"):
        first = line[:1]
        heading = _heading(line) if first == "=" else None
        if first.isalpha() or not (
            first in " *#:;|{•·"  # "" is in any string
            or heading
            or line == NOTHING
            or is_empty(line)
        ):
            lines.append(line)
            continue
        if lines:
            block.paragraphs.append("\n".join(lines))
            lines = []
        if not line or line == NOTHING:
            continue
        if heading:
            block = Block(*heading)
            blocks.append(block)
        elif first in " *#:;|{•·":
            dropped[_KINDS.get(first, "list")] += 1
        elif _SHOWN_MARK.search(line):
            dropped["unrendered"] += 1
    if lines:
        block.paragraphs.append("\n".join(lines))
    return blocks


def _heading(line: str) -> tuple[str, int] | None:
    """Return the text and level of a heading; None if the line with a leading = is no heading."""
    line = line.rstrip(_AFTER_HEADING)
    before, after = len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("="))
    level = min(before, after, 6) if before < len(line) else int(len(line) > 2)
    return (line[level:-level], max(level, 2)) if level else None


_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)(?=[\s/>])[^<>]*+>|\n(?===)")
_RAISED = re.compile(r"<(su[bp])(?=[\s>])[^<>]*+>([^<>\n]{0,60}+)</\1\s*+>", re.IGNORECASE)
_SUBSCRIPT = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_LOWERED_DIGITS = re.compile(r"[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎]+")
_BREAKS = re.compile(r"<br\s*+/?\s*+>(?:\s*+<br\s*+/?\s*+>)++", re.IGNORECASE)

_APOSTROPHES = re.compile(r"'{2,}+")
# The address ends at a tag, a quotation mark or two apostrophes too.
_EXTERNAL = re.compile(
    r"\[(?i:(?:(?:https?|ftps?|sftp|ssh|ircs?|git|svn|gopher|telnet|nntp|mms|redis|worldwind):)?//"
    r"|(?:mailto|news|tel|sips?|sms|urn|geo|magnet|xmpp|bitcoin|matrix):)"
    r"[^\s\[\]<>\"']++(?:'(?!')[^\s\[\]<>\"']*+)*+[ \t]*+([^\[\]\n]*+)\]"
)
_VARIANT = re.compile(r"-\{([^{}|:;\n]*+)\}-")
_MAGIC_WORD = re.compile(r"__[^\W\d]{3,40}?__")


def plain(text: str, lines: dict[str, int]) -> str:
    """Remove tags, quote marks, external links and magic words, and resolve entities."""
    if "[" in text:
        text = _EXTERNAL.sub(lambda match: _inline(match[1]), text)
    if "<" in text:
        if "<br" in text or "<BR" in text:
            text = _BREAKS.sub("\n\n", text)
        text = _RAISED.sub(_render_raised, text)
        text = _remove_tags(text, lines)
    if "''" in text:
        text = _remove_quotes(text)
    if "__" in text:  # not __init__: magic words are in capitals
        text = _MAGIC_WORD.sub(lambda m: NOTHING if m[0] == m[0].upper() else m[0], text)
    if "-{" in text:
        text = _VARIANT.sub(r"\1", text)
    if "&" in text:
        text = unescape(text)
    return text


def _render_raised(match: re.Match[str]) -> str:
    content = unescape(match[2]).strip()
    if not content or content.strip(MARKS) == "":
        return content
    if match[1].lower() == "sub":
        lowered = content.translate(_SUBSCRIPT)
        return lowered if _LOWERED_DIGITS.fullmatch(lowered) or content.isalnum() else FORMULA
    if (raised := superscript(content)) != HOLE:
        return raised
    if content in ("a", "o", "as", "os"):
        return content.replace("a", "ª", 1).replace("o", "º", 1)
    # Ordinals and abbreviations: XIXe, Mme, 1st.
    return content if content.isalpha() and len(content) < 4 else FORMULA


def _remove_tags(text: str, lines: dict[str, int]) -> str:
    out = []
    position = begin = depth = 0
    region = ""
    for match in _TAG.finditer(text):
        name = match[2]
        if name is None:
            # A heading: unclosed elements end here.
            if depth:
                depth = 0
                position = match.start()
                lines[region] += 1 + text.count("\n", begin, position)
            continue
        name = name.lower()
        if depth:
            if name == region:
                depth += -1 if match[1] else 1
                if depth == 0:
                    out.append(_APART)
                    position = match.end()
                    lines[region] += 1 + text.count("\n", begin, position)
            continue
        if match.start() < position:
            continue
        if name in _TAGS["regions"]:
            out.append(text[position : match.start()])
            begin = position = match.end()
            if match[1] or match[0].endswith("/>"):
                out.append(_APART)
            elif name in _TAGS["items"]:  # outside a list: often not closed
                position = text.find("\n", begin) % (len(text) + 1)  # without one, the end
                lines[name] += 1
            else:
                region = name
                depth = 1
            continue
        before = text[match.start() - 1 : match.start()]
        if name in _TAGS["formatting"]:
            replacement = '"' if name == "q" else ""
            # At the start of a line, or after another tag there, what follows opens no block.
            if before in "\n>'" and text[match.end() : match.end() + 1] in _OPENS_BLOCK:
                replacement += NOTHING
        elif name == "br":
            # At the start of a line a space would make it preformatted text.
            replacement = NOTHING if before in "\n" else " "
        elif name in ("p", "div", "hr"):
            replacement = "\n\n" + NOTHING
        else:
            continue
        out += [text[position : match.start()], replacement]
        position = match.end()
    if depth:
        lines[region] += 1 + text.count("\n", begin)
    else:
        out.append(text[position:])
    return "".join(out)


def _remove_quotes(text: str) -> str:
    """Remove ''italics'' and '''bold''', and keep apostrophes, by MediaWiki's rules."""
    if "'''" not in text:
        return text.replace("\n'' ", f"\n{NOTHING}'' ").replace("''", "")
    out = []
    position = 0
    while (quotes := text.find("''", position)) >= 0:
        begin = text.rfind("\n", position, quotes) + 1 or position
        end = text.find("\n", quotes)
        end = len(text) if end < 0 else end
        line = _remove_line_quotes(text[begin:end])
        out += [text[position:begin], _inline(line) if quotes == begin else line]
        position = end
    out.append(text[position:])
    return "".join(out)


def _remove_line_quotes(line: str) -> str:
    if "''''" not in line and line.count("'''") % 2 == 0:
        return line.replace("'''", "").replace("''", "")
    runs = [match.span() for match in _APOSTROPHES.finditer(line)]
    lengths = [end - begin for begin, end in runs]
    bold = sum(length != 2 for length in lengths)
    italic = sum(length == 2 or length > 4 for length in lengths)
    literal = -1
    if bold % 2 and italic % 2:
        # Unbalanced: one ''' is an apostrophe and ''. First choice: after a one-letter word
        # (l'''Avenir''), then after a longer one, then after a space.
        def rank(i: int) -> int:
            begin = runs[i][0]
            if line[begin - 2 : begin - 1] in (" ", ""):
                return 0
            return 1 if line[begin - 1 : begin] != " " else 2

        literal = min((i for i, n in enumerate(lengths) if n == 3), key=rank, default=-1)
    out = []
    position = 0
    for i, (begin, end) in enumerate(runs):
        out.append(line[position:begin])
        if i == literal or lengths[i] == 4:
            out.append("'")
        elif lengths[i] > 5:
            out.append("'" * (lengths[i] - 5))
        position = end
    out.append(line[position:])
    return "".join(out)
