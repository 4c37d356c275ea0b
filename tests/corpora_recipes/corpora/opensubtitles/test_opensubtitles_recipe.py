"""OpenSubtitles: lines to turns, and the archive that they are in."""

import io
import re
import struct
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from case_tables import read_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from recipe_reading import pack, read_all, recipe_corpus

from corpora_recipes.corpora.opensubtitles import recipe
from corpora_recipes.corpora.opensubtitles.recipe import (
    MAX_SENTENCE,
    detokenize,
    list_members,
    load_rules,
    read_lines,
    read_member,
    split_turns,
)
from corpora_recipes.fetching.sources import fetch, list_sources
from corpora_recipes.recipe import Corpus, load_facts
from corpora_recipes.records import Dialogue, Drops
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- opensubtitles recipe ------------------------------------------------------------------------

FACTS = load_facts("opensubtitles")
RULES = load_rules("es")
TALK = [
    "¿Quién ha dejado la puerta abierta esta noche?",
    "Yo no he sido, acabo de llegar del mercado.",
    "Entonces ha sido tu hermano, como siempre.",
    "Mi hermano está de viaje desde el martes.",
]


corpus = partial(recipe_corpus, "opensubtitles")


def read(raw: Path, mine: Corpus | None = None) -> tuple[list[Dialogue], dict[str, Any]]:
    return read_all(recipe, raw, mine or corpus())


def raw_file(lines: list[str]) -> str:
    sentences = (
        f'<s id="{i}">\n<time id="T{i}S" value="00:00:01,000" />\n{escape(line)}\n'
        f'<time id="T{i}E" value="00:00:02,000" /></s>'
        for i, line in enumerate(lines, 1)
    )
    body = "".join(sentences)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<document id="1">{body}<meta/></document>'


def archive(folder: Path, files: Mapping[str, str | bytes], name: str = "raw/es.zip") -> Path:
    """Write an archive with README and the files, whose names count from its own folder."""
    inside = f"OpenSubtitles/{name.removesuffix('.zip')}/"
    pack(folder / name, {"README": "no film"} | {inside + file: files[file] for file in files})
    return folder


def archive_with(folder: Path, *names: str) -> Path:
    """Write an archive of one film and other members."""
    film = raw_file(TALK)
    inside = "OpenSubtitles/raw/es/1987/77/1.xml"
    pack(folder / "raw/es.zip", {inside: film} | dict.fromkeys(names, film))
    return folder


def talk(*lines: str) -> tuple[list[list[str]], dict[str, Any]]:
    drops = Drops()
    return read_lines(lines, RULES, drops), drops.as_dict()


@pytest.mark.parametrize(
    "rule", [r for r in FACTS.special["rules"] if "mark" in r], ids=lambda rule: rule["mark"]
)
def test_marks(rule: dict[str, str]) -> None:
    assert re.sub(rule["pattern"], rule.get("put", ""), rule["example"]) == rule["leaves"]
    for match in re.finditer(rule["pattern"], rule["example"]):
        assert re.search(f"[{rule['signs']}]", match[0])


@pytest.mark.parametrize(
    "rule", [r for r in FACTS.special["rules"] if "drop" in r], ids=lambda rule: rule["drop"]
)
def test_drops(rule: dict[str, Any]) -> None:
    for example in rule["examples"]:
        match = re.search(rule["pattern"], example)
        assert match, example
        assert "signs" not in rule or re.search(f"[{rule['signs']}]", match[0]), example
    for example in rule["keeps"]:
        assert not re.search(rule["pattern"], example), example
        assert talk(example)[1]["turns"]["kept"] == 1


def test_source() -> None:
    (source,) = list_sources(corpus())
    assert source.file == "raw/es.zip"
    assert source.urls == ("https://object.pouta.csc.fi/OPUS-OpenSubtitles/v2018/raw/es.zip",)
    assert list_sources(corpus("pt-BR", form="xml"))[0].file == "xml/pt_br.zip"


def test_form(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"opensubtitles\.corpus\.form\n.*raw, xml\n.*'mono'"):
        list_sources(corpus(form="mono"))
    with pytest.raises(InputError, match="'mono'"):
        fetch(corpus(form="mono"), str(tmp_path), tmp_path / "out")


def test_one_file_a_film(tmp_path: Path) -> None:
    files = {f"1987/77/{n}.xml": raw_file([*TALK, f"Versión {n}."]) for n in range(9)}
    others = {"1988/77/1.xml": raw_file(TALK), "1987/78/1.xml": raw_file(TALK)}
    records, drops = read(archive(tmp_path / "a", files | others))
    assert [r.id for r in records] == ["77", "78"]
    assert drops["documents"] == {"seen": 11, "kept": 2, "dropped": {"same_film": 9}}
    # The choice depends on the names, and neither on their order nor on other films.
    backwards = dict(reversed(files.items())) | {"1988/77/1.xml": raw_file(TALK)}
    again, _ = read(archive(tmp_path / "b", backwards))
    assert again == records[:1]


def test_what_is_no_film(tmp_path: Path) -> None:
    inside = "OpenSubtitles/raw/es/"
    others = ["1987/2.xml", "1/2/3/4.xml", "1/2/3.txt", "1987/", "1987/78/a..b.xml"]
    names = [*(inside + name for name in others), "OpenSubtitles/raw/en/1987/79/1.xml"]
    raw = archive_with(tmp_path, *names, "README..txt")
    assert [b.key for b in recipe.blocks(raw, corpus())] == ["77", "78"]


def test_other_form_or_language(tmp_path: Path) -> None:
    archive(tmp_path, {"1987/77/1.xml": raw_file(TALK)}, "raw/en.zip")
    (tmp_path / "raw" / "en.zip").rename(tmp_path / "raw" / "es.zip")
    with pytest.raises(InputError, match=r"raw/es/<year>.*\n.*2 other members"):
        recipe.blocks(tmp_path, corpus())


@pytest.mark.parametrize("name", ["../x.xml", "/etc/x", "a/../../x", "..\\x"])
def test_member_outside(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="outside the archive's folder"):
        recipe.blocks(archive_with(tmp_path, name), corpus())


def reasons(tmp_path: Path, data: str | bytes) -> dict[str, int]:
    _, drops = read(archive(tmp_path, {"1987/77/1.xml": data}))
    dropped: dict[str, int] = drops["documents"]["dropped"]
    return dropped


@pytest.mark.parametrize(
    "data",
    [
        b"",
        raw_file(TALK)[:-9].encode(),
        raw_file(TALK).replace("puerta", "p&puerta").encode(),
        raw_file(TALK).encode("latin-1"),
        raw_file(TALK).replace("puerta", "\x01").encode(),
    ],
)
def test_malformed(tmp_path: Path, data: bytes) -> None:
    assert reasons(tmp_path, data) == {"malformed_xml": 1}


def test_entities_are_not_resolved(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secreto")
    doctype = f'<!DOCTYPE document [<!ENTITY x SYSTEM "{tmp_path / "secret"}">]>'
    data = raw_file([*TALK, "¿Y &x; eso?"]).replace("&amp;x;", "&x;")
    data = data.replace("\n<document", f"\n{doctype}<document")
    ((record,), drops) = read(archive(tmp_path, {"1987/77/1.xml": data}))
    assert record.conversations == [TALK]
    assert drops["turns"]["dropped"] == {"markup_left": 1}


def test_other_language(tmp_path: Path) -> None:
    lines = ["Who left the door open tonight?", "It was not me, I have only just come home."]
    assert reasons(tmp_path, raw_file(lines)) == {"other_language": 1}
    archive(tmp_path, {"1987/77/1.xml": raw_file(lines)}, "raw/en.zip")
    assert read(tmp_path, corpus("en"))[0][0].conversations == [lines]


def test_capitals(tmp_path: Path) -> None:
    assert reasons(tmp_path, raw_file([t.upper() for t in TALK])) == {"capitals": 1}


def test_nothing_left(tmp_path: Path) -> None:
    assert reasons(tmp_path, raw_file([f"♪ {t} ♪" for t in TALK])) == {"no_lines": 1}
    assert reasons(tmp_path, "<document/>") == {"no_lines": 1}


def test_a_sentence_over_several_times(tmp_path: Path) -> None:
    data = (
        "<document><!-- joined --><s>\n<time id='T1S' value='0'/>\n¿Quién ha dejado\nla puerta"
        "<time id='T1E' value='0'/><time id='T2S' value='0'/>abierta\n<!-- x -->esta noche?\n"
        f"<time id='T2E' value='0'/>\n</s><s/><s>{TALK[1]}</s><meta><genre>Drama</genre></meta>"
        "</document>"
    )
    ((record,), drops) = read(archive(tmp_path, {"1987/77/1.xml": data}))
    assert record.conversations == [TALK[:2]]
    assert drops["turns"] == {"seen": 2, "kept": 2, "dropped": {}}


def test_both_forms_give_the_same(tmp_path: Path) -> None:
    sentences = [
        "<time/> - ¿ Quién <time/> abrió <time/> la puerta , <time/> tú ?",
        '" Nadie " , dijo " el Sr. Gil " .',
        "¡ No me digas ... !",
        "- Sí . - ¿ Y ( quizá ) la 5.ª <time/> ?",
        "Vale <time/> , vamos al 50 % del precio ; ya : vamos .",
    ]

    def tokens(line: str) -> str:
        parts = (t if t == "<time/>" else f'<w id="1">{t}</w>' for t in line.split())
        return f"<s>{''.join(parts)}</s>"

    body = "".join(map(tokens, sentences))
    archive(tmp_path, {"1987/77/1.xml": f"<document>{body}</document>"}, "xml/es.zip")
    ((record,), _) = read(tmp_path, corpus(form="xml"))
    assert record.conversations == [
        [
            "¿Quién abrió la puerta, tú?",
            '"Nadie", dijo "el Sr. Gil".',
            "¡No me digas...!",
            "Sí.",
            "¿Y (quizá) la 5.ª?",
            "Vale, vamos al 50% del precio; ya: vamos.",
        ]
    ]


def test_dropped_line_ends_the_conversation() -> None:
    conversations, drops = talk(TALK[0], "♪ La noche es larga ♪", TALK[1], TALK[2])
    assert conversations == [TALK[:1], TALK[1:3]]
    assert drops["turns"] == {"seen": 4, "kept": 3, "dropped": {"lyrics": 1}}


@pytest.mark.parametrize(
    ("line", "turns"),
    [
        *TABLES["turns"],
        # No caption
        *((line, [line]) for line in ("¡FUERA DE AQUÍ!", "NO ME VOY.", "OK", "La CIA", "Y AHORA,")),
    ],
)
def test_turns_of_a_line(line: str, turns: list[str]) -> None:
    assert talk(line)[0] == [turns]


@pytest.mark.parametrize(("line", "left", "marks"), TABLES["marks"])
def test_lines_marks(line: str, left: str, marks: dict[str, int]) -> None:
    conversations, drops = talk(line)
    assert conversations == [[left]]
    assert drops["turns"] == {"seen": 1, "kept": 1, "dropped": {}}
    assert drops.get("marks", {"dropped": {}})["dropped"] == marks


@pytest.mark.parametrize(
    ("reason", "line"), [*TABLES["dropped"], ("too_long", "muy " * (MAX_SENTENCE // 4) + "bien.")]
)
def test_lines_drops(reason: str, line: str) -> None:
    conversations, drops = talk(TALK[0], line, TALK[1])
    assert conversations == [TALK[:1], TALK[1:2]]
    assert drops["turns"] == {"seen": 3, "kept": 2, "dropped": {reason: 1}}


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("only_marks", "[PORTAZO]"),
        ("only_marks", "- (risas) - [PORTAZO]"),
        ("only_marks", "ANA:"),
        ("no_letters", "…"),
        ("no_letters", "[SUSPIRA] ... -"),
        ("too_long", "-" * 20_000),
    ],
)
def test_conversation_goes_on_where_nothing_spoken_is_lost(reason: str, line: str) -> None:
    conversations, drops = talk(TALK[0], line, TALK[1])
    assert conversations == [TALK[:2]]
    assert drops["turns"] == {"seen": 3, "kept": 2, "dropped": {reason: 1}}


def test_names_after_credits() -> None:
    lines = ("Traducción:", "la casa", "Subtitulado por", "el equipo", TALK[0])
    conversations, drops = talk(*lines)
    assert conversations == [TALK[:1]]
    assert drops["turns"]["dropped"] == {"credits": 4}
    assert talk("Traducción:", TALK[0], "la casa")[0] == [[TALK[0], "la casa"]]


def test_rules_of_another_language() -> None:
    rules = load_rules("pl")
    assert read_lines(["Byłem we lwowie, a Io nie."], rules, Drops())
    assert not read_lines(["♪ www.example.org ♪"], rules, Drops())


@given(st.text("Aaé -—\n.?¿!\"'8", max_size=40))
def test_nothing_but_blanks_is_lost_by_splitting(line: str) -> None:
    assert "".join("".join(split_turns(line)).split()) == "".join(line.split())


@given(st.lists(st.lists(st.text('Aé-.,¿?"(8', min_size=1, max_size=3), max_size=6)))
def test_nothing_but_blanks_is_added_by_joining(parts: list[list[str]]) -> None:
    text = detokenize(parts)
    assert "".join(text.split()) == "".join(token for part in parts for token in part)
    assert text == text.strip()


@given(st.lists(st.text(max_size=30), max_size=6))
def test_any_text(lines: list[str]) -> None:
    drops = Drops()
    conversations = read_lines(lines, RULES, drops)
    kept = [turn for conversation in conversations for turn in conversation]
    assert all(conversations)
    assert len(kept) == drops.as_dict().get("turns", {"kept": 0})["kept"]
    for turn in kept:
        assert turn == " ".join(turn.split())
        assert any(c.isalpha() for c in turn)


# --- opensubtitles archive -----------------------------------------------------------------------

CONTENTS = {"README": b"", "a/b/1.xml": b"<s/>" * 999, "a/ñ/2.xml": bytes(range(256)) * 3}


def write(path: Path, contents: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in contents.items():
            file.writestr(name, data)
    return path


def read_members(path: Path) -> dict[str, bytes]:
    with path.open("rb") as file:
        members, _ = list_members(file, path)
        return {member.name: read_member(file, path, member) for member in members}


def patched(path: Path, signature: bytes, offset: int, value: bytes) -> Path:
    """Overwrite bytes of the last structure with the signature."""
    data = bytearray(path.read_bytes())
    at = data.rindex(signature) + offset
    data[at : at + len(value)] = value
    path.write_bytes(data)
    return path


def test_zip64(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    path = write(tmp_path / "a.zip", CONTENTS)
    assert b"PK\6\6" in path.read_bytes()
    assert read_members(path) == CONTENTS
    data = path.read_bytes()
    at = data.rindex(b"PK\1\2") + 46 + len("a/ñ/2.xml".encode())
    assert data[at : at + 2] == b"\1\0"
    path.write_bytes(data[:at] + b"\2\0" + data[at + 2 :])
    with pytest.raises(InputError, match="4,294,967,295 bytes, more than"):
        read_members(path)


def test_written_to_a_pipe(tmp_path: Path) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in CONTENTS.items():
            file.writestr(name, data)
    (tmp_path / "a.zip").write_bytes(pipe.getvalue())
    assert read_members(tmp_path / "a.zip") == CONTENTS


def test_count_modulo_65536(tmp_path: Path) -> None:
    path = patched(write(tmp_path / "a.zip", CONTENTS), b"PK\5\6", 8, b"\0\0\0\0")
    assert read_members(path) == CONTENTS


@given(
    st.dictionaries(st.text(min_size=1, max_size=9), st.binary(), max_size=9),
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
@settings(max_examples=50)
def test_like_zipfile(tmp_path_factory, contents, method) -> None:
    path = tmp_path_factory.mktemp("zip") / "a.zip"
    contents = {
        name: data for name, data in contents.items() if "\0" not in name and name.isprintable()
    }
    assert read_members(write(path, contents, method)) == contents


def error(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_members(path)
    assert caught.value.where == str(path)
    return caught.value.found


@pytest.mark.parametrize("data", [b"", b"<html>", b"PK\5\6", "cut"])
def test_no_zip(tmp_path: Path, data: bytes | str) -> None:
    path = write(tmp_path / "a.zip", CONTENTS)
    path.write_bytes(data if isinstance(data, bytes) else path.read_bytes()[:-1])
    assert "no zip archive" in error(path)


def test_beginning_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "a.zip", CONTENTS)
    path.write_bytes(path.read_bytes()[30:])
    assert error(path) == "a reference to byte -30, outside of it"


def test_method(tmp_path: Path) -> None:
    path = write(tmp_path / "a.zip", {"a": b"x"}, method=zipfile.ZIP_BZIP2)
    assert "method 12" in error(path)


@pytest.mark.parametrize(
    ("signature", "offset", "value", "found"),
    [
        (b"PK\1\2", 0, b"XX", "no zip archive, or a damaged one: Bad magic number"),
        (b"PK\1\2", 8, b"\1\0", "encrypted"),
        (b"PK\1\2", 24, b"\12", "the 10 bytes announced"),
        (b"PK\1\2", 42, b"\1", "no member at byte 1,"),
        (b"PK\1\2", 42, b"\0\0\0\x7f", "outside of it"),
        (b"PK\3\4", 30, b"b", "b where a should be"),
        (b"hello", 0, b"j", "another CRC-32"),
    ],
)
def test_patched(tmp_path: Path, signature: bytes, offset: int, value: bytes, found: str) -> None:
    path = write(tmp_path / "a.zip", {"a": b"hello"}, method=zipfile.ZIP_STORED)
    assert found in error(patched(path, signature, offset, value))


def test_directory_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "LARGEST_DIRECTORY", 100)
    assert "a directory of 163 bytes" in error(write(tmp_path / "a.zip", CONTENTS))


def test_announced_as_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "LARGEST_FILE", 1000)
    assert read_members(write(tmp_path / "a.zip", {"a": b"x" * 1000}))
    path = write(tmp_path / "a.zip", {"a": b"x" * 1001})
    assert "1,001 bytes" in error(path)


def test_larger_than_announced(tmp_path: Path) -> None:
    # A bomb: 30 MB announced as ten bytes; no more than eleven are ever made of it.
    path = write(tmp_path / "a.zip", {"a": bytes(30_000_000)})
    patched(path, b"PK\1\2", 24, struct.pack("<L", 10))
    assert "the 10 bytes announced" in error(path)


@given(data=st.data())
@settings(max_examples=100)
def test_any_changed_byte(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever is changed, what comes out is an error or contents that were put in."""
    path = tmp_path_factory.getbasetemp() / "changed.zip"
    whole = bytearray(write(path, CONTENTS).read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        found = read_members(path)
    except InputError:
        return
    assert set(found.values()) <= set(CONTENTS.values())
