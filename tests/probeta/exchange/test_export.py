"""`probeta export`: scores in the formats of mteb and of the Hub."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from case_tables import read_tables
from result_files import RESULTS, SCORE

from evaluation.results.citation import cite
from evaluation.results.scores import Predictions, Results, predictions_table, write_results
from evaluation.results.stored import SCORES, write_stored
from probeta.cli import main

TABLES = read_tables(__file__)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODEL = RESULTS.encoder | {"encoder": "transformers", "revision": COMMIT, "dimension": 16}
MODEL |= {"options": {"model": "some/model", "pooling": "mean"}}
MODEL |= {"layers": ["0", "avg"], "layer": "avg"}
FACTS: dict[str, Any] = {"language": "en", "version": "2.0.0", "folds": 10, "rows": {"train": 40}}
FACTS |= {"metric": "pearson", "value": 0.123456789, "interval": (-0.25, 0.5)}
FACTS |= {"measures": {"spearman": 0.25}, "majority": None, "chance": None}
CORRELATION = replace(SCORE, dataset="sts_own", layer="avg", **FACTS)
OWN = MODEL | {"encoder": "callable", "revision": "my/1", "options": {"function": "mine:encode"}}


def results_of(encoder: dict[str, Any], name: str = "mine") -> Results:
    scores = (replace(SCORE, layer="avg", deviation=None), replace(SCORE, value=0.9), CORRELATION)
    versions = {"python": "3", "probeta": "0.1.0"}
    return replace(RESULTS, name=name, encoder=encoder, versions=versions, scores=scores)


def write(folder: Path, results: Results) -> str:
    folder.mkdir()
    write_stored(results, folder / SCORES)
    return str(folder)


def test_a_model_of_the_hub(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, out = write(tmp_path / "mine", results_of(MODEL)), tmp_path / "export"
    command = ["export", given, "--repo", "ORG/NAME", "--revision", "v1", "--out", str(out)]
    assert main(command) == 0
    assert capsys.readouterr().out == f"some/model ({COMMIT})\nexported: {out}\n"
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    of_mteb = f"mteb/results/some__model/{COMMIT}"
    assert files == [
        "hub/some__model/.eval_results/probeta.yaml",
        f"{of_mteb}/model_meta.json",
        f"{of_mteb}/probeta_bso_own.json",
        f"{of_mteb}/probeta_sts_own.json",
    ]
    meta = json.loads((out / of_mteb / "model_meta.json").read_text())
    assert (meta["name"], meta["revision"], meta["embed_dim"]) == ("some/model", COMMIT, 16)
    scored = json.loads((out / of_mteb / "probeta_sts_own.json").read_text())
    assert (scored["dataset_revision"], scored["task_name"]) == ("2.0.0", "probeta_sts_own")
    assert not any(scored[name] for name in ("mteb_version", "evaluation_time", "kg_co2_emissions"))
    measures = {"pearson": 0.123456789, "spearman": 0.25, "low_95": -0.25, "high_95": 0.5}
    facts = {"deviation": 0.1, "rows": 40, "documents": 2, "sha256": "ab" * 32}
    of_task = {"main_score": 0.123456789, "hf_subset": "default", "languages": ["eng-Latn"]}
    cited = {"citation": str(cite(results_of(MODEL), [CORRELATION]))}
    assert scored["scores"] == {"train": [measures | facts | of_task | cited]}
    entry = json.loads((out / of_mteb / "probeta_bso_own.json").read_text())["scores"]["test"][0]
    assert (entry["main_score"], entry["majority"], entry["languages"]) == (0.5, 0.5, ["spa-Latn"])
    assert "deviation" not in entry
    source = {"url": "https://huggingface.co/datasets/ORG/NAME", "name": "Probeta 0.1.0"}
    assert yaml.safe_load((out / files[0]).read_text()) == [
        {
            "dataset": {"id": "ORG/NAME", "task_id": f"probeta_{dataset}", "revision": "v1"},
            "value": value,
            "notes": f"95 % interval {interval}; {cite(results_of(MODEL), [score])}",
            "source": source,
        }
        for dataset, value, interval, score in (
            ("bso_own", 50.0, "25.0 to 75.0", replace(SCORE, layer="avg")),
            ("sts_own", 12.34568, "-25.0 to 50.0", CORRELATION),
        )
    ]
    assert "&id" not in (out / files[0]).read_text()


def test_models_that_can_be_compared_have_ranks(tmp_path: Path) -> None:
    gold = np.arange(60) % 2
    given = []
    for name, wrong in (("one", 0), ("two", 2), ("three", 30)):
        predicted = np.where(np.arange(60) < wrong, 1 - gold, gold)[None]
        rows = np.array([f"r{number}" for number in range(60)])
        table = predictions_table("bso_own", "avg", Predictions(rows, rows, gold, predicted))
        scores = (replace(SCORE, layer="avg", value=1 - wrong / 60),)
        encoder = MODEL | {"options": {"model": f"some/{name}"}}
        results = replace(results_of(encoder, name), scores=scores)
        write_results(results, [table], tmp_path / name)
        given.append(str(tmp_path / name))
    command = ["export", *given, "--repo", "ORG/NAME", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    ranks = {}
    for path in (tmp_path / "out" / "mteb").rglob("probeta_bso_own.json"):
        (entry,) = json.loads(path.read_bytes())["scores"]["test"]
        ranks[path.parts[-3]] = entry["rank_low"], entry["rank_high"]
    assert ranks == {"some__one": (1, 2), "some__two": (1, 2), "some__three": (3, 3)}
    notes = (tmp_path / "out/hub/some__three/.eval_results/probeta.yaml").read_text()
    assert "; rank 3 to 3 here; probeta:0.1.0|" in notes


def test_a_language_model_has_no_dimension(tmp_path: Path) -> None:
    asked = {key: value for key, value in MODEL.items() if key != "dimension"}
    asked |= {"revision": "", "options": {"model": 3}}
    write_stored(results_of(asked), tmp_path / "mine" / SCORES)
    out = tmp_path / "out"
    assert main(["export", str(tmp_path / "mine"), "--repo", "org/data", "--out", str(out)]) == 0
    (meta,) = (out / "mteb").rglob("model_meta.json")
    assert json.loads(meta.read_bytes())["embed_dim"] is None
    assert meta.parent.name == "no_revision_available"


def test_what_is_not_on_the_hub_has_no_repository_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = MODEL | {"options": {"model": "a_folder"}}
    encoders = {"mine": OWN, "other": folder}
    given = [write(tmp_path / name, results_of(item, name)) for name, item in encoders.items()]
    out = tmp_path / "export"
    assert main(["export", *given, "--repo", "ORG/NAME", "--out", str(out)]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "probeta/mine (my_1): only for mteb",
        f"probeta/other ({COMMIT}): only for mteb",
    ]
    assert not (out / "hub").exists()
    folders = sorted(path.name for path in (out / "mteb" / "results").iterdir())
    assert folders == ["probeta__mine", "probeta__other"]


@pytest.mark.parametrize(("arguments", "message"), TABLES["not_exported"])
def test_what_cannot_be_exported(
    empty_folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    for name in ("cls", "mean"):
        write(Path(name), results_of(MODEL, name))
    assert main(["export", *arguments, "--out", "out"]) == 1
    assert message in capsys.readouterr().err
    assert not Path("out").exists()
