"""What probes add: control labels, and the measures against scikit-learn and plain loops."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from contents import contents
from instance_files import row, sentence, write_dataset
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from corpora_recipes.hashing import keyed_hash
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders import make_encoder
from evaluation.encoders.encoder import describe
from evaluation.probing.controls import (
    control_problem,
    draw_classes,
    first_words,
    measure_information,
    measure_selectivity,
    without_controls,
)
from evaluation.probing.probing import probe_datasets, read_features
from evaluation.probing.protocols import Probing, logistic, online_code, senteval, standard
from evaluation.probing.protocols.online_code import portions_of
from evaluation.probing.protocols.problem import Problem, targets
from evaluation.results.scores import CONTROL_MEASURES, Results, write_results
from probeta.verifying import read_any_results, verify_results


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


WORDS = [f"w{keyed_hash(1, str(i)) % 60 // (1 + i % 7)}" for i in range(2000)]
CLASSES = np.array([min(keyed_hash(2, str(i)) % 10, 3) for i in range(2000)])


def test_a_word_has_one_class_and_rows_have_each_as_often_as_in_train() -> None:
    draw = draw_classes(WORDS, CLASSES, 1, "x control")
    drawn = np.array([draw(word) for word in WORDS])
    assert all(len({*drawn[np.array(WORDS) == word]}) == 1 for word in {*WORDS})
    shares, wanted = (np.bincount(y, minlength=4) / 2000 for y in (drawn, CLASSES))
    assert np.abs(shares - wanted).max() < 0.05
    others = [draw_classes(WORDS, CLASSES, seed, "x control") for seed in range(2, 30)]
    assert len({tuple(other(word) for word in {*WORDS}) for other in others}) == 28
    # Also that of a word which train lacks.
    counts = Counter(draw(f"other {i}") for i in range(2000))
    assert abs(counts[3] / 2000 - wanted[3]) < 0.05


def written(root: Path, task: str, splits: Any, **options: Any) -> Dataset:
    """Write a dataset and return it."""
    write_dataset(root / "c" / "fac", task, splits, **options)
    (dataset,) = find_datasets(root)
    return dataset


def test_words_are_the_first_of_first_texts(tmp_path: Path) -> None:
    texts = ["¿Qué es?", "que es", "Qué, no", "...", "«Así» va"]
    rows = [row(i, 0, sentences=[text, "Otra"]) for i, text in enumerate(texts)]
    splits = dict.fromkeys(("train", "validation", "test"), rows)
    dataset = written(tmp_path, "sentence_ordering", splits)
    assert first_words(dataset, "test") == ["qué", "que", "qué", "... .", "así"]


@pytest.mark.parametrize("folds", [False, True])
def test_rows_whose_word_train_lacks_are_not_scored(folds: bool) -> None:
    x = np.zeros((6, 2), np.float32)
    y = np.array([0, 1, 0, 1, 0, 1])
    problem: dict[str, Any] = {"name": "x", "task": "fac", "metric": "accuracy", "x": x, "y": y}
    words: Any = {"train": ["a", "a", "b", "c", "b", "d"]}
    if folds:
        problem |= {"folds": np.array([0, 1, 0, 1, 0, 2])}
    else:
        problem |= {"validation": (x, y), "test": x[:3]}
        words |= {"validation": words["train"], "test": ["d", "e", "a"]}
    control, gold, used = control_problem(Problem(**problem), y[: 6 if folds else 3], words, 1)
    assert used.tolist() == (
        [True, True, False, False, False, False] if folds else [True, False, True]
    )
    assert (control.y[0], control.y[2]) == (control.y[1], control.y[4])
    if folds:
        assert gold.tolist() == control.y.tolist()
    else:
        assert (gold[0], gold[2]) == (control.y[5], control.y[0])


def test_a_control_is_scored_on_the_rows_whose_word_train_has() -> None:
    gold, documents = np.zeros(100, int), np.arange(100)
    used = documents < 60
    # Right in all rows; the control, in half of those that count and in no other one.
    task, control = (gold, gold[None]), (gold, (documents >= 30)[None])
    value, (low, high) = measure_selectivity("accuracy", task, control, used, documents)
    assert value == 0.5
    assert 0.35 < low < 0.4
    assert 0.6 < high < 0.65


def test_scores_are_permuted_within_their_split() -> None:
    scores = np.linspace(0, 5, 200)
    x = np.zeros((200, 2), np.float32)
    problem = Problem("x", "relatedness", "pearson", x, scores, (x[:50], scores[:50]), x[:100])
    control, gold, used = control_problem(problem, scores[:100], {"train": []}, 1)
    assert control.validation is not None
    for permuted, before in (
        (control.y, scores),
        (control.validation[1], scores[:50]),
        (gold, scores[:100]),
    ):
        assert sorted(permuted) == sorted(before)
        assert abs(np.corrcoef(permuted, before)[0, 1]) < 0.3
    assert used.all()


# A few of them, which the loops take long for.
STRENGTHS = (10.0, 1.0, 0.1, 0.01)

# The measures, against an implementation of their own


@dataclass
class Loops:
    """The protocol and its controls by scikit-learn, with one fit for each strength and portion."""

    x: Any
    words: Any

    def fit(self, rows: Any, y: Any, strength: float, standard: Any = None) -> Any:
        """Return a function from rows to chances of 0 … classes - 1."""
        scaler = StandardScaler().fit(self.x[rows if standard is None else standard])
        model = LogisticRegression(C=1 / (strength * len(rows)), tol=1e-6, max_iter=5000)
        model.fit(scaler.transform(self.x[rows]), y[rows])

        def chances(others: Any) -> Any:
            found = np.zeros((len(others), y.max() + 1))
            found[:, model.classes_] = model.predict_proba(scaler.transform(self.x[others]))
            return found

        return chances

    def choose(self, y: Any, parts: Any) -> tuple[float, Any]:
        """Return the best strength for pairs of train and held-out rows, and the chances there."""
        best = (-1.0, 0.0, None)
        for strength in STRENGTHS:
            found = [self.fit(train, y, strength)(held_out) for train, held_out in parts]
            right = [c.argmax(axis=1) == y[rows] for c, (_, rows) in zip(found, parts, strict=True)]
            if (accuracy := np.concatenate(right).mean()) > best[0]:
                best = accuracy, strength, np.concatenate(found)
        return best[1:]

    def code_length(self, y: Any, rows: Any, order: Any) -> float:
        """Return the bits of the classes of rows, in an order."""
        n, classes = len(order), len(set(y[rows]))
        shares_of = (1e-3, 2e-3, 4e-3, 8e-3, 0.016, 0.032, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
        ends = [end for share in shares_of if (end := round(share * n)) >= max(20, 2 * classes)]
        total, chosen = ends[0] * math.log2(classes), None
        for end, following in zip(ends, [*ends[1:], n], strict=True):
            seen, block = order[:end], order[end:following]
            prior = (np.bincount(y[seen], minlength=classes) + 1) / (end + classes)
            fits = {s: self.fit(seen, y, s, rows)(block) for s in STRENGTHS}
            shares = np.bincount(y[seen], minlength=classes) / end
            gold = [fits[s][np.arange(len(block)), y[block]] for s in STRENGTHS]
            if chosen is None:
                total -= np.log2(prior[y[block]]).sum()
            else:
                mixed = calibrated(fits[chosen[0]], shares, prior, *chosen[1:])
                total -= np.log2(mixed[np.arange(len(block)), y[block]]).sum()
            floor = 1 / (len(block) + 2)
            losses = [-np.log((1 - floor) * g + floor * prior[y[block]]).sum() for g in gold]
            strength = STRENGTHS[int(np.argmin(losses))]
            chosen = (strength, *best_calibration(fits[strength], y[block], shares, prior))
        return float(total)


def calibrated(chances: Any, shares: Any, prior: Any, temperature: float, share: float) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        added = np.log(chances) - np.log(shares)
        scaled = np.where(shares > 0, shares * np.exp(added / temperature), 0)
    return (1 - share) * scaled / scaled.sum(axis=1, keepdims=True) + share * prior


def best_calibration(chances: Any, y: Any, shares: Any, prior: Any) -> tuple[float, float]:
    each, floor = np.arange(len(y)), 1 / (len(y) + 2)

    def loss(temperature: float, share: float) -> float:
        found = calibrated(chances, shares, prior, temperature, share)
        return -float(np.log(found[each, y]).sum())

    temperature = min((2 ** (half / 2) for half in range(-12, 9)), key=lambda t: loss(t, floor))
    share = minimize_scalar(lambda s: loss(temperature, s), bounds=(floor, 1), method="bounded").x
    return temperature, share


def drawn_by_hand(words: Any, y: Any, train: Any, name: str) -> Any:
    """Return the control's class of each row."""
    left = Counter(y[train].tolist())
    classes, full = sorted(left), Counter(left)
    counts = Counter(words[row] for row in train)

    def draw(word: str, rows: Any) -> int:
        urn = [c for c in classes for _ in range(max(rows[c], 0))]
        return urn[keyed_hash(1, name, word) * len(urn) >> 64]

    drawn = {}
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        drawn[word] = draw(word, left)
        left[drawn[word]] -= counts[word]
    return np.array([drawn[w] if w in drawn else draw(w, full) for w in words])


FIRST = ("La", "El", "Un", "Una", "Los", "Su", "Mi", "Ese", "Otro", "Cada", "Ya", "No", "Si", "Tal")


def opinions(root: Path, folds: int) -> Any:
    """Write rows of three classes that some of their letters tell; return the dataset."""
    rows = []
    for i in range(900):
        first = FIRST[min(keyed_hash(5, str(i)) % 20, keyed_hash(6, str(i)) % 14)]
        kind = min(keyed_hash(7, str(i)) % 4, 2)
        hint = ("gris claro", "verde mar", "rojo")[kind if keyed_hash(8, str(i)) % 3 else i % 3]
        text = f"{first} {sentence(i)} {hint} {'zx'[i % 2]}"
        fold = {"fold": i // 3 % folds} if folds else {}
        rows.append(row(i, kind, document=f"d{i // 3}", sentence=text, **fold))
    splits = (
        {"train": rows}
        if folds
        else {"train": rows[:500], "validation": rows[500:650], "test": rows[650:]}
    )
    return written(root, "sentence_classification", splits, labels=["a", "b", "c"])


ENCODER = make_encoder("char_hash", {"dimension": 24})


def probed(
    root: Path, *datasets: Dataset, workers: int = 1, controls: Any = True, **settings: Any
) -> tuple[Results, Any]:
    store, probing = root / "store", Probing(controls=controls, **settings)
    embed_datasets(store, ENCODER, datasets)
    options: Any = {"seed": 1, "probing": probing, "workers": workers}
    return probe_datasets("x", ENCODER, datasets, store, **options)[:2]


@pytest.mark.parametrize("folds", [0, 3])
def test_measures_are_those_of_scikit_learn_in_loops(
    tmp_path: Path, folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard, "STRENGTHS", STRENGTHS)
    dataset = opinions(tmp_path, folds)
    results, tables = probed(tmp_path, dataset, controls="full")
    (score,) = results.scores
    assert score.controls is not None
    assert not score.controls.not_applicable

    store, described = tmp_path / "store", describe(ENCODER)
    rows, features = read_features(dataset, "output", described, store, Probing())
    y = np.concatenate([rows[split].y for split in rows])
    words = [word for split in rows for word in first_words(dataset, split)]
    loops = Loops(np.concatenate([features[split] for split in rows]).astype(float), words)
    every = np.arange(len(y))
    if folds:
        fold = rows["train"].folds
        ways = [
            (
                every[fold != k],
                [(every[(fold != k) & (fold != j)], every[fold == j]) for j in range(3) if j != k],
                every[fold == k],
            )
            for k in range(3)
        ]
        train = every
    else:
        train = every[:500]
        ways = [(train, [(train, every[500:650])], every[650:])]
    labels = drawn_by_hand(words, y, train, "fac control")
    right: dict[str, list[Any]] = {"score": [], "control": [], "bits": []}
    for learnt, parts, tested in ways:
        strength, held_out = loops.choose(y, parts)
        found = loops.fit(learnt, y, strength)(tested)
        shares = np.bincount(y[learnt]) / len(learnt)
        gold = y[np.concatenate([other for _, other in parts])]
        temperature, share = best_calibration(held_out, gold, shares, shares)
        mixed = calibrated(found, shares, shares, temperature, share)
        right["score"].append(found.argmax(axis=1) == y[tested])
        right["bits"].append(np.log2(mixed[np.arange(len(tested)), y[tested]] / shares[y[tested]]))
        in_train = np.isin(np.array(words)[tested], np.array(words)[learnt])
        strength, _ = loops.choose(labels, parts)
        asked = tested[in_train]
        right["control"].append(
            loops.fit(learnt, labels, strength)(asked).argmax(axis=1) == labels[asked]
        )
    means = {name: np.concatenate(values).mean() for name, values in right.items()}
    added = means["score"] - means["control"]
    assert score.measures["selectivity"] == pytest.approx(added, abs=0.005)
    assert score.controls.control == pytest.approx(means["control"], abs=0.005)
    assert score.measures["information"] == pytest.approx(means["bits"], rel=0.01)
    ids = rows["train"].ids
    order = np.array(sorted(train, key=lambda i: keyed_hash(1, "fac", "code", ids[i])))
    length, uniform = loops.code_length(y, train, order), len(train) * math.log2(3)
    of_control = loops.code_length(labels, train, order)
    assert score.measures["code_length"] == pytest.approx(length, rel=0.01)
    assert score.controls.uniform_code_length == pytest.approx(uniform)
    assert score.measures["compression"] == pytest.approx(uniform / length, rel=0.01)
    assert score.controls.control_code_length == pytest.approx(of_control, rel=0.01)
    # Information is of rows, and its mean the measure.
    bits = np.mean(tables[0]["information"].to_pylist())
    assert bits == pytest.approx(score.measures["information"])
    assert score.measures["compression"] > 1.1
    assert score.controls.curve[-1].value == score.value
    for name, (low, high) in score.controls.intervals.items():
        assert low < score.measures[name] < high


# What is stored, and what is not measured


def test_a_score_is_the_same_with_controls(tmp_path: Path) -> None:
    dataset = opinions(tmp_path, 3)
    (plain,) = probed(tmp_path, dataset, controls=False)[0].scores
    (score,) = probed(tmp_path, dataset)[0].scores
    names = set(CONTROL_MEASURES)
    measures = {name: value for name, value in score.measures.items() if name not in names}
    assert replace(score, measures=measures, controls=None, answers=plain.answers) == plain
    assert score.measures.keys() - measures.keys() == names
    assert plain.controls is None


def test_the_schedule_of_the_papers_has_selectivity_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senteval, "SEEDS", 2)
    dataset = opinions(tmp_path, 0)
    (score,) = probed(tmp_path, dataset, protocol="senteval")[0].scores
    assert score.measures.keys() == {"accuracy", "selectivity"}
    assert score.controls is not None
    assert score.controls.not_applicable.keys() == {"code_length", "compression", "information"}
    assert score.measures["selectivity"] == pytest.approx(score.value - score.controls.control)


def pair(number: int, score: float) -> Any:
    texts = {"sentence1": sentence(number), "sentence2": sentence(number + 1)}
    return row(number, None, score=score, **texts)


def test_what_nothing_is_trained_for_has_no_controls(tmp_path: Path) -> None:
    rows = [pair(i, i % 5) for i in range(60)]
    (score,) = probed(tmp_path, written(tmp_path, "similarity", {"test": rows}))[0].scores
    assert score.controls == without_controls("nothing is trained")
    assert not score.measures.keys() & {*CONTROL_MEASURES}


def relatedness(root: Path) -> Any:
    rows = [pair(i, keyed_hash(1, str(i)) % 50 / 10) for i in range(200)]
    splits = {"train": rows[:80], "validation": rows[80:140], "test": rows[140:]}
    return written(root, "relatedness", splits)


def test_scores_that_are_numbers_have_selectivity_alone(tmp_path: Path) -> None:
    (score,) = probed(tmp_path, relatedness(tmp_path))[0].scores
    assert score.controls is not None
    assert {*score.controls.not_applicable.values()} == {"scores are numbers, not classes"}
    assert score.controls.control_rows == 60
    low, high = score.controls.intervals["selectivity"]
    assert low < score.measures["selectivity"] < high


def labelled(root: Path, classes: Sequence[int], folds: int, words: Sequence[str] = FIRST) -> Any:
    """Write rows of some classes, in folds; return the dataset."""
    texts = [f"{words[i % len(words)]} {sentence(i)}" for i in range(len(classes))]
    rows = [
        row(i, label, fold=i % folds, document=f"d{i}", sentence=texts[i])
        for i, label in enumerate(classes)
    ]
    names = [f"class {label}" for label in range(max(classes) + 1)]
    return written(root, "sentence_classification", {"train": rows}, labels=names)


@pytest.mark.parametrize(
    ("classes", "words", "reasons"),
    [
        # Folds of eight rows.
        ([i % 2 for i in range(40)], FIRST, dict.fromkeys(CONTROL_MEASURES, "test has 40 rows")),
        # Three rows a class.
        (
            [i // 5 for i in range(60)],
            FIRST,
            dict.fromkeys(CONTROL_MEASURES, "train has 60 rows of 12 classes"),
        ),
        # No portion has both classes: one row in a hundred has the second.
        (
            [int(i in (0, 1)) for i in range(60)],
            FIRST,
            {"code_length": "too few for portions", "compression": "too few for portions"},
        ),
        # No word occurs twice, or one in nearly all rows.
        (
            [i % 2 for i in range(100)],
            [f"w{i}" for i in range(100)],
            {"selectivity": "only 0 of 100 rows"},
        ),
        ([i % 2 for i in range(100)], ["La"] * 49 + ["El"], {"selectivity": "with the same words"}),
        # One word in all rows: the control has a single class.
        ([i % 2 for i in range(100)], ["La"], {"selectivity": "with the same words"}),
    ],
)
def test_what_would_mean_nothing_is_not_measured(
    tmp_path: Path, classes: Any, words: Any, reasons: Any
) -> None:
    dataset = labelled(tmp_path, classes, 5, words)
    results, (table,) = probed(tmp_path, dataset, controls="full")
    (score,) = results.scores
    assert score.controls is not None
    found = score.controls.not_applicable
    assert found.keys() == reasons.keys()
    assert all(reason in found[name] for name, reason in reasons.items())
    measured = {*CONTROL_MEASURES} - found.keys()
    assert score.controls.intervals.keys() == measured == score.measures.keys() - {"accuracy"}
    assert (table["information"].null_count == 0) == ("information" in measured)
    has_code = measured >= {"selectivity", "code_length"}
    assert (score.controls.control_code_length is not None) == has_code


def test_portions_have_enough_rows_and_two_classes() -> None:
    y = np.arange(10_000) % 2
    assert portions_of(y) == [20, 40, 80, 160, 320, 625, 1250, 2500, 5000]
    assert portions_of(np.arange(10_000) % 100) == [320, 625, 1250, 2500, 5000]
    y[:700] = 0
    assert portions_of(y) == [1250, 2500, 5000]
    assert portions_of(np.arange(30) % 2) == []


def test_a_code_without_portions_is_the_uniform_one() -> None:
    y = np.array([0] * 180 + [1] * 20)
    (features,) = logistic.standardised(np.eye(200, 5, dtype=np.float32))
    regressions = logistic.Regressions(features, targets("accuracy", y))
    code = online_code.online_code(regressions, y, np.arange(200), STRENGTHS, None)
    assert (code.bits.tolist(), code.curve) == ([1.0] * 200, [])


def test_classes_that_a_portion_lacks_are_coded_by_the_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(online_code, "MIN_ROWS_A_CLASS", 0.2)
    generator = np.random.Generator(np.random.PCG64(1))
    y = generator.permutation(np.arange(900) % 300)
    x = generator.normal(size=(300, 30))[y] + 0.1 * generator.normal(size=(900, 30))
    (features,) = logistic.standardised(x.astype(np.float32))
    regressions = logistic.Regressions(features, targets("accuracy", y))
    code = online_code.online_code(regressions, y, np.arange(900), (0.01,), None)
    assert math.log2(300) + 1 < code.bits.max() < 2 * math.log2(900 + 300)
    assert code.bits[450:].mean() < math.log2(300) - 2


def test_one_worker_or_two_write_the_same_bytes(tmp_path: Path) -> None:
    datasets = [opinions(tmp_path / name, folds) for name, folds in (("a", 0), ("b", 3))]
    datasets = [replace(dataset, name=f"fac{i}") for i, dataset in enumerate(datasets)]
    for workers in (1, 2):
        made = probed(tmp_path, *datasets, workers=workers, controls="full")
        write_results(*made, tmp_path / str(workers))
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_information_is_verified_by_its_rows(tmp_path: Path) -> None:
    dataset = opinions(tmp_path, 3)
    results, (table,) = probed(tmp_path, dataset)

    def differences(bits: Any) -> list[str]:
        column = pa.array(bits, pa.float64())
        changed = table.set_column(table.column_names.index("information"), "information", column)
        write_results(results, [changed], tmp_path / "r")
        folder = tmp_path / "r"
        stored = read_any_results(folder)
        return verify_results(stored, folder, tmp_path, {dataset.name: dataset}).differences

    bits = table["information"].to_pylist()
    assert differences(bits) == []
    assert any("information" in line for line in differences([bits[0] + 1, *bits[1:]]))
    assert any("measures information: stored" in line for line in differences([None] * len(bits)))


# Random vectors


@pytest.mark.parametrize("seeds", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_random_vectors_add_nothing(seeds: int) -> None:
    """2,000 rows of two classes, one of 70 %: intervals that exclude 0 are as rare as they say."""
    above = Counter[str]()
    for seed in range(seeds):
        generator = np.random.Generator(np.random.PCG64(seed))
        x = generator.normal(size=(2000, 64)).astype(np.float32)
        y = (generator.random(2000) < 0.3).astype(np.int64)
        words = [f"w{int(w)}" for w in np.minimum(generator.geometric(0.02, size=2000), 300)]
        words_of = {"train": words[:1200], "validation": words[1200:1600], "test": words[1600:]}
        (trained, y_trained), held_out = (x[:1200], y[:1200]), (x[1200:1600], y[1200:1600])
        tested, right = x[1600:], y[1600:]
        problem = Problem(
            "x", "fac", "accuracy", trained, y_trained, held_out, test=tested, gold=right
        )
        output = standard.PROTOCOL.fit_predict(problem, 1, "numpy")
        documents = np.arange(400)
        assert output.information is not None
        _, (low, _) = measure_information(output.information, documents)
        above["information"] += low > 0
        control, gold, used = control_problem(problem, right, words_of, seed)
        answers = (right, output.predictions)
        controls = (gold, output.probe.fit_predict(control).predictions)
        _, (low, _) = measure_selectivity("accuracy", answers, controls, used, documents)
        above["selectivity"] += low > 0
    assert max(above.values()) <= 0.05 * max(seeds, 20)
