"""The scores of an encoder: as pandas, compared as the report does, saved."""

from functools import partial
from pathlib import Path

import pytest

from corpora_recipes.running.errors import InputError
from evaluation.results.comparison import compare, measure_all
from evaluation.results.probes import read_predictions, read_results
from probeta import Scores, score


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


def test_compared_as_in_the_report(floor: Scores) -> None:
    other = score("use_multilingual", datasets=["bso_own", "sts_own"])
    found = floor.compare(other)
    folders = (Path("one"), Path("other"))
    for scores, folder in zip((floor, other), folders, strict=True):
        scores.save(folder)
    measured = measure_all([(read_results(f), partial(read_predictions, f)) for f in folders])
    # The other one lacks the only dataset of SC.
    groups = {"BSO": ["bso_own"], "SC": ["tass_own"], "SS": ["sts_own"]}
    names = ["level", "what", "difference", "low", "high", "tie"]
    assert found[names].to_numpy().tolist() == [
        [d.level, d.what, d.value, *d.interval, d.tie] for d in compare(measured, groups)
    ]
    assert found.what.tolist() == ["bso_own", "sts_own", "BSO", "SS"]
    assert found.difference[0] == floor["bso_own"].value - other["bso_own"].value


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
