"""Probing: scores of datasets, cached parts, and transfer to other datasets."""

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
from contents import contents
from instance_files import LABELS, row, sentence, write_dataset
from scipy import stats
from stage_lines import untimed
from stores import in_project

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.stage import read_skipped
from evaluation.datasets import find_datasets
from evaluation.embedding.embedding import embed_datasets, open_lookup
from evaluation.encoders import make_encoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import describe
from evaluation.features import differences_from_first
from evaluation.probing import probing
from evaluation.probing.probing import probe_datasets
from evaluation.probing.protocols import Probing, standard
from evaluation.probing.protocols.problem import ABLATIONS, ProbeOutput, Problem, Protocol
from evaluation.probing.transfer import add_transfers, find_families
from evaluation.results.scores import Results, Score, read_results, write_results
from probeta.cli import main

# --- probing -------------------------------------------------------------------------------------

ENCODER = make_encoder("char_hash", {"dimension": 32})


def instances(root: Path) -> Path:
    """Write one dataset a task; BSO can be learnt: the original order begins with "Primero".

    Of FAC, with folds, "gusta" tells the class; of SICK, and STS with test alone, the score is how
    many words two sentences share.
    """
    ordering = [
        row(i, i % 2, sentences=["Primero llega.", sentence(i)][:: 1 if i % 2 else -1])
        for i in range(90)
    ]
    position, coherence = (
        [
            row(i, keyed_hash(key, str(i)) % classes, sentences=[*map(sentence, numbers)])
            for i, numbers in enumerate(np.arange(90 * size).reshape(90, size))
        ]
        for key, classes, size in ((1, 5, 5), (2, 2, 6))
    )
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
def mine(root: Path, empty_folder: Path) -> Path:
    """Return the new current folder: a cache, and two datasets, can be changed there."""
    for name in ("bso", "ssp"):
        copy_dataset(root, name, empty_folder)
    return embedded(empty_folder)


def copy_dataset(root: Path, name: str, to: Path) -> None:
    shutil.copytree(root / "instances" / "corpus" / name, to / "instances" / "corpus" / name)


def run(root: Path, *, only: str | None = None, **options: Any) -> tuple[Results, Any]:
    """Probe the datasets of a folder; return the results and their tables."""
    datasets = [made for made in find_datasets(root / "instances") if only in (None, made.name)]
    options = {"probing": Probing(), "seed": 5, "encoder": ENCODER, **options}
    encoder = options.pop("encoder")
    return probe_datasets("mine", encoder, datasets, root / "store", **options)[:2]


def rerun(root: Path, **options: Any) -> int:
    """Probe with a cache, and write the results to ``root/r``; return how many datasets are new.

    The results are, to the byte, those of a run without a cache.
    """
    options = {"probing": Probing(), "seed": 5, **options}
    datasets = find_datasets(root / "instances")
    *found, new = probe_datasets(
        "mine", ENCODER, datasets, root / "store", cache=Cache("probed/mine"), **options
    )
    write_results(*found, root / "r")
    write_results(*run(root, **options), root / "anew")
    assert contents(root / "r") == contents(root / "anew")
    return new


@in_project
@dataclass(frozen=True)
class Layered(CharHash):
    """char_hash as two layers, and a third that is the same for all texts."""

    dimension: int = 32
    layers: ClassVar[tuple[str, ...]] = ("0", "1", "avg")
    layer: ClassVar[str] = "1"

    def encode(self, texts: Sequence[str]) -> Any:
        vectors = super().encode(texts)
        return np.concatenate([vectors, vectors, np.ones_like(vectors)], axis=1)


def test_scores(whole: tuple[Results, Any]) -> None:
    results, _ = whole
    of = {score.dataset: score for score in results.scores}
    assert list(of) == ["bso", "dc", "dr", "fac", "sick_e", "sick_r", "sp", "ssp", "sts"]
    bso, dr, sp, ssp = (of[name] for name in ("bso", "dr", "sp", "ssp"))
    assert bso.value == bso.validation == 1.0
    assert (bso.metric, bso.measures, bso.folds, bso.n_rows) == ("accuracy", {"accuracy": 1}, 0, 20)
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
    facts = {"encoder": "char_hash", "revision": "1", "form": "natural", "dimension": 32}
    options = {"dimension": 32, "shortest": 3, "longest": 5}
    layers = {"layers": ["output"], "layer": "output"}
    assert results.encoder == {**facts, **layers, "options": options}
    sick = of["sick_r"]
    assert (sick.metric, list(sick.measures)) == ("pearson", ["pearson", "spearman"])
    assert (sick.majority, sick.chance, list(sick.chosen)) == (None, None, ["strength"])
    assert sick.value > 0.5


def test_post_processing_is_fitted_on_train_or_on_all_texts_of_a_dataset(root: Path) -> None:
    centred = replace(ENCODER, postprocessing="centre")
    results, _ = run(root, encoder=centred)
    assert results.encoder["options"]["postprocessing"] == "centre"
    fitted_on = {score.dataset: score.fitted_on for score in results.scores}
    assert fitted_on == dict.fromkeys(fitted_on, "train") | {"fac": "own", "sts": "own"}
    datasets = {dataset.name: dataset for dataset in find_datasets(root / "instances")}

    def vectors(texts: Sequence[str]) -> Any:
        return ENCODER.encode(texts)[:, 0].astype(np.float64)

    def texts_of(name: str, split: Split) -> list[list[str]]:
        columns = ["sentence1", "sentence2"]
        return [column.to_pylist() for column in datasets[name].read(split, columns).columns]

    def centre(pairs: list[list[str]]) -> Any:
        return vectors(sorted({*pairs[0], *pairs[1]})).mean(axis=0)

    learnt, (asked, _) = texts_of("sick_r", "train"), texts_of("sick_r", "test")
    lookup = open_lookup(describe(centred), root / "store", datasets["sick_r"], "output")
    assert lookup(asked) == pytest.approx(vectors(asked) - centre(learnt), abs=1e-6)
    pairs = texts_of("sts", "test")
    one, other = (vectors(texts) - centre(pairs) for texts in pairs)
    cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    gold = datasets["sts"].read("test", ["score"])["score"].to_numpy()
    (score,) = (score for score in results.scores if score.dataset == "sts")
    assert score.value == pytest.approx(stats.pearsonr(gold, cosines).statistic, abs=1e-5)


def test_folds_are_pooled(whole: tuple[Results, Any]) -> None:
    (score,) = (score for score in whole[0].scores if score.dataset == "fac")
    assert (score.rows, score.folds, score.n_rows) == ({"train": 90}, 5, 90)
    assert len(score.chosen["strength"]) == 5
    assert score.test_documents == 90
    assert score.value == score.validation == 1.0
    # In each fold 18 rows, of 72 others 36 a class: the first class wins, and is right in half.
    assert (score.majority, score.chance) == (0.5, 0.5)


def test_each_row_of_a_fold_is_predicted_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A protocol that answers 1 for the first row of each fold, and notes what it was given."""
    given: list[Problem] = []

    def first(problem: Problem, seed: int, engine: str) -> ProbeOutput:
        given.append(problem)
        assert (seed, engine, problem.test, problem.validation) == (5, "numpy", None, None)
        assert problem.folds is not None
        firsts = np.unique(problem.folds, return_index=True)[1]
        predictions = np.zeros((1, len(problem.y)), np.int64)
        predictions[0, firsts] = 1
        return ProbeOutput(predictions, {"strength": [1.0, 2.0]}, 0.6)

    monkeypatch.setitem(probing.PROTOCOLS, "standard", Protocol("standard", 9, ("numpy",), first))
    results, (answered,) = run(root, only="fac")
    (score,) = results.scores
    (problem,) = given
    named = problem.name, problem.task, problem.metric
    assert named == ("fac", "sentence_classification", "accuracy")
    assert problem.x.shape == (90, 32)
    # 45 rows of class 0; each fold's first row is one of them, and is answered with 1.
    assert score.value == pytest.approx(40 / 90)
    assert score.chosen == {"strength": [1, 2]}
    assert (score.validation, score.deviation) == (0.6, None)
    assert results.protocol["version"] == 9
    assert {len(predicted) for predicted in answered["predicted"].to_pylist()} == {1}
    assert sorted(answered["id"].to_pylist()) == sorted(f"i{i}" for i in range(90))


def test_random_starts_give_mean_and_deviation(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two starts: one right in all twenty rows, one wrong in four."""

    def two(problem: Problem, seed: int, engine: str) -> ProbeOutput:
        right = np.array(gold)
        wrong = right.copy()
        wrong[:4] = 1 - wrong[:4]
        return ProbeOutput(np.stack([right, wrong]), {}, 0.5)

    gold = run(root, only="ssp")[1][0]["gold"].to_numpy().astype(np.int64)
    monkeypatch.setitem(probing.PROTOCOLS, "standard", Protocol("standard", 9, ("numpy",), two))
    (score,) = run(root, only="ssp")[0].scores
    assert score.deviation == pytest.approx(np.std([1.0, 0.8], ddof=1))
    assert score.measures == {"accuracy": pytest.approx(0.9)}
    # Two rows per document, and two of ten documents are worth half: the variance is 0.4 / 90.
    assert score.interval == pytest.approx((0.5754, 0.9835), abs=2e-4)


def test_similarity(root: Path, whole: tuple[Results, Any]) -> None:
    score = whole[0].scores[-1]
    assert (score.metric, score.rows, score.n_rows) == ("pearson", {"test": 90}, 90)
    assert (score.majority, score.chance, score.chosen, score.validation) == (None, None, {}, None)
    rows = pq.read_table(root / "instances" / "corpus" / "sts").to_pylist()
    gold = [r["score"] for r in rows]
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

    def note(problem: Problem, seed: int, engine: str) -> ProbeOutput:
        widths.append(problem.x.shape[1])
        return standard.PROTOCOL.fit_predict(problem, seed, engine)

    noting = replace(standard.PROTOCOL, fit_predict=note)
    monkeypatch.setitem(probing.PROTOCOLS, "standard", noting)
    for pair in ("difference_product", "four_part"):
        found, _ = run(root, only="sick_e", probing=Probing(pair_features=pair))
        facts = {"name": "standard", "version": 5, "engine": "numpy", "pair_features": pair}
        assert found.protocol == facts
    assert widths == [64, 128]


def test_ablations(root: Path, whole: tuple[Results, Any]) -> None:
    plain, _ = whole
    found, _ = run(root, probing=Probing(ablations=True))
    assert found.protocol == plain.protocol | {"ablations": True}
    ablated = {score.dataset: score for score in found.scores}
    for score in plain.scores:
        other = ablated[score.dataset]
        names = other.measures.keys() - score.measures.keys()
        expected = {"sp": {"without context"}, "dc": {"without hidden layer"}}
        assert names == expected.get(score.dataset, set())
        assert replace(other, measures=score.measures) == score
    # Without its features, coherence is probed on the six embeddings: worse, but no guess.
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


@in_project
class Other(CharHash):
    """Gives itself out for char_hash, but has other vectors."""

    def encode(self, texts: Sequence[str]) -> Any:
        return super().encode(texts)[..., ::-1] ** 2


def test_a_dataset_costs_only_itself(root: Path, mine: Path) -> None:
    """One has gone, one is new, one has changed; then nothing has."""
    copy_dataset(root, "fac", mine)
    embedded(mine)
    assert rerun(mine) == 3
    shutil.rmtree(mine / "instances" / "corpus" / "bso")
    copy_dataset(root, "dr", mine)
    changed = mine / "instances" / "corpus" / "ssp" / "test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(changed).slice(1), changed)
    embedded(mine)
    assert (rerun(mine), rerun(mine)) == (2, 0)
    # The encoder says that it is the same one, but has other vectors.
    shutil.rmtree(mine / "store")
    embedded(mine, Other(32))
    assert (rerun(mine), rerun(mine)) == (3, 0)


def test_other_options_code_or_versions(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rerun(mine) == 2
    for options in ({"seed": 6}, {"probing": Probing(pair_features="four_part")}):
        assert (rerun(mine, **options), rerun(mine, **options)) == (2, 0)
    for name, other in (("code_digest", "0123456789abcdef"), ("library_versions", {"numpy": "0"})):
        with monkeypatch.context() as patch:
            patch.setattr(probing, name, lambda *given, other=other: other)
            assert (rerun(mine), rerun(mine)) == (2, 0)


def test_coverage_is_that_of_the_store(mine: Path) -> None:
    """It can change when no vector does."""
    counts = {"tokens": 7, "out_of_vocabulary": 2}

    @in_project
    class Knowing(CharHash):
        def vocabulary(self) -> Any:
            raise AssertionError

        def coverage(self, texts: Sequence[str]) -> dict[str, int]:
            return counts

    for encoder, coverage in ((ENCODER, None), (Knowing(32), counts)):
        assert rerun(embedded(mine, encoder)) == 2
        scores = read_results(mine / "r").scores
        assert [score.coverage for score in scores] == [coverage, coverage]


def test_a_dataset_that_cannot_be_probed_is_skipped(
    root: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are scored, and cached."""
    copy_dataset(root, "dr", mine)
    changed = mine / "instances" / "corpus" / "bso" / "test-00000-of-00001.parquet"
    whole = pq.read_table(changed)
    pq.write_table(whole.slice(0, 0), changed)
    embedded(mine)
    for new in (2, 0):
        faults: dict[str, InputError] = {}
        assert rerun(mine, faults=faults) == new
        assert list(faults) == ["bso"]
        assert [score.dataset for score in read_results(mine / "r").scores] == ["dr", "ssp"]
    # Without a place for faults, that of the first is raised; its message comes from a worker too.
    monkeypatch.setattr(probing, "WORK_OF_A_PROCESS", 1)
    with pytest.raises(InputError, match="one row or more") as caught:
        run(mine, workers=2)
    assert str(caught.value) == str(faults["bso"])
    pq.write_table(whole, changed)
    assert rerun(embedded(mine)) == 1


def test_the_stage_prints_what_it_skips(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("params.yaml").write_text("encoders: {mine: {encoder: char_hash, dimension: 32}}")
    shutil.copytree("instances", "dist/hub")
    (changed,) = Path("dist/hub").rglob("bso/test-*")
    pq.write_table(pq.read_table(changed).slice(0, 0), changed)
    assert main(["embed"]) == 0
    # In the run that finds it, and in one that keeps the others.
    for counted in ("1 encoder probed, 1 score", "1 encoder reused"):
        assert main(["probe"]) == 0
        out = untimed(capsys.readouterr().out)
        assert f"probe: {counted}, 1 skipped\n  skipped by probe: mine: bso\n" in out
        assert "one row or more" in out
        assert list(read_skipped("probe")) == ["mine: bso"]
    assert main(["probe", "--strict"]) == 1
    assert "one row or more" in capsys.readouterr().err
    (score,) = read_results(Path("data/results/mine")).scores
    assert score.dataset == "ssp"


def test_reusing_everything_is_cheap(mine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The stage writes what a call does; without anything new, it imports nothing heavy."""
    Path("params.yaml").write_text("seed: 5\nencoders: {mine: {encoder: char_hash, dimension: 32}}")
    shutil.copytree("instances", "dist/hub")
    assert main(["embed"]) == main(["probe"]) == 0
    write_results(*run(mine), mine / "called")
    assert contents(mine / "data" / "results" / "mine") == contents(mine / "called")
    code = """if True:
        import sys
        from probeta.cli import main
        assert main(["probe"]) == 0
        assert not {"pandas", "sklearn"} & sys.modules.keys()
    """
    path = os.pathsep.join(filter(None, sys.path))
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, check=True)
    assert untimed(capfd.readouterr().out).endswith("probe: 1 encoder reused\n")


def scored(**splits: list[float]) -> dict[str, Any]:
    return {
        split: [row(i, None, score=s, sentence1="a", sentence2="b") for i, s in enumerate(scores)]
        for split, scores in splits.items()
    }


def folded(*folds_labels: tuple[int, int]) -> dict[str, Any]:
    rows = [row(i, label, fold=k, sentence="a") for i, (k, label) in enumerate(folds_labels)]
    return {"train": rows}


def ordered(**splits: Any) -> dict[str, Any]:
    rows = [row(i, i % 2, sentences=["a", "b"]) for i in range(4)]
    return {split: splits.get(split, rows) for split in SPLITS}


PAIR = row(0, 1, sentences=["a", "b"])
SO, SC = "sentence_ordering", "sentence_classification"


@pytest.mark.parametrize(
    ("task", "splits", "words"),
    [
        (SO, ordered(test=[]), ["test-00000", "one row or more"]),
        (SO, ordered(train=[PAIR] * 2), ["no swapped", "2 rows"]),
        (SO, dict.fromkeys(SPLITS, [PAIR] * 2), ["two classes", "only 'original'"]),
        (SO, ordered(validation=[PAIR]), ["two rows or more", "one"]),
        (SO, ordered(test=[PAIR | {"label": 2}]), ["labels 0 … 1", "2 in row 0 of test"]),
        (SO, ordered(test=[PAIR | {"sentences": ["a"]}]), ["x, test: row 0 i0", "2 texts"]),
        ("similarity", scored(test=[1.0, np.nan]), ["finite scores", "nan in row 1 of test"]),
        (
            "relatedness",
            scored(train=[2.5, 2.5], validation=[1.0, 2.0], test=[1.0, 2.0]),
            ["two scores or more in train", "only 2.5"],
        ),
        (SC, folded((0, 0), (1, 1), (0, 0), (1, 1)), ["three folds or more", "0, 1"]),
        (SC, folded((0, 0), (0, 1), (1, 0), (2, 0)), ["a fold in the other folds", "no positive"]),
        (SC, folded((0, 0), (1, 0), (2, 0)), ["two classes or more in train", "only 'negative'"]),
    ],
)
def test_data_that_cannot_be_probed(
    tmp_path: Path, task: str, splits: dict[str, Any], words: list[str]
) -> None:
    write_dataset(tmp_path / "instances" / "x", task, splits)
    embedded(tmp_path)
    with pytest.raises(InputError) as caught:
        run(tmp_path)
    for word in words:
        assert word in str(caught.value)


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
    with pytest.raises(InputError, match="float32") as caught:
        run(tmp_path, encoder=Huge())
    assert "row 0 i0" in str(caught.value)
    faults: dict[str, InputError] = {}
    results, tables = run(tmp_path, encoder=Huge(), faults=faults)
    assert (list(faults), results.scores, tables) == (["nli"], (), [])


# --- transfer ------------------------------------------------------------------------------------

SMALL_ENCODER = make_encoder("char_hash", {"dimension": 16})
TASK = "sentence_classification"
NAMES = ("negative", "positive")
PROBING = Probing(transfer=[TASK])


def rows(*, flip: bool = False, first: int = 0) -> list[dict[str, Any]]:
    """Return 90 rows in five folds; the class is told by a word, but for some rows."""
    return [
        row(
            i,
            (i + flip) % 2,
            document=f"d{i // 3}",
            fold=i // 2 % 5,
            sentence=f"{'Me gusta' if (i + i // 7) % 2 else 'No sé'} el faro {i * i}.",
        )
        for i in range(first, first + 90)
    ]


def write(name: str, given: Sequence[dict[str, Any]], labels: Sequence[str] = NAMES) -> None:
    splits = {"train": given[:50], "validation": given[50:70], "test": given[70:]}
    write_dataset(Path("i", name), TASK, splits, labels=labels)


@pytest.fixture
def results(empty_folder: Path) -> Results:
    """Return the results, with transfers, on datasets in the new current folder."""
    write("one", rows())
    write("same", rows())
    write("contrary", rows(flip=True))
    write("renumbered", rows(flip=True), NAMES[::-1])
    write("alien", rows(), ("no", "yes"))
    folded = rows(first=90)
    write_dataset(Path("i/folded"), TASK, {"train": folded})
    return transferred()


def transferred() -> Results:
    datasets = find_datasets(Path("i"))
    embed_datasets(Path("store"), SMALL_ENCODER, datasets)
    found = probe_datasets("mine", SMALL_ENCODER, datasets, Path("store"), seed=1, probing=PROBING)[
        0
    ]
    return add_transfers(found, SMALL_ENCODER, datasets, Path("store"), PROBING)


def of(results: Results, target: str, *sources: str) -> Score:
    found = {(each.score.dataset, each.sources): each.score for each in results.transfers}
    return found[target, sources]


def usual(results: Results, name: str) -> Score:
    (found,) = (score for score in results.scores if score.dataset == name)
    return found


def test_a_family_has_one_task_and_the_same_classes(results: Results) -> None:
    (family,) = find_families(find_datasets(Path("i")), [TASK])
    names = [dataset.name for dataset in family]
    assert names == ["contrary", "folded", "one", "renumbered", "same"]
    assert find_families(find_datasets(Path("i")), ["similarity"]) == []
    pairs = {(one, other) for one in names for other in names if one != other}
    single = [t for t in results.transfers if len(t.sources) == 1]
    assert {(t.sources[0], t.score.dataset) for t in single} == pairs
    assert len(single) == len(pairs) == len(results.transfers) - len(names)
    assert usual(results, "alien").value == usual(results, "one").value


def test_a_source_equal_to_the_target_gives_the_usual_score(results: Results) -> None:
    score = usual(results, "one")
    assert 0.6 < score.value < 1
    same = of(results, "same", "one")
    assert same == replace(score, dataset="same", digest=same.digest, texts="", vectors="")
    assert of(results, "renumbered", "one").value == score.value
    assert of(results, "contrary", "one").value == pytest.approx(1 - score.value)
    # Of four, one says the contrary, and "folded" has other rows.
    others = ("contrary", "folded", "renumbered", "same")
    assert of(results, "one", *others).value > 0.5


def test_the_first_fold_chooses_and_all_folds_are_asked(results: Results) -> None:
    folded = rows(first=90)
    splits = {
        "train": [r for r in folded if r["fold"]],
        "validation": [r for r in folded if not r["fold"]],
        "test": rows()[70:],
    }
    write_dataset(Path("i/folded"), TASK, splits)
    Path("i/one").rename("i/gone")
    found = usual(transferred(), "folded")
    carried = of(results, "one", "folded")
    assert (carried.value, carried.answers) == (found.value, found.answers)
    assert of(results, "folded", "same").interval != of(results, "one", "same").interval
    assert usual(results, "folded").n_rows == 90


def test_cached_transfers_are_reused_until_rows_change(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Problem] = []
    answer = standard.fit_predict

    def counted(problem: Problem, *options: Any) -> ProbeOutput:
        calls.append(problem)
        return answer(problem, *options)

    monkeypatch.setattr(standard, "fit_predict", counted)
    assert transferred().transfers == results.transfers
    assert len(calls) == 0
    write("same", rows(flip=True))
    assert of(transferred(), "same", "one") != of(results, "same", "one")
    assert len(calls) == 10
    write_results(results, [], Path("r"))
    assert read_results(Path("r")) == results
