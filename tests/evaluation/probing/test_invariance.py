"""Gate 10: predictions depend neither on company and order nor on hash seeds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evaluation.datasets import find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import describe
from evaluation.probing.probing import Probing, probe_dataset
from probeta.cli import main

# Samples: a task with a hidden layer, one with folds, pairs, scores, and one without training.
PARAMS = """\
corpora:
  opensubtitles:
    corpus: {recipe: opensubtitles, language: es}
    datasets: {dc_opus: {task: discourse_coherence}}
  fac:
    corpus: {recipe: fac, language: es}
    datasets: {fac: {task: sentence_classification}}
  sick_es:
    corpus: {recipe: sick_es, language: es}
    datasets: {sick_es_e: {task: pair_classification}, sick_es_r: {task: relatedness}}
  sqc:
    corpus: {recipe: sqc, language: es}
    datasets: {sqc: {task: sentence_classification}}
  sts:
    corpus: {recipe: sts, language: es}
    datasets: {sts17_es: {task: similarity, collection: "2017"}}
"""
INSTANCES = Path("data/instances/corpora")


class Outcome(NamedTuple):
    """The predictions of a probe for a dataset, [rows], and their score."""

    metric: str
    value: float
    predicted: list[float]


def outcomes(folder: Path, encoder: Any, store: str, step: int = 1) -> dict[str, Outcome]:
    """Embed and probe all datasets of a folder, by name or, with step -1, in reverse."""
    datasets = find_datasets(folder / INSTANCES)[::step]
    embed_datasets(folder / store, encoder, datasets)
    known, found = describe(encoder), {}
    for dataset in datasets:
        part = probe_dataset(dataset, encoder.layer, known, folder / store, 1111, Probing())
        (score,), (table,) = part.scores, part.tables
        predicted = table["predicted"].combine_chunks().flatten().to_pylist()
        found[dataset.name] = Outcome(score.metric, score.value, predicted)
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Outcome]]:
    """Build the datasets in a new folder; return it, and the outcomes to compare with."""
    folder = tmp_path_factory.mktemp("invariance")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("params.yaml").write_text(PARAMS)
        assert main(["read"]) == main(["build"]) == 0
    found = outcomes(folder, CharHash(), "plain")
    assert len(found) == 6
    # Predictions that are all alike would be the same whatever happens.
    assert all(len(set(outcome.predicted)) > 1 for outcome in found.values())
    return folder, found


@pytest.mark.slow
@pytest.mark.parametrize(("hash_seed", "step"), [("1", 1), ("2", -1)])
def test_order_and_hash_seed(
    plain: tuple[Path, dict[str, Outcome]], hash_seed: str, step: int
) -> None:
    """In another process, with another hash seed, and in reverse: each dataset after others."""
    folder, expected = plain
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, __file__, folder, f"seed{hash_seed}", str(step)],
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert {name: Outcome(*parts) for name, parts in json.loads(done.stdout).items()} == expected


if __name__ == "__main__":
    print(json.dumps(outcomes(Path(sys.argv[1]), CharHash(), sys.argv[2], int(sys.argv[3]))))
