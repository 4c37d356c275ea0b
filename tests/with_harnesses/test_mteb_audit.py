"""mteb: its tasks audited, results exported for its leaderboard."""

from pathlib import Path

import mteb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from case_tables import read_tables
from hub_server import commit, hub, point_at
from mteb import ResultCache
from mteb._hf_integration.eval_model import HFEvalMeta
from mteb._hf_integration.eval_result_model import HFEvalResults
from mteb.models.model_meta import ModelMeta

from builders.packaging.harnesses import eval_yaml
from corpora_recipes.running.errors import InputError
from probeta import benchmark, score
from probeta.auditing import audit, locate
from probeta.cli import main

TABLES = read_tables(__file__)

# --- mteb audit ----------------------------------------------------------------------------------

PAIRS = [("Llueve en la sierra.", "Cae agua en la sierra."), ("Nieva.", "Hace sol.")]


def test_a_task_tells_repository_revision_columns_and_language(tmp_path: Path, monkeypatch) -> None:
    about = mteb.get_task("STSES").metadata.dataset
    # The server takes what follows the @ for the name of a tag.
    folder = tmp_path / "STSES"
    test = tmp_path / f"STSES@{about['revision']}" / "data" / "test-00000-of-00001.parquet"
    folder.mkdir()
    test.parent.mkdir(parents=True)
    one, other = zip(*PAIRS, strict=True)
    columns = {"id": ["a", "b"], "sentence1": one, "sentence2": other, "score": [4.5, 0.5]}
    pq.write_table(pa.table(columns), test)
    with hub(folder, about["path"]) as endpoint:
        point_at(endpoint, tmp_path / "cache", monkeypatch)
        report = audit("mteb:STSES", tmp_path / "audit")
    assert report["source"] == {
        "name": "mteb:STSES",
        "repository": about["path"],
        "asked": about["revision"],
        "revision": commit(test.parents[1]),
    }
    (facts,) = report["datasets"].values()
    assert (facts["language"], facts["records"]) == ("es", "examples")
    assert (facts["texts"], facts["answer"]) == (["sentence1", "sentence2"], "score")


@pytest.mark.parametrize(("name", "words"), TABLES["tasks"])
def test_tasks_that_cannot_be_audited(name: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        locate(name)
    assert all(word in str(error.value) for word in words), str(error.value)


# --- mteb export ---------------------------------------------------------------------------------

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
    found = HFEvalMeta.model_validate(
        yaml.safe_load(eval_yaml({"fac": "train", "sp": "test"}, "Probeta"))
    )
    assert [(task.id, task.config, task.split) for task in found.tasks] == [
        ("probeta_fac", "fac", "train"),
        ("probeta_sp", "sp", "test"),
    ]
