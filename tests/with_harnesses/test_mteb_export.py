"""What `export` and `package` write, read by mteb."""

from pathlib import Path

import mteb
import pytest
import yaml
from mteb import ResultCache
from mteb._hf_integration.eval_model import HFEvalMeta
from mteb._hf_integration.eval_result_model import HFEvalResults
from mteb.models.model_meta import ModelMeta

from builders.packaging.harnesses import eval_yaml
from probeta import benchmark, score
from probeta.cli import main

# It needs no weights.
RANDOM = "mteb/baseline-random-encoder"


def test_mteb_reads_what_is_exported(hub_folder: Path) -> None:
    Path("mine.yaml").write_text(
        f"seed: 7\nencoders:\n  ours: {{encoder: mteb, model: {RANDOM}}}\n"
    )
    given = score("ours", hub_folder, params="mine.yaml")
    given.save("results/ours")
    command = ["export", "results/ours", "--repo", "ORG/NAME", "--revision", "v1"]
    assert main([*command, "--out", "out"]) == 0
    (found,) = ResultCache("out/mteb").load_results(include_remote=False).model_results
    meta = mteb.get_model_meta(RANDOM)
    assert (found.model_name, found.model_revision) == (meta.name, meta.revision)
    scores = {one.task_name: one.get_score() for one in found.task_results}
    assert scores == {f"probeta_{one.dataset}": one.value for one in given.results.main}
    for one in found.task_results:
        (task,) = benchmark(hub_folder, datasets=[one.task_name.removeprefix("probeta_")]).tasks
        assert one.get_missing_evaluations(task) == {}
        assert one.is_mergeable(task)
        assert one.languages == ["spa"]
    (file,) = Path("out").rglob("model_meta.json")
    assert ModelMeta.model_validate_json(file.read_text()).embed_dim == 32
    (file,) = Path("out/hub").rglob("*.yaml")
    entries = HFEvalResults.model_validate(yaml.safe_load(file.read_text())).root
    values = {entry.dataset.task_id: entry.value for entry in entries}
    assert values == pytest.approx({name: 100 * value for name, value in scores.items()}, abs=1e-5)


def test_mteb_reads_eval_yaml() -> None:
    found = HFEvalMeta.model_validate(yaml.safe_load(eval_yaml({"fac": "train", "sp": "test"})))
    assert [(task.id, task.config, task.split) for task in found.tasks] == [
        ("probeta_fac", "fac", "train"),
        ("probeta_sp", "sp", "test"),
    ]
