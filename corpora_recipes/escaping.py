"""Users' texts (names, licences, reasons …) for pages: on one line, and as plain Markdown."""

import re
import unicodedata

# Control characters, those that change the order of letters (Cf; not the joiners of letters and
# emoji), and halves of pairs, which UTF-8 cannot write.
_HIDDEN = ("Cc", "Cf", "Cs")
_JOINERS = "\u200c\u200d"
# Markup of Markdown and HTML: everywhere; an underscore that is not in a word; an entity; the end
# of a heading; a bracket if the text could have a link or a note.
_MARKUP = re.compile(r"[\\*|<`~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=\s)#(?=#*$)")
_BRACKET = re.compile(r"\[")
_LINK = re.compile(r"\][(\[:]|\[\^")
# At the start of a line, these make a heading, a quotation, a list, a rule or a fence.
_BLOCK = re.compile(r"^(?=[#>=]|[-+](?!\d))|^(\d+)(?=[.)](?:\s|$))")


def one_line(value: object) -> str:
    """Return a value's text on one line, without control and formatting characters."""
    text = " ".join(str(value).split())
    return "".join(c for c in text if c in _JOINERS or unicodedata.category(c) not in _HIDDEN)


def markdown(value: object) -> str:
    """Return Markdown that shows a value as it is, on one line, anywhere in a page."""
    text = one_line(value)
    escaped = _MARKUP.sub(r"\\\g<0>", text)
    if _LINK.search(text):
        escaped = _BRACKET.sub(r"\\[", escaped)
    return _BLOCK.sub(r"\1\\", escaped)


def markdown_code(value: object) -> str:
    """Return Markdown that shows a value as code."""
    return f"`{one_line(value).replace('`', chr(39)).replace('|', '¦')}`"
