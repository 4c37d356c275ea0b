"""lm-evaluation-harness runs every task, and what it logs is read back with its own scores."""

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_entries import corpus_of
from documentation import blocks
from lm_eval.__main__ import cli_evaluate

from builders.packaging import harnesses
from builders.packaging.harnesses import Config, write_tasks
from builders.plan.datasets import Dataset, datasets_of, origins_of
from builders.store import instance_schema
from builders.tasks import TASKS
from builders.tasks.task import Column, TreebankTask
from corpora_recipes.recipe import Corpus
from corpora_recipes.yaml_files import load_yaml
from probeta.cli import main
from probeta.exchange.lm_eval import score_language_model

FOLDER = Path(harnesses.__file__).parent
ENGLISH_CLASSES = FOLDER.parents[1] / "corpora_recipes/corpora/rst_discourse_treebank/classes.yaml"
PAGE = "docs/lm_eval.md"


@dataclass(frozen=True)
class Asked:
    """A dataset that is asked about."""

    corpus: Corpus
    dataset: Dataset
    labels: Sequence[str]


def asked() -> Iterator[Asked]:
    """Yield a dataset for every question, and one for each task that needs none."""
    recipes = {"sentence_ordering": "documents", "sentence_position": "documents"}
    for task, recipe in recipes.items():
        yield _asked(task, corpus_of(recipe), TASKS[task].labels, {})
    for language, file in harnesses.LANGUAGES.items():
        for key, question in load_yaml(FOLDER / file).items():
            yield _of_question(language, key, question)


def _of_question(language: str, key: str, question: dict[str, Any]) -> Asked:
    task, *of = key.split("/")
    labels: Sequence[str] = [*question["answers"]]
    if len(of) == 2:
        return _asked(task, corpus_of(of[0], language), labels, {"collection": of[1]})
    if task in ("explicit_relations", "implicit_relations"):
        collection = task.removesuffix("_relations")
        return _asked(task, corpus_of("pdtb", language), labels, {"collection": collection})
    if task == "nuclearity":
        treebank = {"es": "rst_spanish_treebank", "en": "rst_discourse_treebank"}[language]
        return _asked(task, corpus_of(treebank, language), TASKS[task].labels, {})
    if task == "discourse_relations":
        if language == "es":
            return _asked(task, corpus_of("rst_spanish_treebank"), labels, {})
        classes = load_yaml(ENGLISH_CLASSES)["rst_dt"]
        labels = [f"{order}-{name}" for order, name in product(("NN", "NS", "SN"), classes)]
        corpus = corpus_of("rst_discourse_treebank", language)
        return _asked(task, corpus, labels, {"label": "text_order"})
    if isinstance(TASKS[task], TreebankTask):
        return _asked(task, corpus_of("universal_dependencies", language), labels, {})
    corpus = corpus_of("gutenberg" if of == ["dialogues"] else "documents", language)
    return _asked(task, corpus, TASKS[task].labels, {})


def _asked(task: str, corpus: Corpus, labels: Sequence[str], entry: dict[str, str]) -> Asked:
    place = "_".join([task, corpus.language, corpus.recipe, *entry.values()])
    only = replace(corpus, datasets={place: {"task": task} | entry})
    (dataset,) = datasets_of(only, "upstream")
    return Asked(corpus, dataset, labels)


def write(question: Asked, folder: Path) -> Config:
    """Write the rows of a dataset, as `package` does, and return what its card says."""
    dataset = question.dataset
    columns = dataset.columns()
    counts = {text.natural: text.count for text in dataset.task.texts}
    splits = ("train",) if "fold" in columns else ("train", "validation", "test")
    schema = instance_schema(columns, list(question.labels), dataset.about())
    (folder / dataset.name).mkdir(parents=True)
    size = 2 * max(3, len(question.labels))
    for split in splits:
        rows = [
            {
                name: _value(name, column, number, counts.get(name) or 2)
                for name, column in columns.items()
            }
            | {"id": f"{split}-{number}", "label": number % len(question.labels)}
            for number in range(size)
        ]
        file = folder / dataset.name / f"{split}-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return Config(
        dataset=dataset,
        origins=origins_of([question.corpus], "upstream"),
        sources={},
        window=None,
        folds=10 if "fold" in columns else 0,
        columns=columns,
        labels=list(question.labels),
        first_row={},
        rows=dict.fromkeys(splits, size),
        content=dict.fromkeys(splits, "0" * 64),
        counts={},
        audit={"benchmark": "spanish_discoeval" if dataset.language == "es" else ""},
        changes={},
    )


def _value(name: str, column: Column, number: int, count: int) -> object:
    if column.kind == "strings":
        return [f"Dijo {place}: «{name}», y 'nada' más; {number}." for place in range(count)]
    return {"string": f'Nadie dijo "{name}" {number}.', "integer": number % 3, "number": 0.5}[
        column.kind
    ]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub")
    configs = [write(question, folder) for question in asked()]
    assert write_tasks(configs, folder) == len(configs) > 30
    return folder


@pytest.fixture
def inside(package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Make the package the current folder."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(package)
    return package


def lm_eval(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    cli_evaluate()


def test_every_task_is_valid(
    inside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [path.stem for path in (inside / "lm_eval").glob("probeta_*.yaml")]
    named = ",".join(["probeta", "probeta_spanish_discoeval", "probeta_dc", *tasks])
    lm_eval(monkeypatch, f"lm-eval validate --include_path lm_eval --tasks {named}")
    assert "All tasks found and valid" in capsys.readouterr().out


def test_every_task_runs_and_its_answers_are_read_back(
    inside: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logged = tmp_path / "logged"
    (script, _) = [block.text for block in blocks("sh", page=PAGE)]
    command = script.replace("\\\n", " ").splitlines()[-1]
    for shown, instead in {
        "--model hf --model_args pretrained=BSC-LT/salamandra-2b": "--model dummy",
        "--tasks probeta_sp_wiki,probeta_dr_rst": "--tasks probeta --num_fewshot 1",
        "--output_path ../../logged": f"--output_path {logged}",
    }.items():
        assert shown in command
        command = command.replace(shown, instead)
    lm_eval(monkeypatch, command)
    (file,) = logged.glob("*/results_*.json")
    results = json.loads(file.read_text("utf-8"))
    scores = score_language_model(logged, inside, name="dummy")
    assert len(scores.results.scores) == len(results["configs"]) > 30
    for each in scores.results.scores:
        task = f"probeta_{each.dataset}"
        metric = results["configs"][task]["metadata"]["answer"]
        assert each.value == pytest.approx(results["results"][task][f"{metric},none"]), task
        examples = 0 if each.folds else 1
        assert results["n-shot"][task] == examples
        prompts = json.loads(next(file.parent.glob(f"samples_{task}_2*")).open().readline())
        assert ("\n\n" in prompts["arguments"]["gen_args_0"]["arg_0"]) == bool(examples)
    means = results["groups"]["probeta"]
    assert 0 < means["acc,none"] < 1
    command = ["score", "--from-lm-eval", str(logged), "--data", "."]
    assert main([*command, "--out", str(tmp_path / "scored")]) == 0
