"""Third-party datasets to audit: layouts, files, repositories of the Hub."""

import json
import os
import pickle
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from conftest import document
from hub_server import commit
from mutants import Chance, mutated
from recipe_reading import write_files as write

from builders.auditing.target import SPLIT_NAMES, Columns, Location, Target
from builders.building import build
from corpora_recipes.running.errors import InputError, RawErrors
from probeta.auditing import audit, hub_targets, locate
from probeta.exchange.third_party import find_targets, pickles_in

TABLES = read_tables(__file__)

# --- third party ---------------------------------------------------------------------------------

TEXTS = ["Hace sol.", "Llueve.", "Nieva."]


def table(rows: dict[str, Any], features: dict[str, Any] | None = None) -> pa.Table:
    """Return a table as others write it; `features` are the huggingface metadata."""
    stated = {"huggingface": json.dumps({"info": {"features": features}})} if features else None
    return pa.table(rows).replace_schema_metadata(stated)


def parquet(
    rows: dict[str, Any],
    folder: Path,
    name: str = "train-00000-of-00001.parquet",
    features: dict[str, Any] | None = None,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table(rows, features), folder / name)


def text(content: str | bytes, folder: Path, name: str = "train.txt") -> None:
    write(folder, {name: content})


def loaded(folder: Path, **options: Any) -> list[Target]:
    return [location.load() for location in find_targets(folder, **options)]


def load(folder: Path, **options: Any) -> Target:
    (target,) = loaded(folder, **options)
    return target


def names(folder: Path) -> list[str]:
    return [location.name for location in find_targets(folder)]


def classes(target: Target) -> dict[str, list[str]]:
    """Return the class names of the rows of each split."""
    return {s: [target.labels[n] for n in part.labels] for s, part in target.parts.items()}


def test_parquet_of_others_is_read(tmp_path) -> None:
    rows = {"label": [1, 0], "premise": ["Hace sol.", "Llueve."], "hypothesis": ["Es de día."] * 2}
    parquet(rows, tmp_path / "nli")
    parquet({"label": ["b", "a", "b"], "text": TEXTS}, tmp_path / "cr")
    cr, nli = loaded(tmp_path)
    assert (cr.name, cr.labels, cr.parts["train"].labels.tolist()) == ("cr", ["a", "b"], [1, 0, 1])
    assert (cr.texts, cr.task, cr.corpus, cr.records) == (("text",), None, "", "examples")
    assert (nli.labels, nli.parts["train"].labels.tolist()) == (["0", "1"], [1, 0])
    assert nli.parts["train"].texts == [["Hace sol.", "Es de día."], ["Llueve.", "Es de día."]]
    assert (nli.texts, nli.language) == (("premise", "hypothesis"), "es")


def test_columns_may_hold_lists_of_texts(tmp_path) -> None:
    lists = [["Hace sol.", "Llueve."], ["Nieva.", "Truena."]]
    parquet({"label": [0, 1], "sentences": lists}, tmp_path / "a")
    alone = load(tmp_path / "a")
    assert (alone.texts, alone.parts["train"].texts) == (("sentences",), lists)
    # Of several columns each holds a text.
    lists[1].pop()
    parquet({"label": [0, 1], "context": lists, "reply": ["Sí.", "No."]}, tmp_path / "b")
    part = load(tmp_path / "b").parts["train"]
    assert part.texts == [["Hace sol. Llueve.", "Sí."], ["Nieva.", "No."]]
    assert part.sentences == [["Hace sol.", "Llueve.", "Sí."], ["Nieva.", "No."]]


def test_pandas_categories_are_read(tmp_path) -> None:
    rows = {
        "label": pa.array(["b", "a", "b"]).dictionary_encode(),
        "text": pa.array(TEXTS, pa.large_string()),
        "source": pa.array(["El cielo", "El mar", "El cielo"]).dictionary_encode(),
        "place": pa.array(["x", "y", "x"]).dictionary_encode(),
    }
    parquet(rows, tmp_path / "a")
    target = load(tmp_path)
    assert classes(target) == {"train": ["b", "a", "b"]}
    assert target.texts == ("text", "source")


@pytest.mark.parametrize("column", ["label", "labels"])
@pytest.mark.parametrize(("feature", "labels", "numbers"), TABLES["classes"])
def test_classes_are_named_by_the_metadata_or_by_what_occurs(
    tmp_path, column: str, feature: dict[str, Any] | None, labels: list[str], numbers: list[int]
) -> None:
    features = None if feature is None else {column: feature}
    parquet({column: [1, 0, 1], "text": TEXTS}, tmp_path / "a", features=features)
    target = load(tmp_path)
    assert (target.labels, target.parts["train"].labels.tolist()) == (labels, numbers)
    assert target.texts == ("text",)


def test_names_of_classes_may_stand_for_their_numbers(tmp_path) -> None:
    features = {"label": {"names": ["yes", "no"], "_type": "ClassLabel"}}
    parquet({"label": [1, 0, 1], "text": TEXTS}, tmp_path / "a", features=features)
    parquet({"label": ["yes", "no", "no"], "text": TEXTS}, tmp_path / "a", "test.parquet")
    assert classes(load(tmp_path)) == {"train": ["no", "yes", "no"], "test": ["yes", "no", "no"]}


def test_classes_of_any_split_are_named_in_order_of_number(tmp_path) -> None:
    parquet({"label": [10.0, 9.0, -1.0], "text": TEXTS}, tmp_path / "a")
    parquet({"label": [2, 10, 10], "text": TEXTS}, tmp_path / "a", "test.parquet")
    target = load(tmp_path)
    assert target.labels == ["-1", "2", "9", "10"]
    assert classes(target)["train"] == ["10", "9", "-1"]


@pytest.mark.parametrize(
    ("file", "split"),
    [
        *((f"{name}.parquet", split) for name, split in SPLIT_NAMES.items()),
        ("dev-00000-of-00001.parquet", "validation"),
        ("validation-00000-of-00001-0a1b2c3d4e5f6789.parquet", "validation"),
        ("test-0.parquet", "test"),
    ],
)
def test_splits_go_by_many_names(tmp_path, file: str, split: str) -> None:
    parquet({"label": [1, 0, 1], "text": TEXTS}, tmp_path / "a", file)
    assert list(load(tmp_path).parts) == [split]


def test_shards_are_read_in_order_of_name(tmp_path) -> None:
    for shard, code in ((1, "0a"), (0, "ff")):
        rows = {"label": [shard], "text": [TEXTS[shard]]}
        parquet(rows, tmp_path / "a", f"test-0000{shard}-of-00002-{code}.parquet")
    assert load(tmp_path).parts["test"].texts == [[TEXTS[0]], [TEXTS[1]]]


def test_what_begins_with_a_dot_or_is_no_split_is_passed_over(tmp_path) -> None:
    for folder, file in ((".a", "train.txt"), ("b", ".train.txt"), ("c", "notes.txt")):
        text("1\tHace sol.\n", tmp_path / folder, file)
    parquet({"label": [0], "text": ["x"]}, tmp_path / "b", ".train-00000-of-00001.parquet")
    parquet({"label": [0], "text": ["x"]}, tmp_path / "b", "test_matched-00000-of-00001.parquet")
    text("1\tHace sol.\n0\tLlueve.\n", tmp_path / "d")
    assert names(tmp_path) == ["d"]
    # The folder itself may have such a name.
    assert names(tmp_path / ".a") == [".a"]


@pytest.mark.parametrize("files", TABLES["splits"])
def test_sources_that_do_not_fit_together_are_refused(tmp_path, files: tuple[str, str]) -> None:
    for file in files:
        text("", tmp_path / "a", file.replace("*", "00000"))
    with pytest.raises(InputError) as error:
        find_targets(tmp_path)
    assert all(file in error.value.found for file in files)
    assert error.value.where == str(tmp_path / "a")


def test_folders_of_the_same_name_are_named_by_their_path(tmp_path) -> None:
    for folder in ("mine/sp", "yours/sp", "yours/dc"):
        parquet({"label": [1, 0, 1], "text": TEXTS}, tmp_path / folder)
    text("1\tHace sol.\n0\tLlueve.\n", tmp_path / "theirs" / "so")
    assert names(tmp_path) == ["dc", "mine_sp", "theirs_so", "yours_sp"]
    assert names(tmp_path / "theirs" / "so") == ["so"]
    text("1\tHace sol.\n", tmp_path / "theirs_so")
    with pytest.raises(InputError, match="a name for each dataset"):
        find_targets(tmp_path)


def test_text_files_are_read(tmp_path) -> None:
    content = "\ufeff1\tHace sol .\t( Llueve ) , dijo .\r\n\n0\tNieva.\x85Y\u2028 sí\tAy\rsí.\n"
    text(content, tmp_path / "a")
    target = load(tmp_path)
    assert target.parts["train"].texts == [
        ["Hace sol.", "(Llueve), dijo."],
        ["Nieva.\x85Y\u2028 sí", "Ay\rsí."],
    ]
    assert target.labels == ["0", "1"]
    assert (target.answer, target.texts) == ("column 1", ("column 2", "column 3"))


def test_probing_files_are_read(tmp_path) -> None:
    content = "tr\tO\tHace sol .\ntr\tI\tSol hace .\nte\tO\tLlueve .\nva\tI\tSí .\n"
    text(content, tmp_path / "probing", "bigram_shift.txt")
    text("tr\t1\tHace sol.\n", tmp_path / "probing", "length.txt")
    text("1\tHace sol.\n", tmp_path / "probing", "train.txt")
    text("Notas.\n", tmp_path / "probing", "README.txt")
    shift, length, other = loaded(tmp_path)
    assert (shift.name, length.name, other.name) == ("bigram_shift", "length", "probing")
    assert classes(shift) == {"train": ["O", "I"], "validation": ["I"], "test": ["O"]}
    assert shift.parts["test"].texts == [["Llueve."]]
    assert list(length.parts) == ["train"]


@pytest.mark.parametrize(("header", "splits"), [("rasgo\tfrase", 2), ("clase\ttexto", 1)])
def test_a_header_names_the_columns(tmp_path, header: str, splits: int) -> None:
    """If all splits have it, or if it has a usual name of a column."""
    for split in ("train", "test")[:splits]:
        text(f"{header}\nb\tHace sol.\na\tLlueve.\n", tmp_path / "a", f"{split}.txt")
    label, name = header.split("\t")
    target = load(tmp_path, columns=Columns((name,), label))
    assert (target.answer, target.texts, target.labels) == (label, (name,), ["a", "b"])
    assert target.parts["train"].places == [("train.txt", 2, ""), ("train.txt", 3, "")]


@pytest.mark.parametrize("rows", TABLES["no_header"])
def test_first_lines_that_are_no_header(tmp_path, rows: str) -> None:
    text(rows, tmp_path / "a")
    assert len(load(tmp_path).parts["train"].labels) == rows.count("\n")


@pytest.mark.parametrize(("task", "kind", "records"), TABLES["kinds"])
def test_kinds_of_records(tmp_path, task: str | None, kind: str | None, records: str) -> None:
    text("1\tHace sol.\n0\tLlueve.\n", tmp_path / "a")
    parquet({"label": [1, 0, 1], "text": TEXTS}, tmp_path / "b")
    targets = loaded(tmp_path, task=task, records=kind)
    found = [(target.task.name if target.task else None, target.records) for target in targets]
    assert found == [(task, records)] * 2


def test_columns_that_are_no_text_are_left_out(tmp_path) -> None:
    rows = {name: ["x"] for name in ("id", "IDX", "guid", "uid", "split", "text", "labels")}
    parquet({**rows, "label": [0], "length": [3]}, tmp_path / "a")
    assert load(tmp_path).texts == ("text",)


def test_the_texts_to_take_can_be_named(tmp_path) -> None:
    rows = {"label": [0, 1], "url": ["u", "v"], "b": ["Hace sol.", "Llueve."], "id": ["Uno", "Dos"]}
    parquet(rows, tmp_path / "a")
    target = load(tmp_path, columns=Columns(("id", "b")))
    assert target.texts == ("id", "b")
    assert target.parts["train"].texts == [["Uno", "Hace sol."], ["Dos", "Llueve."]]
    text("0\tHace sol.\tLlueve.\n1\tNieva.\tTruena.\n", tmp_path / "t" / "b")
    part = load(tmp_path / "t", columns=Columns(("column 3",))).parts["train"]
    assert part.texts == [["Llueve."], ["Truena."]]


def test_only_needed_columns_are_read(tmp_path, monkeypatch) -> None:
    read: list[list[str]] = []
    real = pq.ParquetFile.read

    def spy(self, columns):
        read.append(columns)
        return real(self, columns=columns)

    monkeypatch.setattr(pq.ParquetFile, "read", spy)
    parquet({"label": [0], "text": ["Hace sol."], "vector": [[0.5]], "id": ["a"]}, tmp_path / "a")
    load(tmp_path)
    assert read == [["label", "text"]]


def test_our_instances_describe_themselves(tmp_path, make_corpus, write_records) -> None:
    records = write_records([document(n) for n in range(1000, 1100)])
    build(make_corpus(), records, tmp_path / "ours" / "mine", "upstream")
    options = {"task": "discourse_relations", "language": "en", "columns": Columns(("nothing",))}
    (location,) = find_targets(tmp_path / "ours", **options)
    target = pickle.loads(pickle.dumps(location)).load()
    assert target.task is not None
    assert (target.name, target.task.name) == ("sp_mine", "sentence_position")
    assert (target.corpus, target.records, target.language) == ("mine", "documents", "es")
    assert (target.labels, target.texts) == (["1", "2", "3", "4", "5"], ("sentences",))
    part = target.parts["train"]
    assert len(part.documents or ()) == len(part.labels) == len(part.texts) > 0
    assert {len(row) for row in part.texts} == {5}


NAMED = {"label": {"names": ["a", "b"], "_type": "ClassLabel"}}
EMPTY = pa.array([[]], pa.list_(pa.string()))


def cells(labels: Any, texts: Any, features: dict[str, Any] | None = None) -> dict[str, pa.Table]:
    """Return a file with two columns."""
    return {"train.parquet": table({"label": labels, "t": texts}, features)}


def described(about: str) -> pa.Table:
    """Return what describes itself, as ours do."""
    return pa.table({"label": ["a"], "t": ["x"]}).replace_schema_metadata({"probeta": about})


OK = {"label": ["a", "b"], "t": ["x", "y"]}
NUMBERED = table({"label": [0, 1], "t": ["x", "y"]}, NAMED)
UNKNOWN = '{"dataset": "a", "language": "", "records": "", "task": "x"}'
LATIN = {"label": ["a"], "t": pa.array([b"se\xf1al"]).view("string")}
# The files, and the words of the message.
BAD: list[tuple[dict[str, Any], list[str]]] = [
    *TABLES["bad"],
    (cells([1.0, 1.5], ["x", "y"]), ["row 1", "1.5"]),
    (cells([[1], [0]], ["x", "y"]), ["row 0", "[1]"]),
    (cells([True, False], ["x", "y"]), ["row 0", "True"]),
    (cells([0, 2], ["x", "y"], NAMED), ["row 1", "among a, b", "2"]),
    (cells([0, 1], [["x"], ["x", "y"]]), ["row 1", "1 texts", "2"]),
    (cells([0], EMPTY), ["row 0", "one text or more"]),
    (cells(pa.array([], "int64"), pa.array([], "string")), ["one row or more"]),
    (cells([1, 0], [1, 2]), ["one or more with text"]),
    ({"train.parquet": OK, "test.parquet": {"label": ["a"]}}, ["test.parquet", "label, t"]),
    ({"train.parquet": OK, "test.parquet": {"label": ["a"], "t": [1]}}, ["t (int64)"]),
    ({"train.parquet": NUMBERED, "test.parquet": {"label": ["c"], "t": ["x"]}}, ["row 0", "'c'"]),
    ({"train.parquet": b"PAR1"}, ["a Parquet file"]),
    ({"train.parquet": described('{"task": "sent')}, ["a Parquet file", "JSONDecodeError"]),
    ({"train.parquet": described(UNKNOWN)}, ["a Parquet file", "KeyError: 'x'"]),
    ({"test.parquet": LATIN}, ["test.parquet", "a Parquet file", "UnicodeDecodeError"]),
    ({"train-0.parquet": OK, "train-1.parquet": b"PAR1"}, ["train-1.parquet", "a Parquet file"]),
    ({"train.txt": "1\tseñal\n".encode("latin-1")}, ["UTF-8"]),
]


@pytest.mark.parametrize(
    ("labels", "features", "found"),
    [
        (["a", None], None, ["a", "null"]),
        ([1.0, float("nan")], None, ["1", "nan"]),
        ([0, -1], NAMED, ["a", "-1"]),
        (["1", "-1"], None, ["1", "-1"]),
    ],
)
def test_withheld_labels_and_nulls_are_read(tmp_path, labels, features, found) -> None:
    texts = [["x"], [None]] if features is None else ["x", None]
    parquet({"label": labels, "t": texts}, tmp_path / "a", features=features)
    target = load(tmp_path)
    part = target.parts["train"]
    assert part.texts == [["x"], [""]]
    assert [target.labels[number] for number in part.labels] == found


@pytest.mark.parametrize(("files", "words"), BAD)
def test_bad_files_are_refused(tmp_path, files: dict[str, Any], words: list[str]) -> None:
    for name, content in files.items():
        if isinstance(content, str | bytes):
            text(content, tmp_path, name)
        else:
            written = content if isinstance(content, pa.Table) else pa.table(content)
            pq.write_table(written, tmp_path / name)
    with pytest.raises(InputError) as error:
        load(tmp_path)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.parametrize(
    ("name", "lines", "wrong"),
    [
        ("train.tsv", ["Uno.\t1", "Dos.", "Tres.\t0", "Cuatro."], [2, 4]),
        ("train.csv", ["text,label", "Uno.,1", "Dos.", "Tres.,0", '"Seis,1'], [3, 5]),
        ("train.jsonl", ['{"text": "Uno.", "label": 1}', "{", "[7]"], [2, 3]),
        ("train.jsonl", [f'{{"text": "A.", "label": {n}}}' for n in ("1", "[]", "[]")], [2, 3]),
        (
            "train.jsonl",
            [f'{{"text": "{t}", "label": 1}}' for t in ("\\ud83d", "A.", "\\ud83d")],
            [1, 3],
        ),
        ("train.tsv", [f"{'a ' * 50_001}\t1", "Uno.\t1", f"{'b ' * 50_001}\t0"], [1, 3]),
        ("train.jsonl", ['["A.", 1]', *[f"[{'[' * 60}{']' * 60}, 1]"] * 2], [2, 3]),
    ],
)
def test_all_wrong_rows_are_named_at_once(tmp_path, name: str, lines: list[str], wrong) -> None:
    (tmp_path / name).write_text("\n".join(lines), "utf-8")
    (location,) = find_targets(tmp_path)
    with pytest.raises(RawErrors) as caught:
        location.load()
    assert [fault.where for fault in caught.value.faults] == [
        f"{tmp_path / name}, line {number}" for number in wrong
    ]


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "json", "parquet"])
def test_mutants_are_read_or_refused(tmp_path, kind: str) -> None:
    rows = {"text": ["Uno .", "Dos «tres» .", "Sí 😀 ."] * 4, "label": ["a", "b", "c"] * 4}
    pq.write_table(
        table(rows, {"label": {"names": ["a", "b"]}}), path := tmp_path / f"train.{kind}"
    )
    cells = [*zip(*rows.values(), strict=True)]
    lines = [json.dumps(dict(zip(rows, row, strict=True))) for row in cells]
    written = {"jsonl": "\n".join(lines), "json": f"[{','.join(lines)}]"}
    for ending, between in {"tsv": "\t", "csv": ","}.items():
        written[ending] = "\n".join(map(between.join, [[*rows], *cells]))
    if kind in written:
        path.write_text(written[kind], "utf-8")
    sample, read = path.read_bytes(), 0
    count, _, seed = os.environ.get("PROBETA_MUTANTS", "40 ").partition(" ")
    for number in range(int(count)):
        path.write_bytes(mutated(path.name, sample, Chance(kind, f"{seed}{number}")))
        with suppress(InputError):
            load(tmp_path)
            read += 1
    assert read


def test_a_folder_or_a_task_that_is_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load(tmp_path / "in")
    with pytest.raises(InputError, match="--task sentence_order"):
        find_targets(tmp_path, task="sentence_order")


@pytest.mark.parametrize(
    "columns",
    [
        *(Columns(("text", "texto")), Columns(("label",)), Columns(("length",))),
        *(Columns(label="etiqueta"), Columns(score="puntos")),
    ],
)
def test_columns_that_are_not_there_are_refused(tmp_path, columns: Columns) -> None:
    parquet({"label": ["a"], "text": ["x"], "length": [3]}, tmp_path / "a")
    text("1\tx\ty\n", tmp_path / "t" / "a")
    shown = {"a": "label (string), text (string), length (int64)"}
    shown |= {"t": "column 1, column 2, column 3"}
    for folder, names_shown in shown.items():
        with pytest.raises(InputError) as error:
            load(tmp_path / folder, columns=columns)
        assert error.value.found == names_shown


SOL, LLUVIA = "Hoy hace sol en la plaza.", "Ayer llovió en toda la sierra."


def task_of(target: Target) -> str | None:
    return target.task.name if target.task else None


def named(target: Target, split: str = "train") -> list[tuple[str, ...]]:
    """Return the rows of a split: the class, then the texts."""
    texts = target.parts[split].texts  # type: ignore[index]
    return [(label, *row) for label, row in zip(classes(target)[split], texts, strict=True)]


QUESTIONS = "HUM:ind ¿ Quién vino ayer ?\nNUM: ¿ Cuántos ríos hay ?\nHUM:gr ¿ Qué equipo ganó ?\n"
ASKED = [("HUM", "¿Quién vino ayer?"), ("NUM", "¿Cuántos ríos hay?"), ("HUM", "¿Qué equipo ganó?")]
QUOTED = f'text,label\n"Dijo ""sí""\ny se fue.",b\n{SOL},a\n'
UNQUOTED = [("b", 'Dijo "sí"\ny se fue.'), ("a", SOL)]


@pytest.mark.parametrize(
    ("files", "rows", "lines"),
    [
        ({"train.txt": f"{SOL}\t0\n{LLUVIA}\t1\n"}, [("0", SOL), ("1", LLUVIA)], [1, 2]),
        ({"train.txt": QUESTIONS}, ASKED, [1, 2, 3]),
        ({"train_5500.label": QUESTIONS, "TREC_10.label": QUESTIONS}, ASKED, [1, 2, 3]),
        ({"train.csv": QUOTED}, UNQUOTED, [2, 4]),
        ({"train.csv": QUOTED.replace(",", ";")}, UNQUOTED, [2, 4]),
        (
            {"test.csv": f"text,label\n{SOL},b\n", "train.csv": f"label,text\na,{LLUVIA}\n"},
            [("a", LLUVIA)],
            [2],
        ),
        (
            {"train.jsonl": '{"text": "Sol\\ny calor .", "label": 1}\n{"text": 3, "label": 0}\n'},
            [("1", "Sol\ny calor."), ("0", "3")],
            [1, 2],
        ),
        (
            {"a.objective": f"{SOL}\n{LLUVIA}\n", "a.subjective": "Qué bonito .\n", "a.rst": "x"},
            [("objective", SOL), ("objective", LLUVIA), ("subjective", "Qué bonito.")],
            [1, 2, 1],
        ),
    ],
)
def test_labels_and_texts_of_a_layout(
    tmp_path, files: dict[str, str], rows: list[tuple[str, ...]], lines: list[int]
) -> None:
    target = load(write(tmp_path / "a", files))
    assert named(target) == rows
    assert target.ordered == (len(files) < 3)
    assert [place.number for place in target.parts["train"].places] == lines


def test_pairs_may_have_no_label(tmp_path) -> None:
    target = load(write(tmp_path, {"BSO/valid.txt": f"{SOL}\t{LLUVIA}\n{LLUVIA}\t{SOL}\n"}))
    assert (target.answer, target.labels, target.kind) == ("", [], "nothing")
    assert target.parts["validation"].texts == [[SOL, LLUVIA], [LLUVIA, SOL]]
    assert task_of(target) == "sentence_ordering"


def test_a_header_tells_texts_from_ids_and_labels_from_scores(tmp_path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgement\n"
    rows = f"1\t{SOL}\t{LLUVIA}\t3.5\tNEUTRAL\n2\t{LLUVIA}\t{SOL}\t4\tENTAILMENT\n"
    files = {f"SICK/SICK_{split}.txt": header + rows for split in ("train", "trial", "test")}
    target = load(write(tmp_path, files))
    assert target.name == "SICK"
    assert list(target.parts) == ["train", "validation", "test"]
    assert target.texts == ("sentence_A", "sentence_B")
    assert named(target) == [("NEUTRAL", SOL, LLUVIA), ("ENTAILMENT", LLUVIA, SOL)]
    scored = load(tmp_path, columns=Columns(score="relatedness_score"))
    assert scored.kind == "scores"
    assert scored.parts["test"].scores.tolist() == [3.5, 4.0]
    assert scored.parts["test"].places[1] == ("SICK_test.txt", 3, "")


def test_parallel_files_are_one_dataset(tmp_path) -> None:
    columns = {"s1": f"{SOL}\n{SOL}\n", "s2": f"{LLUVIA}\nNo .\n"}
    columns |= {"labels": "neutral\ncontradiction\n"}
    splits = ("train", "dev")
    files = {f"NLI/{name}.{split}": text for split in splits for name, text in columns.items()}
    target = load(write(tmp_path, files))
    assert (target.texts, target.answer) == (("s1", "s2"), "labels")
    assert named(target, "validation") == [("neutral", SOL, LLUVIA), ("contradiction", SOL, "No.")]
    write(tmp_path, {"NLI/labels.dev": "neutral\n"})
    with pytest.raises(InputError, match=r"labels\.dev 1, s1\.dev 2, s2\.dev 2"):
        load(tmp_path)


def test_pairs_of_sts_without_a_score_are_left_out(tmp_path) -> None:
    pair = f"{SOL}\t{LLUVIA}\n"
    files = {"STS.input.news.txt": pair * 3, "STS.gs.news.txt": "2.8\n\n4\n"}
    files |= {"STS.input.wikipedia.txt": pair, "STS.gs.wikipedia.txt": "0\n"}
    target = load(write(tmp_path / "STS14", files))
    assert target.parts["test"].scores.tolist() == [2.8, 4.0, 0.0]
    assert [place.number for place in target.parts["test"].places] == [1, 3, 1]


def test_units_of_a_tree_stay_apart(tmp_path) -> None:
    rows = '["NS-Causa", ["Hace sol", "y calor ."], ["Es verano ."]]\n["NN-Lista", ["a"], ["b"]]\n'
    target = load(write(tmp_path / "RST", {"RST_TRAIN.jsonl": rows, "RST_DEV.jsonl": rows}))
    assert (task_of(target), target.records) == ("discourse_relations", "trees")
    assert named(target)[0] == ("NS-Causa", "Hace sol y calor.", "Es verano.")
    assert target.parts["train"].sentences[0] == ["Hace sol", "y calor.", "Es verano."]


def test_scores_are_told_from_classes(tmp_path) -> None:
    rows = "".join(f"{SOL}\t{LLUVIA}\t{n / 4}\n" for n in range(16))
    target = load(write(tmp_path / "sts", {"sts-train.csv": rows}))
    assert target.kind == "scores"
    assert target.parts["train"].scores.tolist() == [n / 4 for n in range(16)]


def test_the_hub_converts_to_a_folder_for_each_split(tmp_path) -> None:
    rows = {"text": [SOL, LLUVIA], "topic": ["weather"] * 2, "class": [1, 0]}
    for split in ("train", "test"):
        parquet(rows, tmp_path / "default" / split, "0000.parquet")
    target = load(tmp_path)
    assert (target.name, target.texts, target.answer) == ("default", ("text",), "class")
    assert list(target.parts) == ["train", "test"]


def test_data_without_labels_are_read(tmp_path) -> None:
    parquet({"id": ["1", "2"], "frase": [SOL, LLUVIA], "url": ["h", "i"]}, tmp_path)
    target = load(tmp_path)
    assert (target.texts, target.answer, target.kind) == (("frase",), "", "nothing")


@pytest.mark.parametrize(
    ("folder", "row", "task", "records"),
    [
        ("SP/x", ["0", *[SOL] * 5], None, "documents"),
        ("DC/x", ["0", *[SOL] * 6], "discourse_coherence", "documents"),
        ("dc/x", ["0", *["¡ no , hombre !"] * 6], "discourse_coherence", "dialogues"),
        ("SSP/x", ["0", SOL], "section_prediction", "documents"),
        ("x", ["0", *[SOL] * 6], None, "documents"),
        ("x", ["0", *["hoy no", "pues sí"] * 3], None, "dialogues"),
        ("x", ["0", "hoy no"], None, "examples"),
    ],
)
def test_folders_and_texts_tell_what_rows_are(
    tmp_path, folder: str, row: list[str], task: str | None, records: str
) -> None:
    rows = "\t".join(row) + "\n" + "\t".join(["1", *row[1:]]) + "\n"
    target = load(write(tmp_path, {f"{folder}/train.txt": rows}))
    assert (task_of(target), target.records) == (task, records)


def test_pickles_are_named_and_not_opened(tmp_path) -> None:
    files = {"rst/RST_TRAIN.pkl": "not even a pickle", "sp/train.txt": f"1\t{SOL}\n0\t{LLUVIA}\n"}
    assert load(write(tmp_path, files)).name == "sp"
    assert pickles_in(tmp_path) == [tmp_path / "rst" / "RST_TRAIN.pkl"]


def test_halves_hold_neighbours_together_and_half_of_each_class(tmp_path) -> None:
    rows = "".join(f"{label}\t{SOL} {n}\n" for label in "01" for n in range(10))
    target = load(write(tmp_path / "a", {"valid.txt": rows}))
    (train, test), (other_train, _) = target.halves()
    assert np.bincount(train.labels).tolist() == np.bincount(test.labels).tolist() == [5, 5]
    assert [place.number for place in train.places] == [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]
    assert other_train.places == test.places


# --- auditing hub --------------------------------------------------------------------------------

CARD = TABLES["card"]
HUB_TEXTS = ["Una obra muy buena.", "Una obra muy mala.", "Ni buena ni mala."]


def write_hub_parquet(path: Path, rows: int = 2) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"label": list("bmm")[:rows], "text": HUB_TEXTS[:rows]}), path)


NAME = "hf://datasets/org/data"


def test_the_configurations_of_the_card_are_datasets(served: Path, requests) -> None:
    (served / "README.md").write_text(CARD, "utf-8")
    write_hub_parquet(served / "op" / "a-1.parquet")
    write_hub_parquet(served / "op" / "b.parquet", 3)
    (served / "frases.csv").write_text("texto,clase\nHoy llueve.,a\nHoy nieva.,b\n", "utf-8")
    (served / "frases2.csv").write_text("clase,texto\na,Hoy truena.\n", "utf-8")
    (served / "script.py").write_text("raise SystemExit", "utf-8")
    (served / "train.pkl").write_bytes(pickle.dumps([]))
    source, locations = hub_targets(NAME, None)
    assert (source.repository, source.revision) == ("org/data", commit(served))
    assert [location.name for location in locations] == ["data_opiniones", "data_.._frases"]
    first, second = map(Location.load, locations)
    rows = {split: len(part.texts) for split, part in first.parts.items()}
    assert rows == {"train": 2, "test": 3}
    assert (first.language, second.answer, second.texts) == ("es", "clase", ("texto",))
    assert second.parts["validation"].texts[2] == ["Hoy truena."]
    assert "a-1.parquet" in " ".join(requests)
    assert not any(name in " ".join(requests) for name in ("script.py", "train.pkl"))


def test_a_revision_is_resolved_and_stated(served: Path, tmp_path) -> None:
    write_hub_parquet(served / "train.parquet", 3)
    old = tmp_path / "served" / "data@v1"
    write_hub_parquet(old / "train.parquet")
    name = f"{NAME}@v1"
    report = audit(name, tmp_path / "audit", language="es")
    source = {"name": name, "repository": "org/data", "asked": "v1", "revision": commit(old)}
    assert report["source"] == source
    assert report["datasets"]["data"]["rows"] == {"train": 2}
    page = (tmp_path / "audit" / "audit.md").read_text("utf-8")
    assert f"org/data at the commit {commit(old)}" in page


def test_a_folder_of_the_repository_may_be_named(served: Path) -> None:
    for name in ("uno", "dos"):
        write_hub_parquet(served / name / "train.parquet")
    _, (location,) = hub_targets(f"{NAME}/uno", "es")
    assert location.name == "data"
    _, locations = hub_targets(NAME, "es")
    assert [location.name for location in locations] == ["data_dos", "data_uno"]


def test_what_the_hub_converted_stands_for_scripts(served: Path, tmp_path) -> None:
    (served / "data.py").write_text("raise SystemExit", "utf-8")
    converted = tmp_path / "served" / "data@convert"
    write_hub_parquet(converted / "default" / "train" / "0000.parquet")
    source, (location,) = hub_targets(NAME, "es")
    assert source.revision == commit(converted)
    assert len(location.load().parts["train"].texts) == 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("hf://datasets/data", "card", "hf://datasets/ORG/NAME"),
        (NAME, "", "RepositoryNotFound"),
        (f"{NAME}@v9", "card", "RevisionNotFound"),
        (NAME, "pickle", "pickles, which can run any code .* train.pkl"),
        (NAME, "card", "one language\n.*es, en"),
    ],
)
def test_what_cannot_be_read_is_refused(served: Path, name: str, content: str, words: str) -> None:
    if content == "pickle":
        (served / "train.pkl").write_bytes(pickle.dumps([]))
    elif content:
        (served / "README.md").write_text("---\nlanguage: [es, en]\n---\n", "utf-8")
        write_hub_parquet(served / "train.parquet")
    else:
        served.rmdir()
    with pytest.raises(InputError, match=words):
        hub_targets(name, None)


def test_too_much_is_not_downloaded(served: Path, monkeypatch, requests) -> None:
    write_hub_parquet(served / "train.parquet")
    monkeypatch.setattr("probeta.auditing.MAX_BYTES", 100)
    with pytest.raises(InputError, match="name a folder"):
        hub_targets(NAME, "es")
    assert not any("resolve" in request for request in requests)


def test_without_a_network_the_message_is_clear(served: Path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(InputError, match="check the connection"):
        hub_targets(NAME, "es")


@pytest.mark.skipif(find_spec("mteb") is not None, reason="mteb is installed")
def test_a_task_of_mteb_needs_mteb() -> None:
    with pytest.raises(InputError, match=r"(extra |\[)mteb\b"):
        locate("mteb:STSES")
