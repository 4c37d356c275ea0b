"""The scores of an encoder: shown in per cent, given as fractions, compared as in the report."""

import json
import re
import sys
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from corpora_recipes.running.errors import InputError
from evaluation.results.comparison import compare, measure_all
from evaluation.results.scores import read_predictions, read_results
from probeta import Scores, score
from probeta.cli import main


@pytest.fixture
def floor(hub_folder: Path) -> Scores:
    return score("char_hash")


def test_to_pandas(floor: Scores) -> None:
    frame = floor.to_pandas().set_index("dataset")
    assert list(frame.index) == ["bso_own", "sts_own", "tass_own"]
    row = frame.loc["bso_own"]
    assert row.score == floor["bso_own"].value
    assert (row.low, row.high) == floor["bso_own"].interval
    assert (row.group, row.metric, row.chance, row.n) == ("BSO", "accuracy", 0.5, 8)
    assert (row.trivial, row.trivial_score, row["sample"]) == ("bag_of_words", 0.7, False)
    assert frame.chance.isna().tolist() == [False, True, False]
    assert frame.trivial.isna().tolist() == [False, True, True]
    with pytest.raises(KeyError):
        floor["words"]


def test_programs_get_the_same_fractions(floor: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = floor.to_pandas()
    floor.to_csv("scores.csv")
    assert Path("scores.csv").read_text("utf-8") == floor.to_csv()
    pd.testing.assert_frame_equal(pd.read_csv("scores.csv"), frame, check_dtype=False)
    logged = floor.to_dict()
    assert json.loads(json.dumps(logged)) == logged
    assert list(logged)[:3] == ["bso_own/score", "bso_own/low", "bso_own/high"]
    assert list(logged.values()) == frame[["score", "low", "high"]].to_numpy().ravel().tolist()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"probeta\[report\]"):
        floor.to_pandas()


def test_a_notebook_shows_the_printed_cells(floor: Scores) -> None:
    page = ElementTree.fromstring(f"<div>{floor._repr_html_()}</div>")
    cells = [[cell.text or "" for cell in row] for row in page.iter("tr")]
    lines = str(floor).splitlines()
    assert [re.split(r"  +", line) for line in lines[: len(cells)]] == [
        [cell for cell in row if cell] for row in cells
    ]
    assert [note.text for note in page.iter("p")] == lines[len(cells) :]


def test_compared_as_in_the_report(floor: Scores, capsys: pytest.CaptureFixture[str]) -> None:
    other = score("use_multilingual", datasets=["bso_own", "sts_own"])
    comparison = floor.compare(other)
    found = comparison.to_pandas()
    folders = (Path("one"), Path("other"))
    for scores, folder in zip((floor, other), folders, strict=True):
        scores.save(folder)
    measured = measure_all([(read_results(f), partial(read_predictions, f)) for f in folders])
    # The other one lacks the only dataset of SC.
    groups = {"BSO": ["bso_own"], "SC": ["tass_own"], "SS": ["sts_own"]}
    names = ["level", "what", "difference", "low", "high", "tie"]
    assert found[names].to_numpy().tolist() == [
        [d.level, d.target, d.value, *d.interval, d.tie] for d in compare(measured, groups)
    ]
    assert found.what.tolist() == ["bso_own", "sts_own", "BSO", "SS"]
    assert found.difference[0] == floor["bso_own"].value - other["bso_own"].value
    assert comparison.to_dict()["bso_own/difference"] == found.difference[0]
    assert main(["compare", "one", "other"]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{comparison}\n"
    assert re.split(r"  +", printed.splitlines()[1])[:3] == [
        "dataset",
        "bso_own",
        f"{100 * found.difference[0]:.1f}",
    ]
    assert printed.endswith(
        "\nchar_hash minus use_multilingual, x 100. A tie may be due to chance.\n"
    )
    Path("data/results").mkdir(parents=True)
    Path("one").rename("data/results/one")
    assert main(["compare", "one", "other"]) == 0
    assert capsys.readouterr().out == printed
    assert main(["compare", "onne", "other"]) == 1
    assert "did you mean one?" in capsys.readouterr().err


def test_what_cannot_be_compared(floor: Scores, hub_folder: Path) -> None:
    cases = {
        "two names": floor,
        "a dataset that both": score("char_hash", name="a", datasets=["tass_own"]),
        "the same protocol": score("char_hash", name="b", protocol="senteval"),
    }
    one = score("char_hash", datasets=["bso_own"])
    (hub_folder / "bso_own").rename("kept")
    (hub_folder / "tass_own").rename(hub_folder / "bso_own")
    for words, other in cases.items():
        with pytest.raises(InputError, match=words):
            one.compare(other)


def test_a_sample_is_said(floor: Scores) -> None:
    assert "sample" not in str(floor)
    marked = Scores(floor.results, (), {}, frozenset({"bso_own"}), None)
    assert str(marked).endswith("Built from the shipped samples, do not report: bso_own.")
    names = frozenset({"bso_own", "sts_own", "tass_own"})
    assert "All built from the shipped samples" in repr(Scores(floor.results, (), {}, names, None))
