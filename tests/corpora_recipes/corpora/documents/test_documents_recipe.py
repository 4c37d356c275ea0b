"""Anybody's documents in all forms, good and bad."""

import gzip
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from datasets import Dataset
from hub_server import commit
from recipe_reading import read_all, read_settled, refused, write_lines

from corpora_recipes.corpora.documents import recipe
from corpora_recipes.corpora.documents.recipe import KEYS
from corpora_recipes.fetching import sources
from corpora_recipes.fetching.downloads import read_lock
from corpora_recipes.reading import read as stage_read
from corpora_recipes.recipe import RECIPES, Corpus, load_facts
from corpora_recipes.records import Document, Drops
from corpora_recipes.running.errors import InputError, RawErrors

TABLES = read_tables(__file__)

FACTS = load_facts("documents")
SAMPLE = RECIPES / "documents" / "sample"
GOOD: dict[str, Any] = {"id": "a", "text": "Una frase. Otra frase."}


def corpus(path: str | None = None) -> Corpus:
    return Corpus("reviews", "documents", "es", None, 1, {"path": path}, {}, FACTS)


def read(raw: Path) -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, corpus())


def write(folder: Path, *rows: Any, name: str = "d.jsonl") -> Path:
    return write_lines(folder, name, *rows)


def test_three_forms_of_one_text(tmp_path: Path) -> None:
    paragraphs = ["Una frase.  Otra\nfrase.", "Y otra más."]
    write(
        tmp_path,
        {"id": "1", "text": "\n\n \n".join(paragraphs) + "\n"},
        {"id": "2", "paragraphs": paragraphs, "text": None, "title": None},
        {"id": "3", "sections": [{"heading": "", "paragraphs": paragraphs}]},
    )
    first, second, third = read(tmp_path)[0]
    assert first.sections == second.sections == third.sections
    assert first.sections[0].paragraphs == [["Una frase.", "Otra frase."], ["Y otra más."]]


def test_everything(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "id": "1",
            "title": " El  título ",
            "topics": ["uno", " dos "],
            "summary": "Una vida.  Y su\nobra. ",
            "split": "test",
            "sections": [
                {"paragraphs": ["Entrada."]},
                {"heading": "Vida", "paragraphs": ["Nació."]},
                {"heading": "Vacía", "paragraphs": []},
                {"heading": "Obra", "level": 3, "paragraphs": ["Escribió."]},
            ],
        },
    )
    (document,) = read(tmp_path)[0]
    assert (document.title, document.topics) == ("El título", ["uno", "dos"])
    assert document.summary == ["Una vida.", "Y su obra."]
    assert document.split == "test"
    assert [(s.heading, s.level, s.paragraphs) for s in document.sections] == [
        ("", 1, [["Entrada."]]),
        ("Vida", 2, [["Nació."]]),
        ("Obra", 3, [["Escribió."]]),
    ]


def test_parquet_gives_the_same_records(tmp_path: Path) -> None:
    expected, counts = read(SAMPLE)
    lines = (SAMPLE / "documents.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    (tmp_path / "p").mkdir()
    table = pa.Table.from_pylist([{k: r.get(k) for k in KEYS} for r in rows])
    pq.write_table(table, tmp_path / "p" / "documents.parquet", row_group_size=7)
    assert len(recipe.blocks(tmp_path / "p", corpus())) == 6
    assert read(tmp_path / "p") == (expected, counts)
    with gzip.open(write(tmp_path / "z") / "d.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    assert read(tmp_path / "z") == (expected, counts)


def test_marks_blank_lines_and_line_ends(tmp_path: Path) -> None:
    line = json.dumps(GOOD).encode()
    other = line.replace(b'"a"', b'"b"')
    (tmp_path / "d.jsonl").write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n" + other)
    assert [r.id for r in read(tmp_path)[0]] == ["a", "b"]


def test_drops(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"id": "1", "text": ""},
        {"id": "2", "text": "Una. Mal \ufffd. Otra.\n\n2019."},
        {"id": "3", "sections": []},
    )
    (document,), drops = read(tmp_path)
    assert [s.paragraphs for s in document.sections] == [[["Una."]], [["Otra."]]]
    assert drops == {
        "documents": {"seen": 3, "kept": 1, "dropped": {"no_sentences": 2}},
        "sentences": {
            "seen": 4,
            "kept": 2,
            "dropped": {"no_letters": 1, "replacement_character": 1},
        },
    }


@pytest.mark.parametrize(
    ("row", "message"), [*TABLES["bad_rows"], ("[" * 100_000, "one JSON object")]
)
def test_bad_rows(tmp_path: Path, row: Any, message: str) -> None:
    write(tmp_path, GOOD, "", row)
    with refused("d.jsonl, line 3", message):
        read(tmp_path)


def test_a_null_is_an_empty_text(tmp_path: Path) -> None:
    rows = [{"id": "b", "text": None}, {"id": "c", "paragraphs": ["Una.", None], "title": None}]
    write(tmp_path, GOOD, *rows)
    records, drops = read_settled(tmp_path, corpus())
    assert [*records["c"].sections[0].paragraphs] == [["Una."]]
    assert drops.dropped == {("documents", "empty_text"): 1}
    (fault,) = drops.faults()
    assert (fault.where, fault.found) == (f"{tmp_path}/d.jsonl, line 2", "null in column text")


def test_all_bad_rows_in_one_message(tmp_path: Path) -> None:
    rows = [GOOD, {"id": "b", "text": 17}, "{", {"id": "c"}, "[", {"id": "d"}]
    with pytest.raises(RawErrors) as caught:
        read(write(tmp_path, *rows))
    said = str(pickle.loads(pickle.dumps(caught.value))).replace(str(tmp_path), "")
    lines = said.splitlines()
    places = [line for line in lines if not line.startswith("  ")]
    assert places == [
        "/d.jsonl, line 2",
        "/d.jsonl, line 3",
        "/d.jsonl, line 5",
        "/d.jsonl, line 4, line 6",
    ]
    assert said.count("  expected: ") == said.count("  to do:    ") == 3
    assert said.count("  found:    ") == 4
    write(tmp_path, *["{"] * 30)
    with pytest.raises(
        RawErrors,
        match=r"line 1, .*, line 10\n  expected: .*\n  found: .*\n.*\nThese are the first 10",
    ):
        read(tmp_path)
    table = write(tmp_path / "table", "id,text", "1,Una,frase.", "2,Una frase.", "3", name="d.csv")
    with pytest.raises(RawErrors, match=r"(?s)line 2\n.*2 fields.*line 4\n"):
        read(table)


def test_all_bad_files_in_one_message(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        text = "Llegó ayer. Se fue hoy."
        (tmp_path / f"{name}.txt").write_bytes(text.encode("utf-8" if name == "b" else "latin-1"))
    with pytest.raises(RawErrors) as caught:
        stage_read(corpus(), tmp_path, tmp_path / "out.parquet", workers=None, executor="local")
    summary, *faults = caught.value.faults
    assert summary.expected == "at least half of the documents for reviews"
    assert {Path(fault.where).name for fault in faults} == {"a.txt", "c.txt"}
    assert not (tmp_path / "out.parquet").exists()


def test_parquet_row(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([GOOD] * 3 + [{"id": None, "text": "x"}])
    pq.write_table(table, tmp_path / "d.parquet", row_group_size=3)
    with pytest.raises(InputError, match=r"d\.parquet, row group 1, row 1\n"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("d.parquet", b"PAR1 but no more", "a whole"),
        ("d.jsonl.gz", b"PAR1 but no more", "a whole"),
        ("a.txt", b"\x89PNG\r\n", "a.txt\n.*text in UTF-8\n.*can't decode byte 0x89"),
        ("a.txt", b"a\0b", "a.txt\n.*text in UTF-8\n.*a zero byte"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read(tmp_path)


def test_a_damaged_byte_in_gzip(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"".join(b"%d\n" % n**3 for n in range(500)), mtime=0))
    for at in range(20, len(data) - 8, 37):
        damaged = bytes([*data[:at], data[at] ^ 0xFF, *data[at + 1 :]])
        (tmp_path / "d.jsonl.gz").write_bytes(damaged)
        with pytest.raises(InputError):
            read(tmp_path)


@pytest.mark.parametrize("name", ["d.jsonl", "d.pdf"])
def test_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match="set `path`"):
        recipe.blocks(tmp_path, corpus())


def columns_of(folder: Path, **columns: str) -> list[Document]:
    options = {"path": None, "columns": columns}
    return read_all(recipe, folder, replace(corpus(), options=options))[0]


def test_a_text_is_named_like_its_file(tmp_path: Path) -> None:
    write(tmp_path, "Una frase.", "Otra.", "", "Y otra.", name="a.b.txt")
    write(tmp_path / "sub", "Una más.", name="a.txt")
    first, second = read(tmp_path)[0]
    assert (first.id, second.id) == ("a.b", "sub/a")
    assert first.sections[0].paragraphs == [["Una frase.", "Otra."], ["Y otra."]]


def test_texts_are_restored_or_dropped(tmp_path: Path) -> None:
    sound = "La niña cruzó el río. ¿Quién más? Óscar no."
    (tmp_path / "restored.txt").write_text(sound.encode().decode("latin-1"), "utf-8")
    (tmp_path / "lost.txt").write_text("El rÃo baja. La niña no.", "utf-8")
    documents, counts = read(tmp_path)
    texts = {
        d.id: [s for part in d.sections for p in part.paragraphs for s in p] for d in documents
    }
    assert texts["restored"] == ["La niña cruzó el río.", "¿Quién más?", "Óscar no."]
    assert texts["lost"] == ["La niña no."]
    assert counts["restored_texts"]["seen"] == 1
    assert counts["sentences"]["dropped"] == {"wrong_code_page": 1}


@pytest.mark.parametrize("workers", [1, 2])
def test_the_corpus_says_how_cut_words_are_joined(tmp_path: Path, workers: int) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "a.txt").write_text("El puente de la ciu-\ndad cae. La canci´on, no.", "utf-8")
    (raw / "b.txt").write_text("Una ciudad canta su canción. Otra calla.", "utf-8")
    (raw / "c.txt").write_text("El hospi-\ntal abre. El tren no.", "utf-8")
    out = tmp_path / "out.parquet"
    drops = stage_read(corpus(), raw, out, workers=workers, executor="local")
    rows = {row["id"]: row["sections"] for row in pq.read_table(out).to_pylist()}
    assert rows["a"][0]["paragraphs"] == [["El puente de la ciudad cae.", "La canción, no."]]
    assert rows["c"][-1]["paragraphs"] == [["El tren no."]]
    assert drops.dropped == {("sentences", "hyphenated_word"): 1}


def test_headings_of_markdown_make_sections(tmp_path: Path) -> None:
    write(tmp_path, "# El viaje", "Salió.", "## La vuelta", "", "Volvió.", name="a.md")
    (document,) = read(tmp_path)[0]
    assert document.title == "El viaje"
    assert [(s.heading, s.level, s.paragraphs) for s in document.sections] == [
        ("El viaje", 1, [["Salió."]]),
        ("La vuelta", 2, [["Volvió."]]),
    ]


def test_beside_a_table_texts_are_no_documents(tmp_path: Path) -> None:
    write(write(tmp_path, GOOD), "Cómo se hizo.", name="README.md")
    assert [document.id for document in read(tmp_path)[0]] == ["a"]


def test_two_files_of_one_id(tmp_path: Path) -> None:
    write(write(tmp_path, "Una.", name="a.md"), "Otra.", name="a.txt")
    records, drops = read_settled(tmp_path, corpus())
    assert [*records] == ["a"]
    assert drops.dropped["documents", "duplicate_id"] == 1


def test_a_huge_text(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(InputError, match="10,737,418,240 bytes"):
        read(tmp_path)


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("b.csv", ";")])
def test_separated_values(tmp_path: Path, name: str, mark: str) -> None:
    rows = [["id", "text", "topics"], ["1", '"Una, frase; y\n\notra."', "cine"], ["2", "", ""]]
    write(tmp_path, *map(mark.join, rows), name=name)
    (document,), drops = read(tmp_path)
    assert (document.id, document.topics) == ("1", ["cine"])
    assert document.sections[0].paragraphs == [["Una, frase; y"], ["otra."]]
    assert drops["documents"]["dropped"] == {"no_sentences": 1}


# A table, the lines of the rows that are dropped, and the ids of the documents.
TORN = TABLES["torn"]


@pytest.mark.parametrize("name", TORN)
def test_a_row_of_a_table_swallows_no_other(tmp_path: Path, name: str) -> None:
    lines, dropped, ids = TORN[name]
    path = tmp_path / ("d.tsv" if name == "a tab" else "d.csv")
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    records, drops = read_block_of(tmp_path)
    assert [fault.where for fault in drops.faults()] == [f"{path}, line {n}" for n in dropped]
    assert "".join(record.id for record in records) == ids


def read_block_of(folder: Path) -> tuple[list[Any], Drops]:
    (block,) = recipe.blocks(folder, corpus())
    result = recipe.read_block(block, corpus())
    return result.records, result.drops


def test_with_tabs_a_quotation_mark_is_text(tmp_path: Path) -> None:
    rows = ['1\t"Hola a todos. Es la "una".', "2\t'Otra.", '3\t"Dijo ""no"" dos veces."']
    write(tmp_path, "id\ttext", *rows, name="d.tsv")
    documents, _ = read(tmp_path)
    assert [document.sections[0].paragraphs[0] for document in documents] == [
        ['"Hola a todos.', 'Es la "una".'],
        ["'Otra."],
        ['Dijo "no" dos veces.'],
    ]


def test_a_csv_may_have_texts_of_several_lines(tmp_path: Path) -> None:
    paragraphs = ["Hola, vecina.", "Son las 3, dijo.", "Bueno, ya está."]
    text = "\n\n".join(paragraphs)
    write(tmp_path, "id,title,text", f'r1,Una,"{text}"', f'r2,Otra,"{text}"', name="d.csv")
    documents, drops = read(tmp_path)
    assert len(documents) == 2
    assert [p[0] for p in documents[0].sections[0].paragraphs] == paragraphs
    assert drops["documents"]["dropped"] == {}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["id,text", "1,Una,dos"], r"a\.csv, line 2\n.*2 fields: id, text\n.*3 that begin"),
        (["id,text", '1,"Una'], r"a\.csv, line 2\n.*\n.*unexpected end of data"),
        (["id,text,text", "1,a,b"], r"line 1\n.*differ in their names"),
        (["id,text", ",Una."], r"line 2\n.*an id\n.*''"),
        (["id,text", f"1,{'a' * (8 << 20)}"], "lines of at most 8,388,608 bytes"),
        (["id,text", '1,"' + ("a" * 999 + "\n") * 9000 + '"'], "field larger than field limit"),
    ],
)
def test_bad_tables(tmp_path: Path, lines: list[str], message: str) -> None:
    write(tmp_path, *lines, name="a.csv")
    with pytest.raises(InputError, match=message):
        read(tmp_path)


def test_arrow_gives_the_same_records(tmp_path: Path) -> None:
    rows = [{"id": n, "text": f"La frase {n}. Otra.", "topics": ["uno"]} for n in range(5)]
    table = pa.Table.from_pylist(rows)
    Dataset(table).save_to_disk(tmp_path / "saved", num_shards=2)
    (tmp_path / "footed").mkdir()
    with pa.ipc.new_file(tmp_path / "footed" / "data-0.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=2)
    expected = read(write(tmp_path / "lines", *rows))
    assert [document.id for document in expected[0]] == ["0", "1", "2", "3", "4"]
    assert read(tmp_path / "saved") == read(tmp_path / "footed") == expected


def test_arrow_of_another_schema(tmp_path: Path) -> None:
    Dataset(pa.table({"question": ["¿Qué?"], "text": ["Eso."]})).save_to_disk(tmp_path)
    with pytest.raises(InputError, match=r"batch 0, row 1\n.*\n.*question\n.*`columns`"):
        read(tmp_path)


def test_others_are_ignored(tmp_path: Path) -> None:
    row = {"doc": 7, "body": "Una frase.", "stars": 4.5, "genre": 3, "id": None}
    write(tmp_path / "lines", row)
    pq.write_table(pa.Table.from_pylist([row]), write(tmp_path / "p", name="x") / "a.parquet")
    for folder in (tmp_path / "lines", tmp_path / "p"):
        (document,) = columns_of(folder, id="doc", text="body", topics="genre")
        assert (document.id, document.topics) == ("7", ["3"])


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv"])
def test_a_column_that_is_not_there(tmp_path: Path, name: str) -> None:
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist([{"body": "Una."}]), tmp_path / name)
    else:
        write(tmp_path, *(["body", "Una."] if name == "a.csv" else [{"body": "Una."}]), name=name)
    with pytest.raises(InputError, match=r"among body\n.*no bodi\n.*did you mean body\?"):
        columns_of(tmp_path, text="bodi")


def test_unknown_keys_of_ours(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"columns\.txt"):
        columns_of(write(tmp_path, GOOD), txt="body")


def test_without_ids_the_text_gives_one(tmp_path: Path) -> None:
    write(tmp_path, {"text": "Una frase."}, {"paragraphs": ["Una frase."]}, {"text": "Otra."})
    (first, same, other), drops = read(tmp_path)
    assert first.id == same.id == "000ceeed588b9cc7"
    assert first.id != other.id
    assert drops["digests_as_ids"] == {"seen": 3, "kept": 3, "dropped": {}}


def test_the_files_of_a_commit(empty_folder, served) -> None:
    pq.write_table(pa.Table.from_pylist([GOOD]), served / "train.parquet")
    write(served, "# Reseñas", name="README.md")
    write(served, "raise SystemExit", name="data.py")
    name, out = "hf://datasets/org/data", empty_folder / "out"
    sources.fetch(corpus(name), "sample", out)
    assert [document.id for document in read(out)[0]] == ["a"]
    assert not (out / "data.py").exists()
    # A file of another commit goes.
    write(out, GOOD, name="old.jsonl")
    sources.fetch(corpus(name), "sample", out)
    assert not (out / "old.jsonl").exists()
    # The newest state is that of the first fetch, which sources.lock has.
    first = commit(served)
    assert read_lock()["hf://datasets/org/data"].sha1 == first
    (finding,) = recipe.examine(corpus(name))
    assert (finding.note, finding.fault) == (f"commit {first}", "")
    write(served, GOOD)
    with pytest.raises(InputError, match="RevisionNotFound"):
        sources.fetch(corpus(name), "sample", empty_folder / "again")


@pytest.mark.parametrize(("name", "words"), TABLES["unreadable"])
def test_what_cannot_be_read(tmp_path: Path, served: Path, name: str, words: str) -> None:
    write(served, "raise SystemExit", name="data.py")
    with pytest.raises(InputError, match=words):
        sources.fetch(corpus(name), "sample", tmp_path / "out")


def test_fetch(empty_folder: Path) -> None:
    sources.fetch(corpus(), "sample", empty_folder / "out")
    assert len(read(empty_folder / "out")[0]) == 40
    write(empty_folder / "mine", GOOD)
    sources.fetch(corpus("mine"), "upstream", empty_folder / "out")
    assert [r.id for r in read(empty_folder / "out")[0]] == ["a"]
