"""EvalRank: exact ranks, and the scores of whole datasets."""

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from contents import contents
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_files import Row, row, sentence, write_dataset
from scipy import stats
from stores import fill_for, in_project

from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from evaluation import ranking
from evaluation.datasets import find_datasets
from evaluation.embedding.embedding import Fitting
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders import make_encoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import OneVector
from evaluation.measures import leave_out_means, score_interval
from evaluation.probing.probing import Probing, probe_datasets
from evaluation.ranking import Ranks, Similarity, rank_datasets, rank_positives
from evaluation.results.scores import RankingResults, iter_ranks, read_rankings, write_rankings

# --- ranking evaluating --------------------------------------------------------------------------

PLAIN: dict[str, Any] = {"similarities": ["cosine"], "postprocessings": ["none"]}
WHOLE: dict[str, Any] = {"similarities": ["cosine", "l2"], "postprocessings": ["none", "abtt"]}
# Of east: south-east at 45 degrees, north at 90, and what stands between or is unknown.
VECTORS: dict[str, tuple[float, float]] = {
    "este": (2, 0),
    "levante": (1, -1),
    "norte": (0, 1),
    "nordeste": (3, 2),
    "arriba": (0, 5),
    "nada": (0, 0),
    "nunca": (0, 0),
}


@in_project
@dataclass(frozen=True)
class Compass(OneVector):
    """Two numbers a text, and a second layer that is the same for all of them."""

    name: ClassVar[str] = "compass"
    revision: ClassVar[str] = "1"
    dimension: ClassVar[int] = 2
    layers: ClassVar[tuple[str, ...]] = ("0", "1")
    layer: ClassVar[str] = "0"
    parallel: ClassVar[bool] = True
    form: Any = "natural"
    options: ClassVar[dict[str, Any]] = {}

    def encode(self, texts: Sequence[str]) -> Any:
        """Look up what is asked for; tokens have a mark."""
        mark = "" if self.form == "natural" else " ."
        found = [VECTORS[text.removesuffix(mark)] for text in texts]
        return np.array([[vector, (1, 1)] for vector in found], np.float32)


def ranked(text: str, *positives: str, group: str | None = None) -> Row:
    return {
        "id": f"n/{text}",
        "text": text,
        "tokens": f"{text} .",
        "positives": [f"n/{positive}" for positive in positives],
        "document_id": group or f"n/{text}",
    }


ROWS = [
    ranked("este", "levante", "norte", group="n/este"),
    ranked("levante", "este", group="n/este"),
    ranked("norte", "este", group="n/este"),
    *map(ranked, ("nordeste", "arriba", "nada")),
]


def evaluate(folder: Path, rows: Sequence[Row] = ROWS, **settings: Any) -> RankingResults:
    """Write a dataset of words, encode it, and rank."""
    return evaluate_pairs(folder, rows, **settings)[0]


def evaluate_pairs(
    folder: Path, rows: Sequence[Row] = ROWS, encoder: Any = Compass(), **settings: Any
) -> tuple[RankingResults, list[pa.Table]]:
    """Do the same, and return the pairs' ranks as well."""
    write_dataset(folder / "instances" / "words", "word_ranking", {"test": rows})
    datasets = find_datasets(folder / "instances")
    fill_for(folder / "store", encoder, datasets)
    settings = settings or PLAIN
    return rank_datasets("mine", encoder, datasets, folder / "store", seed=5, **settings)[:2]


def test_scores_by_hand(tmp_path: Path) -> None:
    """Of este, nordeste is above levante, and above norte too, which arriba ties with.

    Of levante este is the first; of norte, nordeste and arriba are above este. Nada is nowhere.
    """
    results = evaluate(tmp_path)
    score, other = results.scores
    (dataset,) = find_datasets(tmp_path / "instances")
    assert (score.dataset, score.task, score.language) == ("words", "word_ranking", "es")
    assert (score.version, score.digest) == ("1.0.0", dataset.digest())
    assert (score.layer, score.similarity, score.postprocessing) == ("0", "cosine", "none")
    assert (score.background, score.queries, score.pairs, score.without_vector) == (5, 3, 4, 0)
    assert score.mrr == pytest.approx((1 / 2 + 1 / 2.5 + 1 + 1 / 3) / 4)
    assert score.hits == {"1": 0.25, "3": 1.0}
    assert (score.median_rank, score.mean_rank, score.ties) == (2.25, 2.125, 1)
    # Squared distances: este and levante 45° apart, este and norte 90°, each pair twice.
    assert score.alignment == pytest.approx((2 * (2 - math.sqrt(2)) + 2 * 2) / 4)
    assert (other.alignment, other.uniformity) == (0, pytest.approx(0))
    # One group: its pairs are left out, with a variance of 0.02285 and 3 degrees of freedom.
    assert score.interval == pytest.approx((0.1039, 0.9323), abs=1e-4)
    # The other layer is constant: este has two positives, and so one rival less.
    assert (other.layer, other.background, other.ties) == ("1", 6, 4)
    assert other.mrr == pytest.approx((1 / 2.5 + 1 / 2.5 + 1 / 3 + 1 / 3) / 4)
    assert results.main == (score,)
    assert results.encoder == {
        "encoder": "compass",
        "revision": "1",
        "form": "natural",
        "dimension": 2,
        "layers": ["0", "1"],
        "layer": "0",
        "options": {},
    }
    assert {"python", "numpy", "probeta"} <= results.versions.keys()
    write_rankings(results, [], tmp_path / "mine")
    assert read_rankings(tmp_path / "mine") == results


def test_the_ranks_of_the_pairs_by_hand(tmp_path: Path) -> None:
    """In the order of the ids, whatever that of the rows."""
    for name, rows in (("one", ROWS), ("turned", ROWS[::-1])):
        results, (table,) = evaluate_pairs(tmp_path / name, rows)
        assert [tuple(pair.values()) for pair in table.to_pylist()] == [
            ("words", "cosine", "n/este", "n/levante", "n/este", 2),
            ("words", "cosine", "n/este", "n/norte", "n/este", 2.5),
            ("words", "cosine", "n/levante", "n/este", "n/este", 1),
            ("words", "cosine", "n/norte", "n/este", "n/este", 3),
        ]
        write_rankings(results, [table], tmp_path / name / "kept")
        (stored,) = iter_ranks(tmp_path / name / "kept")
        assert (stored.dataset, stored.ranks.tolist()) == ("words", [2, 2.5, 1, 3])


def test_ranks_are_kept_of_the_main_layers_vectors_as_they_are(tmp_path: Path) -> None:
    rows = [ranked("este", "nada", "norte"), ranked("nada", "este"), ranked("norte"), *ROWS[3:5]]
    _, tables = evaluate_pairs(tmp_path, rows, **WHOLE)
    cosine, distance = (table.to_pydict() for table in tables)
    assert (cosine["similarity"], distance["similarity"]) == (["cosine"] * 3, ["l2"] * 3)
    assert cosine["positive"] == ["n/nada", "n/norte", "n/este"]
    # By chance: of four or five texts, as este has another positive, the middle one.
    assert cosine["rank"] == [2, 2.5, 2.5]
    assert (distance["rank"][0], distance["rank"][2]) == (2, 2.5)
    abtt = WHOLE | {"postprocessings": ["abtt"]}
    assert evaluate_pairs(tmp_path, rows, **abtt)[1] == []


def test_every_setting_for_the_main_layer_and_the_first_for_the_others(tmp_path: Path) -> None:
    scores = evaluate(tmp_path, **WHOLE).scores
    assert [(score.layer, score.postprocessing, score.similarity) for score in scores] == [
        ("0", "none", "cosine"),
        ("0", "none", "l2"),
        ("0", "abtt", "cosine"),
        ("0", "abtt", "l2"),
        ("1", "none", "cosine"),
    ]
    # Nada has a vector of 0 in the main layer: it is nowhere, whatever is compared.
    assert [score.background for score in scores] == [5, 5, 5, 5, 6]


def test_words_without_a_vector_have_the_rank_of_chance(tmp_path: Path) -> None:
    rows = [ranked("este", "nada"), ranked("nada", "este"), ranked("norte", "arriba"), *ROWS[3:5]]
    cosine, distance, *_ = evaluate(tmp_path, rows, **WHOLE).scores
    # Of four texts but the query the middle one, twice; norte's positive is the first, or third.
    for score, rank in ((cosine, 1), (distance, 3)):
        assert (score.pairs, score.queries, score.without_vector) == (3, 3, 2)
        assert score.mrr == pytest.approx((2 / 2.5 + 1 / rank) / 3)
        assert score.hits == {"1": (rank == 1) / 3, "3": 1}
    assert cosine.background == 4
    nowhere = [ranked("nada", "nunca"), ranked("nunca", "nada")]
    for score in evaluate(tmp_path / "nowhere", nowhere, **WHOLE).scores[:4]:
        assert (score.background, score.without_vector) == (0, 2)
        assert score.mrr == 1


def test_the_form_that_the_encoder_takes(tmp_path: Path) -> None:
    natural = evaluate(tmp_path / "natural").scores
    tokens = evaluate(tmp_path / "tokens", encoder=Compass("tokens")).scores
    assert natural[0].texts != tokens[0].texts
    other = {"texts": "", "vectors": ""}
    assert [replace(s, **other) for s in natural] == [replace(s, **other) for s in tokens]


ENCODER = make_encoder("char_hash", {"dimension": 64})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Sentences of which each fourth has the next two as positives, and pairs with scores."""
    root = tmp_path_factory.mktemp("rank")
    linked = {4 * i: (4 * i + 1, 4 * i + 2) for i in range(30)}
    linked |= {positive: (first,) for first, both in linked.items() for positive in both}
    sentences = [
        ranked(sentence(i), *map(sentence, linked.get(i, ())), group=f"g{i // 4:02}")
        for i in range(120)
    ]
    pairs = [
        row(i, None, score=i * i % 7 / 2, sentence1=sentence(i), sentence2=sentence(i + i * i % 7))
        for i in range(60)
    ]
    write_dataset(root / "instances" / "b" / "ranking", "sentence_ranking", {"test": sentences})
    write_dataset(root / "instances" / "a" / "sts", "similarity", {"test": pairs})
    write_dataset(root / "instances" / "a" / "words", "word_ranking", {"test": sentences[:40]})
    fill_for(root / "store", ENCODER, find_datasets(root / "instances"))
    return root / "instances", root / "store"


@pytest.fixture(scope="module")
def whole(folders: tuple[Path, Path]) -> RankingResults:
    datasets = find_datasets(folders[0])
    return rank_datasets("mine", ENCODER, datasets, folders[1], seed=5, **WHOLE)[0]


def test_scores_are_those_of_the_ranks(folders: tuple[Path, Path], whole: RankingResults) -> None:
    assert [score.dataset for score in whole.scores] == ["ranking"] * 4 + ["words"] * 4
    texts = [sentence(i) for i in range(120)]
    vectors = EmbeddingStore(folders[1], ENCODER).lookup(texts, "output")
    first = 4 * np.arange(30)
    queries = np.concatenate([first, first, first + 1, first + 2])
    positives = np.concatenate([first + 1, first + 2, first, first])
    for score in whole.scores[:4]:
        ready = Fitting(vectors).postprocess(score.postprocessing)  # type: ignore[arg-type]
        found = rank_positives(ready, queries, positives, score.similarity)  # type: ignore[arg-type]
        assert score.mrr == pytest.approx(np.mean(1 / found.ranks))
        assert score.hits["3"] == np.mean(found.ranks <= 3)
        (left_out,) = leave_out_means(1 / found.ranks[None], queries // 4)
        expected = score_interval("accuracy", score.mrr, left_out, queries // 4)
        assert score.interval == pytest.approx(expected)


def test_similarities_beside_the_ranks(folders: tuple[Path, Path], whole: RankingResults) -> None:
    """By cosine and without post-processing they are the ones that probe gives."""
    of = {(score.postprocessing, score.similarity): score for score in whole.similarities}
    assert list(of) == [("none", "cosine"), ("none", "l2"), ("abtt", "cosine"), ("abtt", "l2")]
    sts = [dataset for dataset in find_datasets(folders[0]) if dataset.name == "sts"]
    (probed,) = probe_datasets("a", ENCODER, sts, folders[1], seed=5, probing=Probing())[0].scores
    cosine = of["none", "cosine"]
    assert (cosine.dataset, cosine.language, cosine.layer) == ("sts", "es", "output")
    assert cosine.digest == sts[0].digest()
    assert {"pearson": cosine.pearson, "spearman": cosine.spearman} == probed.measures
    scores = [i * i % 7 / 2 for i in range(60)]
    one = ENCODER.encode([sentence(i) for i in range(60)])[:, 0].astype(np.float64)
    other = ENCODER.encode([sentence(i + i * i % 7) for i in range(60)])[:, 0]
    found = 1 / (1 + np.linalg.norm(one - other, axis=1))
    assert of["none", "l2"].pearson == pytest.approx(stats.pearsonr(scores, found).statistic)
    assert len({score.pearson for score in of.values()}) == 4


def test_an_encoders_own_post_processing_takes_the_place_of_the_list(
    folders: tuple[Path, Path], whole: RankingResults
) -> None:
    """Its scores are those of the list; of similarity too, with one dataset in the language."""
    datasets = find_datasets(folders[0])
    transformed = replace(ENCODER, postprocessing="abtt")
    results, tables, _ = rank_datasets("own", transformed, datasets, folders[1], seed=5, **WHOLE)
    assert results.evalrank["postprocessings"] == ["none"]
    assert len(tables) == len(results.scores) == 4
    for kind in ("scores", "similarities"):
        expected = [score for score in getattr(whole, kind) if score.postprocessing == "abtt"]
        found = [replace(score, postprocessing="abtt") for score in getattr(results, kind)]
        if kind == "scores":
            found = [replace(score, answers="") for score in found]
        assert found == expected


def test_similarities_of_a_language_are_processed_together(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """Whitening few texts of their own would make all equally far from each other."""
    few = [
        row(i, None, score=float(i), sentence1=sentence(i), sentence2=sentence(8 * i % 60))
        for i in range(1, 7)
    ]
    write_dataset(tmp_path / "few", "similarity", {"test": few})
    datasets = [*find_datasets(tmp_path), *find_datasets(folders[0])]
    encoder = make_encoder("char_hash", {"dimension": 16})
    fill_for(tmp_path / "store", encoder, datasets)
    whiten: dict[str, Any] = {"similarities": ["cosine"], "postprocessings": ["whitening"]}

    def pearson(language: str) -> dict[str, float]:
        named = {dataset.name: dataset for dataset in datasets}
        given = [replace(named["few"], language=language), named["sts"]]
        results, *_ = rank_datasets("mine", encoder, given, tmp_path / "store", seed=5, **whiten)
        return {score.dataset: score.pearson for score in results.similarities}

    # Alone they are too few to be whitened.
    alone, together = pearson("en"), pearson("es")
    assert list(alone) == ["sts"]
    assert list(together) == ["few", "sts"]
    assert abs(together["few"]) > 0.1


def run(folder: Path, *, cached: bool = True, **changes: Any) -> int:
    """Rank as the verb does what is in a folder; return how many datasets were ranked now."""
    results, ranks, new = rank_datasets(
        "mine",
        ENCODER,
        find_datasets(folder / "instances"),
        folder / "store",
        **({"seed": 5} | WHOLE | changes),
        cache=Cache("ranked/mine") if cached else None,
    )
    write_rankings(results, ranks, folder / ("out" if cached else "alone"))
    return new


@pytest.fixture
def ran(folders: tuple[Path, Path], empty_folder: Path) -> Path:
    """Return a current folder of its own, in which all datasets were ranked."""
    for folder in folders:
        shutil.copytree(folder, empty_folder / folder.name)
    assert run(empty_folder) == 3
    return empty_folder


def write_again(folder: Path, name: str, task: str, rows: Sequence[Row]) -> None:
    write_dataset(folder / "instances" / name, task, {"test": rows})
    fill_for(folder / "store", ENCODER, find_datasets(folder / "instances"))


def other_rows(folder: Path) -> None:
    pairs = {0: [sentence(1)], 1: [sentence(0)]}
    rows = [ranked(sentence(i), *pairs.get(i, ())) for i in range(20)]
    write_again(folder, "a/words", "word_ranking", rows)


def another_similarity(folder: Path) -> None:
    rows = [row(i, None, score=i, sentence1=sentence(i), sentence2=sentence(0)) for i in range(9)]
    write_again(folder, "a/other_sts", "similarity", rows)


def other_vectors(folder: Path) -> None:
    """Of all texts; the encoder says that it is the same one."""
    encode = CharHash.encode
    shutil.rmtree(folder / "store")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CharHash, "encode", lambda self, texts: encode(self, texts) + 1)
        fill_for(folder / "store", ENCODER, find_datasets(folder / "instances"))


@pytest.mark.parametrize(
    ("change", "new"),
    [
        (lambda folder: None, 0),
        (lambda folder: shutil.rmtree(folder / "instances" / "b"), 0),
        (other_rows, 1),
        # Vectors are post-processed together for all similarities of a language.
        (another_similarity, 2),
        (other_vectors, 3),
        # What is cached is then of other parameters.
        (lambda folder: run(folder, similarities=["cosine"]), 3),
        (lambda folder: run(folder, postprocessings=["none"]), 3),
    ],
)
def test_only_what_changed_is_ranked_again(
    ran: Path, change: Callable[[Path], object], new: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the bytes of a run of its own; then nothing is left to do."""
    change(ran)
    assert run(ran) == new
    run(ran, cached=False)
    monkeypatch.setattr(EmbeddingStore, "lookup", None)
    assert run(ran) == 0
    assert contents(ran / "out") == contents(ran / "alone")


def test_no_ranking_datasets(folders: tuple[Path, Path]) -> None:
    results, *others = rank_datasets("mine", ENCODER, [], folders[1], seed=5, **WHOLE)
    assert (results.scores, results.similarities, others) == ((), (), [[], 0])
    assert results.encoder["dimension"] == 64


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([ranked("este", "norte"), ranked("norte", "este", "sur")], "row 1 of test: n/norte with"),
        ([ranked("este", "este", "norte"), ranked("norte", "este")], "row 0 of test: n/este with"),
        ([ranked("este", "norte", "norte"), ranked("norte")], "n/norte, n/norte"),
        ([ranked("este"), ranked("este"), ranked("norte", "este")], r"n/este .* \(none\)"),
        ([ranked("este"), ranked("norte")], "none"),
    ],
)
def test_positives_that_are_no_other_rows(tmp_path: Path, rows: list[Row], found: str) -> None:
    with pytest.raises(InputError, match=f"positives.*\n  found: .*{found}") as caught:
        evaluate(tmp_path, rows)
    assert caught.value.where.endswith("words/test-00000-of-00001.parquet")


def test_a_vector_that_is_damaged(tmp_path: Path) -> None:
    evaluate(tmp_path)
    (file,) = (tmp_path / "store").glob("*.vectors.0.npy")
    vectors = np.load(file)
    vectors[(vectors == VECTORS["norte"]).all(axis=1)] = np.nan
    np.save(file, vectors)
    datasets = find_datasets(tmp_path / "instances")
    with pytest.raises(InputError, match=r"other ones in the chunk of .*, layer 0"):
        rank_datasets("mine", Compass(), datasets, tmp_path / "store", seed=5, **PLAIN)


def test_a_vector_that_post_processing_makes_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = {"este": 3e38, "levante": 3e38, "norte": 3e38, "nordeste": 3e38, "arriba": -3e38}
    for text, number in far.items():
        monkeypatch.setitem(VECTORS, text, (number, 0))
    with pytest.raises(InputError, match="too large"):
        evaluate(tmp_path, ROWS[:5], similarities=["l2"], postprocessings=["centre"])


def test_a_text_that_was_not_encoded(folders: tuple[Path, Path], tmp_path: Path) -> None:
    write_dataset(tmp_path / "words", "word_ranking", {"test": ROWS})
    with pytest.raises(InputError, match="embed"):
        rank_datasets("mine", ENCODER, find_datasets(tmp_path), folders[1], seed=5, **PLAIN)


# --- ranking ranks -------------------------------------------------------------------------------

SIMILARITIES: tuple[Similarity, ...] = ("cosine", "l2")
both = pytest.mark.parametrize("similarity", SIMILARITIES)


def rank(vectors: Any, pairs: Any, similarity: Similarity) -> Ranks:
    queries, positives = np.array(pairs, np.int64).reshape(-1, 2).T
    return rank_positives(np.asarray(vectors, np.float32), queries, positives, similarity)


def exact(vectors: list[list[int]], pairs: list[tuple[int, int]], similarity: Similarity) -> Any:
    """Return ranking, None where there is none, and ties, of whole numbers and without rounding."""

    def score(one: list[int], other: list[int]) -> Fraction | None:
        if similarity == "l2":
            return -Fraction(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)))
        product = sum(a * b for a, b in zip(one, other, strict=True))
        squares = sum(a * a for a in one) * sum(b * b for b in other)
        # In the order of the cosines: their squares, with their signs.
        return Fraction(product * abs(product), squares) if squares else None

    found = []
    for query, positive in pairs:
        left_out = {query} | {other for one, other in pairs if one == query}
        target = score(vectors[query], vectors[positive])
        others = [score(vectors[query], v) for i, v in enumerate(vectors) if i not in left_out]
        if target is None:
            found.append((None, False))
            continue
        above = sum(other > target for other in others if other is not None)
        ties = sum(other == target for other in others)
        found.append((1 + above + ties / 2, ties > 0))
    return found


def listed(found: Ranks) -> Any:
    numbers = [None if np.isnan(rank) else rank for rank in found.ranks.tolist()]
    return list(zip(numbers, found.tied.tolist(), strict=True))


@settings(max_examples=150)
@given(data=st.data(), offset=st.sampled_from([0, 1000, 2**23]))
def test_equal_to_exact_arithmetic(data: st.DataObject, offset: int) -> None:
    """Small whole numbers, among which scores are often equal; zeros too; in several blocks."""
    size = data.draw(st.integers(1, 4))
    vector = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
    vectors = data.draw(st.lists(vector, min_size=2, max_size=12))
    row = st.integers(0, len(vectors) - 1)
    pairs = data.draw(st.lists(st.tuples(row, row), unique=True, max_size=10))
    pairs = [(query, positive) for query, positive in pairs if query != positive]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_BLOCK_TEXTS", data.draw(st.integers(1, 12)))
        patch.setattr(ranking, "_BLOCK_PAIRS", data.draw(st.integers(1, 4)))
        patch.setattr(ranking, "_GROUP", data.draw(st.integers(1, 6)))
        assert listed(rank(vectors, pairs, "cosine")) == exact(vectors, pairs, "cosine")
        # Distances do not depend on where zero is.
        moved = np.array(vectors) + offset
        assert listed(rank(moved, pairs, "l2")) == exact(vectors, pairs, "l2")


def brute_force(vectors: Any, query: int, positive: int, similarity: Similarity) -> float:
    wide = vectors.astype(np.float64)
    if similarity == "cosine":
        scores = wide @ wide[query] / np.linalg.norm(wide, axis=1)
    else:
        scores = 1 / (1 + np.linalg.norm(wide - wide[query], axis=1))
    others = np.delete(scores, [query, positive])
    return float(1 + np.sum(others > scores[positive]))


@both
def test_scores_are_those_of_float64(similarity: Similarity) -> None:
    """300 texts as near to the queries as float32 can write down."""
    generator = np.random.default_rng(3)
    crowd = generator.normal(size=48) + 2e-7 * generator.normal(size=(300, 48))
    queries = generator.normal(size=(40, 48))
    vectors = np.concatenate([crowd, queries]).astype(np.float32)
    pairs = [(300 + i, 7 * i) for i in range(40)]
    found = rank(vectors, pairs, similarity)
    assert not found.tied.any()
    assert found.ranks.tolist() == [brute_force(vectors, *pair, similarity) for pair in pairs]
    # Products in float32 alone would have it otherwise.
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    products = units[300:] @ units[:300].T
    rough = 1 + (products > products[np.arange(40), 7 * np.arange(40)][:, None]).sum(axis=1)
    assert (rough != [brute_force(vectors, *pair, "cosine") for pair in pairs]).sum() > 20


@both
@pytest.mark.parametrize("count", [2, 3, 200])
def test_a_constant_encoder_gets_the_mean_rank(similarity: Similarity, count: int) -> None:
    vectors = np.tile(np.random.default_rng(1).normal(size=33), (count, 1))
    found = rank(vectors, [(0, 1), (1, 0)], similarity)
    # Of the positive and all but the query: count - 1 texts.
    assert found.ranks.tolist() == [count / 2] * 2
    assert found.tied.tolist() == [count > 2] * 2


@both
def test_texts_of_one_direction_or_of_one_vector_tie(similarity: Similarity) -> None:
    generator = np.random.default_rng(5)
    once = generator.normal(size=(60, 24)).astype(np.float32)
    # A power of two: in float32 a tenth of a vector has another direction.
    scale = np.float32(1 if similarity == "l2" else 0.25)
    vectors = np.concatenate([once, once * scale, once])
    found = rank(vectors, [(i, (i + 1) % 60) for i in range(60)], similarity)
    assert found.tied.all()
    # Two others tie with the positive, and two are equal to the query.
    assert ((found.ranks - 2) % 3 == 2).all()


@both
@pytest.mark.parametrize("scale", [2.0**-140, 2.0**-90, 2.0**90, 2.0**120])
def test_the_scale_does_not_matter(similarity: Similarity, scale: float) -> None:
    """Products would leave the range of float32."""
    generator = np.random.default_rng(2)
    # Few digits, as float32 has near the smallest of its numbers.
    vectors = generator.integers(-30, 30, size=(80, 5)).astype(np.float32)
    pairs = [(i, (7 * i + 1) % 80) for i in range(0, 80, 2)]
    scaled = vectors * np.float32(scale)
    assert listed(rank(scaled, pairs, similarity)) == listed(rank(vectors, pairs, similarity))


@both
def test_one_outlier_takes_nothing_from_the_others(similarity: Similarity) -> None:
    generator = np.random.default_rng(4)
    vectors = generator.normal(size=(100, 16)).astype(np.float32)
    outlier = np.full((1, 16), 1e5, np.float32)
    pairs = [(i, (11 * i + 1) % 100) for i in range(0, 100, 3)]
    with_it = np.concatenate([vectors, outlier])
    found = rank(with_it, pairs, similarity)
    assert found.ranks.tolist() == [brute_force(with_it, *pair, similarity) for pair in pairs]


def test_a_query_in_the_centre() -> None:
    """Its products are 0: the texts' lengths alone tell, which differ by less than float32 can."""
    there = [[5000 + k, 5000 - k, 3] for k in range(-9, 10)]
    vectors = [[0, 0, 0], *there, *([-a, -b, -c] for a, b, c in there)]
    pairs = [(0, 1 + k) for k in range(19)]
    for pair in pairs:
        assert listed(rank(vectors, [pair], "l2")) == exact(vectors, [pair], "l2")


@both
def test_pairs_in_any_order_and_vectors_on_the_disk(similarity: Similarity, tmp_path: Path) -> None:
    generator = np.random.default_rng(6)
    vectors = generator.normal(size=(90, 12)).astype(np.float32)
    pairs = np.array([(i, j) for i in range(0, 90, 4) for j in (i + 1, i + 3) if j < 90])
    order = generator.permutation(len(pairs))
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    found = rank(vectors, pairs, similarity)
    again = rank_positives(mapped, *pairs[order].T, similarity)
    assert (again.ranks == found.ranks[order]).all()
    assert (again.tied == found.tied[order]).all()
