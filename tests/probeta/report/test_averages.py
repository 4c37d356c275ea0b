"""Averages over datasets: which there are, and their intervals."""

from dataclasses import replace

import pytest
from report_files import SP

from builders.tasks import benchmarks
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN
from probeta.report.inputs import OWN
from probeta.report.statistics import list_averages, mean_score

TASKS = {
    "mc": "sentence_classification",
    "sp_mine": "sentence_position",
    "sp_wiki": "sentence_position",
    "dr_rst": "discourse_relations",
}
SHIPPED = {"mc": "spanish_senteval", "sp_wiki": "spanish_discoeval", "dr_rst": "spanish_discoeval"}


def test_averages_are_per_benchmark_and_say_what_is_missing() -> None:
    found = list_averages(TASKS, SHIPPED)
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
    assert (found[0].group, found[1].group) == (benchmarks.SC, None)
    *_, small, _, every, of_users, _ = list_averages(TASKS, SHIPPED, {"sp_wiki", "sp_mine"})
    assert (small.datasets, small.too_small, small.heading) == ((), ("sp_wiki",), "SP (0 of 3)")
    assert (every.datasets, every.heading) == (("dr_rst",), "All (1 of 11)")
    assert of_users.title == "Sentence position: ; test too small: sp_mine"


def test_a_whole_benchmark_misses_nothing_not_even_what_is_withdrawn() -> None:
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_discoeval"].items()}
    found = list_averages(tasks, dict.fromkeys(tasks, "spanish_discoeval"))
    headings = [one.heading for one in found]
    assert headings == ["SP (3)", "BSO (3)", "DC (3)", "SSP (1)", "DR (1)", "All (11)"]
    assert not any(one.missing for one in found)
    tasks = {name: entry["task"] for name, entry in BENCHMARKS["spanish_senteval"].items()}
    *others, probing, every = list_averages(tasks, dict.fromkeys(tasks, "spanish_senteval"))
    assert (probing.heading, probing.missing) == ("LPT (8)", ())
    assert probing.title.endswith("; withdrawn: somo")
    assert every.heading == "All (20)"
    gone = {"somo": WITHDRAWN["spanish_senteval"]["somo"]["withdrawn"]}
    assert every.withdrawn == probing.withdrawn == gone
    assert not any(one.withdrawn for one in others)
    # In a package of before, it is one of the datasets.
    tasks["somo"] = "linguistic_probing"
    before = list_averages(tasks, dict.fromkeys(tasks, "spanish_senteval"))
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
