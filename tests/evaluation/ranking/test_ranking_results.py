"""The file of EvalRank's results: what was written is read; what does not fit is refused."""

import json
from pathlib import Path

import pytest

from corpora_recipes.errors import InputError
from evaluation.ranking.results import (
    RankingResults,
    RankScore,
    SimilarityScore,
    read_rankings,
    write_rankings,
)

RANK = RankScore(
    dataset="evalrank_es",
    task="sentence_ranking",
    language="es",
    version="1.0.0",
    digest="00ff",
    layer="2",
    similarity="cosine",
    postprocessing="none",
    background=9,
    queries=2,
    pairs=3,
    left_out={"no_vector": 1},
    mrr=0.5,
    interval=(0.25, 0.75),
    hits={"1": 0.25, "3": 0.5},
    median_rank=2.5,
    ties=0,
)
RESULTS = RankingResults(
    format=1,
    name="mío",
    encoder={"encoder": "char_hash", "layers": ["1", "2"], "layer": "2"},
    seed=5,
    versions={"numpy": "2"},
    scores=(RANK,),
    similarities=(SimilarityScore("sts", "es", "2", "l2", "abtt", 0.5, -0.25),),
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_rankings(RESULTS, tmp_path / "mine.json")
    assert read_rankings(tmp_path / "mine.json") == RESULTS
    write_rankings(RESULTS, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "mine.json").read_bytes()


def test_the_main_layer_stands_for_the_encoder() -> None:
    assert RESULTS.main == (RANK,)


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("format", 2, "format 2"),
        ("scores", [{"dataset": "a"}], "'interval'"),
        ("similarities", None, "TypeError"),
        ("interval", [1], "not enough values"),
    ],
)
def test_a_file_that_does_not_fit(tmp_path: Path, key: str, value: object, found: str) -> None:
    path = tmp_path / "mine.json"
    write_rankings(RESULTS, path)
    content = json.loads(path.read_text("utf-8"))
    (content["scores"][0] if key == "interval" else content)[key] = value
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match="run `python -m evaluation rank` again") as caught:
        read_rankings(path)
    assert found in str(caught.value)
