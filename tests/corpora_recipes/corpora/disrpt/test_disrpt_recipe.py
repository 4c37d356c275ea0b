"""Tests of reading the treebanks of the DISRPT shared task."""

import json
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from recipe_reading import read_settled as read
from recipe_reading import recipe_corpus, refused

from corpora_recipes.corpora.disrpt.recipe import MAPPING, blocks, sources
from corpora_recipes.reading import read as read_file
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

OF_2023 = (
    *("doc", "unit1_toks", "unit2_toks", "unit1_txt", "unit2_txt", "s1_toks", "s2_toks"),
    *("unit1_sent", "unit2_sent", "dir", "orig_label", "label"),
)
OF_2025 = (*OF_2023[:5], "u1_raw", "u2_raw", *OF_2023[5:10], "rel_type", *OF_2023[10:])
ROW = {
    **{"doc": "as1", "unit1_toks": "1-5", "unit2_toks": "6-9", "dir": "1<2", "rel_type": "none"},
    **{"unit1_txt": "¿ Por qué no ?", "unit2_txt": "porque llueve , dijo", "label": "causal"},
    "orig_label": "causa",
}


def the_corpus(treebank: str = "spa.rst.sctb", **options: Any) -> Corpus:
    language = {"spa": "es", "eng": "en", "fra": "fr"}[treebank[:3]]
    return recipe_corpus("disrpt", language, treebank=treebank, **options)


def read_rows(
    folder: Path,
    *rows: dict[str, str],
    treebank: str = "spa.rst.sctb",
    columns: tuple[str, ...] = OF_2025,
    **options: Any,
) -> tuple[list[Example], dict[str, int]]:
    """Return the examples of the rows, each changed from ``ROW``, and the drops by reason."""
    path = folder / f"data/{treebank}/{treebank}_dev.rels"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(columns)]
    for changes in rows:
        row = ROW | changes
        row = {"u1_raw": row["unit1_txt"], "u2_raw": row["unit2_txt"]} | row
        lines.append("\t".join(row.get(column, "") for column in columns))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    examples, drops = read(folder, the_corpus(treebank, **options))
    dropped = {reason: n for (unit, reason), n in drops.dropped.items() if n and unit == "examples"}
    return sorted(examples.values(), key=lambda example: example.id), dropped


def test_relations_of_no_type() -> None:
    with pytest.raises(InputError, match="one of all, explicit, implicit"):
        blocks(Path(), the_corpus(relations="altlex"))


# Traps of the format


@pytest.mark.parametrize(("treebank", "row", "texts"), TABLES["natural_text"])
def test_natural_text(tmp_path, treebank: str, row: dict[str, str], texts: list[str]) -> None:
    ((example,), _) = read_rows(tmp_path, row, treebank=treebank)
    assert [*example.texts] == texts


def test_units_are_in_the_order_of_the_text(tmp_path: Path) -> None:
    turned = {"unit1_toks": "10-12,20", "unit2_toks": "3", "dir": "1>2"}
    inside = {"unit1_toks": "1-2,8-9", "unit2_toks": "3-7", "dir": "1>2"}
    (first, second), _ = read_rows(tmp_path, turned, inside)
    assert (first.texts[0], first.columns["direction"]) == ("porque llueve, dijo", "1<2")
    assert (second.texts[0], second.columns["direction"]) == ("¿Por qué no?", "1>2")


def test_what_is_dropped(tmp_path: Path) -> None:
    rows = [
        {},
        {},
        {"label": "temporal"},
        {"doc": "as2"},
        {"doc": "as3", "unit2_toks": "_", "unit2_txt": "_"},
        {"doc": "as4", "u2_raw": "___ <*> ____"},
        {"doc": "as5", "u1_raw": "\u200b", "unit1_txt": "\u200b"},
        {"doc": "as6", "unit1_toks": "1-x"},
        {"doc": "as7", "label": "cause", "orig_label": "x"},
        {"doc": "as8", "dir": "1=2"},
        {"doc": "as9", "u1_raw": "Llueve \x81."},
        {"doc": "as10", "u1_raw": "Ven con_ migo ."},
    ]
    examples, dropped = read_rows(tmp_path, *rows)
    assert [example.id for example in examples] == ["spa.rst.sctb_dev/2", "spa.rst.sctb_dev/5"]
    reasons = ("repeated", "second_label", "missing_unit", "withheld_text", "empty_text")
    odd = ("unknown_unit", "unknown_label", "unknown_direction", "control_character")
    assert dropped == dict.fromkeys((*reasons, *odd, "joined_words"), 1)


def test_a_file_of_another_format_is_refused_as_a_whole(tmp_path: Path) -> None:
    rows = [{"doc": f"b{number}", "dir": "a>b"} for number in range(9)]
    _, dropped = read_rows(tmp_path, {}, *rows)
    assert dropped == {"unknown_direction": 9}
    with refused("", "at least half of the documents", "unknown_direction (9 of 10 examples)"):
        read_file(the_corpus(), tmp_path, tmp_path / "r.parquet", workers=1, executor="local")


def test_a_treebank_without_directions_is_read(tmp_path: Path) -> None:
    turned = {"unit1_toks": "6-9", "unit2_toks": "1-5", "doc": "b", "dir": "_"}
    examples, dropped = read_rows(tmp_path, {"dir": "_"}, turned)
    assert [example.columns["direction"] for example in examples] == ["", ""]
    assert dropped == {}


def test_files_of_2023_get_the_classes_of_2025(tmp_path: Path) -> None:
    rows = [
        {"label": "cause", "orig_label": "Causa"},
        {"doc": "b", "label": "x", "orig_label": "Contingency.Purpose.Arg2-as-goal;Temporal"},
        {"doc": "c", "label": "temporal", "orig_label": "x"},
    ]
    with refused("", MAPPING):
        read_rows(tmp_path, *rows, columns=OF_2023)
    (tmp_path / MAPPING).parent.mkdir()
    (tmp_path / MAPPING).write_text(json.dumps({"causa": "causal", "arg2-as-goal": "purpose"}))
    # GUM's test of 2025 has one row of an older label, and a blank after the relation.
    rows.append({"doc": "d", "label": "contingency.cause", "orig_label": "causa "})
    rows.append({"doc": "e", "label": "Arg2-as-goal", "orig_label": "y"})
    examples, _ = read_rows(tmp_path, *rows, columns=OF_2023)
    labels = ["causal", "purpose", "temporal", "causal", "purpose"]
    assert [example.label for example in examples] == labels
    # Without natural text, that of GUM is tokens too.
    gum, _ = read_rows(tmp_path, rows[2], columns=OF_2023, treebank="eng.erst.gum")
    assert gum[0].texts == ("¿Por qué no?", "porque llueve, dijo")
    _, dropped = read_rows(tmp_path, rows[2] | {"label": "sequence"}, columns=OF_2023)
    assert dropped == {"unknown_label": 1}


def test_files_are_pinned_to_a_commit() -> None:
    *files, mapping = sources(the_corpus())
    assert [Path(file.file).stem.rpartition("_")[2] for file in files] == ["train", "dev", "test"]
    assert all(file.sha256 and "/30efe3716d6f" in file.urls[0] for file in files)
    assert mapping.urls[0].endswith(f"/{MAPPING}")
