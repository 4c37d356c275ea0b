"""English probing over all layers, by the entries that docs/encoders.md shows: no new code."""

from pathlib import Path

import pytest

from evaluation.results.scores import read_results
from probeta.cli import main

PARAMS = """
seed: 1
sources: sample
corpora:
  senteval:
    corpus: {recipe: senteval, language: en}
    datasets:
      tense_en: {task: linguistic_probing, collection: past_present}
      top_const_en: {task: linguistic_probing, collection: top_constituents}
encoders:
  elmo: {encoder: callable, function: "layered_letters:encode", form: tokens}
"""
# Three layers, the last of which knows how words end.
FUNCTION = """
import numpy as np

def encode(texts):
    ends = [[sum(w.endswith(e) for w in t.split()) for e in ("ed", "s", "y")] for t in texts]
    zeros = [[len(t), 1, 0] for t in texts]
    return np.array([zeros, zeros, ends], np.float32).swapaxes(0, 1)
"""


def test_each_layer_of_a_function_is_a_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(PARAMS, "utf-8")
    Path("layered_letters.py").write_text(FUNCTION, "utf-8")
    for verb in ("read", "build", "audit", "package", "embed", "probe"):
        assert main([verb]) == 0, capsys.readouterr()
    scores = read_results(Path("data/results/elmo")).scores
    assert {score.dataset for score in scores} == {"tense_en", "top_const_en"}
    of_tense = {score.layer: score.value for score in scores if score.dataset == "tense_en"}
    assert of_tense.keys() >= {"0", "1", "2"}
    assert of_tense["2"] == 1 > of_tense["0"]
