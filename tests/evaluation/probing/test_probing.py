"""From instances to scores: determinism, layers, folds, baselines, errors."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
from hash_seeds import another_hash_seed
from instance_files import LABELS, row, write_dataset
from scipy import stats

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import SPLITS
from corpora_recipes.running.errors import InputError
from evaluation.commands import main
from evaluation.data.features import differences_from_first
from evaluation.data.instances import Dataset, find_datasets
from evaluation.data.texts import unique_texts
from evaluation.embedding.embedding import embed
from evaluation.encoders import make_encoder
from evaluation.probing import probing
from evaluation.probing.ablations import ABLATIONS
from evaluation.probing.params import probing_params
from evaluation.probing.probing import Probing, probe_dataset, probe_datasets
from evaluation.probing.protocols import standard
from evaluation.probing.protocols.problem import Answers, Problem, Protocol
from evaluation.results.probes import read_results, write_results

ENCODER = make_encoder("char_hash", {"dimension": 32})
NOUNS = ["faro", "tren", "pozo", "gato", "mapa", "vino", "reloj", "monte"]


def sentence(number: int) -> str:
    return f"El {NOUNS[number % 8]} número {number} sigue donde estaba."


def instances(root: Path) -> Path:
    """Write one dataset a task; BSO can be learnt: the original order begins with "Primero".

    Of FAC, with folds, "gusta" tells the class; of SICK, and STS with test alone, the score is how
    many words two sentences share.
    """
    ordering = [
        row(i, i % 2, sentences=["Primero llega.", sentence(i)][:: 1 if i % 2 else -1])
        for i in range(90)
    ]
    position = [
        row(i, keyed_hash(1, str(i)) % 5, sentences=[sentence(5 * i + k) for k in range(5)])
        for i in range(90)
    ]
    coherence = [
        row(i, keyed_hash(2, str(i)) % 2, sentences=[sentence(6 * i + k) for k in range(6)])
        for i in range(90)
    ]
    relations = [
        row(i, i % 3, document=f"d{i // 4}", left=[sentence(i)] * (1 + i % 3), right=[sentence(-i)])
        for i in range(90)
    ]
    section = [
        row(i, i % 2, document=f"d{i // 2}", sentence=("Resumen: " if i % 2 else "") + sentence(i))
        for i in range(90)
    ]
    opinions = [
        row(i, i % 2, fold=i // 2 % 5, sentence=("Me gusta. " if i % 2 else "") + sentence(i))
        for i in range(90)
    ]
    pairs = [
        {"sentence1": sentence(i), "sentence2": sentence(i + keyed_hash(3, str(i)) % 3)}
        for i in range(90)
    ]
    shared = [len(set(p["sentence1"].split()) & set(p["sentence2"].split())) for p in pairs]
    entailment = [row(i, shared[i] % 3, score=shared[i] / 2, **pairs[i]) for i in range(90)]
    similar = [
        row(i, None, score=shared[i] / 2, subset=("news", "web")[i // 5 % 2], **pairs[i])
        for i in range(90)
    ]
    write_dataset(root / "corpus" / "fac", "sentence_classification", {"train": opinions})
    write_dataset(root / "corpus" / "sts", "similarity", {"test": similar})
    for name, task, rows in (
        ("bso", "sentence_ordering", ordering),
        ("sp", "sentence_position", position),
        ("dc", "discourse_coherence", coherence),
        ("dr", "discourse_relations", relations),
        ("ssp", "section_prediction", section),
        ("sick_e", "pair_classification", entailment),
        ("sick_r", "relatedness", entailment),
    ):
        splits = {"train": rows[:50], "validation": rows[50:70], "test": rows[70:]}
        labels = LABELS.get(task, LABELS["pair_classification"])
        write_dataset(root / "corpus" / name, task, splits, labels=labels)
    return root


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("results")
    write = instances(root / "instances")
    texts: set[str] = set()
    for dataset in find_datasets(write):
        texts |= unique_texts(dataset, "natural")
    embed(root / "store", ENCODER, texts)
    return write, root / "store"


def run(folders: tuple[Path, Path], **options: Any) -> Any:
    only = options.pop("only", None)
    datasets = [d for d in find_datasets(folders[0]) if only in (None, d.name)]
    if options.pop("backwards", False):
        datasets.reverse()
    options = {"probing": Probing(), **options}
    found = probe_datasets("mine", ENCODER, datasets, folders[1], seed=5, **options)
    return found if "earlier" in options else found[:2]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@dataclass(frozen=True)
class Layered:
    """char_hash as two layers, and a third that is the same for all texts."""

    name: ClassVar[str] = "layered"
    revision: ClassVar[str] = "1"
    dimension: ClassVar[int] = 32
    layers: ClassVar[tuple[str, ...]] = ("0", "1", "avg")
    layer: ClassVar[str] = "1"
    form: ClassVar[Any] = "natural"
    options: ClassVar[dict[str, Any]] = {}
    prompts: ClassVar[dict[str, str]] = {}
    packages: ClassVar[tuple[str, ...]] = ()
    parallel: ClassVar[bool] = True

    def encode(self, texts: Sequence[str]) -> Any:
        own = ENCODER.encode(texts)
        return np.concatenate([own, own, np.ones_like(own)], axis=1)


def test_scores(folders: tuple[Path, Path]) -> None:
    results, _ = run(folders)
    of = {score.dataset: score for score in results.scores}
    assert list(of) == ["bso", "dc", "dr", "fac", "sick_e", "sick_r", "sp", "ssp", "sts"]
    bso, dr, sp, ssp = (of[name] for name in ("bso", "dr", "sp", "ssp"))
    assert bso.value == bso.validation == 1.0
    assert (bso.metric, bso.measures, bso.folds, bso.asked) == ("accuracy", {"accuracy": 1}, 0, 20)
    # Of 20 documents, Student's t has 19 degrees of freedom: 20 / (20 + 2.093²).
    assert bso.interval == pytest.approx((0.8203, 1.0), abs=1e-4)
    assert bso.rows == {"train": 50, "validation": 20, "test": 20}
    assert bso.majority == 0.5
    assert (bso.chance, dr.chance, sp.chance) == (0.5, pytest.approx(1 / 3), 0.2)
    assert (bso.test_documents, dr.test_documents, ssp.test_documents) == (20, 6, 10)
    assert ssp.value > 0.9
    assert list(sp.chosen) == ["strength"]
    assert len(sp.chosen["strength"]) == 1
    for score in results.scores:
        low, high = score.interval
        assert -1 <= low <= score.value <= high <= 1
        assert score.measures[score.metric] == score.value
    assert results.encoder == {
        "encoder": "char_hash",
        "revision": "1",
        "form": "natural",
        "dimension": 32,
        "layers": ["output"],
        "layer": "output",
        "options": {"dimension": 32, "shortest": 3, "longest": 5},
    }


def test_folds_are_pooled(folders: tuple[Path, Path]) -> None:
    (score,) = run(folders, only="fac")[0].scores
    assert (score.rows, score.folds, score.asked) == ({"train": 90}, 5, 90)
    assert len(score.chosen["strength"]) == 5
    assert score.test_documents == 90
    assert score.value == score.validation == 1.0
    # In each fold 18 rows, of 72 others 36 a class: the first class wins, and is right in half.
    assert (score.majority, score.chance) == (0.5, 0.5)


def test_each_row_of_a_fold_is_answered_once(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A protocol that answers 1 for the first row of each fold, and notes what it was given."""
    given: list[Problem] = []

    def first(problem: Problem, seed: int, engine: str) -> Answers:
        given.append(problem)
        assert (seed, engine, problem.test, problem.validation) == (5, "numpy", None, None)
        assert problem.folds is not None
        firsts = np.unique(problem.folds, return_index=True)[1]
        predictions = np.zeros((1, len(problem.y)), np.int64)
        predictions[0, firsts] = 1
        return Answers(predictions, {"strength": [1.0, 2.0]}, 0.6)

    monkeypatch.setitem(probing.PROTOCOLS, "standard", Protocol("standard", 9, ("numpy",), first))
    results, (answered,) = run(folders, only="fac")
    (score,) = results.scores
    (problem,) = given
    assert (problem.name, problem.task, problem.metric) == (
        "fac",
        "sentence_classification",
        "accuracy",
    )
    assert problem.x.shape == (90, 32)
    # 45 rows of class 0; each fold's first row is one of them, and is answered with 1.
    assert score.value == pytest.approx(40 / 90)
    assert score.chosen == {"strength": [1, 2]}
    assert (score.validation, score.deviation) == (0.6, None)
    assert results.protocol["version"] == 9
    assert {len(own) for own in answered["predicted"].to_pylist()} == {1}
    assert sorted(answered["id"].to_pylist()) == sorted(f"i{i}" for i in range(90))


def test_random_starts_give_mean_and_deviation(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two starts: one right in all twenty rows, one wrong in four."""

    def two(problem: Problem, seed: int, engine: str) -> Answers:
        right = np.array(gold)
        wrong = right.copy()
        wrong[:4] = 1 - wrong[:4]
        return Answers(np.stack([right, wrong]), {}, 0.5)

    gold = run(folders, only="ssp")[1][0]["gold"].to_numpy().astype(np.int64)
    monkeypatch.setitem(probing.PROTOCOLS, "standard", Protocol("standard", 9, ("numpy",), two))
    (score,) = run(folders, only="ssp")[0].scores
    assert score.value == pytest.approx(0.9)
    assert score.deviation == pytest.approx(np.std([1.0, 0.8], ddof=1))
    assert score.measures == {"accuracy": pytest.approx(0.9)}
    # Two rows per document, and two of ten documents are worth half: the variance is 0.4 / 90.
    assert score.interval == pytest.approx((0.6139, 0.9807), abs=2e-4)


def test_relatedness(folders: tuple[Path, Path]) -> None:
    (score,) = run(folders, only="sick_r")[0].scores
    assert score.metric == "pearson"
    assert list(score.measures) == ["pearson", "spearman"]
    assert score.value > 0.5
    assert (score.majority, score.chance) == (None, None)
    assert list(score.chosen) == ["strength"]
    assert score.rows == {"train": 50, "validation": 20, "test": 20}


def test_similarity(folders: tuple[Path, Path]) -> None:
    (score,) = run(folders, only="sts")[0].scores
    assert (score.metric, score.rows, score.asked) == ("pearson", {"test": 90}, 90)
    assert (score.majority, score.chance, score.chosen, score.validation) == (None, None, {}, None)
    rows = pq.read_table(folders[0] / "corpus" / "sts").to_pylist()
    gold = [own["score"] for own in rows]
    found = [
        float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
        for one, other in (ENCODER.encode([r["sentence1"], r["sentence2"]])[:, 0] for r in rows)
    ]
    assert score.value == pytest.approx(stats.pearsonr(gold, found).statistic, abs=1e-6)
    rounded = stats.spearmanr(gold, np.round(found, 6)).statistic
    assert score.measures["spearman"] == pytest.approx(rounded, abs=0.001)
    news = [i for i in range(90) if rows[i]["subset"] == "news"]
    assert score.measures["pearson, news"] == pytest.approx(
        stats.pearsonr([gold[i] for i in news], [found[i] for i in news]).statistic, abs=1e-6
    )
    assert set(score.measures) == {
        f"{name}{subset}" for name in ("pearson", "spearman") for subset in ("", ", news", ", web")
    }


def test_pair_features_are_an_option(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = []

    def note(problem: Problem, seed: int, engine: str) -> Answers:
        widths.append(problem.x.shape[1])
        return standard.PROTOCOL.answer(problem, seed, engine)

    noting = replace(standard.PROTOCOL, answer=note)
    monkeypatch.setitem(probing.PROTOCOLS, "standard", noting)
    (two, _), (four, _) = (
        run(folders, only="sick_e", probing=Probing(pair_features=pair))
        for pair in ("difference_product", "four_part")
    )
    assert two.protocol["pair_features"] == "difference_product"
    assert four.protocol == {
        "name": "standard",
        "version": 4,
        "engine": "numpy",
        "pair_features": "four_part",
    }
    assert widths == [64, 128]


def test_ablations(folders: tuple[Path, Path]) -> None:
    plain, _ = run(folders)
    found, _ = run(folders, probing=Probing(ablations=True))
    assert found.protocol == plain.protocol | {"ablations": True}
    ablated = {score.dataset: score for score in found.scores}
    for score in plain.scores:
        own = ablated[score.dataset]
        names = own.measures.keys() - score.measures.keys()
        expected = {"sp": {"without context"}, "dc": {"without hidden layer"}}
        assert names == expected.get(score.dataset, set())
        assert replace(own, measures=score.measures) == score
    # Without its own features, coherence is probed on the six embeddings: worse, but no guess.
    assert 0.3 < ablated["dc"].measures["without hidden layer"] <= 1
    x = np.arange(20.0, dtype=np.float32).reshape(2, 2, 5)[:, :1].repeat(5, axis=1)
    left = ABLATIONS["sentence_position"].features(differences_from_first(x))
    assert (left == x[:, 0]).all()


def test_each_layer_is_probed_for_itself(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """The second layer is the first one's, the third is the same for all texts."""
    encoder = Layered()
    texts = set().union(*(unique_texts(d, "natural") for d in find_datasets(folders[0])))
    embed(tmp_path, encoder, texts)
    datasets = [d for d in find_datasets(folders[0]) if d.name in ("bso", "ssp")]
    results, answers, _ = probe_datasets(
        "mine", encoder, datasets, tmp_path, seed=5, probing=Probing()
    )
    assert [(s.dataset, s.layer) for s in results.scores] == [
        (name, layer) for name in ("bso", "ssp") for layer in ("0", "1", "avg")
    ]
    assert [s.layer for s in results.main] == ["1", "1"]
    zero, one, avg = results.scores[:3]
    assert zero.value == one.value == 1.0
    assert replace(zero, layer="1") == one
    assert avg.value == avg.majority
    assert answers[0]["predicted"] == answers[1]["predicted"]
    plain, _ = run(folders, only="bso")
    assert replace(plain.scores[0], layer="0") == zero


def test_order_and_workers_do_not_matter(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(*run(folders), tmp_path / "a")
    monkeypatch.setattr(probing, "WORK_OF_A_PROCESS", 1)
    write_results(*run(folders, backwards=True, workers=2), tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert read_results(tmp_path / "a") == run(folders)[0]


def test_the_hash_seed_of_python_does_not_matter(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "params.yaml").write_text(
        "seed: 5\nencoders: {mine: {encoder: char_hash, dimension: 32}}"
    )
    monkeypatch.chdir(tmp_path)

    def there(command: list[str]) -> int:
        program = [sys.executable, "-m", "evaluation.commands", *command]
        environment = {**os.environ, "PYTHONHASHSEED": another_hash_seed()}
        return subprocess.run(program, env=environment, capture_output=True).returncode

    common = ["mine", "--instances", str(folders[0]), "--workers", "1"]
    outputs = []
    for name, call in (("here", main), ("there", there)):
        store, out = f"{name}/store", f"{name}/out"
        assert call(["embed", *common, "--out", store]) == 0
        assert call(["probe", *common, "--embeddings", store, "--out", out]) == 0
        outputs.append((contents(Path(store)), contents(Path(out))))
    assert outputs[0] == outputs[1]
    write_results(*run(folders), tmp_path / "called")
    assert contents(tmp_path / "called") == outputs[0][1]


def test_coverage_goes_with_the_scores(folders: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(folders[1], tmp_path / "store")
    datasets = [d for d in find_datasets(folders[0]) if d.name in ("bso", "ssp")]
    counts = {"tokens": 7, "out_of_vocabulary": 2}
    known = {datasets[0].name: {"digest": datasets[0].digest(), "revision": "1", **counts}}
    (tmp_path / "store" / "coverage.json").write_text(json.dumps(known))
    results, _ = run((folders[0], tmp_path / "store"))
    found = {score.dataset: score.coverage for score in results.scores}
    assert (found["bso"], found["ssp"]) == (counts, None)


def not_called(*arguments: Any) -> Any:
    raise AssertionError("probed again")


def test_what_is_unchanged_is_kept(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(*run(folders), tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr(probing, "probe_dataset", not_called)
    *found, kept = run(folders, earlier=tmp_path)
    assert kept == 9
    write_results(*found, tmp_path)
    assert contents(tmp_path) == before


def test_a_dataset_costs_only_itself(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an earlier run one dataset has gone, and one has changed; one is new."""
    old = tmp_path / "old"
    for name in ("bso", "dc", "fac"):
        shutil.copytree(folders[0] / "corpus" / name, old / "corpus" / name)
    write_results(*run((old, folders[1])), tmp_path / "r")
    shutil.rmtree(old / "corpus" / "bso")
    shutil.copytree(folders[0] / "corpus" / "ssp", old / "corpus" / "ssp")
    changed = old / "corpus" / "dc" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(changed).slice(1), changed)
    probed: list[str] = []

    def note(dataset: Dataset, *rest: Any) -> Any:
        probed.append(dataset.name)
        return probe_dataset(dataset, *rest)

    monkeypatch.setattr(probing, "probe_dataset", note)
    *found, kept = run((old, folders[1]), earlier=tmp_path / "r")
    assert (sorted(probed), kept) == (["dc", "ssp"], 1)
    write_results(*found, tmp_path / "r")
    monkeypatch.undo()
    write_results(*run((old, folders[1])), tmp_path / "anew")
    assert contents(tmp_path / "r") == contents(tmp_path / "anew")


@pytest.mark.parametrize("changed", ["seed", "probing", "code", "rows", "damage"])
def test_what_may_have_changed_is_probed_again(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    results, tables = run(folders, only="ssp")
    if changed == "seed":
        results = replace(results, seed=6)
    if changed == "code":
        results = replace(results, code="0123456789abcdef")
    if changed == "rows":
        tables = [tables[0].slice(1)]
    write_results(results, tables, tmp_path)
    if changed == "damage":
        (tmp_path / "predictions.parquet").write_bytes(b"PAR1")
    own = Probing(pair_features="four_part") if changed == "probing" else Probing()
    assert run(folders, only="ssp", probing=own, earlier=tmp_path)[2] == 0


def test_coverage_is_that_of_the_store(folders: tuple[Path, Path], tmp_path: Path) -> None:
    write_results(*run(folders, only="bso"), tmp_path / "r")
    shutil.copytree(folders[1], tmp_path / "store")
    dataset = next(d for d in find_datasets(folders[0]) if d.name == "bso")
    counts = {"tokens": 7, "out_of_vocabulary": 2}
    known = {"bso": {"digest": dataset.digest(), "revision": "1", **counts}}
    (tmp_path / "store" / "coverage.json").write_text(json.dumps(known))
    changed = (folders[0], tmp_path / "store")
    results, _, kept = run(changed, only="bso", earlier=tmp_path / "r")
    assert (results.scores[0].coverage, kept) == (counts, 1)


def test_keeping_everything_is_cheap(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(
        "seed: 5\nencoders: {mine: {encoder: char_hash, dimension: 32}}"
    )
    write_results(*run(folders), tmp_path / "r")
    code = f"""if True:
        import sys
        from evaluation.commands import main
        common = ["mine", "--instances", {str(folders[0])!r}, "--embeddings", {str(folders[1])!r}]
        assert main(["probe", *common, "--out", "r"]) == 0
        assert not {{"pandas", "scipy", "sklearn", "tqdm"}} & sys.modules.keys()
    """
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.endswith("9 datasets: 9 kept, 0 new\n")


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ({"test": []}, ["test-00000", "one row or more"]),
        ({"validation": []}, ["validation-00000", "one row or more"]),
        ({"train": [row(0, 1, sentences=["a", "b"])] * 2}, ["no swapped", "2 rows"]),
        (
            {split: [row(i, 1, sentences=["a", "b"]) for i in range(2)] for split in SPLITS},
            ["two classes", "only 'original'"],
        ),
        ({"validation": [row(0, 1, sentences=["a", "b"])]}, ["two rows or more", "one"]),
        ({"test": [row(0, 2, sentences=["a", "b"])]}, ["labels 0 … 1", "2 in row 0 of test"]),
        ({"test": [row(0, 1, sentences=["a"])]}, ["bso, test: row 0 i0", "2 texts"]),
        ({"test": [row(0, 1, sentences=["a", "zz"])]}, ["'zz'", "probeta embed"]),
    ],
)
@pytest.mark.parametrize("workers", [1])
def test_data_that_cannot_be_probed(
    tmp_path: Path, splits: dict[str, Any], words: list[str], workers: int
) -> None:
    rows = [row(i, i % 2, sentences=["a", "b"]) for i in range(4)]
    whole = {"train": rows, "validation": rows, "test": rows, **splits}
    write_dataset(tmp_path / "i" / "bso", "sentence_ordering", whole)
    embed(tmp_path / "s", ENCODER, ["a", "b"])
    with pytest.raises(InputError) as caught:
        run((tmp_path / "i", tmp_path / "s"), workers=workers)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("task", "splits", "words"),
    [
        ("similarity", {"test": [1.0, float("nan")]}, ["finite scores", "nan in row 1 of test"]),
        ("similarity", {"test": [float("inf")]}, ["finite scores", "inf in row 0"]),
        ("relatedness", {"train": [2.5, 2.5]}, ["two scores or more in train", "only 2.5"]),
    ],
)
def test_scores_that_cannot_be_used(
    tmp_path: Path, task: str, splits: dict[str, list[float]], words: list[str]
) -> None:
    if task == "relatedness":
        splits = {"validation": [1.0, 2.0], "test": [1.0, 2.0]} | splits
    rows = {
        split: [row(i, None, score=s, sentence1="a", sentence2="b") for i, s in enumerate(scores)]
        for split, scores in splits.items()
    }
    write_dataset(tmp_path / "i" / "sts", task, rows)
    embed(tmp_path / "s", ENCODER, ["a", "b"])
    with pytest.raises(InputError) as caught:
        run((tmp_path / "i", tmp_path / "s"))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("folds", "labels", "words"),
    [
        ([0, 1, 0, 1], [0, 1, 0, 1], ["three folds or more", "0, 1"]),
        ([0, 0, 1, 2], [0, 1, 0, 0], ["a fold in the other folds", "no positive, which 1 rows"]),
        ([0, 1, 2, 2], [0, 0, 0, 0], ["two classes or more in train", "only 'negative'"]),
    ],
)
def test_folds_that_cannot_be_used(
    tmp_path: Path, folds: list[int], labels: list[int], words: list[str]
) -> None:
    rows = [row(i, labels[i], fold=folds[i], sentence="a") for i in range(4)]
    write_dataset(tmp_path / "i" / "fac", "sentence_classification", {"train": rows})
    embed(tmp_path / "s", ENCODER, ["a"])
    with pytest.raises(InputError) as caught:
        run((tmp_path / "i", tmp_path / "s"))
    for word in words:
        assert word in str(caught.value)


def test_an_error_in_a_worker_keeps_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "WORK_OF_A_PROCESS", 1)
    rows = [row(i, i % 2, sentences=["a", "b"]) for i in range(4)]
    for name in ("one", "two"):
        write_dataset(
            tmp_path / "i" / name,
            "sentence_ordering",
            {"train": rows, "validation": rows, "test": []},
        )
    embed(tmp_path / "s", ENCODER, ["a", "b"])
    with pytest.raises(InputError, match="one row or more") as caught:
        run((tmp_path / "i", tmp_path / "s"), workers=2)
    # That of the dataset whose probe failed first.
    assert "test-00000" in str(caught.value)


def test_the_engine_is_one_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"probing": {"protocol": "senteval", "engine": "torch"}}
    assert probing_params(chosen, Path("params.yaml")).as_protocol() == {
        "name": "senteval",
        "version": 1,
        "engine": "torch",
        "pair_features": "difference_product",
    }
    with pytest.raises(InputError, match=r"probing\.engine\n.*one of numpy\n"):
        probing_params({"probing": {"engine": "torch"}}, Path("params.yaml"))


def test_features_that_overflow_are_refused(tmp_path: Path) -> None:
    """Embeddings of 1e30 are finite, their product is not."""

    @dataclass(frozen=True)
    class Huge(Layered):
        def encode(self, texts: Sequence[str]) -> Any:
            return super().encode(texts) * np.float32(1e30)

    pairs = [row(i, i % 2, sentence1=sentence(i), sentence2=sentence(i + 1)) for i in range(6)]
    splits = dict.fromkeys(SPLITS, pairs)
    write_dataset(tmp_path / "i" / "nli", "pair_classification", splits)
    embed(tmp_path / "s", Huge(), [sentence(i) for i in range(7)])
    datasets = find_datasets(tmp_path / "i")
    with pytest.raises(InputError, match="within the range of float32") as caught:
        probe_datasets("mine", Huge(), datasets, tmp_path / "s", seed=5, probing=Probing())
    assert "row 0 i0" in str(caught.value)
