"""The scores of an encoder: as pandas, compared as the report does, saved."""

from functools import partial
from pathlib import Path

import pytest

from corpora_recipes.running.errors import InputError
from evaluation import Scores, score
from evaluation.results.comparison import compare, measure_all
from evaluation.results.probes import read_predictions, read_results


@pytest.fixture
def floor(hub_folder: Path) -> Scores:
    return score("char_hash")


def test_to_pandas(floor: Scores) -> None:
    frame = floor.to_pandas().set_index("dataset")
    assert list(frame.index) == ["bso_own", "sts_own", "tass_own"]
    own = frame.loc["bso_own"]
    assert own.score == floor["bso_own"].value
    assert (own.low, own.high) == floor["bso_own"].interval
    assert (own.group, own.metric, own.chance, own.n) == ("BSO", "accuracy", 0.5, 8)
    assert (own.trivial, own.trivial_score, own["sample"]) == ("bag_of_words", 0.7, False)
    assert frame.chance.isna().tolist() == [False, True, False]
    assert frame.trivial.isna().tolist() == [False, True, True]
    with pytest.raises(KeyError):
        floor["words"]


def test_compared_as_in_the_report(floor: Scores) -> None:
    other = score("use_multilingual", datasets=["bso_own", "sts_own"])
    found = floor.compare(other)
    pair = [(floor, Path("one")), (other, Path("other"))]
    for own, folder in pair:
        own.save(folder)
    measured = measure_all(
        [(read_results(folder), partial(read_predictions, folder)) for _, folder in pair]
    )
    # The other one lacks the only dataset of SC.
    groups = {"BSO": ["bso_own"], "SC": ["tass_own"], "SS": ["sts_own"]}
    expected = compare(measured, groups)
    assert found.to_dict("records") == [
        {
            "level": own.level,
            "what": own.what,
            "difference": own.value,
            "low": own.interval[0],
            "high": own.interval[1],
            "tie": own.tie,
        }
        for own in expected
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
