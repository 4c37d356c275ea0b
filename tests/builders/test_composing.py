"""Composing rankings: pairs, texts, words, rows, what is skipped and counted, stable bytes."""

import json
import math
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from conftest import document, write_as_read
from contents import contents
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_files import COLLECTIONS, corpus_of_pairs, pair, single
from recipe_reading import refused
from stage_lines import untimed

from builders import composing, verbs
from builders.building import build
from builders.composing import (
    Background,
    Positives,
    compose,
    frequent_words,
    positive_pairs,
    split_words,
)
from builders.plan.datasets import rankings_of
from builders.store import about_of
from corpora_recipes.recipe import RECIPES, Corpus
from corpora_recipes.records import Dialogue, Document, Example, Section
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import INSTANCES, RANKINGS, RECORDS
from corpora_recipes.running.stage import read_skipped
from corpora_recipes.text.tokens import sentence_hash
from probeta.cli import main

TABLES = read_tables(__file__)

ENTRY = {"task": "sentence_ranking", "language": "es", "pairs": ["pairs/scored"]}


@pytest.fixture
def composed(tmp_path, make_corpus, write_records) -> Callable[..., dict[str, Any]]:
    """Return a function that composes a ranking of the records of a corpus of pairs."""

    def make(
        examples: Sequence[Example], corpora: Sequence[Corpus] = (), **changes: Any
    ) -> dict[str, Any]:
        write_records(examples, "pairs")
        used = corpora or [corpus_of_pairs(make_corpus())]
        (ranking,) = rankings_of({"rank": ENTRY | changes}, used, "upstream")
        return compose(ranking, tmp_path, tmp_path / "out", "upstream")["rank"]

    return make


def counts(part: dict[str, int]) -> str:
    """Return the counts of a part of the report in words."""
    return ", ".join(f"{name} {number}" for name, number in part.items())


def rows_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the rows of the ranking by their texts, with the texts of their positives."""
    rows = pq.read_table(folder / "out" / "rank" / "test-00000-of-00001.parquet").to_pylist()
    text_of = {row["id"]: row["text"] for row in rows}
    assert len(text_of) == len(rows)
    return {row["text"]: row | {"means": {text_of[p] for p in row["positives"]}} for row in rows}


def test_texts_that_differ_in_case_and_punctuation_are_one_row(tmp_path, composed) -> None:
    report = composed(
        [
            pair(2, ("¡EL FARO!", "La luz."), 4),
            pair(1, ("El faro.", "El mar"), 5),
            pair(3, ("Un bote", "un bote..."), 5),
            pair(4, ("La luz", "el faro"), 4.5),
            *(pair(n, (f"Texto {n}", f"Otro {n}"), 1) for n in range(5, 13)),
        ]
    )
    # 11 pairs, one of them twice: the limit is the third score from above.
    assert report["sources"]["pairs/scored"] == {
        **{"source_parts": {"all": 12}, "missing_parts": [], "test_part": None},
        **{"of_a_test_part": 0, "different": 11, "chosen": 3},
        **{"positives": 2, "lowest_score": 4.25},
    }
    pairs = "read 12, repeated 1, below_top_quarter 8, same_text 1, used 2"
    texts = "read 24, same_as_another 4, used 20, with_positives 3, groups_of_positives 1"
    assert [counts(report["pairs"]), counts(report["texts"])] == [pairs, texts]
    assert report["rows"] == {"test": 20}
    rows = rows_in(tmp_path)
    # The first by id stands for all, and texts of pairs with low scores are there too.
    assert rows["El faro."]["means"] == {"El mar", "La luz."}
    assert rows["La luz."]["means"] == {"El faro."}
    assert rows["Un bote"]["means"] == rows["Texto 7"]["means"] == set()
    assert len({rows[text]["document_id"] for text in ("El faro.", "El mar", "La luz.")}) == 1
    stated = {(row["source"], row["split"], row["licence"]) for row in rows.values()}
    assert stated == {("pairs/scored", "test", "CC0 1.0")}
    assert json.loads((tmp_path / "out" / "build.json").read_text("utf-8")) == {"rank": report}
    schema = pq.read_schema(tmp_path / "out" / "rank" / "test-00000-of-00001.parquet")
    assert " ".join(schema.names) == "id text document_id positives source split licence"
    assert about_of(schema)["parts"]["pairs"] == ["pairs/scored"]


def test_the_order_of_pairs_decides_which_text_stands(tmp_path, composed) -> None:
    examples = [
        pair(1, ("El faro.", "La luz."), 5),
        pair(2, ("El faro", "La luna"), 0),
        pair(1, ("el faro", "La torre"), collection="plain"),
    ]
    composed(examples, pairs=["pairs/plain", "pairs/scored"])
    rows = rows_in(tmp_path)
    assert rows["el faro"]["means"] == {"La torre", "La luz."}
    sources = {text: row["source"].removeprefix("pairs/") for text, row in rows.items()}
    plain, scored = ("el faro", "La torre"), ("La luz.", "La luna")
    assert sources == dict.fromkeys(plain, "plain") | dict.fromkeys(scored, "scored")
    composed(examples, pairs=["pairs/scored", "pairs/plain"])
    assert rows_in(tmp_path)["El faro."]["means"] == {"La torre", "La luz."}


def test_a_published_background_is_taken_as_it_is(tmp_path, composed) -> None:
    second = ("la luz", "El faro", "la luna", "el faro", "...")
    texts = [("la luz", "el faro"), *(("el faro", text) for text in second)]
    pairs = [pair(n, of_pair, collection="plain") for n, of_pair in enumerate(texts)]
    ranked = ["la luz", "el faro", "El faro", "a ,", "...", "la luz"]
    singles = [single(n, text) for n, text in enumerate(ranked)]
    report = composed([*pairs, *singles], pairs=["pairs/plain"], background=["pairs/single"])
    outcomes = "read 6, no_words 1, repeated 1, same_text 1, not_in_background 1, used 2"
    assert counts(report["pairs"]) == outcomes
    assert (report["texts"]["no_words"], report["texts"]["same_as_another"]) == (1, 1)
    rows = rows_in(tmp_path)
    assert {text: row["means"] for text, row in rows.items()} == {
        "la luz": {"el faro"},
        "el faro": {"la luz", "El faro"},
        "El faro": {"el faro"},
        "a ,": set(),
    }
    assert {row["source"] for row in rows.values()} == {"pairs/single"}


PLAIN = pair(1, ("el faro", "la luz"), collection="plain")
LOW = [pair(n, (f"a {n}", f"b {n}"), n == 0) for n in range(10)]


@pytest.mark.parametrize(
    ("examples", "changes", "where", "words"),
    [
        (
            [PLAIN, single(1, "El faro")],
            {"pairs": ["pairs/plain"], "background": ["pairs/single"]},
            *("dataset rank (sentence ranking)", "not in background 1"),
        ),
        (
            [pair(1, ("el faro", "¡El faro!"), 5), pair(2, ("a", "b"), -1), LOW[3]],
            {},
            "dataset rank (sentence ranking)",
            "negative score 1, below top quarter 1, same text 1",
        ),
        ([single(1, "el faro")], {"pairs": ["pairs"]}, "pairs.parquet", "only those of single"),
        (LOW, {}, "pairs.parquet: scored", "10 different pairs, 1 of them"),
    ],
)
def test_what_gives_no_ranking_is_refused(
    tmp_path, composed, examples, changes, where, words
) -> None:
    with pytest.raises(InputError, match=words) as error:
        composed(examples, **changes)
    assert error.value.where.removeprefix(f"{tmp_path}/") == where
    assert not (tmp_path / "out").exists()


def probed(make_corpus) -> Corpus:
    """Return the corpus of pairs with a dataset that probes the scored ones with training."""
    scored = replace(COLLECTIONS["scored"], sizes={"train": 2, "test": 1})
    corpus = corpus_of_pairs(make_corpus(), collections=COLLECTIONS | {"scored": scored})
    return replace(corpus, datasets={"related": {"task": "relatedness", "collection": "scored"}})


def test_the_test_part_of_what_a_dataset_probes_is_left_out(
    tmp_path, make_corpus, composed
) -> None:
    examples = [
        pair(1, ("a uno", "b uno"), 4, "train"),
        pair(2, ("a dos", "b dos"), 1, "train"),
        pair(3, ("a tres", "b tres"), 5, "test"),
    ]
    corpus = probed(make_corpus)
    report = composed(examples, [corpus])
    assert report["pairs"] == {"read": 3, "of_a_test_part": 1, "below_top_quarter": 1, "used": 1}
    assert report["sources"]["pairs/scored"]["source_parts"] == {"train": 2, "test": 1}
    assert report["sources"]["pairs/scored"]["test_part"] == "test"
    assert rows_in(tmp_path).keys() == {"a uno", "b uno", "a dos", "b dos"}
    # What is only compared by similarity trains nothing, and is taken whole.
    compared = {"similar": {"task": "similarity", "collection": "scored"}}
    composed(examples, [replace(corpus, datasets=compared)])
    assert rows_in(tmp_path)["a tres"]["means"] == {"b tres"}
    # Without a test part the probe is tested on the last part that is there.
    report = composed(
        [replace(e, split="validation") if e.split == "test" else e for e in examples], [corpus]
    )
    assert report["pairs"]["of_a_test_part"] == 1
    assert report["sources"]["pairs/scored"]["missing_parts"] == ["test"]
    assert report["sources"]["pairs/scored"]["test_part"] == "validation"


def test_the_test_part_of_a_probed_background_is_left_out(tmp_path, make_corpus, composed) -> None:
    labelled = replace(COLLECTIONS["single"], labels={"N": "no", "Y": "yes"})
    corpus = replace(
        corpus_of_pairs(make_corpus(), collections=COLLECTIONS | {"single": labelled}),
        datasets={"sent": {"task": "sentence_classification", "collection": "single"}},
    )
    examples = [
        pair(1, ("uno", "dos"), collection="plain"),
        *(single(n, text, "train") for n, text in enumerate(["uno", "dos", "tres"])),
        single(9, "cuatro", "test"),
    ]
    report = composed(examples, [corpus], pairs=["pairs/plain"], background=["pairs/single"])
    assert rows_in(tmp_path).keys() == {"uno", "dos", "tres"}
    assert report["texts"]["of_a_test_part"] == 1
    assert "of_a_test_part" not in report["pairs"]


def test_words_are_lower_cased_and_stand_beside_the_most_frequent(
    tmp_path, make_corpus, write_records, composed
) -> None:
    films = corpus_of_pairs(make_corpus(), "films", licence="Film licence", records="dialogues")
    turns = ["Un faro, un bote.", "¿Un bote? Guinea-Bissau"]
    write_records([Dialogue("f", "", [turns], "train")], "films")
    texts = [("Faro", "LUZ"), ("luz", "foco")]
    examples = [pair(n, of_pair, collection="words") for n, of_pair in enumerate(texts)]
    changes = {"task": "word_ranking", "pairs": ["pairs/words"], "vocabulary": "films"}
    report = composed(examples, [corpus_of_pairs(make_corpus()), films], **changes)
    words = "running 7, different 4, most_frequent 4, occurrences_of_the_rarest 1"
    assert counts(report["words"]) == words
    rows = rows_in(tmp_path)
    of_pairs = dict.fromkeys(("faro", "luz", "foco"), ("pairs/words", "CC0 1.0"))
    of_films = dict.fromkeys(("un", "bote", "guinea-bissau"), ("films", "Film licence"))
    sources = {text: (row["source"], row["licence"]) for text, row in rows.items()}
    assert sources == of_pairs | of_films
    assert rows["luz"]["means"] == {"faro", "foco"}
    assert report["texts"]["same_as_another"] == 2


@pytest.mark.parametrize("turn", ["1 2", ""])
def test_a_vocabulary_without_words_or_records_is_refused(
    tmp_path, make_corpus, write_records, composed, turn: str
) -> None:
    if turn:
        write_records([Dialogue("f", "", [[turn]], "train")], "films")
    films = corpus_of_pairs(make_corpus(), "films", records="dialogues")
    changes = {"task": "word_ranking", "pairs": ["pairs"], "vocabulary": "films"}
    examples = [pair(1, ("a", "b"), collection="words")]
    with refused(where_is=str(tmp_path / "films.parquet")):
        composed(examples, [corpus_of_pairs(make_corpus()), films], **changes)
    assert not (tmp_path / "out").exists()


def test_a_corpus_that_only_rankings_use_is_built_as_nothing(tmp_path, make_corpus) -> None:
    for corpus in (corpus_of_pairs(make_corpus()), make_corpus(datasets={})):
        missing = tmp_path / "none.parquet"
        assert build(corpus, missing, tmp_path / "out", "upstream") == {}
        assert json.loads((tmp_path / "out" / "build.json").read_text("utf-8")) == {}


RUN = "from probeta.cli import main; exit(main(['build']) + main(['compose']))"


@pytest.mark.slow
def test_the_same_bytes_whatever_the_hash_seed_and_order(
    tmp_path, write_params, repository
) -> None:
    """Of datasets of documents, and of a ranking."""
    tasks = ("sentence_position", "sentence_ordering", "discourse_coherence")
    mine = {"recipe": "documents", "path": "mine.jsonl", "language": "en"}
    words = {"task": "word_ranking", "language": "en", "vocabulary": "mine"}
    params = write_params(
        {
            "mine": {"corpus": mine, "datasets": {task: {"task": task} for task in tasks}},
            "evalrank": {"corpus": {"recipe": "evalrank", "language": "en"}},
        },
        rankings={"words": words | {"pairs": ["evalrank/rg_65", "evalrank/mc_30"]}},
    )
    written = []
    for hash_seed, step in (("0", 1), ("77", -1)):
        folder = tmp_path / hash_seed
        (folder / RECORDS).mkdir(parents=True)
        shutil.copy(params, folder)
        pairs = [
            pair(n, (f"a{chr(97 + n % 26)}", f"b{chr(97 + n % 7)}"), n % 5, None, collection)
            for n, collection in enumerate(["rg_65", "mc_30"] * 20)
        ]
        write_as_read(folder / RECORDS, pairs[::step], "evalrank")
        write_as_read(folder / RECORDS, [document(n) for n in range(80)][::step])
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(repository)}
        subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=environment, check=True)
        written.append(contents(folder / INSTANCES))
    assert written[0] == written[1]
    assert len(written[0]) == 13


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


@pytest.mark.parametrize(("text", "words"), TABLES["words"])
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_words_of_documents_and_dialogues(write_records) -> None:
    lead = Section("Nada", 1, [["Un mar azul.", "El mar"], ["un día"]])
    documents = [
        Document("a", "Título", [], [lead], "train", ["Resumen"]),
        Document("b", "", [], [Section("", 1, []), Section("", 2, [["Un faro"]])], "test"),
    ]
    found = frequent_words(write_records(documents), "documents", 3)
    # "azul" and those after it occur once: the first in the alphabet stands.
    assert found == (["un", "mar", "azul"], 9, 6, 1)
    films = [Dialogue("f", "", [["¿Un mar?", "Mar."], ["Sí."]], "train")]
    assert frequent_words(write_records(films), "dialogues", 9) == (["mar", "sí", "un"], 4, 3, 1)


@pytest.mark.parametrize("memory", [1, 40, 1_000_000])
def test_counts_are_exact_whatever_the_memory(write_records, monkeypatch, memory) -> None:
    monkeypatch.setattr(composing, "MAX_WORDS_IN_MEMORY", memory)
    chance = random.Random(7)
    # More films than a batch holds, so that what is counted goes to files in between.
    words = [chance.choice("abcdefg") * chance.randint(1, 9) for _ in range(1200)]
    films = [Dialogue(f"{n}", "", [[word, "fin"]], "train") for n, word in enumerate(words)]
    counted = Counter(words) + Counter(fin=1200)
    expected = sorted(counted, key=lambda word: (-counted[word], word))
    found = frequent_words(write_records(films), "dialogues", 30)
    assert found == (expected[:30], 2400, len(counted), counted[expected[29]])


def test_no_words_and_records_of_another_kind(tmp_path, write_records) -> None:
    films = [Dialogue("f", "", [["1 2 3"]], "train")]
    assert frequent_words(write_records(films), "dialogues", 9) == ([], 0, 0, 0)
    with pytest.raises(InputError, match=r"records \(documents\) with the columns"):
        frequent_words(write_records([single(1, "uno")]), "documents", 3)
    with pytest.raises(InputError, match="records of the corpus"):
        frequent_words(tmp_path / "none.parquet", "documents", 3)


NAMES = ("one", "two")
STS = {"recipe": "sts", "language": "es", "sources": "mirror"}
CORPORA: dict[str, Any] = {f"{name}_pairs": {"corpus": STS} for name in NAMES}
RANKING = {"task": "sentence_ranking", "language": "es"}
ENTRIES = {name: RANKING | {"pairs": [f"{name}_pairs"]} for name in NAMES}


@pytest.fixture
def here(empty_folder, write_params) -> None:
    """Change to a folder with the records of two corpora, and a ranking of each."""
    write_params(CORPORA, rankings=ENTRIES)
    RECORDS.mkdir(parents=True)
    for name in NAMES:
        write_pairs(name, "La luz.")


def write_pairs(name: str, text: str) -> None:
    pairs = [("El faro.", text), ("El mar.", "Un bote.")]
    examples = [pair(n, texts, 4 - n, "test", "2017") for n, texts in enumerate(pairs)]
    write_as_read(RECORDS, examples, f"{name}_pairs")


@pytest.fixture
def outcome(here, capsys) -> Callable[..., str]:
    """Return a function that runs the stage, and returns what it says on its entries."""

    def run(*options: str) -> str:
        assert main(["compose", *options]) == 0
        lines = untimed(capsys.readouterr().out).splitlines()
        (line,) = (line for line in lines if line.startswith("compose: "))
        return line.removeprefix("compose: ")

    return run


def test_what_is_said_of_a_ranking(here, capsys) -> None:
    assert main(["compose", "--only", "one", "--verbose"]) == 0
    lines = ["one: test 4", "pairs: read 2, below_top_quarter 1, used 1"]
    assert capsys.readouterr().out.splitlines()[:2] == lines
    assert main(["compose", "--only", "other"]) == 1
    assert "choose from one, two" in capsys.readouterr().err


def test_what_decides_the_rows_decides_what_is_kept(outcome, write_params, monkeypatch) -> None:
    def changed(entry: Any) -> str:
        write_params(CORPORA | {"one_pairs": {"corpus": STS} | entry}, rankings=ENTRIES)
        return outcome()

    outcome()
    # A dataset of similarity takes nothing from a ranking.
    similarity = {"task": "similarity", "collection": "2017"}
    assert changed({"datasets": {"sim": similarity}}) == "2 rankings reused"
    said = changed({"corpus": STS | {"sources": "sample"}})
    assert said.startswith("1 of 2 rankings composed again, 4 of ")
    write_params(CORPORA, rankings=ENTRIES, seed=2)
    assert outcome().startswith("2 rankings composed again, ")
    for decides in ("code_digest", "stage_versions"):
        monkeypatch.setattr(verbs, decides, lambda _: "another")
        assert outcome().startswith("2 rankings composed again, ")


def test_a_ranking_whose_corpus_is_missing_is_left_out(outcome, capsys) -> None:
    outcome()
    # The mirror has none of the files.
    assert main(["read", "--workers", "1"]) == 0
    assert read_skipped("read").keys() == CORPORA.keys()
    assert outcome() == "no rankings"
    assert contents(RANKINGS) == {}
    shutil.copytree(RECIPES / "sts" / "sample", "mirror/sts")
    assert main(["read", "--workers", "1", "--only", "two_pairs"]) == 0
    assert outcome().startswith("1 ranking composed, ")
    assert {path.split("/")[0] for path in contents(RANKINGS)} == {"two"}
    # Of one that is there but is faulty, the others stay.
    (RECORDS / "two_pairs.parquet").write_text("no")
    assert main(["read", "--workers", "1", "--only", "one_pairs"]) == 0
    capsys.readouterr()
    assert outcome() == "1 of 2 rankings composed, 292 rows, 1 skipped"
    assert "probeta read" in read_skipped("compose")["two"].why
    assert {path.split("/")[0] for path in contents(RANKINGS)} == {"one"}
