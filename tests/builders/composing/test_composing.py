"""Composing rankings: rows, identity of texts, what is left out and counted, stable bytes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import document, write_as_read
from contents import contents
from neighbour_files import COLLECTIONS, corpus_of_pairs, pair, single

from builders.building import build
from builders.composing import compose
from builders.plan.datasets import rankings_of
from builders.store import about_of
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Dialogue, Example
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import INSTANCES, RECORDS

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


def test_words_are_the_same_if_equal_in_lower_case_and_nfc(tmp_path, composed) -> None:
    words = [("C++", "c#"), ("c++", "Café"), ("cafe\u0301", "bar"), ("+", "café")]
    examples = [pair(n, texts, collection="words") for n, texts in enumerate(words)]
    report = composed(examples, task="word_ranking", pairs=["pairs"])
    means = {text: row["means"] for text, row in rows_in(tmp_path).items()}
    of_middle = {"c++": {"c#", "café"}, "café": {"c++", "bar"}}
    assert means == of_middle | {"c#": {"c++"}, "bar": {"café"}}
    assert report["pairs"] == {"read": 4, "no_words": 1, "used": 3}
    assert report["texts"]["no_words"] == 1


@pytest.mark.parametrize("turn", ["1 2", ""])
def test_a_vocabulary_without_words_or_records_is_refused(
    tmp_path, make_corpus, write_records, composed, turn: str
) -> None:
    if turn:
        write_records([Dialogue("f", "", [[turn]], "train")], "films")
    films = corpus_of_pairs(make_corpus(), "films", records="dialogues")
    changes = {"task": "word_ranking", "pairs": ["pairs"], "vocabulary": "films"}
    examples = [pair(1, ("a", "b"), collection="words")]
    with pytest.raises(InputError) as error:
        composed(examples, [corpus_of_pairs(make_corpus()), films], **changes)
    assert error.value.where == str(tmp_path / "films.parquet")
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
