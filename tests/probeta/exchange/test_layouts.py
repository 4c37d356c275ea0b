"""The layouts in which others publish datasets: SentEval's, DiscoEval's, the Hub's."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.auditing.target import Columns, Location, Target
from corpora_recipes.running.errors import InputError
from probeta.exchange.third_party import find_targets, pickles_in

SOL, LLUVIA = "Hoy hace sol en la plaza.", "Ayer llovió en toda la sierra."


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return folder


def load(folder: Path, **options: Any) -> Target:
    (location,) = find_targets(folder, **options)
    return location.load()


def task_of(target: Target) -> str | None:
    return target.task.name if target.task else None


def named(target: Target, split: str = "train") -> list[tuple[str, ...]]:
    """Return the rows of a split: the class, then the texts."""
    part = target.parts[split]  # type: ignore[index]
    classes = [target.labels[number] for number in part.labels]
    return [(label, *texts) for label, texts in zip(classes, part.texts, strict=True)]


def test_labels_may_stand_last(tmp_path) -> None:
    rows = f"{SOL}\t0\n{LLUVIA}\t1\n{SOL}\t0\n"
    target = load(write(tmp_path, {"tass/train.txt": rows}))
    assert (target.answer, target.texts) == ("column 2", ("column 1",))
    assert named(target) == [("0", SOL), ("1", LLUVIA), ("0", SOL)]


def test_pairs_may_have_no_label(tmp_path) -> None:
    target = load(write(tmp_path, {"BSO/valid.txt": f"{SOL}\t{LLUVIA}\n{LLUVIA}\t{SOL}\n"}))
    assert (target.answer, target.labels, target.kind) == ("", [], "nothing")
    assert target.parts["validation"].texts == [[SOL, LLUVIA], [LLUVIA, SOL]]
    assert task_of(target) == "sentence_ordering"


def test_questions_begin_with_their_class(tmp_path) -> None:
    rows = "HUM:ind ¿ Quién vino ayer ?\nNUM: ¿ Cuántos ríos hay ?\nHUM:gr ¿ Qué equipo ganó ?\n"
    files = {"sqc/train.txt": rows, "trec/train_5500.label": rows, "trec/TREC_10.label": rows}
    sqc, trec = map(Location.load, find_targets(write(tmp_path, files)))
    assert named(sqc)[:2] == [("HUM", "¿Quién vino ayer?"), ("NUM", "¿Cuántos ríos hay?")]
    assert list(trec.parts) == ["train", "test"]


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
    files = {
        f"NLI/{column}.{split}": lines
        for split in ("train", "dev")
        for column, lines in (
            ("s1", f"{SOL}\n{SOL}\n"),
            ("s2", f"{LLUVIA}\nNo .\n"),
            ("labels", "neutral\ncontradiction\n"),
        )
    }
    target = load(write(tmp_path, files))
    assert (target.texts, target.answer) == (("s1", "s2"), "labels")
    assert named(target, "validation") == [("neutral", SOL, LLUVIA), ("contradiction", SOL, "No.")]
    write(tmp_path, {"NLI/labels.dev": "neutral\n"})
    with pytest.raises(InputError, match=r"labels\.dev 1, s1\.dev 2, s2\.dev 2"):
        load(tmp_path)


def test_each_class_may_have_a_file(tmp_path) -> None:
    files = {"fac.objective": f"{SOL}\n{LLUVIA}\n", "fac.subjective": "Qué bonito .\n"}
    target = load(write(tmp_path / "fac", {**files, "README.md": "x", "README.rst": "x"}))
    subjective = ("subjective", "Qué bonito.")
    assert named(target) == [("objective", SOL), ("objective", LLUVIA), subjective]
    assert not target.ordered
    _, second, last = map(str, target.parts["train"].places)
    assert (second, last) == ("fac.objective, line 2", "fac.subjective, line 1")


def test_pairs_of_sts_without_a_score_are_left_out(tmp_path) -> None:
    pair = f"{SOL}\t{LLUVIA}\n"
    files = {
        "STS.input.news.txt": pair * 3,
        "STS.gs.news.txt": "2.8\n\n4\n",
        "STS.input.wikipedia.txt": pair,
        "STS.gs.wikipedia.txt": "0\n",
    }
    target = load(write(tmp_path / "STS14", files))
    assert target.parts["test"].scores.tolist() == [2.8, 4.0, 0.0]
    assert [place.number for place in target.parts["test"].places] == [1, 3, 1]


def test_units_of_a_tree_stay_apart(tmp_path) -> None:
    rows = '["NS-Causa", ["Hace sol", "y calor ."], ["Es verano ."]]\n["NN-Lista", ["a"], ["b"]]\n'
    target = load(write(tmp_path / "RST", {"RST_TRAIN.jsonl": rows, "RST_DEV.jsonl": rows}))
    assert (task_of(target), target.records) == ("discourse_relations", "trees")
    assert named(target)[0] == ("NS-Causa", "Hace sol y calor.", "Es verano.")
    assert target.parts["train"].sentences[0] == ["Hace sol", "y calor.", "Es verano."]


def test_line_breaks_and_numbers_stay_in_texts(tmp_path) -> None:
    rows = '{"text": "Hace sol\\ny calor .", "label": 1}\n{"text": 3, "label": 0}\n'
    target = load(write(tmp_path / "a", {"train.jsonl": rows}))
    assert named(target) == [("1", "Hace sol\ny calor."), ("0", "3")]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_values_may_be_quoted(tmp_path, delimiter: str) -> None:
    rows = [["text", "label"], ['"Dijo ""sí""\ny se fue."', "b"], [SOL, "a"]]
    content = "".join(delimiter.join(row) + "\n" for row in rows)
    target = load(write(tmp_path / "a", {"test.csv": content}))
    assert named(target, "test") == [("b", 'Dijo "sí"\ny se fue.'), ("a", SOL)]
    assert [place.number for place in target.parts["test"].places] == [3, 4]


def test_columns_are_found_by_name_in_each_split(tmp_path) -> None:
    files = {"a/train.csv": f"text,label\n{SOL},b\n", "a/test.csv": f"label,text\na,{LLUVIA}\n"}
    target = load(write(tmp_path, files))
    assert (named(target), named(target, "test")) == ([("b", SOL)], [("a", LLUVIA)])


def test_scores_are_told_from_classes(tmp_path) -> None:
    rows = "".join(f"{SOL}\t{LLUVIA}\t{n / 4}\n" for n in range(16))
    target = load(write(tmp_path / "sts", {"sts-train.csv": rows}))
    assert target.kind == "scores"
    assert target.parts["train"].scores.tolist() == [n / 4 for n in range(16)]


def test_the_hub_converts_to_a_folder_for_each_split(tmp_path) -> None:
    for split in ("train", "test"):
        folder = tmp_path / "default" / split
        folder.mkdir(parents=True)
        table = pa.table({"text": [SOL, LLUVIA], "topic": ["weather", "weather"], "class": [1, 0]})
        pq.write_table(table, folder / "0000.parquet")
    target = load(tmp_path)
    assert (target.name, target.texts, target.answer) == ("default", ("text",), "class")
    assert list(target.parts) == ["train", "test"]


def test_data_without_labels_are_read(tmp_path) -> None:
    table = pa.table({"id": ["1", "2"], "frase": [SOL, LLUVIA], "url": ["h", "i"]})
    pq.write_table(table, tmp_path / "train.parquet")
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
