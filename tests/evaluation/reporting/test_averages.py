"""Averages over datasets: which there are, their intervals, and mean ranks."""

from dataclasses import replace

import numpy as np
import pytest
from report_files import SP

from builders.tasks import groups
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN
from evaluation.reporting.averages import OWN, averages_of, mean_ranks, mean_score
from evaluation.results.comparison import Measured

TASKS = {
    "mc": "sentence_classification",
    "sp_mine": "sentence_position",
    "sp_wiki": "sentence_position",
    "dr_rst": "discourse_relations",
}
SHIPPED = {"mc": "spanish_senteval", "sp_wiki": "spanish_discoeval", "dr_rst": "spanish_discoeval"}


def test_averages_are_per_benchmark_and_say_what_is_missing() -> None:
    found = averages_of(TASKS, SHIPPED)
    assert [(one.name, one.heading, one.datasets) for one in found] == [
        ("spanish_senteval SC", "SC (1 of 5)", ("mc",)),
        ("spanish_senteval", "All (1 of 20)", ("mc",)),
        ("spanish_discoeval SP", "SP (1 of 3)", ("sp_wiki",)),
        ("spanish_discoeval DR", "DR (1)", ("dr_rst",)),
        ("spanish_discoeval", "All (2 of 11)", ("sp_wiki", "dr_rst")),
        ("own datasets SP", "SP (1)", ("sp_mine",)),
        ("own datasets", "All (1)", ("sp_mine",)),
    ]
    assert found[2].missing == ("sp_mlsum", "sp_thesis")
    assert found[2].title == "Sentence position: sp_wiki; not in this report: sp_mlsum, sp_thesis"
    assert {item.benchmark for item in found} == {"spanish_senteval", "spanish_discoeval", OWN}
    assert (found[0].group, found[1].group) == (groups.SC, None)


def test_a_whole_benchmark_misses_nothing_not_even_what_is_withdrawn() -> None:
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_discoeval"].items()}
    found = averages_of(tasks, dict.fromkeys(tasks, "spanish_discoeval"))
    headings = [one.heading for one in found]
    assert headings == ["SP (3)", "BSO (3)", "DC (3)", "SSP (1)", "DR (1)", "All (11)"]
    assert not any(one.missing for one in found)
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_senteval"].items()}
    *others, probing, every = averages_of(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert (probing.heading, probing.missing) == ("LPT (8)", ())
    assert probing.title.endswith("; withdrawn: somo")
    assert every.heading == "All (20)"
    gone = {"somo": WITHDRAWN["spanish_senteval"]["somo"]["withdrawn"]}
    assert every.withdrawn == probing.withdrawn == gone
    assert not any(one.withdrawn for one in others)
    # In a package of before, it is one of the datasets.
    tasks["somo"] = "linguistic_probing"
    before = averages_of(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert [one.heading for one in before[-2:]] == ["LPT (9)", "All (21)"]
    assert not any(one.withdrawn for one in before)


def test_the_interval_of_a_mean() -> None:
    one = replace(SP, value=0.5, interval=(0.44, 0.53))
    other = replace(SP, value=0.7, interval=(0.62, 0.74))
    assert mean_score([one]).interval == pytest.approx(one.interval)
    found = mean_score([one, other])
    assert found.value == pytest.approx(0.6)
    # Half of √(.06² + .08²) and of √(.03² + .04²).
    assert found.interval == pytest.approx((0.55, 0.625))


def measured(right: np.ndarray) -> Measured:
    """Return the accuracy of one encoder, whose answers are these, 0 or 1."""
    rows = len(right)
    return Measured("accuracy", float(right.mean()), (right.sum() - right) / (rows - 1))


def test_mean_ranks() -> None:
    generator = np.random.default_rng(3)
    datasets = [f"d{number}" for number in range(12)]
    shares = {"good": 0.8, "middle": 0.6, "twin": 0.6, "poor": 0.3}
    answers = {
        name: {d: (generator.random(400) < share).astype(float) for d in datasets}
        for name, share in shares.items()
    }
    answers["same"] = answers["poor"]
    found = mean_ranks(
        {name: {d: measured(item[d]) for d in datasets} for name, item in answers.items()},
        datasets,
        1111,
    )
    assert next(iter(found)) == "good"
    assert found["good"].value == 1
    assert found["good"].interval == pytest.approx((1, 1), abs=0.01)
    # Equal ones share their rank, and their draws.
    assert found["same"] == found["poor"]
    assert found["same"].value == 4.5
    for name in ("middle", "twin"):
        low, high = found[name].interval
        assert low < found[name].value < high
        # Each is second or third by chance, on 12 datasets: √(.25 / 12) is the standard error.
        assert 2 < (high - low) / np.sqrt(0.25 / 12) < 6
    assert sum(item.value for item in found.values()) == pytest.approx(15)


def test_who_lacks_a_dataset_has_no_mean_rank() -> None:
    item = measured(np.arange(10.0) % 2)
    scores = {"a": {"x": item, "y": item}, "b": {"x": item}}
    assert list(mean_ranks(scores, ["x", "y"], 1)) == ["a"]
    # As in a run of nothing but paradigms.
    assert mean_ranks({"a": {}}, (), 1) == mean_ranks({"b": {"x": item}}, ["y"], 1) == {}
    # They do not depend on the order of encoders.
    assert list(mean_ranks(scores, ["x"], 1)) == ["a", "b"]
    generator = np.random.default_rng(4)
    scores = {
        name: {one: measured((generator.random(30) < 0.5).astype(float)) for one in "xyz"}
        for name in "abcdef"
    }
    turned = dict(reversed(scores.items()))
    assert mean_ranks(scores, [*"xyz"], 1) == mean_ranks(turned, [*"xyz"], 1)
