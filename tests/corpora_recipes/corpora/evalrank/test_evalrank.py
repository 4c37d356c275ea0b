"""EvalRank: the shipped sample whole, and lines with other texts or scores."""

from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of, read_blocks
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "evalrank" / "sample"
CORPUS = corpus_of("evalrank", "en")
FACTS = CORPUS.facts
PAIRS = "sent_evalrank/pos_pair.txt"
SIMILARITY = {name for name, facts in FACTS.collections.items() if facts.scale is not None}
SCORED = "word_similarity/EN-RG-65.txt"


def read(raw: Path) -> tuple[list[Example], Drops]:
    result = read_blocks(raw, CORPUS)
    return [record for record in result.records if isinstance(record, Example)], result.drops


def write(raw: Path, name: str, data: bytes | str) -> Path:
    path = raw / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return raw


def test_sample() -> None:
    examples, drops = read(SAMPLE)
    assert drops.as_dict() == {
        "examples": {"seen": 2071, "kept": 2070, "dropped": {"same_text": 1}}
    }
    assert Counter((e.collection, len(e.texts)) for e in examples) == {
        ("positive_sentences", 2): 146,
        ("background_sentences", 1): 324,
        ("positive_words", 2): 360,
        ("basic_words", 1): 500,
        ("wikipedia_words", 1): 560,
        ("mc_30", 2): 16,
        ("mturk_771", 2): 32,
        **{(name, 2): 12 for name in SIMILARITY - {"mc_30", "mturk_771"}},
    }
    by_id = {example.id: example for example in examples}
    assert len(by_id) == 2070
    key = "positive_sentences/2"
    texts = ("a boy kicks a ball around the yard .", "a boy is kicking a ball in the yard .")
    assert by_id[key] == Example(key, "positive_sentences", texts, None, None, key)
    scores = {name: [e.score for e in examples if e.collection == name] for name in SIMILARITY}
    assert (scores["mc_30"][0], scores["mc_30"][-1]) == (3.9, 0.0)
    assert (scores["mturk_771"][1], scores["mturk_771"][-1]) == (4.8, 1.0)
    assert {e.score for e in examples if e.collection not in scores} == {None}


def test_facts_name_the_files() -> None:
    files = [facts.file for facts in FACTS.collections.values()]
    assert len(files) == len(set(files)) == 18
    assert {source.file for source in FACTS.sources} == set(files)
    assert len(SIMILARITY) == 13
    assert all(FACTS.collections[name].file.startswith("word_sim") for name in SIMILARITY)


def test_tabs_blanks_and_carriage_returns(tmp_path: Path) -> None:
    write(tmp_path, SCORED, "gem\tjewel\t3.940\r\ncar  bus 2\r\n\r\nnoon \t string\t0.02\r\n")
    assert [(e.id, e.texts, e.score) for e in read(tmp_path)[0]] == [
        ("rg_65/1", ("gem", "jewel"), 3.94),
        ("rg_65/2", ("car", "bus"), 2.0),
        ("rg_65/4", ("noon", "string"), 0.02),
    ]


def test_texts_stay_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, PAIRS, "brazil 's ' hat ' , here .\tIt's  here.\nA b\ta b\n")
    assert [e.texts for e in read(tmp_path)[0]] == [
        ("brazil 's ' hat ' , here .", "It's here."),
        ("A b", "a b"),
    ]


def test_a_pair_of_one_text_is_counted_but_has_a_score_where_pairs_are_scored(
    tmp_path: Path,
) -> None:
    write(tmp_path, PAIRS, "one .\ttwo .\nsame .\tsame . \n\t\n")
    write(tmp_path, SCORED, "tiger\ttiger\t4\n")
    examples, drops = read(tmp_path)
    assert [example.id for example in examples] == ["positive_sentences/1", "rg_65/1"]
    assert drops.as_dict()["examples"] == {
        "seen": 4,
        "kept": 2,
        "dropped": {"empty_text": 1, "same_text": 1},
    }


@pytest.mark.parametrize(
    ("name", "good", "line", "message"),
    [
        (PAIRS, "a\tb", "one\ttwo\tthree", "two texts and a tab between them"),
        ("sent_evalrank/background_sent.txt", "a", "one\ttwo", "one text and no tab"),
        (SCORED, "a b 2", "gem\tjewel", "two words and a score"),
        (SCORED, "a b 2", "gem\tjewel\tx", "a score from 0 to 4"),
        (SCORED, "a b 2", "gem\tjewel\t4.01", "a score from 0 to 4"),
        ("word_similarity/EN-MTurk-771.txt", "a b 2", "a b 0.9", "a score from 1 to 5"),
    ],
)
def test_lines_that_are_not_evalranks(
    tmp_path: Path, name: str, good: str, line: str, message: str
) -> None:
    with pytest.raises(InputError) as error:
        read(write(tmp_path, name, f"{good}\n{line}\n"))
    assert error.value.where == f"{tmp_path / name}, line 2"
    assert message in error.value.expected


WORD = st.text(st.characters(categories=("Ll",)), min_size=1)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORD, WORD, st.integers(0, 400)), min_size=1, max_size=20))
def test_every_scored_line_is_an_example(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, str, int]]
) -> None:
    lines = "".join(f"{first}\t{second}\t{score / 100}\n" for first, second, score in table)
    examples, drops = read(write(tmp_path_factory.mktemp("raw"), SCORED, lines))
    assert [(e.id, e.score) for e in examples] == [
        (f"rg_65/{number}", score / 100) for number, (_, _, score) in enumerate(table, 1)
    ]
    assert not drops.dropped
