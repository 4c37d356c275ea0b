"""Gutenberg: dialogues from books, and how speech is found in them."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st
from loopback import RangeServer, refuse
from recipe_reading import recipe_corpus, serve, write_files

from corpora_recipes.corpora.gutenberg import recipe
from corpora_recipes.corpora.gutenberg.recipe import assign_splits, decode, find_body
from corpora_recipes.corpora.gutenberg.speech import (
    MAX_GAP,
    MAX_TURN_WORDS,
    Style,
    conversations,
    is_heading,
    join_lines,
    parse_turn,
)
from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import read_fetched
from corpora_recipes.reading import settle_counts
from corpora_recipes.recipe import Corpus, load_facts
from corpora_recipes.records import Dialogue, Drops, Split
from corpora_recipes.running import patience
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- gutenberg recipe ----------------------------------------------------------------------------

FACTS = load_facts("gutenberg")
START = "*** START OF THE PROJECT GUTENBERG EBOOK {} ***"
END = "*** END OF THE PROJECT GUTENBERG EBOOK {} ***"
TALK = "--¿Vienes, Ramón?--preguntó la niña.\n\n--Mañana por la mañana, mujer, si no llueve."
STORY = (
    "Aquella tarde la niña bajó al río con el cántaro vacío y se encontró con el barquero, que "
    "remendaba las redes sentado en una piedra.\n\n" + TALK
)
ENGLISH = (
    "This edition was prepared for the use of schools, and the notes at the end of each chapter "
    "explain the words that the student is not likely to know at this stage.\n\n"
    "--You should read the whole of it.\n\n--And then you should answer all of the questions."
)


corpus = partial(recipe_corpus, "gutenberg")


def book(body: str = STORY, title: str = "EL RÍO", start: str = START, end: str = END) -> str:
    header = f"Title: {title.capitalize()}\n\nLanguage: Spanish\n\n"
    return f"{header}{start.format(title)}\n\n\n{body}\n\n\n{end.format(title)}\n\nMore.\n"


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    return write_files(path.parent, {path.name: text.encode(encoding)}) / path.name


def read(raw: Path) -> tuple[list[Dialogue], dict[str, Any]]:
    records: list[Dialogue] = []
    drops = Drops()
    for block in recipe.blocks(raw, corpus()):
        result = recipe.read_block(block, corpus())
        settle_counts(result, corpus())
        records += [r for r in result.records if isinstance(r, Dialogue)]
        drops.add(result.drops)
    return records, drops.as_dict()


EXPECTED = [["¿Vienes, Ramón?", "Mañana por la mañana, mujer, si no llueve."]]


@pytest.mark.parametrize(("name", "encoding", "newline"), TABLES["encodings"])
def test_encodings(tmp_path: Path, name: str, encoding: str, newline: str) -> None:
    write(tmp_path / name, book().replace("\n", newline), encoding)
    ((record,), drops) = read(tmp_path)
    assert record == Dialogue("7", "El río", EXPECTED, None)
    assert drops["turns"] == {"seen": 2, "kept": 2, "dropped": {}}


def test_stated_encoding(tmp_path: Path) -> None:
    head = "Character set encoding: {}\n\n"
    path = write(tmp_path / "a.txt", head.format("ISO-8859-2") + "Żółw", "iso-8859-2")
    assert decode(path).endswith("Żółw")
    path = write(tmp_path / "b.txt", head.format("ISO-8859-1") + "— ¿Qué?", "cp1252")
    assert decode(path).endswith("— ¿Qué?")

    for name in ("ISO Latin-1", "ISO 8859-1", "iso8859-1", "ISO-646-US (US-ASCII)"):
        text = head.format(name) + "mañana"
        assert decode(write(tmp_path / "a.txt", text, "latin-1")) == text


def test_undecodable_book_is_dropped(tmp_path: Path) -> None:
    write(tmp_path / "pg7.txt", book())
    (tmp_path / "8-8.txt").write_bytes(b"Character set encoding: UTF-8\n\nma\xf1ana")
    (tmp_path / "pg9.txt").mkdir()
    records, drops = read(tmp_path)
    assert [r.id for r in records] == ["7"]
    assert drops["documents"] == {"seen": 2, "kept": 1, "dropped": {"undecodable": 1}}
    (fault,) = recipe.read_block(recipe.blocks(tmp_path, corpus())[1], corpus()).drops.faults()
    assert fault.where.endswith("8-8.txt, byte 33")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        *(
            (f"Character set encoding: {name}\n\n".encode() + b"ma\xf1ana", name[:60])
            for name in ("undefined", "unicode_escape", "idna", "rot13", "hex", "x" * 90)
        ),
        (b"Character set encoding: ISO-8859-99\n\nma\xf1ana", "iso-8859-99"),
        ("Character set encoding: Klingon-8\n\nniño".encode("latin-1"), "Klingon-8"),
        (b"\xef\xbb\xbfma\xf1ana", "byte 5"),
        (b"Character set encoding: UTF-8\n\nma\xf1ana", "byte 33"),
        (b"ma\x81ana", "cp1252"),
    ],
)
def test_bad_encoding(tmp_path: Path, data: bytes, found: str) -> None:
    path = tmp_path / "1-8.txt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=found):
        decode(path)


def test_same_book_in_several_files(tmp_path: Path) -> None:
    write(tmp_path / "7-8.txt", book(STORY.replace("Ramón", "Simón")), "latin-1")
    write(tmp_path / "7-0.txt", book())
    write(tmp_path / "8.txt", book().replace("ñ", "n").replace("á", "a"))
    records, drops = read(tmp_path)
    assert [r.id for r in records] == ["7", "8"]
    assert records[0].conversations == EXPECTED
    assert drops["documents"] == {"seen": 3, "kept": 2, "dropped": {"duplicate_book": 1}}


def test_nothing_to_read(tmp_path: Path) -> None:
    write(tmp_path / "notes.txt", "x")
    with pytest.raises(InputError, match="fetch --only gutenberg"):
        recipe.blocks(tmp_path, corpus())
    write(tmp_path / "pg7.txt", book())
    with pytest.raises(InputError, match=r"corpora\.gutenberg\.corpus\.language"):
        recipe.blocks(tmp_path, corpus("pt"))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (START, END),
        (START.replace("THE", "THIS"), END.replace("THE", "THIS")),
        (START.replace(" START", "START"), END.replace("*** END", "***END")),
        (START.replace("EBOOK", "EBOOK LONG\nTITLE OF"), END.replace("EBOOK", "EBOOK LONG\n")),
        (START.replace("EBOOK", "ETEXT"), "End of Project Gutenberg's {}"),
        ("*END*THE SMALL PRINT! FOR THIS*Ver.04.29.93*END*", "End of the Project Gutenberg {}"),
        (START.replace(" ***", ""), END),
    ],
)
def test_spellings(start: str, end: str) -> None:
    text = book(start=start, end=end) + "*** START: FULL LICENSE ***\n\n--No.\n\n--Nada."
    body = find_body(text)
    assert body is not None
    assert body.strip() == STORY


@pytest.mark.parametrize("unit", ["\n", " ", "\n \n"])
def test_long_blanks_are_read(tmp_path: Path, unit: str) -> None:
    blanks = unit * (200_000 // len(unit))
    body = f"{blanks}\n{STORY}\n{blanks}\n"
    write(tmp_path / "pg7.txt", book(body))  # quadratic patterns take minutes
    assert read(tmp_path)[0][0].conversations == EXPECTED


@pytest.mark.parametrize("missing", [START, END])
def test_missing(tmp_path: Path, missing: str) -> None:
    write(tmp_path / "pg7.txt", book().replace(missing.format("EL RÍO"), ""))
    assert read(tmp_path)[1]["documents"]["dropped"] == {"no_markers": 1}


def dropped(tmp_path: Path, body: str) -> tuple[list[Dialogue], dict[str, dict[str, int]]]:
    write(tmp_path / "pg7.txt", book(body))
    records, drops = read(tmp_path)
    return records, {unit: counts["dropped"] for unit, counts in drops.items()}


@pytest.mark.parametrize(
    ("reason", "turn"),
    [
        ("too_long", "--" + "bla " * 101),
        ("no_letters", "--¿...?"),
        ("unequal_quotes", "--Me dijo: «Vete."),
        ("replacement_character", "--Ma\ufffdana."),
        ("mojibake", "--MaÃ±ana."),
        ("thought", "--No irá--pensó el barquero."),
        ("verse", "--Una luz\nen el mar\nque se va\ny no vuelve."),
    ],
)
def test_turn_ends_its_conversation(tmp_path: Path, reason: str, turn: str) -> None:
    records, drops = dropped(tmp_path, f"{STORY}\n\n{turn}\n\n{TALK}\n\nII\n\n--Sola.")
    assert drops == {"documents": {}, "turns": {reason: 1, "alone": 1}}
    assert records[0].conversations == EXPECTED * 2


def test_narration_inside(tmp_path: Path) -> None:
    turns = "--¿Quién?--Yo.\n\n--¿Quién? Salió corriendo. No me gusta.\n\n--Ya.\n\n--Sí."
    _, drops = dropped(tmp_path, f"{STORY}\n\n{turns}")
    assert drops["turns"] == {"narration_inside": 1}
    # The longest turn.
    assert dropped(tmp_path, f"{STORY}\n\n--{'bla ' * 99}bla.")[1]["turns"] == {}


def test_other_language(tmp_path: Path) -> None:
    apparatus = "\n\n".join([ENGLISH] * 20)
    records, drops = dropped(tmp_path, apparatus + "\n\n" + "\n\n".join([STORY] * 40))
    assert drops["documents"] == {}
    assert set(drops["turns"]) == {"other_language"}
    spanish = [turn for turns in records[0].conversations for turn in turns]
    assert set(EXPECTED[0]) <= set(spanish)
    _, drops = dropped(tmp_path, apparatus)
    assert drops["documents"] == {"other_language": 1}


def test_no_dialogue(tmp_path: Path) -> None:
    assert dropped(tmp_path, STORY.replace("--", ""))[1]["documents"] == {"no_dialogue": 1}
    much = "\n\n".join([STORY.replace("--", "")] * 60)
    _, drops = dropped(tmp_path, f"{much}\n\n{TALK}")
    assert drops == {"documents": {"no_dialogue": 1}, "turns": {"in_dropped_document": 2}}


TRAIN = {str(i) for i in range(20)}
LISTS: dict[Split, set[str]] = {"train": TRAIN, "validation": {"30"}, "test": {"40"}}


def test_lists_name_books_for_all() -> None:
    splits = assign_splits(["1", "30", "40", "99"], LISTS, corpus())
    assert splits == {"1": "train", "30": "validation", "40": "test", "99": None}
    assert assign_splits(["1", "2"], {}, corpus()) == {"1": None, "2": None}


@pytest.mark.parametrize(
    ("train", "others", "counts"),
    [(20, ["30"], (16, 1, 4)), (4, ["40"], (2, 2, 1)), (10, [], (6, 2, 2)), (2, [], (1, 1, 0))],
)
def test_train_books_make_up_an_empty_split(train, others, counts) -> None:
    books = [str(i) for i in range(train)] + others
    found = assign_splits(books, LISTS, corpus())
    splits = list(found.values())
    assert tuple(splits.count(s) for s in ("train", "validation", "test")) == counts
    assert found == assign_splits(books[::-1], LISTS, corpus())


def test_files(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        write(tmp_path / f"pg{number}.txt", book())
    folder = tmp_path / recipe.FOLDER
    for name, ids in {"train": "1\n", "dev": "\n02\n", "test": "3"}.items():
        write(folder / f"{name}_indices.txt", ids)
    splits = [r.split for r in read(tmp_path)[0]]
    assert splits == ["train", "validation", "test"]
    for text, where in (("2\nx3\n", "line 2"), ("nº 2", "byte 1"), ("9" * 5000, "line 1")):
        write(folder / "dev_indices.txt", text, "latin-1")
        with pytest.raises(InputError, match=rf"dev_indices\.txt, {where}"):
            recipe.blocks(tmp_path, corpus())
    (folder / "dev_indices.txt").unlink()
    with pytest.raises(InputError, match="no such file"):
        recipe.blocks(tmp_path, corpus())


def test_dialogues(tmp_path: Path) -> None:
    text = "¿ vienes ?\nmañana .\n\n\nsola .\n\nsí .\n...\nno .\nya .\n\n"
    write(tmp_path / "train.txt", text)
    write(tmp_path / "dev.txt", "uno .\ndos .")
    records, drops = read(tmp_path)
    assert records == [
        Dialogue("train-1", "", [["¿ vienes ?", "mañana ."]], "train"),
        Dialogue("train-3", "", [["no .", "ya ."]], "train"),
        Dialogue("dev-1", "", [["uno .", "dos ."]], "validation"),
    ]
    assert drops["documents"] == {"seen": 4, "kept": 3, "dropped": {"no_dialogue": 1}}
    assert drops["turns"]["dropped"] == {"alone": 2, "no_letters": 1}


def test_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes("¿Qué?\nNada.\n\n".encode() + b"ma\xf1ana\n\n" + "¿Y?\nYa.\n".encode())
    records, drops = read(tmp_path)
    assert [record.id for record in records] == ["train-1", "train-3"]
    assert drops["documents"]["dropped"] == {"undecodable": 1}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RangeServer]:
    monkeypatch.setattr(patience, "BACKOFF", 0.0)
    yield from serve({})


def requested(server: RangeServer) -> list[str]:
    return [path for path, _ in server.requests]


def corpus_on(server: RangeServer) -> Corpus:
    server.files = {
        "/langs": b"1:en:1\n7:es:1\n8:es:0\n9:es:1\n10:es:1\n",
        "/train": b"7\n9\n10\n",
        "/7.txt": book().encode(),
        "/10.txt": book().encode(),
    }
    lists = [
        {"file": "langs.txt", "url": f"{server.url}/langs"},
        {"file": "train_indices.txt", "url": f"{server.url}/train"},
    ]
    mirrors = [f"{server.url}{folder}/{{id}}.txt" for folder in ("", "/aleph")]
    mine = corpus(books_urls=mirrors, delay_seconds=0)
    return replace(mine, facts=replace(FACTS, special={"lists": lists}))


def test_books_in_the_language_that_are_free(tmp_path: Path, server: RangeServer) -> None:
    mine = corpus_on(server)
    server.faults["/langs"] = [refuse(503)]
    sources.fetch(mine, "upstream", tmp_path)
    names = ["langs.txt", "pg10.txt", "pg7.txt", "train_indices.txt"]
    assert sorted(p.name for p in tmp_path.rglob("*.txt")) == names
    assert not {"/8.txt", "/1.txt"} & set(requested(server))
    manifest = read_fetched(tmp_path)
    assert manifest is not None
    assert manifest.complete
    digest = hashlib.sha256(book().encode()).hexdigest()
    assert manifest.sha256 == {"pg10.txt": digest, "pg7.txt": digest}
    server.requests.clear()
    sources.fetch(mine, "upstream", tmp_path)
    assert requested(server) == ["/9.txt", "/aleph/9.txt"]


def test_the_second_mirror_stays_the_first_to_be_asked(tmp_path, server) -> None:
    mine = corpus_on(server)
    for number in (7, 9, 10):
        server.files.pop(f"/{number}.txt", None)
        server.files[f"/aleph/{number}.txt"] = book().encode()
    sources.fetch(mine, "upstream", tmp_path)
    assert requested(server)[2:] == ["/7.txt", "/aleph/7.txt", "/aleph/9.txt", "/aleph/10.txt"]


@pytest.mark.parametrize("refused", ["an error page", "403"])
def test_one_refused_book_is_left_out(tmp_path, server, capsys, refused: str) -> None:
    mine = corpus_on(server)
    server.files["/9.txt"] = book().encode()
    if refused == "403":
        server.faults = {path: [refuse(403)] for path in ("/7.txt", "/aleph/7.txt")}
    else:
        server.files["/7.txt"] = b"<!DOCTYPE html><html>busy</html>"
    sources.fetch(mine, "upstream", tmp_path)
    assert sorted(p.name for p in tmp_path.glob("pg*.txt")) == ["pg10.txt", "pg9.txt"]
    notes = capsys.readouterr().err
    assert "book 7 is skipped: " in notes
    assert "1 of 3 books are missing\n" in notes


def test_too_many_missing(tmp_path: Path, server: RangeServer) -> None:
    mine = corpus_on(server)
    del server.files["/7.txt"]
    with pytest.raises(InputError, match=r"2 missing: 7, 9(.|\n)*books_urls"):
        sources.fetch(mine, "upstream", tmp_path)
    # What could be had is there.
    assert (tmp_path / "pg10.txt").is_file()
    assert read_fetched(tmp_path).complete is False  # type: ignore[union-attr]


def test_five_in_a_row_are_enough(tmp_path: Path, server: RangeServer) -> None:
    mine = corpus_on(server)
    server.files["/langs"] = "".join(f"{n}:es:1\n" for n in range(7, 99)).encode()
    with pytest.raises(InputError, match="404"):
        sources.fetch(mine, "upstream", tmp_path)
    # 7 and 10 are there.
    assert requested(server)[-1] == "/aleph/15.txt"
    assert len(server.requests) == 2 + 1 + 2 * 2 + 1 + 2 * 5


def test_damaged_list(tmp_path: Path, server: RangeServer) -> None:
    mine = corpus_on(server)
    server.files["/langs"] = b"7:es:1\n8;es;1\n"
    with pytest.raises(InputError, match="line 2"):
        sources.fetch(mine, "upstream", tmp_path)


# --- gutenberg speech ----------------------------------------------------------------------------

STYLE = Style()
OPEN = Style(closing=False)
GLUED = Style(glued=True)


def turns(paragraph: str, style: Style = STYLE) -> list[str]:
    spoken = parse_turn(join_lines(paragraph.split("\n"), style), style)
    return [turn.text for turn in spoken.turns]


def texts(book: str, style: Style = STYLE) -> list[list[str]]:
    return [[turn.text for turn in found] for found in conversations(book, style)]


@pytest.mark.parametrize(
    ("paragraph", "speech"),
    [
        *TABLES["one_speaker"],
        *(
            (f"{dash}Ven {dash}dijo él{dash}. Te espero.", "Ven. Te espero.")
            for dash in ("--", "—", "–", "― ")
        ),
    ],
)
def test_one_speaker(paragraph: str, speech: str) -> None:
    assert turns(paragraph) == [speech]


@pytest.mark.parametrize(("paragraph", "style", "speech"), TABLES["several_speakers"])
def test_several_speakers(paragraph: str, style: dict[str, bool], speech: list[str]) -> None:
    assert turns(paragraph, Style(**style)) == speech


@pytest.mark.parametrize(
    ("paragraph", "style", "reason"),
    [
        ("—No irá—pensó Ana.", STYLE, "thought"),
        ("—No irá—se dijo.", STYLE, "thought"),
        ("—¿Va? «¿Irá?» se preguntó Ana.", STYLE, "thought"),
        # A comma or none: only who knows the sentence can tell.
        ("—Luis—dijo Ana—viene ya.", STYLE, "narration_inside"),
        ("—No irá—dijo a Luis.", STYLE, None),
        ("—¿Quién? Salió corriendo. No me gusta.", GLUED, "narration_inside"),
    ],
)
def test_reasons(paragraph: str, style: Style, reason: str | None) -> None:
    assert [turn.reason for turn in parse_turn(paragraph, style).turns] == [reason]


def test_styles() -> None:
    assert Style.of("--Ven--dijo él--. Ya.\n\n--No--dijo ella--, no.") == Style()
    assert Style.of("--Ven--dijo él.--Ya.\n\n--Voy.") == Style(closing=False)
    assert Style.of("-Ven -dijo él-. Ya.\n\n-Voy.") == Style(hyphens=True)
    assert Style.of("--¿Quién?--Yo.\n\n--Ven--dijo él--. Ya.") == Style(glued=True)
    assert Style.of("Nada.") == Style()


def test_narration_parts_conversations() -> None:
    assert (MAX_GAP, MAX_TURN_WORDS) == (150, 100)
    short, long = "N" + "a" * (MAX_GAP - 2) + ".", "N" + "a" * (MAX_GAP - 1) + "."
    assert texts(f"--A.\n\n{short}\n\n--B.") == [["A.", "B."]]
    assert texts(f"--A.\n\n{long}\n\n--B.") == [["A."], ["B."]]
    # What stands after the speech in its own paragraph counts too.
    assert texts(f"--A--dijo él. {'a' * MAX_GAP}\n\n--B.") == [["A."], ["B."]]


@pytest.mark.parametrize(
    "between",
    [
        *TABLES["ends"],
        *("II", "CAPÍTULO SEGUNDO", "Capítulo II. De lo que vio", "* * * * *", "--XVII--", "12"),
    ],
)
def test_what_ends_a_conversation(between: str) -> None:
    found = texts(f"--A.\n\n--B.\n\n{between}\n\n--C.\n\n--D.")
    assert (found[0], found[-1]) == (["A.", "B."], ["C.", "D."])


@pytest.mark.parametrize("between", ["[Nota 1: Larga. " + "a" * 200 + "]", "[Illustration: x]"])
def test_notes_and_pictures_do_not(between: str) -> None:
    assert texts(f"--A.\n\n{between}\n\n--B.") == [["A.", "B."]]


def test_headings() -> None:
    assert not is_heading("—¡NO!")
    assert not is_heading("Vino el cura.")
    assert not is_heading("Libro en mano, el cura se sentó y leyó durante una hora larga, sin que "
                          "nadie se atreviese a decir palabra.")  # fmt: skip


def test_a_turn_goes_on() -> None:
    # In the next paragraph, by its mark; »— is a turn in a story that somebody tells.
    assert texts("--Uno.\n\n»Dos.\n\n--Tres.") == [["Uno. Dos.", "Tres."]]
    assert texts("--Leyó: «Uno.\n\n»Dos.»\n\n--Tres.") == [["Leyó: «Uno. Dos.»", "Tres."]]
    assert texts("--«Uno.\n\n»Dos.»\n\n--Tres.") == [["Uno. Dos.", "Tres."]]
    assert texts("»--Uno.\n\n»Dos le oyó.\n\n»--Tres.") == [["Uno.", "Tres."]]
    # After narration that leaves the word with the speaker.
    assert texts("--Uno--dijo Ana. Se sentó y añadió:\n\n--Dos.\n\n--Tres.") == [
        ["Uno. Dos.", "Tres."]
    ]
    assert texts("--Uno--dijo Ana. Luis contestó:\n\n--Dos.") == [["Uno.", "Dos."]]
    assert texts("--Uno--dijo Ana. Luis, al oírlo, dijo:\n\n--Dos.") == [["Uno.", "Dos."]]


def test_quotation_marks_open_turns_that_are_said_aloud() -> None:
    assert texts("Luego me dijo:\n\n«¿Vienes?\n\n--No.") == [["¿Vienes?", "No."]]
    assert texts("«Buen mozo--decía mi tío--. ¿Y tú?\n\n--Yo no.") == [
        ["Buen mozo. ¿Y tú?", "Yo no."]
    ]
    assert texts("Luego pensó:\n\n«¿Vendrá?»\n\n--No.") == [["No."]]
    assert texts("«Mal día», pensaba.\n\n--No.") == [["No."]]


def test_turns_without_empty_lines_between() -> None:
    assert texts("--Hola.\n--¿Qué tal?\n--Bien.") == [["Hola.", "¿Qué tal?", "Bien."]]
    # A dash at the beginning of a line that was full belongs to the paragraph.
    full = "--Tengo que decirte una cosa que no sabe nadie en este pueblo--dijo él\n--. Ven."
    assert texts(full) == [["Tengo que decirte una cosa que no sabe nadie en este pueblo. Ven."]]


SPEECH = st.sampled_from(["Ven aquí", "¿Qué quieres?", "¡Calla!", "No sé", "Mañana iremos al río"])
VERBS = st.sampled_from(["dijo", "exclamó Ana", "preguntó el cura", "añadía", "respondióle Luis"])


@given(st.lists(st.tuples(SPEECH, st.none() | VERBS, st.none() | SPEECH), min_size=1, max_size=6))
def test_what_was_put_in_comes_out(said: list[tuple[str, str | None, str | None]]) -> None:
    paragraphs, expected = [], []
    for first, verb, second in said:
        stop = "" if first[-1] in "?!" else "."
        if verb is None:
            paragraphs.append(f"--{first}{stop}")
            expected.append(f"{first}{stop}")
        elif second is None:
            paragraphs.append(f"--{first}--{verb}.")
            expected.append(f"{first}{stop}")
        else:
            paragraphs.append(f"--{first}--{verb}--. {second}.")
            expected.append(f"{first}{stop} {second}.")
    assert texts("\n\n".join(paragraphs)) == [expected]


@pytest.mark.parametrize("unit", TABLES["long_texts"])
def test_long_texts_are_read(unit: str) -> None:
    # With a pattern or a loop that is quadratic any of these takes minutes.
    text = "--Hola, " + unit * (200_000 // len(unit)) + "x\n\n--Adiós."
    assert Style.of(text) is not None
    assert conversations(text, STYLE)[-1][-1].text == "Adiós."


@given(st.text(alphabet="—-«»¿?¡!.,:; \naábcAÁdijo[]_"))
def test_any_text_is_read(text: str) -> None:
    for style in (STYLE, OPEN, GLUED, Style(hyphens=True)):
        for found in conversations(text, style):
            assert found
            assert all("\n" not in turn.text for turn in found)
