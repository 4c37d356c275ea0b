"""What probes cost, roughly, is known before they start."""

import pytest
from imports import REPOSITORY

from builders.plan.groups import load_groups
from evaluation.probing.protocols import Probing, effort
from probeta.cli.listing import costs_listing


# Seconds of CPU that docs/scale.md gives for 768 dimensions.
@pytest.mark.parametrize(
    ("protocol", "task", "rows", "classes", "measured"),
    [
        ("standard", "linguistic_probing", 120_000, 2, 8),
        ("standard", "sentence_position", 18_000, 5, 17),
        ("standard", "sentence_ordering", 18_000, 2, 5),
        ("standard", "word_content", 120_000, 1000, 156),
        ("senteval", "linguistic_probing", 120_000, 2, 30),
        ("senteval", "sentence_position", 18_000, 5, 32),
        ("senteval", "sentence_ordering", 18_000, 2, 13),
        ("senteval", "discourse_coherence", 18_000, 2, 7200),
    ],
)
def test_costs_are_near_those_measured(protocol, task, rows, classes, measured):
    told = effort(task, rows, classes, 768, protocol, "difference_product", False) / 1e9
    assert measured / 2 < told < 2 * measured


def test_list_tells_what_the_schedule_of_the_papers_costs():
    groups = load_groups(REPOSITORY / "params.yaml")
    told = costs_listing([d for group in groups for d in group.datasets], Probing())
    assert "7 min by standard" in told
    assert "h by senteval (dc_" in told
    assert costs_listing([], Probing()) == ""
