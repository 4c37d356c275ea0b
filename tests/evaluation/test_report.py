"""The report: the table's text, the figure's bytes, and results that must not be compared."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora_recipes.errors import InputError
from evaluation.report import write_report
from evaluation.results import Results, Score

SP = Score(
    dataset="sp_wiki",
    task="sentence_position",
    corpus="wikipedia",
    language="es",
    version="1.0.0",
    digest="5" * 64,
    rows={"train": 10000, "validation": 4000, "test": 4000},
    test_documents=4000,
    accuracy=0.4521,
    interval=(0.4366, 0.4675),
    majority=0.2052,
    chance=0.2,
    chosen={"strength": 1.0},
    validation_accuracy=0.46,
)
DR = replace(
    SP,
    dataset="dr_rst",
    task="discourse_relations",
    digest="6" * 64,
    rows={"train": 900, "validation": 120, "test": 130},
    accuracy=0.3,
    interval=(0.22, 0.38),
    majority=0.25,
    chance=1 / 29,
)
ONE = Results(
    format=1,
    name="char_hash",
    encoder={
        "encoder": "char_hash",
        "revision": "1",
        "form": "natural",
        "dimension": 512,
        "options": {"dimension": 512, "shortest": 3},
    },
    protocol={"name": "standard", "version": 1},
    bootstrap={"resamples": 2000, "coverage": 0.95, "unit": "document"},
    seed=1111,
    versions={"python": "3.11.7"},
    scores=(DR, SP),
)
TWO = replace(
    ONE,
    name="use",
    encoder={**ONE.encoder, "encoder": "use_multilingual", "revision": "0.2.1", "options": {}},
    scores=(replace(SP, accuracy=0.6, interval=(0.585, 0.615)),),
)


def report(folder: Path, *results: Results) -> Path:
    write_report(results, folder / "out")
    return folder / "out"


def test_table(tmp_path: Path) -> None:
    assert (report(tmp_path, TWO, ONE) / "report.md").read_text("utf-8") == (
        "# Scores\n\n"
        "Accuracy on test in per cent, with the 95 % bootstrap interval in brackets (2,000 "
        "resamples of the test's documents). Majority is the accuracy of always answering with "
        "train's most frequent class. Probe protocol `standard`, version 1; seed 1111.\n\n"
        "| Dataset | Task | Train / validation / test | Chance | Majority | char_hash | use |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| dr_rst \\* | discourse relations | 900 / 120 / 130 | 3.4 | 25.0 | 30.0 [22.0, 38.0] "
        "| – |\n"
        "| sp_wiki | sentence position | 10,000 / 4,000 / 4,000 | 20.0 | 20.5 "
        "| 45.2 [43.7, 46.8] | 60.0 [58.5, 61.5] |\n\n"
        "\\* The test has fewer than 1,000 rows: differences of a few points may be chance.\n\n"
        "![Scores](scores.svg)\n\n"
        "## Encoders\n\n"
        "- `char_hash`: char_hash, revision 1, 512 dimensions, natural text; dimension 512, "
        "shortest 3\n"
        "- `use`: use_multilingual, revision 0.2.1, 512 dimensions, natural text\n"
    )


def test_no_note_without_a_small_test(tmp_path: Path) -> None:
    assert "\\*" not in (report(tmp_path, TWO) / "report.md").read_text("utf-8")


def test_metrics(tmp_path: Path) -> None:
    assert json.loads((report(tmp_path, TWO, ONE) / "metrics.json").read_bytes()) == {
        "dr_rst": {"char_hash": 0.3},
        "sp_wiki": {"char_hash": 0.4521, "use": 0.6},
    }


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = report(tmp_path / "a", ONE, TWO), report(tmp_path / "b", TWO, ONE)
    names = ["metrics.json", "report.md", "scores.png", "scores.svg"]
    assert sorted(path.name for path in first.iterdir()) == names
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert b"<dc:date>" not in (first / "scores.svg").read_bytes()


def test_figure(tmp_path: Path) -> None:
    import xml.etree.ElementTree as ElementTree

    out = report(tmp_path, ONE, TWO)
    comments = [
        line for line in (out / "scores.svg").read_text("utf-8").splitlines() if "<!--" in line
    ]
    for words in ("dr_rst", "(test: 4,000)", "char_hash", "use", "majority", "chance"):
        assert any(f"<!-- {words} " in line for line in comments), words
    ElementTree.parse(out / "scores.svg")
    assert (out / "scores.png").read_bytes().startswith(b"\x89PNG")


def test_the_dots_stand_where_the_scores_are() -> None:
    from evaluation.report import draw

    datasets = {"dr_rst": {"char_hash": DR}, "sp_wiki": {"char_hash": SP, "use": TWO.scores[0]}}
    axes = draw([ONE, TWO], datasets).axes[0]
    dots = {
        container.get_label(): container.lines[0].get_xdata().tolist()
        for container in axes.containers
    }
    assert dots == {
        "char_hash": pytest.approx([30.0, 45.21]),
        "use": pytest.approx([60.0]),
    }
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "dr_rst\n(test: 130)",
        "sp_wiki\n(test: 4,000)",
    ]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"name": "char_hash"}, "one result file an encoder"),
        ({"seed": 2}, "the seed of char_hash, 1111"),
        ({"protocol": {"name": "standard", "version": 2}}, "the protocol of char_hash"),
        ({"scores": (replace(SP, digest="7" * 64),)}, "the rows that char_hash was probed on"),
    ],
)
def test_results_that_must_not_be_compared(
    tmp_path: Path, other: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        report(tmp_path, ONE, replace(TWO, **other))
    assert not (tmp_path / "out").exists()
