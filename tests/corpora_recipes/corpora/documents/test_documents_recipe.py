"""Anybody's own documents: JSON Lines and Parquet, good and bad."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recipe_reading import read_all

from corpora_recipes.corpora.documents import recipe
from corpora_recipes.corpora.documents.document import KEYS
from corpora_recipes.fetching import sources
from corpora_recipes.recipe import RECIPES, Corpus, load_facts
from corpora_recipes.records import Document
from corpora_recipes.running.errors import InputError

FACTS = load_facts("documents")
SAMPLE = RECIPES / "documents" / "sample"
GOOD: dict[str, Any] = {"id": "a", "text": "Una frase. Otra frase."}


def corpus(path: str | None = None) -> Corpus:
    return Corpus("reviews", "documents", "es", None, 1, {"path": path}, {}, FACTS)


def read(raw: Path) -> tuple[list[Document], dict[str, Any]]:
    return read_all(recipe, raw, corpus())


def write(folder: Path, *rows: Any, name: str = "d.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


class TestSample:
    def test_counts(self) -> None:
        records, drops = read(SAMPLE)
        assert drops == {
            "documents": {"seen": 40, "kept": 40, "dropped": {}},
            "sentences": {"seen": 327, "kept": 327, "dropped": {}},
        }
        sizes = [sum(len(p) for s in r.sections for p in s.paragraphs) for r in records]
        assert (min(sizes), max(sizes)) == (8, 9)

    def test_first(self) -> None:
        first = read(SAMPLE)[0][0]
        assert (first.id, first.title) == ("resena-01", "La última estación del sur")
        assert first.topics == ["cine", "drama"]
        assert [len(p) for p in first.sections[0].paragraphs] == [5, 3]
        assert first.sections[0].paragraphs[1][-1] == (
            "Aun así, salí del cine con ganas de llamar a mi abuela."
        )
        assert first.split is None


class TestForms:
    def test_three_forms_of_one_text(self, tmp_path: Path) -> None:
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

    def test_everything(self, tmp_path: Path) -> None:
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

    def test_parquet_gives_the_same_records(self, tmp_path: Path) -> None:
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

    def test_marks_blank_lines_and_line_ends(self, tmp_path: Path) -> None:
        line = json.dumps(GOOD).encode()
        other = line.replace(b'"a"', b'"b"')
        (tmp_path / "d.jsonl").write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n" + other)
        assert [r.id for r in read(tmp_path)[0]] == ["a", "b"]

    def test_drops(self, tmp_path: Path) -> None:
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


class TestErrors:
    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ("{'id': 1}", "one JSON object"),
            ("[" * 100_000, "one JSON object"),
            ("3", "a document, an object"),
            ({"id": "b", "text": None}, "found:    id"),
            ({**GOOD, "paragraphs": []}, "found:    text and paragraphs"),
            ({"id": "", "text": "Una."}, "an id"),
            ({**GOOD, "txt": "x"}, "found:    txt"),
            ({**GOOD, "title": 3}, "title, a string"),
            ({**GOOD, "topics": [None]}, "topics, a string"),
            ({**GOOD, "id": 1.0}, 'put it in quotes: "1.0"'),
            ({**GOOD, "split": "dev"}, "split among train, validation, test"),
            ({"id": "b", "text": ["Una."]}, "text, a string"),
            ({"id": "b", "sections": ["Una."]}, "a section, an object"),
            ({"id": "b", "sections": [{"text": "x"}]}, "heading, level, paragraphs"),
            ({"id": "b", "sections": [{"heading": "x"}]}, "paragraphs in each section"),
            ({"id": "b", "sections": [{"level": 2**31, "paragraphs": []}]}, "from 1 to 100"),
            ('{"id": "b", "text": "\\ud83d"}', "half a surrogate pair"),
        ],
    )
    def test_bad_rows(self, tmp_path: Path, row: Any, message: str) -> None:
        write(tmp_path, GOOD, "", row)
        with pytest.raises(InputError) as error:
            read(tmp_path)
        assert error.value.where == f"{tmp_path / 'd.jsonl'}, line 3"
        assert message in str(error.value)

    def test_parquet_row(self, tmp_path: Path) -> None:
        table = pa.Table.from_pylist([GOOD] * 3 + [{"id": None, "text": "x"}])
        pq.write_table(table, tmp_path / "d.parquet", row_group_size=3)
        with pytest.raises(InputError, match=r"d\.parquet, row group 1, row 1\n"):
            read(tmp_path)

    @pytest.mark.parametrize("name", ["d.parquet", "d.jsonl.gz"])
    def test_damaged_files(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"PAR1 but no more")
        with pytest.raises(InputError, match="a whole"):
            read(tmp_path)

    def test_a_damaged_byte_in_gzip(self, tmp_path: Path) -> None:
        data = bytearray(gzip.compress(b"".join(b"%d\n" % n**3 for n in range(500)), mtime=0))
        for at in range(20, len(data) - 8, 37):
            damaged = bytes([*data[:at], data[at] ^ 0xFF, *data[at + 1 :]])
            (tmp_path / "d.jsonl.gz").write_bytes(damaged)
            with pytest.raises(InputError):
                read(tmp_path)

    @pytest.mark.parametrize("name", ["d.jsonl", "d.pdf"])
    def test_nothing(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(InputError, match="set `path`"):
            recipe.blocks(tmp_path, corpus())


def test_fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources.fetch(corpus(), "sample", tmp_path / "out")
    assert len(read(tmp_path / "out")[0]) == 40
    write(tmp_path / "mine", GOOD)
    sources.fetch(corpus("mine"), "upstream", tmp_path / "out")
    assert [r.id for r in read(tmp_path / "out")[0]] == ["a"]
