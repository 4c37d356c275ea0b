"""From instances to result files: determinism, intervals, baselines, errors."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_files import LABELS, row, write_dataset
from scipy import stats

from corpora_recipes.errors import InputError
from corpora_recipes.hashing import keyed_hash
from evaluation import features
from evaluation.embeddings import embed
from evaluation.encoders import make_encoder
from evaluation.instances import find_datasets
from evaluation.probes import Fit, probe
from evaluation.results import (
    FEW_DOCUMENTS,
    Part,
    _rounds,
    bootstrap_interval,
    probe_datasets,
    read_results,
    write_results,
)

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
        texts |= features.unique_texts(dataset, "natural")
    embed(root / "store", ENCODER, texts)
    return write, root / "store"


def run(folders: tuple[Path, Path], **options: Any) -> Any:
    only = options.pop("only", None)
    datasets = [d for d in find_datasets(folders[0]) if only in (None, d.name)]
    if options.pop("backwards", False):
        datasets.reverse()
    return probe_datasets("mine", ENCODER, datasets, folders[1], seed=5, **options)


def test_scores(folders: tuple[Path, Path]) -> None:
    results = run(folders)
    of = {score.dataset: score for score in results.scores}
    assert list(of) == ["bso", "dc", "dr", "fac", "sick_e", "sick_r", "sp", "ssp", "sts"]
    bso, dc, dr, sp, ssp = (of[name] for name in ("bso", "dc", "dr", "sp", "ssp"))
    assert bso.value == bso.validation == 1.0
    assert (bso.metric, bso.measures, bso.folds, bso.asked) == ("accuracy", {"accuracy": 1}, 0, 20)
    assert bso.interval == (1.0, 1.0)
    assert bso.rows == {"train": 50, "validation": 20, "test": 20}
    assert bso.majority == 0.5
    assert (bso.chance, dr.chance, sp.chance) == (0.5, pytest.approx(1 / 3), 0.2)
    assert (bso.test_documents, dr.test_documents, ssp.test_documents) == (20, 6, 10)
    assert ssp.value > 0.9
    assert list(dc.chosen) == ["passes"]
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
        "options": {"dimension": 32, "shortest": 3, "longest": 5},
    }


def test_folds_are_pooled(folders: tuple[Path, Path]) -> None:
    (score,) = run(folders, only="fac").scores
    assert (score.rows, score.folds, score.asked) == ({"train": 90}, 5, 90)
    assert len(score.chosen["strength"]) == 5
    assert score.test_documents == 90
    assert score.value == score.validation == 1.0
    # In each fold 18 rows, of 72 others 36 a class: the first class wins, and is right in half.
    assert (score.majority, score.chance) == (0.5, 0.5)


def test_each_row_of_a_fold_is_answered_once(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that answers 1 for its first row alone, and notes what it was given."""
    sizes = []

    def first(train: Any, validation: Any, test: Any, **_: Any) -> Fit:
        sizes.append((len(train[1]), len(validation[1]), len(test)))
        kept = np.concatenate([train[0], validation[0], test])
        assert len(np.unique(kept, axis=0)) == 90
        return Fit({"strength": float(len(sizes))}, len(sizes) / 5, np.eye(len(test))[0])

    monkeypatch.setattr("evaluation.results.probe", first)
    (score,) = run(folders, only="fac").scores
    assert sizes == [(54, 18, 18)] * 5
    # 45 rows of class 0; each fold's first row is one of them, and is answered with 1.
    assert score.value == pytest.approx(40 / 90)
    assert score.chosen == {"strength": [1, 2, 3, 4, 5]}
    assert score.validation == pytest.approx(0.6)


def test_the_next_fold_is_validation(folders: tuple[Path, Path]) -> None:
    (dataset,) = (d for d in find_datasets(folders[0]) if d.name == "fac")
    folds = np.array([4, 0, 2, 2, 9, 0])
    x = np.arange(6, dtype=np.float32)[:, None]
    part = Part(x, np.arange(6), np.arange(6), np.full(6, ""), folds)
    found = [
        (train[1].tolist(), validation[1].tolist(), np.flatnonzero(rows).tolist())
        for train, validation, rows in _rounds(dataset, {"train": part})
    ]
    assert found == [
        ([0, 4], [2, 3], [1, 5]),
        ([1, 4, 5], [0], [2, 3]),
        ([1, 2, 3, 5], [4], [0]),
        ([0, 2, 3], [1, 5], [4]),
    ]


def test_relatedness(folders: tuple[Path, Path]) -> None:
    (score,) = run(folders, only="sick_r").scores
    assert score.metric == "pearson"
    assert list(score.measures) == ["pearson", "spearman"]
    assert score.value > 0.5
    assert (score.majority, score.chance) == (None, None)
    assert list(score.chosen) == ["strength"]
    assert score.rows == {"train": 50, "validation": 20, "test": 20}


def test_similarity(folders: tuple[Path, Path]) -> None:
    (score,) = run(folders, only="sts").scores
    assert (score.metric, score.rows, score.asked) == ("pearson", {"test": 90}, 90)
    assert (score.majority, score.chance, score.chosen, score.validation) == (None, None, {}, None)
    rows = pq.read_table(folders[0] / "corpus" / "sts").to_pylist()
    gold = [own["score"] for own in rows]
    found = [
        float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
        for one, other in (ENCODER.encode([r["sentence1"], r["sentence2"]]) for r in rows)
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

    def note(*parts: Any, **options: Any) -> Any:
        widths.append(parts[2].shape[1])
        return probe(*parts, **options)

    monkeypatch.setattr("evaluation.results.probe", note)
    two, four = (
        run(folders, only="sick_e", pair_features=pair)
        for pair in ("difference_product", "four_part")
    )
    assert two.protocol["pair_features"] == "difference_product"
    assert four.protocol == {"name": "standard", "version": 2, "pair_features": "four_part"}
    assert widths == [64, 128]


def test_order_and_workers_do_not_matter(folders: tuple[Path, Path], tmp_path: Path) -> None:
    write_results(run(folders), tmp_path / "a.json")
    write_results(run(folders, backwards=True, workers=2), tmp_path / "b.json")
    content = (tmp_path / "a.json").read_bytes()
    assert content == (tmp_path / "b.json").read_bytes()
    assert read_results(tmp_path / "a.json") == run(folders)


def test_the_hash_seed_of_python_does_not_matter(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "params.yaml").write_text(
        "seed: 5\nencoders: {mine: {encoder: char_hash, dimension: 32}}"
    )
    outputs = []
    for seed in ("1", "2"):
        store, out = tmp_path / f"store{seed}", tmp_path / f"{seed}.json"
        common = ["mine", "--instances", folders[0], "--params", "params.yaml", "--workers", "1"]
        for command in (
            ["embed", *common, "--out", store],
            ["probe", *common, "--embeddings", store, "--out", out],
        ):
            subprocess.run(
                [sys.executable, "-m", "evaluation", *command],
                cwd=tmp_path,
                env={**os.environ, "PYTHONHASHSEED": seed},
                check=True,
                capture_output=True,
            )
        stored = {file.name: file.read_bytes() for file in store.iterdir()}
        outputs.append((stored, out.read_bytes()))
    assert outputs[0] == outputs[1]
    write_results(run(folders), tmp_path / "here.json")
    assert (tmp_path / "here.json").read_bytes() == outputs[0][1]


def test_a_class_that_only_test_has_counts_as_wrong(tmp_path: Path) -> None:
    rows = [row(i, i % 2, left=[sentence(i % 2)], right=["x"]) for i in range(40)]
    rare = [row(100 + i, 2, left=[sentence(2)], right=["x"]) for i in range(10)]
    splits = {"train": rows[:20], "validation": rows[20:30], "test": rows[30:] + rare}
    write_dataset(tmp_path / "i" / "dr", "discourse_relations", splits)
    embed(tmp_path / "s", ENCODER, [*map(sentence, range(3)), "x"])
    (score,) = run((tmp_path / "i", tmp_path / "s")).scores
    assert score.value == 0.5
    assert score.majority == 0.25
    assert score.chance == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ({"test": []}, ["test-00000", "one row or more"]),
        ({"validation": []}, ["validation-00000", "one row or more"]),
        ({"train": [row(0, 1, sentences=["a", "b"])]}, ["two classes", "only 'original'"]),
        ({"test": [row(0, 2, sentences=["a", "b"])]}, ["labels 0 … 1", "2 in row 0 of test"]),
        ({"test": [row(0, 1, sentences=["a"])]}, ["bso, test: row 0 i0", "2 texts"]),
        ({"test": [row(0, 1, sentences=["a", "zz"])]}, ["'zz'", "evaluation embed"]),
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
        ([0, 0, 1, 2], [0, 1, 0, 0], ["two classes or more in train", "only 'negative'"]),
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


def test_an_error_in_a_worker_keeps_its_message(tmp_path: Path) -> None:
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
    assert "one/test-00000" in str(caught.value)


def interval(right: Any, documents: list[str], key: int) -> tuple[float, float]:
    """Return the interval of the accuracy of answers that are right or wrong."""
    ones = np.ones(len(right), bool)
    return bootstrap_interval("accuracy", ones, np.array(right), np.array(documents), key)


def test_the_interval_of_a_correlation_is_that_of_fisher() -> None:
    """Fisher 1921: for normal data atanh(r) has the standard error 1 / sqrt(rows - 3)."""
    generator = np.random.default_rng(4)
    gold = generator.normal(size=2000)
    found = gold + generator.normal(size=2000)
    names = np.arange(2000)
    low, high = bootstrap_interval("pearson", gold, found, names, 3)
    middle = np.arctanh(stats.pearsonr(gold, found).statistic)
    half = 1.96 / np.sqrt(1997)
    assert (low, high) == pytest.approx((np.tanh(middle - half), np.tanh(middle + half)), abs=0.005)
    # Each row twice, as one document: the same; as rows of their own: sqrt(2) narrower.
    twice = [np.repeat(values, 2) for values in (gold, found, names)]
    same = bootstrap_interval("pearson", *twice, 3)  # type: ignore[arg-type]
    assert same == pytest.approx((low, high), abs=1e-9)
    narrow = bootstrap_interval("pearson", twice[0], twice[1], np.arange(4000), 3)
    assert narrow[1] - narrow[0] == pytest.approx((high - low) / np.sqrt(2), rel=0.1)


@settings(max_examples=25, deadline=None)
@given(
    right=st.lists(st.booleans(), min_size=1, max_size=60),
    size=st.integers(1, 4),
    key=st.integers(0, 2**64 - 1),
)
def test_intervals_are_ordered_and_in_range(right: list[bool], size: int, key: int) -> None:
    documents = [f"d{i // size}" for i in range(len(right))]
    low, high = interval(right, documents, key)
    assert 0 <= low <= high <= 1
    if all(right) or not any(right):
        assert low == high == float(right[0])
    assert (low, high) == interval(right, documents, key)


def test_the_interval_is_that_of_the_binomial_distribution() -> None:
    right = np.arange(1000) % 10 < 7
    low, high = interval(right, [str(i) for i in range(1000)], 3)
    half = 1.96 * np.sqrt(0.7 * 0.3 / 1000)
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.003)


def test_rows_of_one_document_count_once() -> None:
    """Ten equal rows a document: the interval is that of the documents, sqrt(10) wider."""
    right = np.repeat(np.arange(100) % 10 < 7, 10)
    low, high = interval(right, [f"d{i // 10}" for i in range(1000)], 3)
    half = 1.96 * np.sqrt(0.7 * 0.3 / 100)
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.015)


def test_rows_are_resampled_where_all_are_of_one_document() -> None:
    right = np.arange(1000) % 10 < 7
    low, high = interval(right, ["book"] * 1000, 3)
    half = 1.96 * np.sqrt(0.7 * 0.3 / 1000)
    assert (low, high) == pytest.approx((0.7 - half, 0.7 + half), abs=0.003)


def test_two_documents_alike_by_chance_give_an_interval_with_width() -> None:
    right = np.arange(200) % 20 < 11
    low, high = interval(right, ["a"] * 100 + ["b"] * 100, 3)
    half = 1.96 * np.sqrt(0.55 * 0.45 / 200)
    assert (low, high) == pytest.approx((0.55 - half, 0.55 + half), abs=0.01)


def test_few_documents_that_differ_keep_the_interval_of_documents() -> None:
    """Half of the documents all right, half all wrong: the documents' interval is the wider."""
    right = np.arange(1000) // 100 % 2 == 0
    low, high = interval(right, [f"d{i // 100}" for i in range(1000)], 3)
    assert (low, high) == (0.2, 0.8)


def test_each_end_is_the_wider_one() -> None:
    """Four documents at 75 % and one at 0: below, documents reach further; above, rows do."""
    right = np.array(([True] * 3 + [False]) * 4 + [False] * 4)
    assert interval(right, [f"d{i // 4}" for i in range(20)], 3) == (0.3, 0.8)
    assert interval(right, ["one"] * 20, 3) == (0.4, 0.8)


@pytest.mark.parametrize(("count", "width"), [(FEW_DOCUMENTS - 1, True), (FEW_DOCUMENTS, False)])
def test_rows_are_drawn_below_the_number_of_few_documents(count: int, width: bool) -> None:
    documents = [f"d{i // 10}" for i in range(10 * count)]
    low, high = interval(np.arange(10 * count) % 10 < 7, documents, 3)
    assert (low < 0.7 < high) == width
    assert width or low == high == 0.7


@pytest.mark.parametrize("documents", [2, 3])
def test_intervals_of_few_documents_cover_the_truth(documents: int) -> None:
    """Nominally 5 % miss it; resampling documents alone, 33 and 19 % do."""
    generator = np.random.default_rng(1)
    names = [f"d{i // 40}" for i in range(40 * documents)]
    missed = 0
    for key in range(100):
        low, high = interval(generator.random(len(names)) < 0.55, names, key)
        missed += not low <= 0.55 <= high
    assert missed < 12


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', '{"format": 2}'])
def test_files_that_are_no_results(tmp_path: Path, content: str) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(InputError, match="run the probe again"):
        read_results(tmp_path / "r.json")


def test_a_result_file_says_what_it_depends_on(folders: tuple[Path, Path], tmp_path: Path) -> None:
    write_results(run(folders), tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_bytes())
    assert content["protocol"] == {
        "name": "standard",
        "version": 2,
        "pair_features": "difference_product",
    }
    assert content["bootstrap"] == {
        "resamples": 2000,
        "coverage": 0.95,
        "unit": "document",
        "few_documents": 20,
    }
    assert content["seed"] == 5
    assert set(content["versions"]) >= {"python", "platform", "numpy", "pyarrow", "probeta"}
    assert all(len(score["digest"]) == 64 for score in content["scores"])
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
