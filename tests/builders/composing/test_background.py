"""The rows of rankings: which pairs mean the same, and how texts, links and groups become rows."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_files import pair

from builders.composing import Background, Positives, positive_pairs
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import normalise, sentence_hash


def pairs_with(scores: list[float | None]) -> list:
    return [pair(n, (f"a{n}", f"b{n}"), score) for n, score in enumerate(scores)]


def positives(examples, same=sentence_hash, scale=None) -> Positives:
    return positive_pairs(examples, same, scale, "f.parquet: scored")


def test_scores_that_tell_nothing_are_counted_and_count_for_nothing() -> None:
    examples = pairs_with([None, -1, 3, 2, 1, 0, None, math.nan, math.inf, -math.inf, 5.1])
    found = positives(examples, scale=(0, 5))
    assert found.examples == [examples[2]]
    useless = {"missing_score": 5, "negative_score": 1, "out_of_scale": 1}
    assert found.dropped == useless | {"repeated": 0, "below_top_quarter": 3}
    # Without a scale every score from zero counts; of five a quarter is two.
    assert positives(examples).examples == [examples[2], examples[10]]
    nothing = positives(pairs_with([-1, None]))
    assert (nothing.examples, nothing.lowest_score) == ([], None)


def test_pairs_mean_the_same_unscored_only_where_nothing_has_scores() -> None:
    examples = pairs_with([None, None])
    assert positives(examples) == (examples, {"repeated": 0}, 2, None)
    # Its facts say that it is scored, but the scores are lost.
    assert positives(examples, scale=(0, 5)).dropped["missing_score"] == 2
    assert positives(examples, scale=(0, 5)).examples == []


def test_a_pair_that_was_judged_several_times_has_the_mean_of_its_scores() -> None:
    texts = [("Uno.", "dos"), ("dos", "¡UNO!"), ("tres", "4"), ("a", "b"), ("c", "d"), ("e", "f")]
    scores = [5.0, 1.0, 4.0, 2.0, 1.0, 0.0]
    examples = [pair(n, t, s) for n, (t, s) in enumerate(zip(texts, scores, strict=True))]
    found = positives(examples)
    # Of five pairs a quarter is two: 4, and (5 + 1) / 2.
    assert found.examples == [examples[0], examples[2]]
    assert (found.lowest_score, found.different) == (3, 5)
    assert found.dropped == {"repeated": 1, "below_top_quarter": 3}
    # The mean of equal scores is that score, so that ties stay ties.
    tied = [pair(n, ("x", "y"), 2.6) for n in range(7)] + [pair(7, ("a", "b"), 2.6)]
    rest = [pair(n, (f"{n}", "z"), 1) for n in range(8, 10)]
    assert positives(tied + rest).examples == [tied[0], tied[7]]


def test_unscored_copies_are_one_pair_and_texts_without_words_none() -> None:
    texts = [("a", "b"), ("B", "a"), ("a", "c"), ("¿?", "a")]
    examples = [pair(n, of_pair) for n, of_pair in enumerate(texts)]
    found = positives(examples)
    assert found.examples == [examples[0], examples[2]]
    assert found.dropped == {"repeated": 1, "no_words": 1}
    assert (found.different, len(positives(examples, same=str).examples)) == (2, 3)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_the_top_quarter_and_its_ties_mean_the_same(scores: list[int]) -> None:
    quarter = math.ceil(len(scores) / 4)
    limit = sorted(scores)[-quarter]
    examples = pairs_with([float(score) for score in scores])
    if limit == min(scores):
        above = sum(score > limit for score in scores)
        with pytest.raises(InputError, match=f"{len(scores)} different pairs, {above} of") as error:
            positives(examples)
        assert error.value.where == "f.parquet: scored"
    else:
        found = positives(examples)
        assert (found.lowest_score, found.different) == (limit, len(scores))
        assert found.dropped["below_top_quarter"] == len(scores) - len(found.examples)
        assert [e.score for e in found.examples] == [score for score in scores if score >= limit]


LINKS = {
    ("EL FARO", "La luz."): "used",
    ("la luz", "el mar"): "used",
    ("El mar", "La luz"): "repeated",
    ("Un bote", "un BOTE"): "same_text",
    ("Un bote", "una balsa"): "not_in_background",
    ("Una barca", "un bote"): "used",
}


def test_rows_links_and_groups() -> None:
    """The property below has the links and groups."""
    background = Background("rank", sentence_hash)
    texts = ["El faro.", "¡El faro!", "la luz", "El mar", "Un bote", "Una barca", "Sola"]
    added = [background.add(text, f"c/{n}", f"L{n}") for n, text in enumerate(texts)]
    assert added == [True, False, True, True, True, True, True]
    assert [background.link(*links) for links in LINKS] == [*LINKS.values()]
    rows = {row["text"]: row for row in background.rows()}
    assert list(rows) == ["El faro.", "la luz", "El mar", "Un bote", "Una barca", "Sola"]
    assert rows["El faro."]["id"] == "rank/ed843014419a97da"
    assert rows["la luz"]["positives"] == sorted(rows[t]["id"] for t in ("El faro.", "El mar"))
    assert (rows["la luz"]["source"], rows["la luz"]["licence"]) == ("c/2", "L2")
    assert (rows["Sola"]["positives"], rows["Sola"]["document_id"]) == ([], rows["Sola"]["id"])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_positives_go_both_ways_and_groups_are_what_links_lead_to(links) -> None:
    background = Background("rank", str)
    for number in range(10):
        background.add(str(number), "c", "L")
    reached = {number: {number} for number in range(10)}
    for first, second in links:
        background.link(str(first), str(second))
        joined = reached[first] | reached[second]
        reached |= dict.fromkeys(joined, joined)
    rows = {int(row["text"]): row for row in background.rows()}
    for number, row in rows.items():
        beside = {a + b - number for a, b in links if number in (a, b) and a != b}
        assert row["positives"] == sorted(rows[other]["id"] for other in beside)
        assert row["document_id"] == min(rows[other]["id"] for other in reached[number])


def test_vowel_signs_belong_to_their_words() -> None:
    assert normalise("वह आती है।") == "वह आती है"
    assert sentence_hash("वह आती है") != sentence_hash("वह आता है")
