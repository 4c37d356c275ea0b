"""From instances to scores: determinism, layers, folds, baselines, errors."""

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
from contents import contents, forge_memory
from instance_files import LABELS, row, write_dataset
from scipy import stats
from stores import in_project

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import SPLITS
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.left_out import read_left_out
from evaluation.commands import main
from evaluation.data.features import differences_from_first
from evaluation.data.instances import Dataset, find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders import make_encoder
from evaluation.encoders.char_hash import CharHash
from evaluation.probing import probing
from evaluation.probing.ablations import ABLATIONS
from evaluation.probing.params import probing_params
from evaluation.probing.probing import Probing, probe_dataset, probe_datasets
from evaluation.probing.protocols import standard
from evaluation.probing.protocols.problem import Answers, Problem, Protocol
from evaluation.results.probes import Results, read_results, write_results

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


def embedded(root: Path, encoder: Any = ENCODER) -> Path:
    """Bring the store of a folder up to date with its instances, and return the folder."""
    embed_datasets(root / "store", encoder, find_datasets(root / "instances"))
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with instances and a store, for reading."""
    folder = tmp_path_factory.mktemp("results")
    instances(folder / "instances")
    return embedded(folder)


@pytest.fixture(scope="module")
def whole(root: Path) -> tuple[Results, Any]:
    """Return the results on all datasets, and their tables."""
    return run(root)


@pytest.fixture
def mine(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the new current folder: a memory, and two datasets, can be changed there."""
    monkeypatch.chdir(tmp_path)
    for name in ("bso", "ssp"):
        copy_dataset(root, name, tmp_path)
    return embedded(tmp_path)


def copy_dataset(root: Path, name: str, to: Path) -> None:
    own = Path("instances", "corpus", name)
    shutil.copytree(root / own, to / own)


def run(root: Path, *, only: str | None = None, **options: Any) -> tuple[Results, Any]:
    """Probe the datasets of a folder; return the results and their tables."""
    datasets = [own for own in find_datasets(root / "instances") if only in (None, own.name)]
    options = {"probing": Probing(), "seed": 5, "encoder": ENCODER, **options}
    encoder = options.pop("encoder")
    return probe_datasets("mine", encoder, datasets, root / "store", **options)[:2]


def rerun(root: Path, **options: Any) -> int:
    """Probe as in a run after others, and write the results to ``root/r``; return how many are new.

    They are, to the byte, those of a run without earlier ones.
    """
    options = {"probing": Probing(), "seed": 5, **options}
    datasets = find_datasets(root / "instances")
    *found, new = probe_datasets(
        "mine", ENCODER, datasets, root / "store", earlier=root / "r", **options
    )
    write_results(*found, root / "r")
    write_results(*run(root, **options), root / "anew")
    assert contents(root / "r") == contents(root / "anew")
    return new


@in_project
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


def test_scores(whole: tuple[Results, Any]) -> None:
    results, _ = whole
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


def test_folds_are_pooled(root: Path) -> None:
    (score,) = run(root, only="fac")[0].scores
    assert (score.rows, score.folds, score.asked) == ({"train": 90}, 5, 90)
    assert len(score.chosen["strength"]) == 5
    assert score.test_documents == 90
    assert score.value == score.validation == 1.0
    # In each fold 18 rows, of 72 others 36 a class: the first class wins, and is right in half.
    assert (score.majority, score.chance) == (0.5, 0.5)


def test_each_row_of_a_fold_is_answered_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    results, (answered,) = run(root, only="fac")
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


def test_random_starts_give_mean_and_deviation(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two starts: one right in all twenty rows, one wrong in four."""

    def two(problem: Problem, seed: int, engine: str) -> Answers:
        right = np.array(gold)
        wrong = right.copy()
        wrong[:4] = 1 - wrong[:4]
        return Answers(np.stack([right, wrong]), {}, 0.5)

    gold = run(root, only="ssp")[1][0]["gold"].to_numpy().astype(np.int64)
    monkeypatch.setitem(probing.PROTOCOLS, "standard", Protocol("standard", 9, ("numpy",), two))
    (score,) = run(root, only="ssp")[0].scores
    assert score.value == pytest.approx(0.9)
    assert score.deviation == pytest.approx(np.std([1.0, 0.8], ddof=1))
    assert score.measures == {"accuracy": pytest.approx(0.9)}
    # Two rows per document, and two of ten documents are worth half: the variance is 0.4 / 90.
    assert score.interval == pytest.approx((0.6139, 0.9807), abs=2e-4)


def test_relatedness(root: Path) -> None:
    (score,) = run(root, only="sick_r")[0].scores
    assert score.metric == "pearson"
    assert list(score.measures) == ["pearson", "spearman"]
    assert score.value > 0.5
    assert (score.majority, score.chance) == (None, None)
    assert list(score.chosen) == ["strength"]
    assert score.rows == {"train": 50, "validation": 20, "test": 20}


def test_similarity(root: Path) -> None:
    (score,) = run(root, only="sts")[0].scores
    assert (score.metric, score.rows, score.asked) == ("pearson", {"test": 90}, 90)
    assert (score.majority, score.chance, score.chosen, score.validation) == (None, None, {}, None)
    rows = pq.read_table(root / "instances" / "corpus" / "sts").to_pylist()
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


def test_pair_features_are_an_option(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    widths = []

    def note(problem: Problem, seed: int, engine: str) -> Answers:
        widths.append(problem.x.shape[1])
        return standard.PROTOCOL.answer(problem, seed, engine)

    noting = replace(standard.PROTOCOL, answer=note)
    monkeypatch.setitem(probing.PROTOCOLS, "standard", noting)
    (two, _), (four, _) = (
        run(root, only="sick_e", probing=Probing(pair_features=pair))
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


def test_ablations(root: Path, whole: tuple[Results, Any]) -> None:
    plain, _ = whole
    found, _ = run(root, probing=Probing(ablations=True))
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


def test_each_layer_is_probed_for_itself(root: Path, tmp_path: Path) -> None:
    """The second layer is the first one's, the third is the same for all texts."""
    for name in ("bso", "ssp"):
        copy_dataset(root, name, tmp_path)
    results, answers = run(embedded(tmp_path, Layered()), encoder=Layered())
    assert [(s.dataset, s.layer) for s in results.scores] == [
        (name, layer) for name in ("bso", "ssp") for layer in ("0", "1", "avg")
    ]
    assert [s.layer for s in results.main] == ["1", "1"]
    zero, one, avg = results.scores[:3]
    assert zero.value == one.value == 1.0
    assert replace(zero, layer="1", vectors=one.vectors) == one
    assert avg.value == avg.majority
    assert answers[0]["predicted"] == answers[1]["predicted"]
    assert avg.vectors != one.vectors
    plain, _ = run(root, only="bso")
    assert replace(plain.scores[0], layer="0", vectors=zero.vectors) == zero


def test_workers_do_not_matter(
    root: Path, whole: tuple[Results, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(*whole, tmp_path / "a")
    monkeypatch.setattr(probing, "WORK_OF_A_PROCESS", 1)
    write_results(*run(root, workers=2), tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert read_results(tmp_path / "a") == whole[0]


def note_probed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the names of the datasets that are probed."""
    probed: list[str] = []

    def note(dataset: Dataset, *rest: Any) -> Any:
        probed.append(dataset.name)
        return probe_dataset(dataset, *rest)

    monkeypatch.setattr(probing, "probe_dataset", note)
    return probed


def test_a_dataset_costs_only_itself(
    root: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has gone, one is new, one has changed; then nothing has."""
    copy_dataset(root, "fac", mine)
    embedded(mine)
    assert rerun(mine) == 3
    shutil.rmtree(mine / "instances" / "corpus" / "bso")
    copy_dataset(root, "dr", mine)
    changed = mine / "instances" / "corpus" / "ssp" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(changed).slice(1), changed)
    embedded(mine)
    probed = note_probed(monkeypatch)
    assert rerun(mine) == 2
    # The comparison with a run without earlier ones probes all three.
    assert sorted(probed) == ["dr", "dr", "fac", "ssp", "ssp"]
    assert rerun(mine) == 0
    assert len(probed) == 5 + 3


@in_project
class Other(CharHash):
    """Gives itself out for char_hash, but has other vectors."""

    def encode(self, texts: Sequence[str]) -> Any:
        return super().encode(texts)[..., ::-1] ** 2


@pytest.mark.parametrize(
    "changed",
    [
        "seed",
        "probing",
        "code",
        "versions",
        "vectors",
        "answer",
        "damage",
        "gone",
        "memory",
        "value",
    ],
)
def test_what_may_have_changed_is_probed_again(
    mine: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    assert rerun(mine) == 2
    answers, options, new = mine / "r" / "predictions.parquet", {}, 2
    if changed == "seed":
        options = {"seed": 6}
    elif changed == "probing":
        options = {"probing": Probing(pair_features="four_part")}
    elif changed == "code":
        monkeypatch.setattr(probing, "code_digest", lambda module: "0123456789abcdef")
    elif changed == "versions":
        monkeypatch.setattr(probing, "library_versions", lambda *given: {"numpy": "0"})
    elif changed == "vectors":
        shutil.rmtree(mine / "store")
        embedded(mine, Other(32))
    elif changed == "answer":
        results, (bso, ssp) = run(mine)
        # The same accuracy, of other rows.
        tables = [bso, ssp.set_column(2, "id", [ssp["id"].to_pylist()[::-1]])]
        write_results(results, tables, mine / "r")
        new = 1
    elif changed == "damage":
        answers.write_bytes(b"PAR1")
    elif changed == "gone":
        answers.unlink()
    elif changed == "value":
        forge_memory(mine / "data/memory/probed/mine/ssp", "value", 0.9)
        new = 1
    else:
        shutil.rmtree(mine / "data" / "memory")
    assert rerun(mine, **options) == new
    assert rerun(mine, **options) == 0


def test_coverage_is_that_of_the_store(mine: Path) -> None:
    """It can change when no vector does."""
    counts = {"tokens": 7, "out_of_vocabulary": 2}

    @in_project
    class Knowing(CharHash):
        def coverage(self, texts: Sequence[str]) -> dict[str, int]:
            return counts

    assert rerun(mine) == 2
    assert [own.coverage for own in read_results(mine / "r").scores] == [None, None]
    assert rerun(embedded(mine, Knowing(32))) == 2
    assert [own.coverage for own in read_results(mine / "r").scores] == [counts, counts]


def test_a_dataset_that_cannot_be_probed_is_left_out(
    root: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are scored, and remembered."""
    copy_dataset(root, "dr", mine)
    changed = mine / "instances" / "corpus" / "bso" / "test-00000-of-00001.parquet"
    whole = pq.read_table(changed)
    pq.write_table(whole.slice(0, 0), changed)
    embedded(mine)
    for new in (2, 0):
        faults: dict[str, InputError] = {}
        assert rerun(mine, faults=faults) == new
        assert list(faults) == ["bso"]
        assert [own.dataset for own in read_results(mine / "r").scores] == ["dr", "ssp"]
    # Without a place for faults, that of the first is raised; its message comes from a worker too.
    monkeypatch.setattr(probing, "WORK_OF_A_PROCESS", 1)
    with pytest.raises(InputError, match="one row or more") as caught:
        run(mine, workers=2)
    assert str(caught.value) == str(faults["bso"])
    pq.write_table(whole, changed)
    assert rerun(embedded(mine)) == 1


def test_the_stage_says_what_it_leaves_out(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("params.yaml").write_text("encoders: {mine: {encoder: char_hash, dimension: 32}}")
    shutil.copytree("instances", "dist/hub")
    (changed,) = Path("dist/hub").rglob("bso/test-*")
    pq.write_table(pq.read_table(changed).slice(0, 0), changed)
    assert main(["embed"]) == 0
    # In the run that finds it, and in one that keeps the others.
    for said in ("1 new", "1 kept, 0 new"):
        assert main(["probe"]) == 0
        out = capsys.readouterr().out
        assert f"probe: 1 encoder: {said}, 1 left out\n  left out mine: bso:\n" in out
        assert "one row or more" in out
        assert list(read_left_out("probe")) == ["mine: bso"]
    assert main(["probe", "--strict"]) == 1
    assert "one row or more" in capsys.readouterr().err
    assert [own.dataset for own in read_results(Path("data/results/mine")).scores] == ["ssp"]


def test_keeping_everything_is_cheap(mine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The stage writes what a call does; without anything new, it imports nothing heavy."""
    Path("params.yaml").write_text("seed: 5\nencoders: {mine: {encoder: char_hash, dimension: 32}}")
    shutil.copytree("instances", "dist/hub")
    assert main(["embed"]) == main(["probe"]) == 0
    write_results(*run(mine), mine / "called")
    assert contents(mine / "data" / "results" / "mine") == contents(mine / "called")
    code = """if True:
        import sys
        from evaluation.commands import main
        assert main(["probe"]) == 0
        assert not {"pandas", "sklearn"} & sys.modules.keys()
    """
    path = os.pathsep.join(filter(None, sys.path))
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, check=True)
    assert capfd.readouterr().out.endswith("probe: 1 encoder: 1 kept, 0 new\n")


def check_refused(root: Path, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        run(embedded(root))
    for word in words:
        assert word in str(caught.value)


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
    ],
)
def test_data_that_cannot_be_probed(
    tmp_path: Path, splits: dict[str, Any], words: list[str]
) -> None:
    rows = [row(i, i % 2, sentences=["a", "b"]) for i in range(4)]
    whole = {"train": rows, "validation": rows, "test": rows, **splits}
    write_dataset(tmp_path / "instances" / "bso", "sentence_ordering", whole)
    check_refused(tmp_path, words)


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
    write_dataset(tmp_path / "instances" / "sts", task, rows)
    check_refused(tmp_path, words)


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
    write_dataset(tmp_path / "instances" / "fac", "sentence_classification", {"train": rows})
    check_refused(tmp_path, words)


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
    """Embeddings of 1e30 are finite, their product is not; the other layers go, too."""

    @in_project
    @dataclass(frozen=True)
    class Huge(Layered):
        def encode(self, texts: Sequence[str]) -> Any:
            return super().encode(texts) * np.float32([[1], [1e30], [1]])

    pairs = [row(i, i % 2, sentence1=sentence(i), sentence2=sentence(i + 1)) for i in range(6)]
    splits = dict.fromkeys(SPLITS, pairs)
    write_dataset(tmp_path / "instances" / "nli", "pair_classification", splits)
    embedded(tmp_path, Huge())
    with pytest.raises(InputError, match="within the range of float32") as caught:
        run(tmp_path, encoder=Huge())
    assert "row 0 i0" in str(caught.value)
    faults: dict[str, InputError] = {}
    results, tables = run(tmp_path, encoder=Huge(), faults=faults)
    assert (list(faults), results.scores, tables) == (["nli"], (), [])
