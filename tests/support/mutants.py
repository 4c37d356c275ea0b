"""Mutants: copies of a recipe's sample, changed as a damaged or hostile corpus may be.

A mutant is made from its key alone, by keyed hash, so that the key is all that a finding needs.
What is inside of archives and compressed files is changed, and so are these themselves.
"""

import bz2
import csv
import gzip
import io
import json
import re
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple, TypeVar

from corpora_recipes.hashing import keyed_choice
from corpora_recipes.recipe import RECIPES, load_facts

T = TypeVar("T")
Files = dict[str, bytes]
"""The files of a raw corpus: path in its folder to content."""

# A mutant's file is no larger; bombs have tests of their own.
LARGEST = 1 << 20
# A sample that is larger is thinned, so that a mutant is read in a few milliseconds.
SMALL = 24_000

# What parsers stumble over: marks of the formats, odd characters, numbers at and beyond limits.
_MARKS = (
    r"""" ' "" \ \u , ; : | # & < > /> </ <!-- ]]> <![CDATA[ <?x?> { } [ ] {{ }} [[ ]] {| |} =="""
    r" '' ''' -- &amp; &#0; &#13; &#x110000; &#xD800; &amp;#8203; &nbsp; &x; . — ¿ ¡ … ² ½ 😀 ٣"
)
_ODD = "\0 \t \n \r \r\n \n\n \u0085 \u00a0 \u00ad \u200b \u200d \u2028 \u202e \ufeff \ufffd \uffff"
_LETTERS = "ß İ ſ é e\u0301 Ã± â€œ \U000e0001 ﬁ"
_NUMBERS = "0 -0 -1 1e999 NaN Infinity 0x1 1_0 2147483647 2147483648 9223372036854775808"
_VALUES = r'null true {} [] "" {"a":1} [null] "\ud800" "\u0000"'
_BROKEN = (b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\xff")
_ENTITIES = (
    b'<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;">]>',
    b'<!ENTITY d SYSTEM "file:///etc/hostname">',
    *(b"&#" + b"9" * count + b";" for count in (8, 4301, 20_000)),
)
_REPEATED = ["(", "[", "{", "<a>", "{{", "[[", "<b ", "&#", "- ", "\u0301", "9", "¿", "\\", "'"]
_REPEATED += ["a", "a ", "A. ", ".", " ", "\n", "\t", '"']
TOKENS = (
    *" ".join((_MARKS, _ODD, _LETTERS, _NUMBERS, _VALUES)).encode().split(b" "),
    *(mark.encode() * 5000 for mark in _REPEATED),
    *(*_BROKEN, *_ENTITIES, b""),
)

_WORD = re.compile(rb"[\w.-]+")
_TAG = re.compile(rb"<[^<>]*>")
_VALUE = re.compile(rb'"[^"\n]*"|-?\d+(?:\.\d+)?|\bnull\b|\btrue\b')
# What is nested: an element with its content; an innermost object or list; a key, or an attribute
# with its value; lines up to a blank one, as of a parsed sentence.
_WHOLE_ELEMENT = re.compile(rb"<([\w:]+)\b[^<>]*>.{0,5000}?</\1>", re.DOTALL)
_CONTAINER = re.compile(rb"\{[^{}\[\]]*\}|\[[^{}\[\]]*\]")
_KEY = re.compile(rb'"[^"\n]{0,80}"\s*:|\s[\w:]+="[^"<>]*"')
_BLOCK = re.compile(rb"(?:[^\n]+\n)+\n")
_HEADER = re.compile(rb"PK[\x01-\x08][\x01-\x08]|BZh\d|\x1f\x8b|ustar|PAR1")
_ELEMENT = re.compile(rb"<(page|record)>.*?</\1>", re.DOTALL)


class Chance:
    """Choices by keyed hash."""

    def __init__(self, recipe: str, key: str) -> None:
        self.key = recipe, key
        self.count = 0

    def below(self, count: int) -> int:
        """Return an integer from 0 to count - 1."""
        self.count += 1
        return keyed_choice(count, 0, *self.key, str(self.count))

    def of(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """Return ``count`` of the items, or all if they are fewer, in their order."""
        left = list(range(len(items)))
        while len(left) > count:
            del left[self.below(len(left))]
        return [items[i] for i in left]

    def part(self, data: bytes) -> tuple[int, int]:
        """Return begin and end of a part of the data, mostly a short one."""
        begin = self.below(len(data) + 1)
        longest = self.of((1, 8, 80, 800, len(data)))
        return begin, min(len(data), begin + self.below(longest + 1))


class Form(NamedTuple):
    """A form in which a recipe reads its corpus: the files, and the options that it takes."""

    files: Files
    options: dict[str, str]


def mutant(recipe: str, key: str) -> Form:
    """Return the files of a mutant of the recipe's sample, and the options to read it with."""
    chance = Chance(recipe, key)
    form = chance.of(forms(recipe))
    files = _thinned(form.files, chance)
    for _ in range(chance.of((1, 1, 2))):
        name = chance.of(sorted(files))
        if chance.below(12):
            files[name] = mutated(name, files[name], chance)
        else:
            _mix(files, name, chance)
        if not files:
            break
    return Form(files, form.options)


# --- the forms of a sample -----------------------------------------------------------------------


@cache
def forms(recipe: str) -> list[Form]:
    """Return the sample of a recipe, and the same in the other forms that the recipe reads."""
    found = []
    languages = load_facts(recipe).sample_languages
    for language in languages or ("",):
        folder = RECIPES / recipe / "sample" / (language if len(languages) > 1 else "")
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        sample = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        named = {"language": language} if language else {}
        found.append(Form(sample, named))
        for made in OTHER_FORMS.get(recipe, ()):
            files, options = made(sample)
            found.append(Form(files, named | options))
    return found


def _plain_dump(sample: Files) -> tuple[Files, dict[str, str]]:
    (dump,) = (name for name in sample if name.endswith(".xml.bz2"))
    return {dump.removesuffix(".bz2"): bz2.decompress(sample[dump])}, {}


def _dump_without_index(sample: Files) -> tuple[Files, dict[str, str]]:
    return {name: data for name, data in sample.items() if name.endswith(".xml.bz2")}, {}


def _packed_lines(sample: Files) -> tuple[Files, dict[str, str]]:
    return {f"{name}.gz": gzip.compress(data, mtime=0) for name, data in sample.items()}, {}


def _parquet(sample: Files) -> tuple[Files, dict[str, str]]:
    import pyarrow.json
    import pyarrow.parquet

    (lines,) = sample.values()
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.json.read_json(io.BytesIO(lines)), buffer)
    return {"documents.parquet": buffer.getvalue()}, {}


def _arrow(sample: Files) -> tuple[Files, dict[str, str]]:
    import pyarrow.json

    (lines,) = sample.values()
    table = pyarrow.json.read_json(io.BytesIO(lines))
    buffer = io.BytesIO()
    with pyarrow.ipc.new_stream(buffer, table.schema) as stream:
        stream.write_table(table, max_chunksize=10)
    return {"data-00000-of-00001.arrow": buffer.getvalue()}, {}


def _texts(sample: Files) -> tuple[Files, dict[str, str]]:
    (lines,) = sample.values()
    rows = filter(lambda row: "text" in row, map(json.loads, lines.splitlines()))
    return {f"{row['id']}.md": f"# {row['title']}\n\n{row['text']}".encode() for row in rows}, {}


def _table(sample: Files) -> tuple[Files, dict[str, str]]:
    (lines,) = sample.values()
    text = io.StringIO()
    writer = csv.DictWriter(text, ("id", "title", "text"), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(json.loads(line) for line in lines.splitlines())
    return {"documents.csv": text.getvalue().encode()}, {}


def _tabs(sample: Files) -> tuple[Files, dict[str, str]]:
    (lines,) = sample.values()
    rows = filter(lambda row: "text" in row, map(json.loads, lines.splitlines()))
    texts = [f"{row['id']}\t{' '.join(row['text'].split())}\n" for row in rows]
    return {"documents.tsv": "".join(["id\ttext\n", *texts]).encode()}, {}


def _with_tokens(sample: Files) -> tuple[Files, dict[str, str]]:
    (archive,) = sample.values()
    members = [
        (name.replace("/raw/", "/xml/"), re.sub(rb"(?m)^([^<\s]+)$", rb'<w id="1">\1</w>', data))
        for name, data in unpack("es.zip", archive)
    ]
    return {"xml/es.zip": pack("es.zip", members)}, {"form": "xml"}


def _released(sample: Files) -> tuple[Files, dict[str, str]]:
    turns = [f"¿Qué dijo el número {n}?\nDijo que {n} son pocos.\n\n" for n in range(20)]
    parts = (turns[:12], turns[12:16], turns[16:])
    names = ("train.txt", "dev.txt", "test.txt")
    return {name: "".join(part).encode() for name, part in zip(names, parts, strict=True)}, {}


OTHER_FORMS: dict[str, Sequence[Callable[[Files], tuple[Files, dict[str, str]]]]] = {
    "gutenberg": (_released,),
    "documents": (_packed_lines, _parquet, _arrow, _texts, _table, _tabs),
    "opensubtitles": (_with_tokens,),
    "wikipedia": (_plain_dump, _dump_without_index),
}


def _thinned(files: Files, chance: Chance) -> Files:
    """Return the files of a large sample with fewer files, members, pages or lines."""
    if sum(map(len, files.values())) < SMALL:
        return dict(files)
    # Sentences and their scores stay together.
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name in sorted(files):
        folder, _, last = name.rpartition("/")
        group = groups.setdefault((folder, re.sub(r"[\w-]*", "", last)), {})
        group.setdefault(last.replace("STS.input", "STS.gs"), []).append(name)
    kept = [
        name
        for group in groups.values()
        for names in chance.some(list(group.values()), 3)
        for name in names
    ]
    return {name: _thinned_file(name, files[name], chance) for name in kept}


def _thinned_file(name: str, data: bytes, chance: Chance) -> bytes:
    if name.endswith(".zip"):
        return pack(name, chance.some(unpack(name, data), 4))
    if name.endswith(".jsonl"):
        return b"\n".join(chance.some(data.splitlines(), 6)) + b"\n"
    elements = list(_ELEMENT.finditer(data))
    if len(elements) > 5:
        kept = chance.some(elements, 5)
        inside = b"\n".join(element[0] for element in kept)
        return data[: elements[0].start()] + inside + data[elements[-1].end() :]
    return data


# --- archives ------------------------------------------------------------------------------------

_DAMAGE = (OSError, EOFError, zlib.error, RuntimeError, IndexError)
Members = list[tuple[str, bytes]]
"""Name and content of what a file packs; what is only compressed has no name."""


def unpack(name: str, data: bytes) -> Members:
    """Return what an archive or a compressed file packs; ValueError if nothing, or damaged."""
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                return [(info.filename, archive.read(info)) for info in archive.infolist()]
        if name.endswith((".tar", ".tar.gz", ".tgz")):
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                files = [info for info in tar if info.isfile()]
                return [(info.name, _read(tar, info)) for info in files]
        if name.endswith(".gz"):
            return [("", gzip.decompress(data))]
        if name.endswith(".bz2"):
            return [("", bz2.decompress(data))]
    except (*_DAMAGE, zipfile.BadZipFile, tarfile.TarError) as error:
        raise ValueError(str(error)) from None
    raise ValueError(f"{name} packs nothing")


def _read(tar: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(info)
    return file.read() if file else b""


def pack(name: str, members: Members) -> bytes:
    """Return the archive or compressed file with these members."""
    if name.endswith(".gz") and ".tar" not in name:
        return gzip.compress(members[0][1] if members else b"", 1, mtime=0)
    if name.endswith(".bz2"):
        return bz2.compress(members[0][1] if members else b"", 1)
    buffer = io.BytesIO()
    if name.endswith(".zip"):
        with (
            warnings.catch_warnings(),
            zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            warnings.simplefilter("ignore")  # names that are repeated
            for inside, data in members:
                archive.writestr(zipfile.ZipInfo(inside), data, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode="w:gz" if name.endswith("gz") else "w") as tar:
        for inside, data in members:
            info = tarfile.TarInfo(inside)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


# --- mutations -----------------------------------------------------------------------------------


def _mix(files: Files, name: str, chance: Chance) -> None:
    """Change the files themselves: one is missing, empty, another one's, or there twice."""
    other = chance.of(sorted(files))
    match chance.below(4):
        case 0:
            del files[name]
        case 1:
            files[name] = chance.of((b"", b"\n", b"<html></html>", b"\0" * 100))
        case 2:
            files[name], files[other] = files[other], files[name]
        case _:
            files[f"{name.rpartition('/')[0]}/x{chance.below(9)}.txt".lstrip("/")] = files[name]


def mutated(name: str, data: bytes, chance: Chance) -> bytes:
    """Return a changed file: what it packs, or the bytes themselves."""
    members: Members = []
    if chance.below(4):
        try:
            members = unpack(name, data)
        except ValueError:
            members = []
    if not members:
        return _changed(data, chance)[:LARGEST]
    at = chance.below(len(members))
    inside, content = members[at]
    if chance.below(8) or not inside:
        members[at] = inside, _changed(content, chance)[:LARGEST]
        return pack(name, members)
    folder = inside.rpartition("/")[0]
    names = ["", "\0", "/", "..", f"../{inside}", f"/{inside}", f"\0{inside}", inside.upper()]
    renamed = chance.of([*names, f"{folder}/", f"{folder}/x.zip", f"{folder}/\ufffd", "a" * 300])
    match chance.below(4):
        case 0:
            del members[at]
        case 1:
            members.append((inside, chance.of(members)[1]))
        case 2:
            members[at] = renamed, content
        case _:
            members.append((renamed, content))
    return pack(name, members)


def _changed(data: bytes, chance: Chance) -> bytes:
    for _ in range(chance.of((1, 1, 1, 2, 4))):
        data = chance.of(_CHANGES)(data, chance)
    return data


def _flip(data: bytes, chance: Chance) -> bytes:
    if not data:
        return data
    headers = [match.start() for match in _HEADER.finditer(data)]
    at = chance.below(len(data))
    if headers and chance.below(2):
        at = min(len(data) - 1, chance.of(headers) + chance.below(46))
    byte = chance.of((data[at] ^ 1 << chance.below(8), 0, 0x7F, 0x80, 0xFF, chance.below(256)))
    return data[:at] + bytes([byte]) + data[at + 1 :]


def _cut(data: bytes, chance: Chance) -> bytes:
    begin, end = chance.part(data)
    return data[:begin] + data[end:]


def _end(data: bytes, chance: Chance) -> bytes:
    return data[: chance.below(len(data) + 1)]


def _repeat(data: bytes, chance: Chance) -> bytes:
    begin, end = chance.part(data)
    times = min(chance.of((1, 1, 2, 50, 1000)), LARGEST // max(1, end - begin))
    return data[:end] + data[begin:end] * times + data[end:]


def _move(data: bytes, chance: Chance) -> bytes:
    begin, end = chance.part(data)
    rest = data[:begin] + data[end:]
    to = chance.below(len(rest) + 1)
    return rest[:to] + data[begin:end] + rest[to:]


def _insert(data: bytes, chance: Chance) -> bytes:
    at = chance.below(len(data) + 1)
    return data[:at] + chance.of(TOKENS) + data[at:]


def _replace(pattern: re.Pattern[bytes], data: bytes, chance: Chance) -> bytes:
    """Replace what a pattern finds somewhere by a token, or by what it finds elsewhere."""
    found = [match.span() for match in pattern.finditer(data)]
    if not found:
        return data
    begin, end = chance.of(found)
    other = data[slice(*chance.of(found))]
    return data[:begin] + chance.of((chance.of(TOKENS), other, other * 2)) + data[end:]


def _lines(data: bytes, chance: Chance) -> bytes:
    lines = data.split(b"\n")
    here, there = chance.below(len(lines)), chance.below(len(lines))
    match chance.below(4):
        case 0:
            lines[here], lines[there] = lines[there], lines[here]
        case 1:
            lines.insert(here, lines[there])
        case 2:
            del lines[here]
        case _:
            fields = lines[here].split(b"\t")
            fields[chance.below(len(fields))] = chance.of((*TOKENS, *lines[there].split(b"\t")))
            lines[here] = b"\t".join(fields)
    return b"\n".join(lines)


_CHANGES: Sequence[Callable[[bytes, Chance], bytes]] = (
    *(_flip, _cut, _end, _repeat, _move, _insert, _insert),
    *(partial(_replace, part) for part in (_WORD, _WORD, _TAG, _VALUE, _VALUE)),
    *(partial(_replace, part) for part in (_WHOLE_ELEMENT, _CONTAINER, _KEY, _BLOCK)),
    *(_lines, _lines),
)
