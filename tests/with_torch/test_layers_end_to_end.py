"""From instances to scores of every layer, on the command line."""

import subprocess
import sys
from pathlib import Path

import pytest
from instance_files import row, write_dataset

from evaluation.results.scores import read_predictions, read_results
from probeta.cli import main

PAIRS = [["El perro come.", f"No {i}."] for i in range(30)]
ROWS = [row(i, i % 2, sentences=pair[:: 1 if i % 2 else -1]) for i, pair in enumerate(PAIRS)]


def write_params(model: str, layer: str) -> None:
    Path("params.yaml").write_text(
        f"seed: 3\nencoders:\n  bert: {{encoder: transformers, model: {model}, layer: {layer}}}\n"
    )


def test_every_layer_is_encoded_once_and_probed(
    tiny: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    splits = {"train": ROWS[:20], "validation": ROWS[20:25], "test": ROWS[25:]}
    write_dataset(tmp_path / "dist" / "hub" / "bso_own", "sentence_ordering", splits)
    folder = Path("data/results/bert")

    write_params(tiny["bert"], "all")
    assert main(["embed"]) == 0
    assert "bert: 31 texts encoded now, for 1 dataset\n" in capsys.readouterr().out
    # Nothing of torch is needed any more.
    code = "import sys; from probeta.cli import main; main(['probe', '--workers', '1']); "
    code += "print('torch' in sys.modules or 'transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    line, new, imported = done.stdout.splitlines()
    assert line.startswith("bert, bso_own: ")
    assert new == "probe: 1 encoder: 1 new"
    assert imported == "False"
    results = read_results(folder)
    layers = ["0", "1", "2", "avg"]
    assert results.encoder["layers"] == [score.layer for score in results.scores] == layers
    assert results.encoder["layer"] == results.main[0].layer == "avg"
    assert results.encoder["options"]["pooling"] == "mean"
    for layer in layers:
        assert len(read_predictions(folder, "bso_own", layer).gold) == 5
    best = {score.layer: score.value for score in results.scores}

    write_params(tiny["bert"], '"1"')
    assert main(["embed"]) == 0
    assert "bert: 0 texts encoded now, for 1 dataset\n" in capsys.readouterr().out
    assert main(["probe"]) == 0
    results = read_results(folder)
    assert [(score.layer, score.value) for score in results.scores] == [("1", best["1"])]
