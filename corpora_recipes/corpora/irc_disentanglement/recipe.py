"""Reads annotated logs of the Ubuntu chat into dialogues, one per annotated conversation.

A log has a message or a line of the server in each line, numbered from 0::

    === mdrake [~mdrake@host.example]  has joined #ubuntu
    [03:18] <lena42> mdrake: did you restart X?
    [03:19]  * mdrake tries again

Beside ``NAME.ascii.txt`` is ``NAME.annotation.txt``. Its lines ``1013 1020 -`` say that two
messages belong together; ``1013 1013 -``, that a message begins a conversation. A conversation is a
connected component of these links. The first thousand messages of a log are only context: they have
no annotation, but a later message may answer one of them. Nicknames are replaced by ``USER``.

The files are in ``data/{train,dev,test}``, in a folder or in the repository's archive.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora_recipes.formats.archives import ARCHIVES, Member, list_members, read_members
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import Dialogue, Drops, connected_groups
from corpora_recipes.running.errors import RawError
from corpora_recipes.running.limits import LARGEST_TEXT, is_number
from corpora_recipes.text.cleaning import clean, find_damage, has_markup
from corpora_recipes.text.language import is_language


@dataclass(frozen=True, slots=True)
class Message:
    """A line of a log."""

    speakers: tuple[str, ...]  # of the server's lines: those who came, left or changed their names
    text: str
    is_action: bool = False  # "* lena42 tries again"
    is_of_server: bool = False
    fault: RawError | None = None  # why the line cannot be read


LOG, LINKS = ".ascii.txt", ".annotation.txt"
# A mail address, or the number of a machine that is not in a private or a local network.
_PERSONAL = re.compile(
    r"\w@\w[\w-]*\.\w|(?<![\d.])(?!10\.|127\.|192\.168\.|0\.|255\.)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"
)
PARTS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Log:
    """A log and its annotation."""

    name: str  # of the file, without its ending, such as 2004-12-25.train-c
    text: Member
    links: Member


@dataclass(frozen=True, slots=True)
class Logs:
    """A block: a log, or all logs of an archive, which is read once."""

    key: str
    logs: tuple[Log, ...]


def blocks(raw: Path, corpus: Corpus) -> Sequence[Logs]:
    """List the logs in the folder, and the archives."""
    paths = sorted(path for path in raw.rglob("*") if path.is_file())
    archives = [path for path in paths if path.name.endswith(ARCHIVES)]
    plain = [member for path in paths if path not in archives for member in list_members(path, raw)]
    listed = [
        *(Logs(log.name, (log,)) for log in _pair_files(plain)),
        *(Logs(path.name, tuple(_pair_files(list_members(path, raw)))) for path in archives),
    ]
    if not any(block.logs for block in listed):
        expected = f"logs data/{{{','.join(PARTS)}}}/*{LOG}, or an archive of them"
        raise no_files(corpus, raw, expected)
    return listed


def _pair_files(files: Iterable[Member]) -> list[Log]:
    by_key = {member.key: member for member in files}
    logs = []
    for key, member in by_key.items():
        parts = key.split("/")
        if not key.endswith(LOG) or len(parts) < 2 or parts[-2] not in PARTS:
            continue
        name = parts[-1].removesuffix(LOG)
        links = by_key.get(key.removesuffix(LOG) + LINKS)
        if links is None:
            raise RawError(member.where, f"its annotation beside it, {name}{LINKS}", "no such file")
        logs.append(Log(name, member, links))
    return logs


def read_block(block: Logs, corpus: Corpus) -> BlockResult:
    """Read the conversations of a log, or of the logs of an archive."""
    result = BlockResult()
    files = read_members(
        [file for log in block.logs for file in (log.links, log.text)], LARGEST_TEXT
    )
    for log, annotation, text in zip(block.logs, files, files, strict=True):
        messages = _parse_messages(text, log.text.where)
        links = _parse_links(annotation, len(messages), log.links.where, result.drops)
        nicknames = Nicknames(messages)
        threads = _connect_threads(links)
        linked = {number for thread in threads for number in thread}
        result.drops.seen["turns"] += len(messages)
        for number, message in enumerate(messages):
            if message.is_of_server:
                result.drops.dropped["turns", "line_of_the_server"] += 1
            elif message.fault:
                result.drops.drop("turns", message.fault.reason, message.fault)
            elif number not in linked:
                result.drops.drop("turns", "not_annotated")
        for thread in threads:
            spoken = [messages[n] for n in thread if not messages[n].is_of_server]
            if not spoken:
                continue
            with result.counting("documents", f"{log.text.where}, line {thread[0] + 1}"):
                conversations = _conversations(spoken, nicknames, corpus.language, result.drops)
                result.records.append(Dialogue(f"{log.name}:{thread[0]}", log.name, conversations))
    return result


def _parse_messages(data: bytes, where: str) -> list[Message]:
    lines = data.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    messages = []
    for number, line in enumerate(lines):
        message = parse_message(line.removesuffix("\r"))
        if message is None:
            expected = "a message, [03:18] <name> text, or a line of the server, === …"
            fault = RawError(f"{where}, line {number + 1}", expected, repr(line[:60]))
            message = Message((), "", fault=fault)
        messages.append(message)
    return messages


def _parse_links(data: bytes, count: int, where: str, drops: Drops) -> list[tuple[int, int]]:
    """Return the pairs of numbers of messages; other lines are counted and dropped."""
    links = []
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        is_link = len(fields) == 3 and fields[2] == "-" and all(map(is_number, fields[:2]))
        if is_link and max(map(int, fields[:2])) < count:
            links.append((int(fields[0]), int(fields[1])))
            continue
        expected = f"two messages of the log, 0 to {count - 1}, and a dash, such as 1013 1020 -"
        drops.seen["links"] += 1
        fault = RawError(f"{where}, line {number}", expected, repr(line[:60]))
        drops.drop("links", fault.reason, fault)
    return links


def _connect_threads(links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of the links, each in order, by their first messages."""
    groups = connected_groups(links, lambda link: link)
    return sorted(sorted({number for link in group for number in link}) for group in groups)


def _conversations(
    spoken: Sequence[Message], nicknames: "Nicknames", language: str, drops: Drops
) -> list[list[str]]:
    """Return the turns of a thread; at a dropped turn a conversation ends."""
    if len(spoken) < 2:
        raise Dropped("one_turn")
    if not is_language(clean(" ".join(message.text for message in spoken)), language):
        raise Dropped("other_language")
    conversations: list[list[str]] = [[]]
    for message in spoken:
        if message.fault:
            conversations.append([])
        elif reason := _reason(message.text):
            drops.drop("turns", reason)
            conversations.append([])
        else:
            conversations[-1].append(clean(nicknames.hide(message, drops)))
    conversations = [turns for turns in conversations if turns]
    if not conversations:
        raise Dropped("no_turns")
    return conversations


def _reason(text: str) -> str | None:
    """Return why a turn cannot be used, None if it can."""
    if "<unconvertable>" in text:
        return "not_ascii"
    if (reason := find_damage(text)) is not None:
        return reason
    if "://" in text or "www." in text:
        return "address"
    if _PERSONAL.search(text):
        return "personal_address"
    if has_markup(text) or "|" in text:
        return "code"
    if not any(map(str.isalpha, text)):
        return "no_letters"
    return None


# --- nicknames -----------------------------------------------------------------------------------

USER = "<user>"
# IRC allows these in a nickname (RFC 2812, 2.3.1); a log of today has others rarely.
_NAME = r"[\w\[\]\\`^{}|-]+"
_SAID = re.compile(r"\[\d\d:\d\d\] <([^<>]+)> ?(.*)", re.DOTALL)
# "-lena42:#ubuntu- text", a notice, and "(lena42/#ubuntu) text", from a bridge.
_NOTICE = re.compile(r"\[\d\d:\d\d\] [-(]([^\s:/()]+)[:/]#[^\s()]+?[-)] ?(.*)", re.DOTALL)
_ACTION = re.compile(r"\[\d\d:\d\d\]  ?\* (\S+) ?(.*)", re.DOTALL)
_SERVER_MARK = "==="
_JOINED = re.compile(rf"=== ({_NAME}) (?:\[|is now known as ({_NAME}))")
_ADDRESS = re.compile(rf"@?({_NAME})(?=\s*[:,;>]|\s+-+\s)")
# An address even if nobody in the log has the name.
_UNKNOWN = re.compile(rf"(?=[^\W\d]){_NAME}(?=: \S)")
_WORD = re.compile(_NAME)
# A shorter name is a word, or part of a command, more often than a mention.
_MIN_MENTION = 3


def parse_message(line: str) -> Message | None:
    """Return the message of a line, None if the line has another form."""
    if line.startswith(_SERVER_MARK):
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
            name, text = self._address(message)
            as_names.update(speaker.lower() for speaker in message.speakers)
            as_names[name] += 1
            as_words.update(word.lower() for word in _WORD.findall(text))
        self._mentioned = {
            name
            for name in self._names
            if len(name) >= _MIN_MENTION
            and (not name.isalpha() or as_names[name] >= as_words[name])
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

    def _count(self, role: str, drops: Drops) -> None:
        drops.seen["nicknames"] += 1
        drops.dropped["nicknames", role] += 1
