"""Plain text of wikitext whose templates and links are resolved: tags, quotes, digits."""

import re

from corpora_recipes.corpora.wikipedia.templates import FORMULA, HOLE, MARKS, NOTHING, superscript
from corpora_recipes.text.cleaning import unescape

# Content of these tags is not running prose of the article.
REGIONS = frozenset(
    {"blockquote", "table", "ul", "ol", "dl", "li", "dd", "dt", "center", "poem", "pre", "caption"}
    | {"gallery", "figure", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_FORMATTING = re.compile(
    "a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|noinclude|onlyinclude|q|rb"
    "|rp|rt|ruby|s|samp|section|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)(?=[\s/>])[^<>]*+>|\n(?===)")
_RAISED = re.compile(r"<(su[bp])(?=[\s>])[^<>]*+>([^<>\n]{0,60}+)</\1\s*+>", re.IGNORECASE)
_SUBSCRIPT = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_LOWERED_DIGITS = re.compile(r"[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎]+")
_BREAKS = re.compile(r"<br\s*+/?\s*+>(?:\s*+<br\s*+/?\s*+>)++", re.IGNORECASE)

_APOSTROPHES = re.compile(r"'{2,}+")
_EXTERNAL = re.compile(
    r"\[(?:https?:|ftps?:|irc:|news:|mailto:|//)[^\s\[\]]++(?:[ \t]++([^\[\]\n]*+))?+\]"
)
_VARIANT = re.compile(r"-\{([^{}|:;\n]*+)\}-")
_MAGIC_WORD = re.compile(r"__[^\W\d]{3,40}?__")


def plain(text: str) -> str:
    """Remove tags, quote marks, external links and magic words, and resolve entities."""
    if "<" in text:
        if "<br" in text or "<BR" in text:
            text = _BREAKS.sub("\n\n", text)
        text = _RAISED.sub(_raised, text)
        text = _without_tags(text)
    if "''" in text:
        text = _without_quotes(text)
    if "[" in text:
        text = _EXTERNAL.sub(lambda match: match[1] or NOTHING, text)
    if "__" in text:
        text = _MAGIC_WORD.sub(NOTHING, text)
    if "-{" in text:
        text = _VARIANT.sub(r"\1", text)
    if "&" in text:
        text = unescape(text)
    return text


def _raised(match: re.Match[str]) -> str:
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


def _without_tags(text: str) -> str:
    out = []
    position = 0
    region = ""
    depth = 0
    for match in _TAG.finditer(text):
        name = match[2]
        if name is None:
            # A heading: unclosed elements end here.
            if depth:
                depth = 0
                position = match.start()
            continue
        name = name.lower()
        if depth:
            if name == region:
                depth += -1 if match[1] else 1
                if depth == 0:
                    out.append(f"\n{NOTHING}\n")
                    position = match.end()
            continue
        if name in REGIONS:
            out.append(text[position : match.start()])
            position = match.end()
            if not match[1] and not match[0].endswith("/>"):
                region = name
                depth = 1
            else:
                out.append("\n")
            continue
        if _FORMATTING.fullmatch(name):
            replacement = '"' if name == "q" else ""
        elif name == "br":
            replacement = " "
            # At the start of a line a space would make it preformatted text.
            if text[match.start() - 1 : match.start()] in ("", "\n"):
                replacement = NOTHING
        elif name in ("p", "div", "hr"):
            replacement = "\n\n" + NOTHING
        else:
            continue
        out += [text[position : match.start()], replacement]
        position = match.end()
    if depth == 0:
        out.append(text[position:])
    return "".join(out)


def _without_quotes(text: str) -> str:
    """Remove ''italics'' and '''bold''', and keep apostrophes, by MediaWiki's rules."""
    if "'''" not in text:
        return text.replace("''", "")
    out = []
    position = 0
    while (quotes := text.find("''", position)) >= 0:
        begin = text.rfind("\n", position, quotes) + 1 or position
        end = text.find("\n", quotes)
        end = len(text) if end < 0 else end
        out += [text[position:begin], _line_without_quotes(text[begin:end])]
        position = end
    out.append(text[position:])
    return "".join(out)


def _line_without_quotes(line: str) -> str:
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
