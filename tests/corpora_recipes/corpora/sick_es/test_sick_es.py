"""SICK-es: empty sentences, and tables with other columns, classes or scores."""

from functools import partial
from pathlib import Path

import pytest
from conftest import corpus_of
from recipe_reading import read_examples, refused, write_files

CORPUS = corpus_of("sick_es")
HEADER = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgement\n"
read = partial(read_examples, corpus=CORPUS)


def write(raw: Path, text: str) -> Path:
    return write_files(raw, {"SICK_trial.txt": text})


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
    with refused(f"SICK_trial.txt, line {line}", message):
        read(write(tmp_path, text))
