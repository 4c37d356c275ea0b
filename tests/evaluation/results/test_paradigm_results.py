"""Results of ParaLex: read as they were written, told from those of another format."""

import json
from pathlib import Path

import pytest
from report_files import CLUSTERED, PARADIGM

from corpora_recipes.running.errors import InputError
from evaluation.results.scores import read_paradigms
from evaluation.results.stored import write_stored


def test_read_as_written(tmp_path: Path) -> None:
    write_stored(CLUSTERED, tmp_path / "mine.json")
    assert read_paradigms(tmp_path / "mine.json") == CLUSTERED
    assert CLUSTERED.main == CLUSTERED.scores
    assert [cluster.left for cluster in PARADIGM.clusters] == [7, 2]
    assert PARADIGM.skipped == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"format": 0}, "format 0"), ({"scores": [{"dataset": "x"}]}, "missing or unknown: 'casing'")],
)
def test_what_is_no_result(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = tmp_path / "mine.json"
    with pytest.raises(InputError, match="run `probeta paradigms` again"):
        read_paradigms(path)
    write_stored(CLUSTERED, path)
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes), "utf-8")
    with pytest.raises(InputError, match=message):
        read_paradigms(path)
