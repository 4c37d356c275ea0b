"""SICK-es: the shipped sample whole, and tables with other columns, classes or scores."""

from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of, read_blocks

from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "sick_es" / "sample"
CORPUS = corpus_of("sick_es")
FACTS = CORPUS.facts
HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgement\n"


def read(raw: Path) -> tuple[list[Example], Drops]:
    result = read_blocks(raw, CORPUS)
    return [record for record in result.records if isinstance(record, Example)], result.drops


def write(raw: Path, text: str, name: str = "SICK_trial.txt") -> Path:
    (raw / name).write_bytes(text.encode())
    return raw


def test_sample() -> None:
    examples, drops = read(SAMPLE)
    assert drops.as_dict() == {"examples": {"seen": 194, "kept": 194, "dropped": {}}}
    assert Counter(e.split for e in examples) == {"train": 110, "validation": 36, "test": 48}
    labels = Counter(e.label for e in examples)
    assert labels == {"contradiction": 47, "neutral": 92, "entailment": 55}
    assert len({example.id for example in examples}) == 194
    assert all(e.document_id == e.id and not e.columns for e in examples)
    scores = [e.score for e in examples]
    assert (min(scores), max(scores)) == FACTS.collections["pairs"].scale
    assert examples[0] == Example(
        "pairs/train/1",
        "pairs",
        (
            "Una mujer está picando cebolla en una tabla de madera.",
            "Una señora corta cebolla sobre una tabla de madera.",
        ),
        "entailment",
        4.9,
        "pairs/train/1",
        split="train",
    )
    last = examples[-1]
    assert (last.id, last.score, last.label) == ("pairs/test/193", 1.0, "neutral")


def test_an_empty_sentence_is_counted(tmp_path: Path) -> None:
    rows = "1\t \tNieva\t1.0\tNEUTRAL\n2\tLlueve\tNieva\t2.5\tNEUTRAL\n"
    examples, drops = read(write(tmp_path, HEADER + rows))
    assert [e.id for e in examples] == ["pairs/validation/2"]
    assert drops.as_dict()["examples"] == {"seen": 2, "kept": 1, "dropped": {"empty_text": 1}}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\tLlueve\n", 1, "no pair_ID, sentence_A"),
        (HEADER.replace("_judgement", ""), 1, "no entailment_judgement"),
        (HEADER + "1\tLlueve\tNieva\t2.5\tNeutral\n", 2, "CONTRADICTION, NEUTRAL, ENTAILMENT"),
        (HEADER + "1\tLlueve\tNieva\t5.1\tNEUTRAL\n", 2, "a score from 1 to 5"),
        (HEADER + "1\tA\tB\t2.5\tNEUTRAL\n \tA\tB\t2.5\tNEUTRAL\n", 3, "the column pair_ID"),
    ],
)
def test_rows_that_are_not_sicks(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(write(tmp_path, text))
    assert error.value.where == f"{tmp_path / 'SICK_trial.txt'}, line {line}"
    assert message in str(error.value)
