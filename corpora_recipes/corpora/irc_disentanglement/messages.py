"""The lines of a log, and the nicknames in them."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from corpora_recipes.records import Drops

USER = "<user>"
# IRC allows these in a nickname (RFC 2812, 2.3.1); a log of today has others rarely.
_NAME = r"[\w\[\]\\`^{}|-]+"
_SAID = re.compile(r"\[\d\d:\d\d\] <([^<>]+)> ?(.*)", re.DOTALL)
# "-lena42:#ubuntu- text", a notice, and "(lena42/#ubuntu) text", from a bridge.
_NOTICE = re.compile(r"\[\d\d:\d\d\] [-(]([^\s:/()]+)[:/]#[^\s()]+?[-)] ?(.*)", re.DOTALL)
_ACTION = re.compile(r"\[\d\d:\d\d\]  ?\* (\S+) ?(.*)", re.DOTALL)
_OF_SERVER = "==="
_JOINED = re.compile(rf"=== ({_NAME}) (?:\[|is now known as ({_NAME}))")
_ADDRESS = re.compile(rf"@?({_NAME})(?=\s*[:,;>]|\s+-+\s)")
# An address even if nobody in the log has the name.
_UNKNOWN = re.compile(rf"(?=[^\W\d]){_NAME}(?=: \S)")
_WORD = re.compile(_NAME)
# A shorter name is a word, or part of a command, more often than a mention.
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Message:
    """A line of a log."""

    speakers: tuple[str, ...]  # of the server's lines: those who came, left or changed their names
    text: str
    is_action: bool = False  # "* lena42 tries again"
    is_of_server: bool = False


def parse_message(line: str) -> Message | None:
    """Return the message of a line, None if the line has another form."""
    if line.startswith(_OF_SERVER):
        joined = _JOINED.match(line)
        names = tuple(name for name in joined.groups() if name) if joined else ()
        return Message(names, "", is_of_server=True)
    if parts := _SAID.fullmatch(line) or _NOTICE.fullmatch(line):
        return Message((parts[1],), parts[2])
    if parts := _ACTION.fullmatch(line):
        return Message((parts[1],), parts[2], is_action=True)
    return None


class Nicknames:
    """The nicknames of a log: of those who speak in it, come or leave, or change their names."""

    def __init__(self, messages: Iterable[Message]) -> None:
        """Find the nicknames of a log, and which of them are words too.

        A name of letters alone that occurs elsewhere in messages more often than its owner speaks
        or is addressed is taken for a word ("root", "help"): it is a name only in an address.
        """
        messages = list(messages)
        names = {name.lower() for message in messages for name in message.speakers}
        self._names = {name for name in names if len(name) > 1}
        self._words = Counter(
            word.lower() for message in messages for word in _WORD.findall(message.text)
        )
        as_names: Counter[str] = Counter()
        as_words: Counter[str] = Counter()
        for message in messages:
            if message.is_of_server:
                continue
            name, rest = self._address(message)
            as_names.update(speaker.lower() for speaker in message.speakers)
            as_names[name] += 1
            as_words.update(word.lower() for word in _WORD.findall(rest))
        self._mentioned = {
            name
            for name in self._names
            if len(name) >= _SHORTEST and (not name.isalpha() or as_names[name] >= as_words[name])
        }

    def hide(self, message: Message, drops: Drops) -> str:
        """Return the text of a message with ``<user>`` for each nickname, and count them.

        A name is replaced at the beginning of a message, where it addresses somebody ("lena42:
        yes"), and everywhere else unless it is a word too.
        """
        name, text = self._address(message)
        start = f"{USER} " if message.is_action else USER if name else ""
        if start:
            self._count("actor" if message.is_action else "addressed", drops)

        def hidden(word: re.Match[str]) -> str:
            if word[0].lower() not in self._mentioned:
                return word[0]
            self._count("mentioned", drops)
            return USER

        return start + _WORD.sub(hidden, text)

    def _address(self, message: Message) -> tuple[str, str]:
        """Return the name that a message begins with, in lower case, and the rest of its text."""
        text = message.text
        if message.is_action:
            return "", text
        if (start := _ADDRESS.match(text)) and start[1].lower() in self._names:
            return start[1].lower(), text[start.end() :]
        if start := _UNKNOWN.match(text):
            name = start[0].lower()
            if self._words[name] == 1 or not name.replace("-", "").isalpha():
                return name, text[start.end() :]
        return "", text

    def _count(self, place: str, drops: Drops) -> None:
        drops.seen["nicknames"] += 1
        drops.dropped["nicknames", place] += 1
