"""Building datasets: rows of passages, examples and parsed sentences; splits, balance, counts."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import caption, document, opinion, write_as_read
from parsed_text import parsed

from builders.building import build, split_examples
from builders.sampling.candidates import N_FOLDS
from builders.store import digests, labels_of
from builders.tasks import TASKS as ALL_TASKS
from builders.tasks import sentence_ordering
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import (
    SPLITS,
    Dialogue,
    Document,
    ParsedSentence,
    Section,
    record_schema,
    to_row,
)
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.tokens import normalise

COHERENCE = {"task": "discourse_coherence"}
ENTRIES = {
    "sp_mine": {"task": "sentence_position"},
    "bso_mine": {"task": "sentence_ordering"},
    "dc_mine": COHERENCE,
}
KEYS = ("document_id", "donor_id")
FIRST = {"task": "sentence_ordering", "pair": "first"}


def rows_of(folder: Path, split: str | None = None) -> list[dict]:
    names = sorted(folder.glob(f"{split or '*'}-*.parquet"))
    return [row for name in names for row in pq.read_table(name).to_pylist()]


def documents_of(folder: Path) -> list[str]:
    """Return the documents that rows, and the replacing sentences in them, are from."""
    return [row[key] for row in rows_of(folder) for key in KEYS if row.get(key)]


def place(sentence: str) -> tuple[int, int]:
    """Return the document and the place that a sentence of the tests names."""
    words = sentence.replace(",", "").split()
    return int(words[8]), int(words[5])


@pytest.fixture
def make(tmp_path, make_corpus, write_records):
    """Return a function that builds datasets of records, and returns their folder and report."""

    def build_datasets(
        records: Iterable[Any],
        out: str = "out",
        corpus: Corpus | None = None,
        sources: str = "upstream",
        **datasets: dict,
    ) -> tuple[Path, dict[str, Any]]:
        corpus = corpus or make_corpus()
        corpus = replace(corpus, datasets=datasets or corpus.datasets)
        return tmp_path / out, build(corpus, write_records(records), tmp_path / out, sources)

    return build_datasets


DOCUMENTS = [document(n, topics=[f"t{n % 7}"]) for n in range(300)]


@pytest.fixture(scope="module")
def whole(make_corpus, tmp_path_factory) -> Path:
    """Return a folder with the three datasets of 300 documents, which no test changes."""
    folder = tmp_path_factory.mktemp("built")
    build(
        make_corpus(datasets=ENTRIES), write_as_read(folder, DOCUMENTS), folder / "out", "upstream"
    )
    return folder / "out"


def test_sentence_position_rows(whole: Path) -> None:
    for row in rows_of(whole / "sp_mine"):
        number = int(row["document_id"].removeprefix("doc-"))
        order = [place(sentence) for sentence in row["sentences"]]
        moved = row["label"] + 1
        others = [n for n in range(1, 6) if n != moved]
        assert order == [(number, n) for n in [moved, *others]]


def test_sentence_ordering_rows(whole: Path) -> None:
    first = Counter[int]()
    for row in rows_of(whole / "bso_mine"):
        order = [place(sentence)[1] for sentence in row["sentences"]]
        first[min(order)] += 1
        assert order == sorted(order, reverse=row["label"] == 0)
        assert max(order) == min(order) + 1
    assert set(first) == {1, 2, 3, 4}
    assert max(first.values()) < 2 * min(first.values())


def test_pairs_of_the_first_two_sentences_are_told_apart_by_no_length(make) -> None:
    # Three of four documents open with their longer sentence.
    documents = []
    for n in range(400):
        long = f"La frase larga del documento {n} sigue y sigue hasta llenar toda una línea."
        body = [long, f"La breve del documento {n}."][:: 1 if n % 4 else -1]
        documents.append(Document(f"d{n}", "", [], [Section("", 1, [body])]))
    folder, report = make(documents, bso_mine=FIRST)
    rows = rows_of(folder / "bso_mine")
    for row in rows:
        (body,) = documents[int(row["document_id"][1:])].sections[0].paragraphs
        assert row["sentences"] == body[:: 1 if row["label"] else -1]
    longer_first = [len(r["sentences"][0]) > len(r["sentences"][1]) for r in rows]
    right = sum(long == (r["label"] == 1) for long, r in zip(longer_first, rows, strict=True))
    assert 0.42 < right / len(rows) < 0.58
    assert 150 < report["bso_mine"]["passages"]["length_tells"] < 210


def test_discourse_coherence_rows(whole: Path) -> None:
    for row in rows_of(whole / "dc_mine"):
        number = int(row["document_id"].removeprefix("doc-"))
        places = [place(sentence) for sentence in row["sentences"]]
        expected = [(number, places[0][1] + n) for n in range(6)]
        if row["label"] == 0:
            replaced = row["replaced_position"] - 1
            assert replaced in (1, 2, 3, 4)
            assert places[replaced][0] == int(row["donor_id"].removeprefix("doc-")) != number
            places[replaced] = expected[replaced]
        else:
            assert row["replaced_position"] is row["donor_id"] is None
        assert places == expected


def test_documents_have_one_split_and_donors_are_used_once_and_never_a_source(whole: Path) -> None:
    rows = {name: rows_of(whole / name) for name in ENTRIES}
    splits = {row["document_id"]: row["split"] for of_one in rows.values() for row in of_one}
    for name, of_one in rows.items():
        assert all(splits[row["document_id"]] == row["split"] for row in of_one)
        # Classes are balanced in every split.
        counts = Counter((row["split"], row["label"]) for row in of_one)
        assert len(counts) == 3 * (5 if name == "sp_mine" else 2)
        assert all(number == counts[split, 1] for (split, _), number in counts.items())
    donors = [row["donor_id"] for row in rows["dc_mine"] if row["donor_id"]]
    assert len(set(donors)) == len(donors) == len(rows["dc_mine"]) / 2
    assert not set(donors) & {row["document_id"] for row in rows["dc_mine"]}
    for row in rows["dc_mine"]:
        assert splits.get(row["donor_id"], row["split"]) == row["split"]


def test_small_corpora_lend_documents_between_sp_and_bso_but_never_of_dc(whole: Path) -> None:
    used = {name: set(documents_of(whole / name)) for name in ENTRIES}
    assert not used["dc_mine"] & (used["sp_mine"] | used["bso_mine"])
    both = len(used["sp_mine"] & used["bso_mine"])
    assert both > 150
    report = json.loads((whole / "build.json").read_text())
    lent = [report[name]["documents"]["used_in_another_dataset_too"] for name in ENTRIES]
    assert lent == [both, both, 0]


@pytest.mark.parametrize("rows", [[60, 20, 20], [100, 34, 34]])
def test_one_document_less_changes_few_rows_at_any_quota(make, rows) -> None:
    # Around these quotas the corpus begins to be too small for disjoint datasets.
    datasets = {name: {**entry, "rows": rows} for name, entry in ENTRIES.items()}
    documents = [document(n, topics=[f"t{n % 7}"]) for n in range(700)]

    def rows_without(left_out: int | None) -> dict:
        fewer = [item for n, item in enumerate(documents) if n != left_out]
        folder, _ = make(fewer, f"without-{left_out}", **datasets)
        return {(name, row["id"]): row for name in ENTRIES for row in rows_of(folder / name)}

    before, after = rows_without(None), rows_without(400)
    assert sum(after.get(key) != row for key, row in before.items()) <= 20


def test_a_large_corpus_serves_its_tasks_with_disjoint_documents(make) -> None:
    small = {name: {**entry, "rows": [20, 10, 10]} for name, entry in ENTRIES.items()}
    folder, _ = make([document(n) for n in range(600)], **small)
    used = [document_id for name in ENTRIES for document_id in documents_of(folder / name)]
    assert len(used) == 3 * 40 + 20
    assert len(set(used)) == len(used)


def test_passages_with_a_sentence_seen_before_or_unfinished_are_left_out(make) -> None:
    documents = [document(n) for n in range(60)]
    for number, place in ((3, 4), (7, 5)):
        lead = documents[number].sections[0].paragraphs
        lead[1][place - 3] = lead[1][place - 3].removesuffix(".")
    folder, report = make([*documents, replace(documents[5], id="copy-of-5")])
    # The sixth sentence of document 7 is not one of its first five.
    passages = report["sp_mine"]["passages"]
    assert (passages["unfinished_sentence"], passages["repeated_sentence"]) == (1, 1)
    rows = rows_of(folder / "sp_mine")
    assert "doc-0003" not in {row["document_id"] for row in rows}
    assert max(Counter(normalise(s) for r in rows for s in r["sentences"]).values()) == 1


def test_same_topic_donors_share_a_topic(make) -> None:
    documents = [document(n, topics=[f"t{n % 5}"]) for n in range(300)]
    entry = COHERENCE | {"donors": "same_topic", "rows": [40, 16, 16]}
    folder, report = make(documents, dc_mine=entry)
    topics = {item.id: item.topics for item in documents}
    pairs = [(r["document_id"], r["donor_id"]) for r in rows_of(folder / "dc_mine")]
    shared = [topics[taker] == topics[donor] for taker, donor in pairs if donor]
    assert len(shared) == 36
    unrelated = report["dc_mine"]["donors"]["without_shared_topic"]
    assert unrelated == shared.count(False) <= 4


def test_similar_donors_share_as_many_words(make) -> None:
    documents = []
    for n in range(200):
        body = [f"El asunto {n % 3} llega en {n * 10 + m}." for m in range(6)]
        documents.append(Document(f"doc-{n:04d}", "", ["t"], [Section("", 1, [body])]))
    shared = {}
    for donors in ("random", "similar"):
        folder, _ = make(documents, dc_mine=COHERENCE | {"donors": donors})
        rows = [row for row in rows_of(folder / "dc_mine") if row["donor_id"]]
        subjects = [{sentence.split()[2] for sentence in row["sentences"]} for row in rows]
        shared[donors] = sum(len(of_row) == 1 for of_row in subjects) / len(rows)
    assert 0.2 < shared["random"] < 0.45
    assert shared["similar"] > 0.95


def test_too_few_documents_says_how_many_and_why(tmp_path, make) -> None:
    documents = [document(n) for n in range(6)] + [document(n, sentences=3) for n in range(6, 15)]
    with pytest.raises(InputError, match="read 15, without passage 9") as error:
        make(documents)
    assert error.value.where == "dataset sp_mine (sentence position)"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.parquet"]


def dialogue(name: str, turns: list[int], split: str | None = None) -> Dialogue:
    """Return a dialogue with conversations of these numbers of turns."""
    text = "Este es el turno {} de la charla {} en {}."
    conversations = [
        [text.format(turn, number, name) for turn in range(count)]
        for number, count in enumerate(turns)
    ]
    return Dialogue(name, "", conversations, split)


@pytest.fixture
def dialogues(make_corpus) -> Corpus:
    facts = replace(make_corpus().facts, records="dialogues")
    return make_corpus(datasets={"dc_mine": COHERENCE}, facts=facts)


def test_coherence_of_dialogues(make, dialogues) -> None:
    films = [dialogue(f"f{n}", [20, 5, 13]) for n in range(40)]
    folder, report = make(films, corpus=dialogues)
    rows = rows_of(folder / "dc_mine")
    for row in rows:
        film, _, where = row["id"].partition("#")
        assert film == row["document_id"]
        conversation, first = map(int, where.split("."))
        expected = films[int(film[1:])].conversations[conversation][first : first + 6]
        if row["label"] == 0:
            place = row["replaced_position"] - 1
            donor = row["donor_id"].partition("#")[0]
            assert donor != film
            assert row["sentences"][place].endswith(f" en {donor}.")
            row["sentences"][place] = expected[place]
        assert row["sentences"] == expected
    splits = {(row["document_id"], row["split"]) for row in rows}
    assert len(splits) == len({document_id for document_id, _ in splits})
    part = report["dc_mine"]
    assert part["rows"] == {"train": 64, "validation": 24, "test": 34}
    assert part["passages"]["found"] == 40 * (3 + 2)
    assert {name: n for name, n in part["documents"].items() if n} == {"read": 40, "used": 40}


def test_only_in_a_sample_donors_may_all_be_of_the_same_book(make, dialogues) -> None:
    books = [dialogue(split, [6] * 20, split) for split in ("train", "validation", "test")]
    with pytest.raises(InputError, match="0 of 18; 3 documents are used"):
        make(books, corpus=dialogues)
    folder, _ = make(books, corpus=dialogues, sources="sample")
    for row in rows_of(folder / "dc_mine"):
        if row["donor_id"]:
            assert row["donor_id"] != row["id"]
            assert row["donor_id"].startswith(f"{row['split']}#")


def test_donors_come_from_short_books_too(make, dialogues) -> None:
    sizes, splits = {"long": 60, "middle": 20, "short": 10}, ("train", "validation", "test")
    books = [dialogue(f"{n}-{s}", [6] * sizes[n], s) for n in sizes for s in splits]
    folder, report = make(books, corpus=dialogues)
    rows = [row for row in rows_of(folder / "dc_mine") if row["donor_id"]]
    donors = Counter(row["donor_id"].partition("-")[0] for row in rows)
    assert set(donors) == set(sizes)
    same = sum(row["document_id"] == row["donor_id"].partition("#")[0] for row in rows)
    # Two of three passages are of the long book: what the others give it, it takes.
    assert same < donors["long"] / 2
    assert report["dc_mine"]["donors"] == {"used": len(rows), "of_the_same_document": same}


def test_a_turn_is_not_replaced_by_one_of_the_same_words(make, dialogues) -> None:
    films = [dialogue(f"f{n}", [6] * 6) for n in range(30)]
    for number, film in enumerate(films):
        for turns in film.conversations:
            # Half of the films say this at one of the places that can be replaced.
            turns[1 + number % 4] = "¿Qué?" if number % 2 else "No."
    folder, _ = make(films, corpus=dialogues)
    rows = rows_of(folder / "dc_mine")
    assert len(rows) > 50
    for row in rows:
        assert len(set(row["sentences"])) == 6


def test_section_prediction_rows(make) -> None:
    words = ["agua", "barco", "costa", "dique", "espuma", "faro", "grúa", "hierro", "isla", "junco"]
    documents = []
    for n in range(100):
        summary = f"El {words[n % 10]} número {n} abre hoy mismo."
        body = [
            f"Se supo que el {words[n % 10]} número {n} iba a abrir después de tantos años.",
            f"El {words[n // 10]} número {n} cede muy pronto.",
            f"Nada se dijo del {words[n % 10]} {n}",
            f"«El {words[n // 10]} número {n} cede», dijo.",
            "La crisis sigue igual.",
        ]
        section = Section("", 1, [body])
        documents.append(Document(f"n{n:03d}", "", [], [section], None, [summary]))
    folder, _ = make(documents, ssp_mine={"task": "section_prediction", "rows": [60, 20, 20]})
    rows = {row["id"]: row for row in rows_of(folder / "ssp_mine")}
    assert len(rows) > 50
    for source in documents:
        if summary := rows.get(f"{source.id}#summary"):
            body = rows[f"{source.id}#body"]
            assert (summary["label"], body["label"], body["split"]) == (1, 0, summary["split"])
            # The body sentence is the one that is about as long as the summary's.
            expected = (source.summary[0], source.sections[0].paragraphs[0][1])
            assert (summary["sentence"], body["sentence"]) == expected


def test_of_many_passages_only_the_first_are_held(make, dialogues) -> None:
    films = [dialogue(f"f{n:03d}", [60]) for n in range(120)]
    entry = COHERENCE | {"rows": [20, 10, 10]}
    folder, report = make(films, corpus=dialogues, dc_mine=entry)
    passages = report["dc_mine"]["passages"]
    assert passages["found"] == 1200
    # One of each film is enough for train, and two where a split has few films.
    assert 1200 - 2 * 120 < passages["not_needed"] <= 1200 - 120
    again, _ = make(films[::-1], "again", corpus=dialogues, dc_mine=entry)
    assert list(digests(folder)) == list(digests(again))


def test_documents_in_folds(make) -> None:
    entries = {name: entry | {"folds": True} for name, entry in ENTRIES.items()}
    folder, report = make(DOCUMENTS[:100], **entries)
    made = {name: (report[name]["rows"], report[name]["folds"]) for name in ENTRIES}
    assert made == {
        "sp_mine": ({"train": 50}, 5),
        "bso_mine": ({"train": 52}, 5),
        "dc_mine": ({"train": 24}, 4),
    }
    for name in ENTRIES:
        folds_of: dict[str, set[int]] = {}
        classes: dict[int, Counter[int]] = {}
        for row in rows_of(folder / name, "train"):
            classes.setdefault(row["fold"], Counter())[row["label"]] += 1
            for name_of in filter(None, map(row.get, KEYS)):
                folds_of.setdefault(name_of, set()).add(row["fold"])
        assert {len(folds) for folds in folds_of.values()} == {1}
        assert all(len({*of_fold.values()}) == 1 for of_fold in classes.values())


def test_published_splits_are_not_replaced_by_folds(make) -> None:
    documents = [replace(document(n), split="test" if n == 7 else None) for n in range(60)]
    with pytest.raises(InputError, match=r"sp_mine.folds\n.*\n.*document doc-0007, .* into test"):
        make(documents, sp_mine={"task": "sentence_position", "folds": True})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row.pop("sentences"), "found:    no sentences\n"),
        (lambda row: row.pop("passage"), "found:    no passage\n.*builders/tasks/toy.py"),
        (lambda row: row.update(place=3), "found:    place, which is not declared\n"),
        (lambda row: row["sentences"].pop(), "found:    1 texts in sentences\n"),
        (lambda row: row.update(id="a"), "two with the id a\n.*give each an `id`"),
        (lambda row: row.update(label="none"), "declared: swapped, original\n.*found:    'none'"),
        (lambda row: row.update(label=2), "declared: swapped, original\n.*found:    2\n"),
    ],
)
def test_a_row_that_is_not_what_its_task_declares(make, monkeypatch, change, message) -> None:
    def instances(*given: Any) -> list[dict[str, Any]]:
        rows = sentence_ordering.instances(*given)
        for row in rows:
            change(row)
        return rows

    toy = replace(sentence_ordering.TASK, name="toy", instances=instances)
    monkeypatch.setitem(ALL_TASKS, "toy", toy)
    with pytest.raises(InputError, match=f"^dataset toy_mine \\(toy\\)(.|\n)*{message}"):
        make(DOCUMENTS[:60], toy_mine={"task": "toy"})


SHARED = {"source_split": "", "also_in": [], "split": "test", "licence": "CC0 1.0"}


Build = Callable[..., tuple[Path, dict[str, Any]]]


@pytest.fixture
def make_examples(make, example_corpus) -> Build:
    """Return a function that builds datasets of examples, and returns their folder and report."""
    return partial(make, corpus=example_corpus)


def rows_by_id(folder: Path, split: str) -> dict[str, dict[str, Any]]:
    (path,) = folder.glob(f"{split}-*.parquet")
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def test_datasets_of_one_collection_have_the_same_splits(make_examples: Build) -> None:
    examples = [caption(n, split="train") for n in range(40)]
    examples += [caption(n, split="test") for n in range(40, 50)]
    tasks = {"e": {"task": "pair_classification"}, "r": {"task": "relatedness"}}
    folder, _ = make_examples(examples, **tasks)
    held_out = [rows_by_id(folder / name, "validation").keys() for name in tasks]
    assert len(held_out[0]) == 4
    assert held_out[0] == held_out[1]


def test_rows_with_a_sentence_of_many_documents_are_counted(make_examples: Build) -> None:
    examples = [caption(n, split="train") for n in range(60)]
    examples += [replace(e, id=f"t{e.id}", split="test") for e in examples[:2]]
    long = "Un perro negro corre por la playa."
    examples = [
        replace(e, texts=(long if n % 2 else e.texts[0], e.texts[1]))
        for n, e in enumerate(examples)
    ]
    folder, report = make_examples(examples, e={"task": "pair_classification"})
    counts = report["e"]["examples"]
    parted = counts["sentence_of_another_part"]
    assert counts["read"] == 62 == counts["used"] + parted
    rows = {split: rows_by_id(folder / "e", split).values() for split in ("train", "validation")}
    with_it = {split: sum(row["sentence1"] == long for row in rows[split]) for split in rows}
    assert with_it["validation"] == 0 < parted < with_it["train"]


def test_texts_that_stand_in_another_split_are_marked() -> None:
    same = ("¡OPINIÓN número 1 sobre la película!",)
    examples = [opinion(1, "train"), opinion(2, "validation", texts=same), opinion(3, "train")]
    examples += [opinion(3, "train", id="again"), opinion(4, "test")]
    examples += [opinion(5, "train", texts=("😀",)), opinion(6, "test", texts=("😡",))]
    rows = split_examples(examples, ALL_TASKS["sentence_classification"], 1, "sent")
    marked = {row["id"]: row["also_in"] for of_split in rows.values() for row in of_split}
    assert {name: splits for name, splits in marked.items() if splits} == {
        "opinions/train/1": ["validation"],
        "opinions/validation/2": ["train"],
    }
    assert len(marked) == 7


def test_a_dataset_of_labels_and_further_columns(make_examples: Build) -> None:
    examples = [opinion(n, "train" if n < 30 else "test") for n in range(42)]
    folder, report = make_examples(examples)
    numbers = {"train": (13, 14), "validation": (2, 1), "test": (6, 6)}
    assert report["sent"] == {
        "rows": {"train": 27, "validation": 3, "test": 12},
        "labels": {s: {"negative": n, "positive": p} for s, (n, p) in numbers.items()},
        "folds": 0,
        "examples": {"read": 42, "used": 42, "also_in_another_split": 0},
        "source_parts": {"train": 30, "test": 12},
    }
    assert json.loads((folder / "build.json").read_text("utf-8")) == report
    row = rows_by_id(folder / "sent", "test")["opinions/test/31"]
    assert row == {"id": row["id"], "document_id": row["id"], "label": 1} | SHARED | {
        "sentence": "Opinión número 31 sobre la película.",
        "country": "cl",
        "source_split": "test",
    }


def test_a_dataset_of_scores(make_examples: Build) -> None:
    entry = {"task": "similarity", "collection": "captions"}
    folder, _ = make_examples(map(caption, range(5)), sts=entry)
    assert [p.name for p in (folder / "sts").iterdir()] == ["test-00000-of-00001.parquet"]
    row = rows_by_id(folder / "sts", "test")["captions/3"]
    texts = {f"sentence{n}": f"Un {who} corre 3 veces." for n, who in ((1, "perro"), (2, "gato"))}
    answers = {"label": 1, "score": 2.5}
    assert row == {"id": row["id"], "document_id": row["id"]} | SHARED | texts | answers


def test_classes_that_the_files_decide_are_sorted(make_examples: Build) -> None:
    words = ("río", "casa", "árbol", "barco")
    examples = [opinion(n, label=words[n % 4], collection="words", columns={}) for n in range(40)]
    folder, _ = make_examples(examples, wc={"task": "linguistic_probing", "collection": "words"})
    (path,) = (folder / "wc").iterdir()
    assert labels_of(pq.read_schema(path)) == ["barco", "casa", "río", "árbol"]
    in_fold = Counter(row["fold"] for row in rows_by_id(path.parent, "train").values())
    assert in_fold == dict.fromkeys(range(N_FOLDS), 4)


@pytest.mark.parametrize("part", ["test", None])
def test_documents_with_a_class_that_is_never_learnt_are_left_out(make_examples, part) -> None:
    parts = ("train",) * 4 + ("test",) if part else (None,) * 5
    examples = [opinion(n, parts[n // 10]) for n in range(50)]
    beside = examples[-1]
    odd = opinion(50, part, label="mixed", document_id=beside.document_id)
    folder, report = make_examples([*examples, odd])
    assert report["sent"]["tested_documents"] == {"class_never_learnt": 1}
    left = rows_by_id(folder / "sent", part or "train").keys()
    assert left == {e.id for e in examples if e.split == part} - {beside.id}
    assert "tested_documents" not in make_examples(examples, "without")[1]["sent"]


def test_too_few_examples_for_folds_are_an_error(tmp_path, make_examples: Build) -> None:
    with pytest.raises(InputError, match=r"2 rows or more in each(.|\n)*fold 9 1 rows"):
        make_examples(map(opinion, range(19)))
    assert not (tmp_path / "out").exists()


VERBS = {
    "Pres": ["rema", "nada", "pesca", "canta", "salta", "duerme", "vuelve", "cena", "lee"],
    "Past": ["remó", "nadó", "pescó", "cantó", "saltó", "durmió", "volvió", "cenó", "leyó"],
}


def sentences(features: str = "Tense={}|") -> list[ParsedSentence]:
    """Return a sentence for each verb in each split; some are too short or have an address."""
    words = "La/DET/2/det niña/NOUN/3/nsubj {}/VERB/0/root/Mood=Ind|{}VerbForm=Fin en/ADP/6/case "
    words += "la/DET/6/det bahía/NOUN/3/obl {}/NOUN/6/appos ./PUNCT/3/punct"
    address = "Lea/VERB/0/root en/ADP/3/case www.ejemplo.es/PROPN/1/obl hoy/ADV/1/x ahí/ADV/1/x"
    return [
        *(
            parsed(words.format(verb, features.format(tense), split), f"{split}-{verb}", split)
            for split in SPLITS
            for tense, verbs in VERBS.items()
            for verb in verbs
        ),
        parsed("Rema/VERB/0/root ./PUNCT/1/punct", name="short"),
        parsed(address, name="address"),
    ]


@pytest.fixture
def treebank_corpus(make_corpus) -> Any:
    made = make_corpus(datasets={"ud_tense": {"task": "tense"}})
    return replace(made, facts=replace(made.facts, records="parsed_sentences"))


def written(folder: Path, records: list[ParsedSentence]) -> Path:
    path = folder / "mine.parquet"
    schema = record_schema("parsed_sentences")
    pq.write_table(pa.Table.from_pylist([to_row(record) for record in records], schema), path)
    return path


def test_rows_and_counts(tmp_path, treebank_corpus) -> None:
    records = written(tmp_path, sentences())
    report = build(treebank_corpus, records, tmp_path / "out", "upstream")
    counts = report["ud_tense"]["sentences"]
    left_out = {"too_short_or_long": 1, "with_address": 1, "not_asked_for": 0, "beyond_balance": 0}
    assert counts == {"read": 56, **left_out, "form_of_another_fold": 0, "used": 54}
    assert report["ud_tense"]["labels"] == {"train": {"past": 27, "present": 27}}
    assert report["ud_tense"]["folds"] == 3
    rows = rows_of(tmp_path / "out" / "ud_tense")
    # A verb is in three sentences, and in one fold.
    assert len({(row["word"], row["fold"]) for row in rows}) == 18
    assert Counter((row["fold"], row["label"]) for row in rows) == {
        (fold, label): 9 for fold in range(3) for label in range(2)
    }
    row = rows[0]
    word, split = row["word"], row["document_id"].partition("-")[0]
    text = {"sentence": f"La niña {word} en la bahía {split}.", "length": 8, "position": 3}
    ids = {"id": f"es_own/{split}-{word}", "document_id": f"{split}-{word}", "treebank": "es_own"}
    answer = {"label": int(word in VERBS["Past"]), "word": word, "fold": row["fold"]}
    assert row == ids | text | answer | {"split": "train", "licence": "CC0 1.0"}


def test_a_changed_row_says_what_was_changed(tmp_path, treebank_corpus) -> None:
    corpus = replace(treebank_corpus, datasets={"ud_shift": {"task": "bigram_shift"}})
    build(corpus, written(tmp_path, sentences()), tmp_path / "out", "sample")
    rows = rows_of(tmp_path / "out" / "ud_shift")
    assert {row["licence"] for row in rows} == {"Apache-2.0"}
    texts = {record.id: record.text for record in sentences()}
    assert {row["label"] for row in rows} == {0, 1}
    for row in rows:
        if row["label"]:
            first, second = row["swapped"].split()
            original = texts[row["id"]]
            assert original.split()[row["position"] - 1] == second
            swapped = original.replace(f"{second} {first}", f"{first} {second}")
            assert row["sentence"] == swapped != original
        else:
            assert row["sentence"] == texts[row["id"]]
            assert row["swapped"] is row["position"] is None


def test_what_treebanks_lack_is_said_of_each_dataset(tmp_path, treebank_corpus) -> None:
    tasks = ("tense", "subject_gender", "bigram_shift")
    corpus = replace(treebank_corpus, datasets={f"ud_{task}": {"task": task} for task in tasks})
    records, faults = written(tmp_path, sentences(features="")), {}
    assert [*build(corpus, records, tmp_path / "out", "upstream", faults)] == ["ud_bigram_shift"]
    assert {name: fault.found for name, fault in faults.items()} == {
        "ud_tense": "only 0 of 54 finite main verbs have the feature Tense",
        "ud_subject_gender": "only 0 of 54 nouns that are subjects have the feature Gender",
    }
    assert "remove ud_tense from this entry" in faults["ud_tense"].todo


def test_a_dataset_with_too_few_rows_is_left_out_alone(tmp_path, treebank_corpus) -> None:
    tasks = {"ud_tense": "tense", "ud_inverted": "coordination_inversion"}
    tasks |= {"ud_mood": "subjunctive", "ud_top": "top_constituents"}
    datasets = {name: {"task": task} for name, task in tasks.items()}
    faults: dict[str, InputError] = {}
    corpus, records = replace(treebank_corpus, datasets=datasets), written(tmp_path, sentences())
    assert [*build(corpus, records, tmp_path / "out", "upstream", faults)] == ["ud_tense"]
    assert [*faults] == ["ud_inverted", "ud_mood", "ud_top"]
    todo = "read more treebanks, or larger ones"
    assert faults["ud_inverted"].todo == todo
    todo += ": each fold needs all classes, in the same lengths; the rarest one, "
    assert faults["ud_mood"].todo == f"{todo}subjunctive, has 0 sentences in all"
    assert faults["ud_top"].todo == f"{todo}SV+X, has 54 sentences in all"
    assert "2 rows or more in each of 3 folds or more" in faults["ud_inverted"].expected
    assert "without two clauses 54" in faults["ud_inverted"].found


def test_a_class_that_is_not_one_of_the_task(tmp_path, treebank_corpus, monkeypatch) -> None:
    task = replace(ALL_TASKS["tense"], labels=("present", "future"))
    monkeypatch.setitem(ALL_TASKS, "tense", task)
    records = written(tmp_path, sentences())
    with pytest.raises(AssertionError, match=r"tense: candidates of \['past'\], not in \('present"):
        build(treebank_corpus, records, tmp_path / "out", "upstream")
