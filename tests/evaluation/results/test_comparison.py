"""Pairs of encoders: differences in the same draws, ties, groups, rows that do not match.

Of probes, of ranks and of clusters.
"""

from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_files import CLUSTERED, PARADIGM, RANK, RANKED
from result_files import RESULTS, SCORE

from corpora_recipes.running.errors import InputError
from evaluation.measures import jackknife_half_width, leave_out_means, student
from evaluation.results.comparison import (
    Difference,
    JackknifeScore,
    ReadPredictions,
    ReadRanks,
    compare,
    compare_paradigms,
    compare_ranks,
    measure_all,
    rank_encoders,
    tied_with,
)
from evaluation.results.scores import (
    ClusterScore,
    PairRanks,
    ParadigmResults,
    Predictions,
    RankingResults,
    Results,
    predictions_table,
    ranks_table,
    read_predictions,
    read_ranks,
    write_rankings,
    write_results,
)

ROWS = 400
GOLD = np.arange(ROWS) % 2


def answers(right: float, *, starts: int = 1, first: int = 0) -> Any:
    """Return answers of which that share is right, the wrong ones from row ``first`` on."""
    found = np.tile(GOLD, (starts, 1))
    wrong = (first + np.arange(round(ROWS * (1 - right)))) % ROWS
    found[:, wrong] = 1 - found[:, wrong]
    return found


def probed(folder: Path, name: str, predicted: dict[str, Any]) -> tuple[Results, ReadPredictions]:
    """Write results with these answers; a dataset's task is told by its name."""
    tasks = {"bso": "sentence_ordering", "sp": "sentence_position"}
    scores = tuple(
        replace(SCORE, dataset=dataset, task=tasks[dataset.partition("_")[0]], layer="1")
        for dataset in predicted
    )
    tables = (
        predictions_table(
            dataset,
            "1",
            Predictions(
                ids=np.array([f"i{i}" for i in range(ROWS)]),
                documents=np.array([f"d{i // 2}" for i in range(ROWS)]),
                gold=GOLD,
                predicted=answered,
            ),
        )
        for dataset, answered in predicted.items()
    )
    results = replace(RESULTS, name=name, scores=scores)
    write_results(results, tables, folder / name)
    return results, partial(read_predictions, folder / name)


def compared(results: Any) -> list[Difference]:
    """Compare encoders on all datasets, and on the groups of their tasks."""
    groups: dict[str, list[str]] = {}
    for name in sorted({score.dataset for scored, _ in results for score in scored.scores}):
        groups.setdefault(name.partition("_")[0].upper(), []).append(name)
    return compare(measure_all(results), groups)


def test_every_pair_on_every_shared_dataset_and_group(tmp_path: Path) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.9), "bso_y": answers(0.6), "sp_x": answers(0.5)})
    b = probed(tmp_path, "b", {"bso_x": answers(0.7), "bso_y": answers(0.6)})
    c = probed(tmp_path, "c", {"bso_x": answers(0.9), "sp_x": answers(0.5)})
    found = compared([a, b, c])
    assert [(d.first, d.second, d.level, d.target) for d in found] == [
        ("a", "b", "dataset", "bso_x"),
        ("a", "b", "dataset", "bso_y"),
        ("a", "b", "group", "BSO"),
        ("a", "c", "dataset", "bso_x"),
        ("a", "c", "dataset", "sp_x"),
        ("a", "c", "group", "SP"),
        ("b", "c", "dataset", "bso_x"),
    ]
    first, second, group = found[:3]
    assert first.value == pytest.approx(0.2)
    assert group.value == pytest.approx(0.1)
    # 200 documents, of which 40 are wholly won: sqrt(0.2 * 0.8 / 200) is the standard error.
    error = np.sqrt(0.2 * 0.8 / 200)
    # Three encoders have the dataset, so that three intervals cover together; two have the group.
    assert first.interval == pytest.approx((0.2 - 2.41 * error, 0.2 + 2.41 * error), abs=0.001)
    assert group.interval == pytest.approx((0.1 - 0.98 * error, 0.1 + 0.98 * error), abs=0.001)
    assert not first.tie
    assert second.interval == (0, 0)
    assert second.tie


def drawn(seed: int, documents: int) -> tuple[Any, Any]:
    """Return which documents' rows are right, for two encoders, in three correlated datasets."""
    random = np.random.default_rng(seed)
    hard = random.normal(size=(1, 1, documents))
    own = random.normal(size=(2, 3, documents))
    right = hard + own < [[[0.8]], [[0.3]]]
    return right[0], right[1]


def scored(right: Any, first: int) -> dict[str, JackknifeScore]:
    """Return the scores of an encoder; dataset k has the documents from ``first`` * k on."""
    scores = {}
    for number, of_dataset in enumerate(right):
        n = len(of_dataset)
        left_out = (of_dataset.sum() - of_dataset) / (n - 1)
        units = first * number + np.arange(n)
        name = f"d{number}"
        scores[name] = JackknifeScore("accuracy", float(of_dataset.mean()), left_out, n, units)
    return scores


@pytest.mark.parametrize("first", [0, 30, 60])
def test_documents_that_datasets_share_are_left_out_of_all_at_once(first: int) -> None:
    """All, half or none of the documents are shared, of 60."""
    n, datasets = 60, ["d0", "d1", "d2"]
    right = drawn(5, n)
    apart = right[0].astype(float) - right[1]
    (group,) = compare(
        {"a": scored(right[0], first), "b": scored(right[1], first)}, {"G": datasets}
    )[3:]
    means = []
    for document in range(first * 2 + n):
        kept = [np.arange(n) + first * number != document for number in range(3)]
        means.append(np.mean([of[rows].mean() for of, rows in zip(apart, kept, strict=True)]))
    error = np.sqrt((n - 1) / n * np.square(np.array(means) - apart.mean()).sum())
    half_width = (group.interval[1] - group.interval[0]) / 2
    assert half_width == pytest.approx(student(n - 1) * error)
    if first == 60:
        errors = [of.std(ddof=1) / np.sqrt(n) for of in apart]
        assert half_width == pytest.approx(student(n - 1) * np.linalg.norm(errors) / 3)


def test_documents_are_shared_within_a_corpus_by_their_ids(tmp_path: Path) -> None:
    right = {"bso_x": answers(0.9), "bso_y": answers(0.9), "sp_x": answers(0.9)}
    results, read = probed(tmp_path, "a", right)
    other = replace(results.scores[2], corpus="another")
    results = replace(results, scores=(*results.scores[:2], other))
    x, y, z = measure_all([(results, read)])["a"].values()
    assert x.unit_numbers.tolist() == y.unit_numbers.tolist()
    assert len({*x.unit_numbers}) == ROWS / 2
    assert not {*x.unit_numbers} & {*z.unit_numbers}


def test_the_same_accuracy_on_other_rows_is_a_tie(tmp_path: Path) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.8)})
    b = probed(tmp_path, "b", {"bso_x": answers(0.8, first=200)})
    difference, group = compared([a, b])
    assert difference.value == 0
    assert difference.interval[0] < 0 < difference.interval[1]
    assert difference.tie
    assert replace(group, level="dataset", target="bso_x") == difference


def test_random_starts_count_by_their_mean_and_the_order_turns_the_sign(tmp_path: Path) -> None:
    five = np.concatenate([answers(0.9, starts=3), answers(0.5, starts=3)])
    a = probed(tmp_path, "a", {"bso_x": five})
    b = probed(tmp_path, "b", {"bso_x": answers(0.6)})
    one, other = compared([a, b])[0], compared([b, a])[0]
    assert one.value == pytest.approx(0.1)
    assert not one.tie
    assert compared([a]) == []
    assert (one.value, *one.interval) == pytest.approx(
        (-other.value, -other.interval[1], -other.interval[0])
    )


def test_other_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a = probed(tmp_path, "a", {"bso_x": answers(0.9)})
    monkeypatch.setattr("test_comparison.GOLD", 1 - GOLD)
    b = probed(tmp_path, "b", {"bso_x": answers(0.9)})
    with pytest.raises(InputError, match="the 400 rows of bso_x in the results of a"):
        compared([a, b])


def ranked(
    folder: Path, name: str, ranks: Any, *, positive: str = "p", **score: Any
) -> tuple[RankingResults, ReadRanks]:
    """Write these ranks, of pairs of which two are of a group."""
    plain = replace(RANK, **score)
    others = (replace(plain, postprocessing="abtt"), replace(plain, layer="0"))
    results = replace(RANKED, name=name, scores=(plain, *others))
    kept = PairRanks(
        dataset=plain.dataset,
        similarity=plain.similarity,
        queries=np.array([f"q{i:03}" for i in range(len(ranks))]),
        positives=np.array([f"{positive}{i}" for i in range(len(ranks))]),
        documents=np.array([f"d{i // 2}" for i in range(len(ranks))]),
        ranks=np.array(ranks, np.float64),
    )
    path = folder / f"{name}-{plain.dataset}-{plain.similarity}"
    write_rankings(results, [ranks_table(kept)], path)
    return results, partial(read_ranks, path)


def ranks_of(right: float, first: int = 0) -> Any:
    """Return ranks of which that share is 1, the others are 2, from pair ``first`` on."""
    return np.where(answers(right, first=first)[0] == GOLD, 1, 2)


def test_ranks_of_the_same_pairs(tmp_path: Path) -> None:
    encoders = [
        ranked(tmp_path, "a", ranks_of(0.9)),
        ranked(tmp_path, "b", ranks_of(0.7)),
        ranked(tmp_path, "c", ranks_of(0.7, first=200)),
    ]
    found = compare_ranks(encoders)
    measures = [f"evalrank_es {what} cosine" for what in ("mrr", "hits@1", "hits@3")]
    assert [(d.first, d.second, d.target) for d in found] == [
        (*pair, what) for pair in ("ab", "ac", "bc") for what in measures
    ]
    assert {d.level for d in found} == {"measure"}
    mrr, first, third, *_ = found
    # 200 groups, of which 40 are wholly won: sqrt(0.2 * 0.8 / 200) is the standard error.
    half = 2.41 * np.sqrt(0.2 * 0.8 / 200)
    assert first.value == pytest.approx(0.2)
    assert first.interval == pytest.approx((0.2 - half, 0.2 + half), abs=0.01)
    assert mrr.value == pytest.approx(0.1)
    assert mrr.interval == pytest.approx([end / 2 for end in first.interval])
    assert (third.value, third.interval, third.tie) == (0, (0, 0), True)
    # B and C are right equally often, elsewhere.
    assert found[-2].value == 0
    assert found[-2].tie
    assert [d.tie for d in found] == [False, False, True] * 2 + [True] * 3


def test_of_many_encoders_those_with_the_best_by_each_measure(tmp_path: Path) -> None:
    ranks = {"m": ranks_of(0.6) ** 9.0, "n": np.full(ROWS, 2.0)}
    encoders = [ranked(tmp_path, n, ranks.get(n, np.full(ROWS, 50.0))) for n in "abcdefghijkmn"]
    found = {(d.first, d.second) for d in compare_ranks(encoders)}
    # A is the first, M has the best MRR and hits@1, N the best hits@3.
    assert found == {pair for pair in combinations("abcdefghijkmn", 2) if {*pair} & {*"amn"}}


def test_equal_ranks_are_a_tie_whatever_the_rounding(tmp_path: Path) -> None:
    ranks = np.random.default_rng(3).integers(1, 2000, ROWS) / 2
    encoders = [ranked(tmp_path, name, ranks) for name in "abcde"]
    found = compare_ranks(encoders)
    assert len(found) == 10 * 3
    assert {(d.value, d.interval) for d in found} == {(0, (0, 0))}


def test_what_one_encoder_alone_was_ranked_on(tmp_path: Path) -> None:
    encoders = [
        ranked(tmp_path, "a", ranks_of(0.9)),
        ranked(tmp_path, "b", ranks_of(0.9), similarity="l2"),
        ranked(tmp_path, "c", ranks_of(0.9), dataset="other"),
    ]
    assert compare_ranks(encoders) == []
    assert compare_ranks([]) == compare_ranks(encoders[:1]) == []


@pytest.mark.parametrize(("count", "positive"), [(ROWS - 2, "p"), (ROWS, "x")])
def test_ranks_of_other_pairs_are_refused(tmp_path: Path, count: int, positive: str) -> None:
    a = ranked(tmp_path, "a", ranks_of(0.9))
    b = ranked(tmp_path, "b", np.ones(count), positive=positive)
    with pytest.raises(InputError, match=f"ranks of the {ROWS} pairs of evalrank_es") as caught:
        compare_ranks([a, b])
    assert caught.value.found == f"{count}, not the same ones"


def clustered(name: str, suggestions: dict[str, float], **ways: Any) -> ParadigmResults:
    """Return scores of clusters, whose coherence is half of their suggestion."""
    clusters = tuple(ClusterScore(c, 7, {}, s, 0.0, s / 2) for c, s in suggestions.items())
    score = replace(PARADIGM, casing="lower", clusters=clusters)
    scores = (replace(score, **ways), replace(score, layer="0", clusters=()))
    return replace(CLUSTERED, name=name, scores=scores)


NAMES = [f"c{number:02}" for number in range(30)]


def test_clusters() -> None:
    values = np.random.default_rng(4).random((2, 30))
    encoders = [
        clustered("a", dict(zip(NAMES, values[0], strict=True))),
        clustered("b", dict(zip(NAMES, values[1], strict=True))),
        clustered("c", dict(zip(NAMES, values[0] + 1e-15, strict=True))),
        clustered("d", dict.fromkeys(NAMES, 0.5), vocabulary="own"),
    ]
    found = compare_paradigms(encoders)
    measures = [f"paralex_es {what} shared lower" for what in ("suggestion", "coherence")]
    assert [(d.first, d.second, d.target) for d in found] == [
        (*pair, what) for pair in ("ab", "ac", "bc") for what in measures
    ]
    apart = values[0] - values[1]
    (left_out,) = leave_out_means(apart[None], np.array(NAMES))
    far = jackknife_half_width(apart.mean(), left_out, 30, n_pairs=3)
    assert found[0].value == pytest.approx(apart.mean())
    assert found[0].interval == pytest.approx((apart.mean() - far, apart.mean() + far))
    assert found[1].value == pytest.approx(apart.mean() / 2)
    assert [(d.value, d.interval) for d in found[2:4]] == [(0, (0, 0))] * 2
    # C is A.
    assert (found[4].value, *found[4].interval) == pytest.approx(
        (-found[0].value, -found[0].interval[1], -found[0].interval[0])
    )


def test_other_clusters_are_refused() -> None:
    encoders = [clustered(name, dict.fromkeys([*NAMES, name], 0.5)) for name in "ab"]
    with pytest.raises(InputError, match="the 31 clusters of paralex_es in the results of a"):
        compare_paradigms(encoders)


def test_what_is_tied_with_the_best() -> None:
    """An interval that touches 0 is a tie too."""
    ends = {"ab": (0.0, 0.3), "ac": (0.1, 0.3), "bc": (-0.1, 0.2)}
    differences = [
        Difference("dataset", "x", *pair, 0.1, interval=both) for pair, both in ends.items()
    ]
    others = [Difference("dataset", "y", "a", "c", 0.0, (0.0, 0.0))]
    assert tied_with("a", "x", differences + others) == {"b"}
    assert tied_with("c", "x", differences) == {"b"}
    # Nothing is known of these.
    assert tied_with("a", "z", differences) == set()


def test_ranks_are_those_that_the_differences_allow() -> None:
    def differences(*clear: str) -> list[Difference]:
        """Each of "ab" is ahead of the other; all other pairs are tied."""
        return [
            Difference("group", "x", *(pair if ahead else pair[::-1]), value, interval)
            for pair in map("".join, combinations("abcd", 2))
            for ahead in (pair in clear or pair[::-1] not in clear,)
            for value, interval in [
                (0.1, (0.05, 0.2) if {pair, pair[::-1]} & {*clear} else (-1, 1))
            ]
        ]

    def ranked(*clear: str) -> list[tuple[int, int, tuple[int, ...]]]:
        return [tuple(rank) for rank in rank_encoders("abcd", differences(*clear)).values()]

    assert ranked() == [(1, 4, (1,))] * 4
    # Piepho 2004: a and b share a letter, as b and c, c and d.
    chain = [(1, 2, (1,)), (1, 3, (1, 2)), (2, 4, (2, 3)), (3, 4, (3,))]
    assert ranked("ac", "ad", "bd") == chain
    assert ranked(*map("".join, combinations("abcd", 2))) == [
        (number, number, (number,)) for number in range(1, 5)
    ]
    # The lower one by its mean may be ahead: what is tied decides, not the order.
    assert ranked("da") == [(2, 4, (1,)), (1, 4, (1, 2)), (1, 4, (1, 2)), (1, 3, (2,))]
    # Not compared is not distinguished.
    assert [*rank_encoders("abcd", []).values()] == [(1, 4, (1,))] * 4


def test_ranked_groups_have_all_pairs(tmp_path: Path) -> None:
    """Of more than ten encoders, other targets have pairs with the first or the best alone."""
    names = [f"e{number:02}" for number in range(12)]
    rights = {name: 0.95 - number / 20 for number, name in enumerate(names)}
    given = [probed(tmp_path, name, {"sp": answers(rights[name])}) for name in names]
    measured = measure_all(given)
    found = compare(measured, {"all": ["sp"], "part": ["sp"]}, ["all"])
    counts = {target: sum(each.target == target for each in found) for target in ("all", "part")}
    assert counts == {"all": 66, "part": 11}
    ranks = rank_encoders(names, [each for each in found if each.target == "all"])
    assert (ranks["e00"].low, ranks["e11"].high) == (1, 12)
    assert all(rank.low <= place <= rank.high for place, rank in enumerate(ranks.values(), 1))
    assert ranks["e05"].high < 12
