"""Results of ParaLex: read as they were written, told from those of another format."""

import json
from pathlib import Path

import pytest

from corpora_recipes.running.errors import InputError
from evaluation.results.paradigms import (
    FORMAT,
    ClusterScore,
    ParadigmResults,
    ParadigmScore,
    read_paradigms,
)
from evaluation.results.stored import write_stored

SCORE = ParadigmScore(
    dataset="paralex_es",
    language="es",
    version="1.0.0",
    digest="0" * 64,
    layer="2",
    vocabulary="shared",
    vocabulary_digest="w" * 64,
    words=20000,
    casing="lower",
    suggestion=0.25,
    suggestion_interval=(0.125, 0.5),
    coherence=0.0625,
    coherence_interval=(0.0, 0.25),
    clusters=(
        ClusterScore("months", 12, {"no_vector": ["mayo", "julio"]}, 0.5, 0.25, 0.125),
        ClusterScore("organs", 4, {"no_vector": ["a"], "out_of_vocabulary": ["b"]}, 0.0, 0.0, 0.0),
    ),
    words_left_out={"no_vector": 3, "repeated_word": 0},
)
RESULTS = ParadigmResults(
    format=FORMAT,
    name="own",
    encoder={
        "encoder": "static",
        "revision": "1",
        "form": "natural",
        "layers": ["1", "2"],
        "layer": "2",
        "options": {},
    },
    coherence_threshold=2,
    casings=["as_is", "lower"],
    seed=7,
    versions={"numpy": "2"},
    code="c0de",
    scores=(SCORE,),
    left_out={"paralex_en": "there is no word ranking in en"},
)


def test_read_as_written(tmp_path: Path) -> None:
    write_stored(RESULTS, tmp_path / "own.json")
    assert read_paradigms(tmp_path / "own.json") == RESULTS
    assert RESULTS.main == (SCORE,)
    assert [cluster.left for cluster in SCORE.clusters] == [10, 2]
    assert SCORE.skipped == 1


def test_what_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    with pytest.raises(InputError, match="run `probeta paradigms` again"):
        read_paradigms(path)
    write_stored(RESULTS, path)
    content = json.loads(path.read_bytes())
    path.write_text(json.dumps({**content, "format": 0}), "utf-8")
    with pytest.raises(InputError, match="format 0"):
        read_paradigms(path)
    path.write_text(json.dumps({**content, "scores": [{"dataset": "x"}]}), "utf-8")
    with pytest.raises(InputError, match="missing or unknown: 'casing'"):
        read_paradigms(path)
