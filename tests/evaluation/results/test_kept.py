"""Which earlier results a run takes over."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from result_files import RESULTS

from evaluation.results.kept import unchanged
from evaluation.results.probes import read_results, write_results

NOW = replace(RESULTS, scores=())


def test_results_that_depend_on_the_same_are_kept(tmp_path: Path) -> None:
    write_results(RESULTS, [], tmp_path / "r")
    assert unchanged(read_results, tmp_path / "r", NOW) == RESULTS


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "yours"},
        {"seed": 4},
        {"versions": {"python": "4"}},
        {"encoder": {**RESULTS.encoder, "revision": "2"}},
        {"protocol": {**RESULTS.protocol, "version": 4}},
        {"intervals": {"method": "bootstrap"}},
    ],
)
def test_results_that_depend_on_something_else_are_not(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    write_results(replace(RESULTS, **changed), [], tmp_path / "r")
    assert unchanged(read_results, tmp_path / "r", NOW) is NOW


@pytest.mark.parametrize("content", [None, "", "{}", '{"format": 2}'])
def test_files_that_are_no_results(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "scores.json").write_text(content)
    assert unchanged(read_results, tmp_path, NOW) is NOW
