"""Targets from documents, the leak filter, and batches that are read from disk."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from case_tables import read_tables
from instance_files import row, write_dataset

from corpora_recipes.records import Document, Section
from corpora_recipes.running.errors import InputError
from evaluation.params import Objective, Training
from evaluation.training.material import HeldOut, Material, Sentence, sentences_of, write_material

TABLES = read_tables(__file__)

WriteRecords = Callable[..., Path]
LEAKED = "El molino del río muele trigo."
FOLDED = "Esta opinión tiene siete palabras de sobra."
DOCUMENT = Document(
    "1",
    "Molino",
    (),
    [
        Section("", 1, [["Uno.", "Dos.", "Tres."]]),
        Section("Obra", 2, [["Cuatro.", "Cinco."], ["Seis."]]),
        Section("Obra", 9, [["Siete."]]),
    ],
    "train",
)


def nothing(_: str) -> bool:
    return False


def test_targets_of_a_document() -> None:
    assert list(sentences_of(DOCUMENT, nothing)) == [
        Sentence("Uno.", False, 0, 0, 0, ""),
        Sentence("Dos.", True, 0, 6, 0, ""),
        Sentence("Tres.", True, 0, 13, 0, ""),
        Sentence("Cuatro.", False, 1, 0, 5, "Obra"),
        Sentence("Cinco.", True, 1, 10, 5, "Obra"),
        # Neighbours of one section, across its paragraphs; not of two, which a drop may separate.
        Sentence("Seis.", True, 1, 0, 10, "Obra"),
        Sentence("Siete.", False, 6, 0, 15, "Obra"),
    ]


def test_a_tested_sentence_is_neither_read_nor_a_neighbour() -> None:
    left = list(sentences_of(DOCUMENT, lambda text: text in ("Dos.", "Cuatro.")))
    assert [s.text for s in left] == ["Uno.", "Tres.", "Cinco.", "Seis.", "Siete."]
    assert [s.text for s in left if s.follows] == ["Seis."]
    # What is left keeps its place in the text.
    assert left[1] == Sentence("Tres.", False, 0, 13, 0, "")


def test_what_is_tested_is_known_by_its_words(tmp_path: Path) -> None:
    position = [row(1, 0, sentences=[LEAKED, "Corto."])]
    splits = {"train": [row(0, 0, sentences=["Este molino muele solo para el probe."])]}
    splits |= {"validation": [], "test": position}
    write_dataset(tmp_path / "own" / "sp_own", "sentence_position", splits)
    # Of a dataset with folds each row is tested once.
    folds = [row(1, 0, fold=0, sentence=FOLDED)]
    write_dataset(tmp_path / "mc_own", "sentence_classification", {"train": folds})
    held_out = HeldOut(tmp_path)
    assert (held_out.datasets, len(held_out)) == (["mc_own", "sp_own"], 2)
    assert all(text in held_out for text in (LEAKED, FOLDED, "«el molino DEL río», muele trigo"))
    # Below six words a sentence recurs anyway; and what a probe trains on may be learnt, too.
    assert not any(t in held_out for t in ("Corto.", "Este molino muele solo para el probe."))
    assert held_out.digest() != HeldOut(tmp_path / "own").digest()


class Codes:
    """Gives each word a number, in the order in which they come."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def __call__(self, texts: list[str]) -> list[list[int]]:
        return [
            [self.words.setdefault(word, len(self.words)) for word in text.split()]
            for text in texts
        ]

    def text(self, tokens: np.ndarray) -> str:
        names = list(self.words)
        return " ".join(names[token] for token in tokens)


def written(
    folder: Path, records: Path, *objectives: Objective, sentences: int = 0
) -> tuple[Material, Codes]:
    codes = Codes()
    training = Training("mine", dict.fromkeys(objectives, 1.0), sentences=sentences)
    write_material(folder, records, training, nothing, codes)
    return Material(folder), codes


def test_a_batch_has_all_targets(tmp_path: Path, write_records: WriteRecords) -> None:
    other = Document("2", "", (), [Section("", 1, [["Otro texto."]])], "test")
    records = write_records([DOCUMENT, other])
    material, codes = written(tmp_path / "material", records, "nsp", "nl", "spp", "sdt")
    counted = {"documents": 1, "held_out": 0, "sentences": 7, "neighbours": 4, "titles": 7}
    assert material.counts == counted | {"levels": 3, "positions": 7}
    batch = material.batch(np.array([6, 4, 0]))
    assert [codes.text(tokens) for tokens in batch.sentences] == ["Siete.", "Cinco.", "Uno."]
    assert (batch.previous.rows, codes.text(batch.previous.texts[0])) == ([1], "Cuatro.")
    assert batch.following.rows == [1, 2]
    assert [codes.text(tokens) for tokens in batch.following.texts] == ["Seis.", "Dos."]
    assert batch.heading.rows == [0, 1]
    assert [codes.text(tokens) for tokens in batch.title.texts] == ["Molino"] * 3
    numbers = (batch.level, batch.in_paragraph, batch.of_paragraph)
    assert [each.tolist() for each in numbers] == [[6, 1, 0], [0, 10, 0], [15, 5, 0]]
    counts = material.word_counts(len(codes.words))
    assert (counts[codes.words["Uno."]], counts.sum()) == (1, 9)


def test_an_epoch_has_every_sentence_once_in_an_order_of_its_own(
    tmp_path: Path, write_records: WriteRecords
) -> None:
    text = [[" ".join(["palabra"] * (1 + number % 9)) for number in range(300)]]
    records = write_records([Document("1", "", (), [Section("", 1, text)], "train")])
    material, _ = written(tmp_path / "material", records, "nsp")
    orders = [list(material.batches(16, 3, epoch)) for epoch in (0, 1)]
    for batches in orders:
        assert len(batches) == 19
        assert sorted(np.concatenate(batches).tolist()) == list(range(300))
        # Of nearly one length, so that little is filled up.
        spans = [{len(tokens) for tokens in material.batch(b).sentences} for b in batches]
        assert max(max(span) - min(span) for span in spans) <= 1
    assert [b.tolist() for b in orders[0]] != [b.tolist() for b in orders[1]]
    again = list(material.batches(16, 3, 0))
    assert all(map(np.array_equal, again, orders[0]))


def test_as_many_sentences_as_asked_for(tmp_path: Path, write_records: WriteRecords) -> None:
    sections = [Section("", 1, [["Uno.", "Dos."]])]
    records = write_records([Document(str(i), "", (), sections, "train") for i in range(5)])
    assert len(written(tmp_path / "a", records, "nsp", sentences=3)[0]) == 4
    assert len(written(tmp_path / "b", records, "nsp")[0]) == 10
    digests = [written(tmp_path / name, records, "nsp")[0].digest() for name in "cd"]
    other = written(tmp_path / "e", records, "nsp", sentences=3)[0].digest()
    assert digests[0] == digests[1] != other


ONE = Document("1", "", (), [Section("", 1, [["Una sola frase."]])], "train")


@pytest.mark.parametrize(("objective", "expected"), TABLES["nothing_to_learn"])
def test_an_objective_without_anything_to_learn(
    objective: Objective, expected: str, tmp_path: Path, write_records: WriteRecords
) -> None:
    records = write_records([ONE])
    with pytest.raises(InputError, match=f"{expected}.*, for the objective {objective} ") as error:
        written(tmp_path / "material", records, objective)
    assert error.value.where == str(records)
    assert not (tmp_path / "material").exists()
    training = Training("mine", {objective: 1.0})
    with pytest.raises(InputError, match="1 sentences, all in tests"):
        write_material(tmp_path / "material", records, training, lambda _: True, Codes())
