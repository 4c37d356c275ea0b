"""Every recipe reads the rest of its sample if one item is corrupted, in any way of its format."""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mutants import forms, pack, unpack
from reading_oracle import corpus_for
from recipe_reading import write_files

from corpora_recipes.reading import above_limits, read
from corpora_recipes.recipe import Corpus, recipe_names
from corpora_recipes.records import Drops, record_unit

Way = Callable[[bytes], bytes]
"""From an item, such as a line, to one that cannot be read."""


def replaced(old: str, new: str) -> Way:
    """Return a way that replaces a pattern, which the item must have, once."""

    def change(item: bytes) -> bytes:
        changed, count = re.subn(old.encode(), new.encode("latin-1"), item, count=1)
        assert count, f"no {old} in {item!r}"
        return changed

    return change


def set_key(key: str, value: object) -> Way:
    """Return a way that changes the value of a key of an object of JSON."""
    return lambda item: json.dumps({**json.loads(item), key: value}).encode()


BYTE = {"no UTF-8": lambda item: item[: len(item) // 2] + b"\xff" + item[len(item) // 2 :]}
LINE = {
    **BYTE,
    "carriage return": lambda item: item[:-5] + b"\r" + item[-5:],
    "too long": lambda item: item[:-5] + b"a" * 100_000 + item[-5:],
}
TABLE = {**LINE, "one field more": lambda item: item + b"\tx", "no tab": replaced("\t.*", " ")}
JSON = {
    **BYTE,
    "cut": lambda item: item[: len(item) // 2],
    "a list": lambda item: b"[" + item + b"]",
    "a number": lambda item: b"7",
}
CSV = {
    **BYTE,
    "one field more": lambda item: item + b",x,y",
    "one field": lambda item: item.partition(b",")[0],
    "quotation mark": lambda item: item.partition(b",")[0] + b',"' + item.partition(b",")[2],
}
XML = {"tag left open": replaced("</[a-z:]+>", ""), "entity": replaced("</[a-z:]+>", r"&x;\g<0>")}
RS3 = {
    "not well-formed": replaced("</body>", ""),
    "no segments": replaced("(?s)<body>.*</body>", "<body></body>"),
    "empty segment": replaced(r"(<segment[^>]*>)[^<]+", r"\1 "),
    "orphan": replaced(r'(<segment[^>]*parent=")\d+', r"\g<1>999"),
    "no relation": replaced(r'(<segment[^>]*) relname="[^"]*"', r"\1"),
    "two roots": replaced("</body>", '<segment id="998">Otra.</segment></body>'),
    "cycle": replaced(
        "</body>",
        '<group id="997" type="span" parent="998" relname="span"/>'
        '<group id="998" type="span" parent="997" relname="span"/></body>',
    ),
    "type of a group": replaced(r'(<group[^>]*type=")\w+', r"\1table"),
}
DIS = {
    "parenthesis": replaced(r"\)\s*$", ""),
    "number of a leaf": replaced(r"\(leaf 2\)", "(leaf 3)"),
    "no text": replaced(r"\(text _!.*?_!\)", ""),
    "relation": replaced(r"\(rel2par (?!span|List)[\w-]+\)", "(rel2par Weather)"),
    "text": lambda item: b"Once upon a time.\n",
}
CONLLU = {
    **BYTE,
    "no heads": lambda item: re.sub(rb"(?m)^(\d+(?:\t[^\t]*){5}\t)\d+", rb"\1_", item),
    "head beyond": replaced(r"(?m)^(1(?:\t[^\t]*){5}\t)\d+", r"\g<1>999"),
    "no root": replaced(r"(?m)^(\d+(?:\t[^\t]*){5}\t)0\t", r"\g<1>1\t"),
    "nine columns": replaced(r"(?m)^(1\t.*)\t[^\t\n]*$", r"\1"),
    "number of a word": replaced("(?m)^2\t", "7\t"),
    "range": replaced("(?m)^1\t", "1-99\tx\t_\t_\t_\t_\t_\t_\t_\t_\n1\t"),
}
LABEL = {"unknown class": replaced(r"\A[^\t:]+", "Otra")}
LAST_LABEL = {"unknown class": replaced(r"[^\t]+\Z", "otra")}
SCORE = {"score": replaced(r"[^\t ]+\Z", "alto")}
ANY_LINE = r"(?m)^.+$"
TABS = {**BYTE, "one field more": lambda item: item + b"\tx", "one field": replaced("\t.*", "")}
CHARSET = {
    "unknown encoding": lambda item: item.replace(b"encoding: UTF-8", b"encoding: Klingon").replace(
        "ó".encode(), b"\xf3"
    )
}
MESSAGE = r"(?m)^\[.*$"
LINKS = {
    "two fields": replaced(" -", ""),
    "no number": replaced(r"\d+", "x"),
    "a message beyond": replaced(r"\A\d+", "9999"),
}
REVIEW = {
    "no rank": replaced("rank=", "stars="),
    "rank": replaced(r'rank="\d"', 'rank="many"'),
    "no summary": replaced("<summary>", ""),
    "another file": lambda item: b"<html></html>",
}
PIPES = {
    "a column less": replaced(r"\|", ""),
    "span": replaced(r"\d+\.\.\d+", "from 3 to 4"),
    "type": replaced("Implicit", "Tacit"),
}
PAPER = {
    "cut": lambda item: item[:300],
    "no object": lambda item: b"[]",
    "sections": lambda item: item.replace(b'"sections": [', b'"sections": [7, '),
    "a number": lambda item: re.sub(rb'"title": "[^"]*"', b'"title": 7', item),
}
FORM = replaced(r"(?s)<metadata>.*</metadata>", "<metadata><mods>x</mods></metadata>")
PAGES = {
    "no title": replaced("<title>.*</title>", ""),
    "no text": replaced("(?s)<text.*</text>", ""),
    "no UTF-8 page": lambda item: item.replace(b"</text>", b" \xff.</text>"),
}


def columns(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Way:
    """Return a way that changes the last row of a file of columns."""

    def spoil(data: bytes) -> bytes:
        is_parquet = data.startswith(b"PAR1")
        source = io.BytesIO(data)
        table = pq.read_table(source) if is_parquet else pa.ipc.open_stream(source).read_all()
        *rows, last = table.to_pylist()
        table = pa.Table.from_pylist([*rows, change(last)], table.schema)
        buffer = io.BytesIO()
        if is_parquet:
            pq.write_table(table, buffer)
        else:
            with pa.ipc.new_stream(buffer, table.schema) as stream:
                stream.write_table(table)
        return buffer.getvalue()

    return spoil


COLUMNS = {
    "null": columns(lambda row: {**row, "text": None, "sections": None, "paragraphs": None}),
    "no id": columns(lambda row: {**row, "id": None}),
}


class Case(NamedTuple):
    """A kind of item of a recipe's sample, and the ways in which one of it is corrupted.

    ``item`` finds the items of a file, of which the last one is corrupted; ``form`` is the number
    of the form of the sample, see ``forms``.
    """

    recipe: str
    file: str
    ways: Mapping[str, Way]
    item: str = ANY_LINE
    form: int = 0
    treebank: str = ""


# Ways that recipes know, as drops of their own.
COUNTED = ("no markers", "cut xml", "early end", "no root", "null text", "no UTF-8 page")
WHOLE = r"(?s)\A.+\Z"
RECORD = r"(?s)<record>(?:(?!<record>|deleted).)*</record>"
PAGE = r"(?s)<page>(?:(?!<page>|<redirect).)*</page>"
SENTENCE = r"(?m)(?:^.+\n)+"
SPANISH = r"(?m)^es\t.+$"
CASES = [
    Case("arxiv", r"\.json", {**JSON, "null": set_key("id", None)}),
    Case("arxiv", r"\.xml", {**XML, "form": replaced("arXivRaw", "oai_dc")}, RECORD),
    Case("disrpt", r"train\.rels", TABLE, form=0),
    Case("documents", r"\.jsonl", {**JSON, "null": set_key("text", None)}),
    Case("documents", r"\.gz/", {**JSON, "number": set_key("text", 7)}, form=1),
    Case("documents", r"\.parquet", COLUMNS, WHOLE, form=2),
    Case("documents", r"\.arrow", COLUMNS, WHOLE, form=3),
    Case("documents", r"\.md", BYTE, WHOLE, form=4),
    Case("documents", r"\.csv", CSV, form=5),
    Case("documents", r"\.tsv", TABS, form=6),
    Case("evalrank", "pos_pair_5514", TABLE),
    Case("evalrank", "MTurk", {**LINE, **SCORE, "a word": replaced(r"\s", "")}),
    Case("fac", r"\.objective", {**LINE, "a tab": replaced(" ", "\t")}),
    Case("gutenberg", r"pg900003", {"no markers": replaced("START OF", ""), **CHARSET}, WHOLE),
    Case("gutenberg", r"dev\.txt", BYTE, r"(?m)(?:^.+\n)+", form=1),
    Case("irc_disentanglement", r"dev/.*\.ascii", {"form": replaced(r"^\[", "(")}, MESSAGE),
    Case("irc_disentanglement", r"dev/.*\.annotation", LINKS),
    Case("mlsum", "es_train", {**JSON, "no url": set_key("url", None)}),
    Case("muchocine", r"/6\.xml", REVIEW, WHOLE),
    Case("opensubtitles", r"\.xml$", {"cut xml": lambda item: item[:-20]}, WHOLE),
    Case("paralex", "ParaLex", CSV),
    Case(
        "paws_x", r"es/translated_train", {**LINE, **LAST_LABEL, "early end": replaced("\t.*", "")}
    ),
    Case("pdtb", r"wsj_0392\.pipe", PIPES, "(?m)^Implicit.*$"),
    Case("pdtb", r"gold/.*GUM_bio", PIPES, "(?m)^Implicit.*$", treebank="gdtb"),
    Case("peerread", r"acl.*11\.pdf", PAPER, WHOLE),
    Case("roc_stories", "winter2017", CSV),
    Case("rst_discourse_treebank", r"wsj_1692", DIS, WHOLE),
    Case("rst_spanish_treebank", r"train/me90002", RS3, WHOLE),
    Case("senteval", r"MR/rt-polarity\.pos", LINE),
    Case("senteval", "binary/sentiment-train", TABLE),
    Case("senteval", "fine/sentiment-train", {**LINE, "class": replaced(r"\A\d ", "9 ")}),
    Case("senteval", "SICK_train", {**TABLE, **LAST_LABEL}),
    Case("senteval", "SCICITE/train", {**JSON, "null text": set_key("text", None)}),
    Case(
        "senteval",
        "sem_text_rel_ranked",
        {**BYTE, "score": replaced(r"[\d.]+\Z", "alto")},
        r'(?m)^\d+,.*\n.*",[\d.]+$',
    ),
    Case("senteval", "STS13.*input.headlines", TABLE),
    Case("senteval", "tree_depth", {**LINE, "part": replaced(r"\At\w", "xx")}),
    Case("sick_es", "SICK_train", {**TABLE, **LAST_LABEL}),
    Case("sqc", r"train\.txt", {**LINE, **LABEL, "no colon": replaced(":", " ")}),
    Case("sts", r"STS15-es-test/STS\.input\.newswire", TABLE),
    Case("sts", r"STS15-es-test/STS\.gs\.newswire", {**BYTE, **SCORE}),
    Case("tass", r"train/es\.tsv", {**TABLE, **LAST_LABEL}),
    Case("tass", r"task2/train", {**TABLE, **LAST_LABEL}),
    Case("theses", r"uc\.cl/page-0000", {**XML, "form": FORM}, RECORD),
    Case("universal_dependencies", r"gsd-ud-dev", CONLLU, SENTENCE),
    Case("wikipedia", r"\.xml$", PAGES, PAGE, form=1),
    Case("word_benchmarks", "msr", {**CSV, "no type": replaced(r"(?<=\d,)\w+", "")}),
    Case("word_benchmarks", "battig", CSV),
    Case(
        "word_pairs",
        r"\.tsv",
        {**LINE, "one word": replaced("\t.*", ""), "no word": replaced("\t.*", "\t7")},
    ),
    Case("xnli", r"esxnli", {**TABLE, "class": replaced(r"\A(es)\t\w+", r"\1\tperhaps")}, SPANISH),
    Case("xnli", r"xnli\.dev\.tsv", TABLE, SPANISH),
    Case("xprobe", r"obj_number/tr", {**TABLE, **LAST_LABEL}),
]


def test_no_recipe_is_missing() -> None:
    assert {case.recipe for case in CASES} == {*recipe_names()}


@cache
def read_sample(recipe: str, number: int, treebank: str) -> tuple[frozenset[str], int]:
    """Return the ids that a form of a sample gives, and the number of items dropped."""
    with TemporaryDirectory() as folder:
        ids, drops, corpus = read_files(
            recipe, number, treebank, forms(recipe)[number].files, Path(folder)
        )
    return ids, sum(drops_of(corpus, drops))


def drops_of(corpus: Corpus, drops: Drops) -> Iterator[int]:
    """Yield the numbers of records dropped, by reason."""
    unit = record_unit(corpus.facts.records)
    yield from (n for (of, _), n in drops.dropped.items() if of == unit)


def read_files(
    recipe: str, number: int, treebank: str, files: Mapping[str, bytes], folder: Path
) -> tuple[frozenset[str], Drops, Corpus]:
    """Read files like a form of a sample; return the ids, what was dropped, and the corpus."""
    out, raw = folder / "records.parquet", write_files(folder / "raw", files)
    options = forms(recipe)[number].options | ({"treebank": treebank} if treebank else {})
    corpus = corpus_for(recipe, options)
    drops = read(corpus, raw, out, workers=1, executor="local")
    return frozenset(pq.read_table(out, columns=["id"])["id"].to_pylist()), drops, corpus


def corrupt_item(case: Case, way: Way) -> dict[str, bytes]:
    """Return the files of the sample, with the last item of the first file that fits corrupted."""
    files = dict(forms(case.recipe)[case.form].files)

    def change(name: str, content: bytes) -> bytes:
        assert re.search(case.file, name)
        *_, item = re.finditer(case.item.encode(), content)
        return content[: item.start()] + way(item[0]) + content[item.end() :]

    for name, data in sorted(files.items()):
        if re.search(case.file, name):
            files[name] = change(name, data)
            return files
        with suppress(ValueError):
            members = unpack(name, data)
            for number, (member, content) in enumerate(members):
                if re.search(case.file, f"{name}/{member}"):
                    members[number] = member, change(f"{name}/{member}", content)
                    files[name] = pack(name, members)
                    return files
    raise AssertionError(f"no file {case.file}")


@pytest.mark.parametrize(
    ("case", "way"),
    [
        pytest.param(case, way, id=f"{case.recipe}, {case.file}: {way}")
        for case in CASES
        for way in case.ways
    ],
)
def test_one_item_never_stops_a_corpus(case: Case, way: str, tmp_path: Path) -> None:
    files = corrupt_item(case, case.ways[way])
    before, n_dropped = read_sample(case.recipe, case.form, case.treebank)
    ids, drops, corpus = read_files(case.recipe, case.form, case.treebank, files, tmp_path)
    assert ids <= before
    assert len(before - ids) <= 1
    if way in COUNTED:
        assert sum(drops_of(corpus, drops)) == n_dropped + 1
        return
    (fault, *others) = drops.faults()
    assert not others
    # It has a place, which is shown, as a limit of 0 holds unless there is another one.
    assert fault.where.startswith(str(tmp_path))
    assert re.search(case.file.removesuffix("$").removesuffix("/"), fault.where)
    assert fault.where in "".join(above_limits(corpus, drops))
