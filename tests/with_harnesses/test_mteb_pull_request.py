"""What goes to mteb, put into a copy of mteb: found by name, complete, sound, and run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import mteb
import pytest
from case_tables import read_tables
from documentation import blocks
from instance_files import write_dataset
from mteb.abstasks.task_metadata import TaskDomain
from test_mteb_tasks import write_more

from builders.store import MTEB_FACTS
from corpora_recipes.recipe import DOMAINS
from probeta.cli import main

TABLES = read_tables(__file__)

RANDOM = "mteb/baseline-random-encoder"
KNOWN = TABLES["known"]
# What mteb's own tests ask: metadata are filled, statistics are sound, and what it runs.
ASKED = f"""
import json, mteb
tasks = mteb.get_benchmark("Probeta").tasks
found = mteb.evaluate(mteb.get_model({RANDOM!r}), tasks, cache=None, show_progress_bar=False)
print(json.dumps({{
    task.metadata.name: [
        task.metadata.is_filled(), task.metadata.descriptive_stats, result.get_score(),
        mteb.get_task(task.metadata.name).metadata.type,
    ]
    for task, result in zip(tasks, found.task_results)
}}))
"""


def test_the_domains_are_those_of_mteb() -> None:
    assert set(DOMAINS.split("|")) == set(get_args(TaskDomain))


@pytest.fixture
def exported(hub_folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    write_more(hub_folder)
    positives = {"a": ["b"], "b": ["a"], "c": []}
    texts = {"id": [*positives], "document_id": [*positives], "text": ["Uno.", "Unos.", "Dos."]}
    rows = [dict(zip(texts, of, strict=True)) for of in zip(*texts.values(), strict=True)]
    ranked = [{**one, "tokens": one["text"], "positives": positives[one["id"]]} for one in rows]
    write_dataset(hub_folder / "rank_own", "sentence_ranking", {"test": ranked})
    words = [["sí", "no", "quizá"], ["sí", "no", "nunca"]]
    listed = [
        {"id": str(i), "document_id": "d", "terms": w, "tokens": w} for i, w in enumerate(words)
    ]
    write_dataset(hub_folder / "para_own", "paradigms", {"test": listed})
    # The package states nothing of `words`, which has no synonyms.
    names = [path.name for path in hub_folder.iterdir() if path.name != "words"]
    facts = dict.fromkeys(names, KNOWN) | {"dr_own": KNOWN | {"sample_creation": None}}
    configs = [
        {
            "config_name": name,
            "data_files": [
                {"split": file.name.partition("-")[0], "path": f"{name}/{file.name}"}
                for file in sorted((hub_folder / name).glob("*.parquet"))
            ],
        }
        for name in names
        if (hub_folder / name).is_dir()
    ]
    (hub_folder / "README.md").write_text(f"---\n{json.dumps({'configs': configs})}\n---\n")
    (hub_folder / MTEB_FACTS).write_text(json.dumps(facts))
    (block,) = blocks("sh", page="docs/mteb.md")
    command = block.text.replace("ORG/NAME", "dist/hub").replace("pull_request", "out").split()[1:]
    assert main([*command, "--models", RANDOM]) == 0
    assert "left out: dr_own: nobody states its sample_creation" in capsys.readouterr().out
    return Path("out")


def test_a_copy_of_mteb_has_the_tasks(exported: Path) -> None:
    copy = Path("copy")
    unneeded = shutil.ignore_patterns("descriptive_stats", "leaderboard", "__pycache__")
    shutil.copytree(Path(mteb.__file__).parent, copy / "mteb", ignore=unneeded)
    shutil.copytree(exported / "mteb", copy / "mteb", dirs_exist_ok=True)
    patch = exported.resolve() / "register.patch"
    subprocess.run(["git", "apply", patch], cwd=copy, check=True)
    path = {"PYTHONPATH": str(copy.resolve()), "HF_HUB_OFFLINE": "1", "HF_HOME": str(copy / "hf")}
    answer = subprocess.run(
        [sys.executable, "-c", ASKED], env=os.environ | path, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr[-2000:]
    found = json.loads(answer.stdout.splitlines()[-1])
    assert {name: kind for name, (*_, kind) in found.items()} == {
        "ProbetaBsoOwn": "Classification",
        "ProbetaFolds": "Classification",
        "ProbetaParaOwn": "Retrieval",
        "ProbetaPawsOwn": "PairClassification",
        "ProbetaRankOwn": "Retrieval",
        "ProbetaSickOwn": "STS",
        "ProbetaSpOwn": "Classification",
        "ProbetaStsOwn": "STS",
        "ProbetaTassOwn": "Classification",
    }
    assert all(is_filled for is_filled, *_ in found.values())
    statistics = {name: of for name, (_, of, *_) in found.items()}
    folds = statistics["ProbetaFolds"]
    assert (folds["test"]["num_samples"], folds["train"]["num_samples"]) == (20, 20)
    for of in statistics.values():
        assert of["test"].get("samples_in_train", 0) == 0
        text = of["test"].get("text_statistics") or {"unique_texts": of["test"]["num_samples"]}
        assert text["unique_texts"] == of["test"]["num_samples"] or "num_queries" in of["test"]
    judged = statistics["ProbetaParaOwn"]["test"]
    assert (judged["num_queries"], judged["num_documents"]) == (4, 4)
    assert judged["relevant_docs_statistics"]["max_relevant_docs_per_query"] == 3
    shown = (exported / "README.md").read_text()
    # "sí" and "no" are shorter than mteb's test of quality allows.
    assert '\n"ProbetaParaOwn",' in shown
    assert '\n"ProbetaTassOwn",' not in shown
    for name, (_, _, score, _) in found.items():
        assert name in shown
        assert 0 <= score <= 1 or name.endswith("StsOwn") or name.endswith("SickOwn")
    assert RANDOM.replace("_", "\\_") in shown


def test_datasets_of_unknown_origin_are_refused(
    hub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["export", "--mteb-tasks", str(hub_folder), "--repo", "org/data", "--out", "out"]
    assert main(command) == 1
    assert "provenance" in capsys.readouterr().err
    assert not Path("out").exists()
