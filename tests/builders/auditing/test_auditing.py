"""The audit: every gate finds what was planted; comparisons of datasets; cached measurements."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from conftest import document, write_as_read
from contents import contents
from documentation import PAGES
from recipe_reading import refused

from builders.audit_report import (
    GATES,
    SURFACE_FORM,
    baselines_of,
    failures_of,
    read_audit,
    verdict_of,
)
from builders.auditing import auditing
from builders.auditing.gates import ALL_GATES
from builders.auditing.gates.baselines import BASELINES
from builders.auditing.instances import instances_in
from builders.auditing.trivial_baselines import Texts
from builders.building import build
from builders.plan.groups import groups_of
from builders.store import digest
from corpora_recipes.recipe import load_facts, load_recipe
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from probeta.auditing import audit
from probeta.cli import main

TABLES = read_tables(__file__)

# Nouns and verbs alone: other words would make holes that look like damage.
WORDS = ["barca", "vuelve", "puerto", "marea", "sube", "vecinos", "compran", "pescado", "plaza"]
WORDS += ["niño", "mira", "muelle", "baja", "red", "llena", "agua", "casas", "viejas", "lejos"]
Rows = dict[str, list[list[str]]]


def sentence(chance: random.Random) -> str:
    """Return a clean sentence, of which no other has the words."""
    words = [chance.choice(WORDS) for _ in range(chance.randint(8, 14))]
    return f"La {' '.join(words)} con {chance.randrange(10**9)} casas."


def clean_rows(texts: int = 2, classes: int = 2, seed: int = 5) -> Rows:
    """Return rows whose labels nothing tells, 400 for train and 200 for each of the others."""
    chance = random.Random(seed)
    rows: Rows = {}
    for split, count in (("train", 400), ("valid", 200), ("test", 200)):
        labels = [str(i % classes) for i in range(count)]
        chance.shuffle(labels)
        rows[split] = [[label, *(sentence(chance) for _ in range(texts))] for label in labels]
    return rows


def write_text(rows: Rows, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split, of_split in rows.items():
        text = "".join("\t".join(row) + "\n" for row in of_split)
        (folder / f"{split}.txt").write_text(text, "utf-8")
    return folder


@pytest.fixture(autouse=True)
def quick(request, monkeypatch) -> None:
    """Fit no baselines, which take most of the time, where a test does not ask for them."""
    if "baselines" not in request.fixturenames:
        name = "builders.auditing.gates.baselines.trivial_baselines"

        def found(_: object, test: Texts, *__: object) -> dict[str, Any]:
            return {"majority": test.labels == 0, "first": test.labels >= 0}

        monkeypatch.setattr(name, found)


@pytest.fixture
def baselines() -> None:
    """Let the baselines be fitted."""


@pytest.fixture
def verdicts(tmp_path: Path, monkeypatch) -> Callable[..., dict[str, str]]:
    """Return a function from rows of a text benchmark to the verdicts of the gates of some names.

    If none is named, all gates are measured; the baselines take most of the time.
    """

    def measure(
        rows: Rows, *names: str, task: str | None = "sentence_ordering", **options
    ) -> dict[str, str]:
        gates = [gate for gate in ALL_GATES if not names or gate.name in names]
        monkeypatch.setattr("builders.auditing.gates.ALL_GATES", gates)
        folder = write_text(rows, tmp_path / "theirs" / "ds").parent
        report = audit(folder, tmp_path / "audit", task=task, **options)
        checks = report["datasets"]["ds"]["checks"]
        return {gate: verdict_of(checks, gate) for gate in names or GATES}

    return measure


def test_clean_rows_pass(verdicts, baselines) -> None:
    found = verdicts(clean_rows())
    assert set(found.values()) <= {"pass", "within chance", "not applicable"}, found
    assert found["donors"] == found["documents"] == "not applicable"


@pytest.mark.parametrize("repeated", ["swapped", "sentences", "short"])
def test_leaks_are_found(verdicts, repeated: str) -> None:
    rows = clean_rows()
    if repeated == "swapped":
        rows["test"][7][1:] = rows["train"][3][2], rows["train"][3][1].upper()
    elif repeated == "sentences":
        for number in range(20):
            rows["test"][number][1] = rows["train"][number][1]
    else:
        for of_split in rows.values():
            of_split[0][1] = "Sube la marea."
    verdict = "pass" if repeated == "short" else "miss"
    assert verdicts(rows, "leakage") == {"leakage": verdict}


@pytest.mark.parametrize("order", ["alternating", "in the test alone", "the other way", "blocks"])
def test_labels_that_the_order_tells_are_found(verdicts, order: str) -> None:
    rows = clean_rows()
    for split, of_split in rows.items():
        if order == "blocks":
            of_split.sort()
        elif order != "in the test alone" or split == "test":
            first = order == "the other way" and split == "train"
            for number, row in enumerate(of_split):
                row[0] = str((number + first) % 2)
    assert verdicts(rows, "row_order") == {"row_order": "miss"}


@pytest.mark.parametrize(("of_one", "of_zero", "verdict"), TABLES["telling"])
def test_texts_that_tell_are_a_fault_only_in_what_is_constructed(
    verdicts, baselines, tmp_path, of_one: str, of_zero: str, verdict: str
) -> None:
    """The length is a fault; words alone are named, and everywhere."""
    rows = clean_rows(texts=1)
    for row in (row for of_split in rows.values() for row in of_split):
        row[1] = (of_one if row[0] == "1" else of_zero).format(row[1])
    assert verdicts(rows, "baselines", task="section_prediction") == {"baselines": verdict}
    assert f"**{verdict}**" in (tmp_path / "audit" / "audit.md").read_text("utf-8")
    assert verdicts(rows, "baselines", task=None) == {"baselines": "solved by surface form"}


def test_what_solves_the_test_alone_is_not_chosen(monkeypatch, tmp_path, baselines) -> None:
    """Of 200 rows of test and as many of validation, which are predicted together.

    "close" is the best on validation, by a row, but not in the two halves of the 400 rows of train.
    """

    def answers(train, asked, *_) -> dict[str, np.ndarray]:
        row, rows = np.arange(len(asked.texts)), len(train.texts) + len(asked.texts)
        assert rows in (800, 400)
        close = np.where(row < 200, row % 2, row < 351) if rows == 800 else row % 2
        lucky = row < 200 if rows == 800 else row < 0
        return {"majority": row % 2 == 0, "lucky": lucky, "close": close > 0, "steady": row % 4 > 0}

    monkeypatch.setattr("builders.auditing.gates.baselines.trivial_baselines", answers)
    monkeypatch.setattr("builders.auditing.gates.ALL_GATES", [BASELINES])
    folder = write_text(clean_rows(), tmp_path / "theirs" / "ds").parent
    found = audit(folder, tmp_path / "audit", task="sentence_ordering")["datasets"]["ds"]
    figures = [
        (c["what"], c["value"], c["validation"])
        for c in found["checks"]
        if c["gate"] == "baselines"
    ]
    names, values, chosen_by = zip(*figures, strict=True)
    assert names == ("majority", "lucky", "close", "steady")
    assert values == (0.5, 1, 0.5, 0.75)
    assert chosen_by == pytest.approx((0.5, 0, (151 + 200) / 600, 0.75), abs=0.005)
    assert found["chosen"] == "steady"
    named = [(c["what"], c["limit"]) for c in found["checks"] if c["verdict"] == SURFACE_FORM]
    assert named == [("steady", 0.65)]


@pytest.mark.parametrize("damaged", TABLES["damaged"])
def test_damaged_text_is_found(verdicts, damaged: str) -> None:
    rows = clean_rows()
    for of_split in rows.values():
        for row in of_split[:60]:
            if damaged:
                row[2] = f"{damaged[:-1]} {row[2][-16:-7]}."
            else:
                row[1:] = [text.replace(".", " .") for text in row[1:]]
    assert verdicts(rows, "text") == {"text": "miss" if damaged else "pass"}


def test_another_language_is_found(verdicts) -> None:
    rows = clean_rows()
    for number in range(60):
        english = "The boat comes back to the harbour when the tide is high"
        rows["train"][number][1:] = [f"{english} {number} {side}." for side in ("now", "then")]
    assert verdicts(rows, "language") == {"language": "miss"}
    assert verdicts(rows, "language", language="en") == {"language": "miss"}
    # The identifier does not know Asturian, which has a Wikipedia; nobody has the other one.
    assert verdicts(rows, "language", language="ast") == {"language": "not applicable"}
    with pytest.raises(InputError, match="py3langid"):
        verdicts(rows, "language", language="qqq")


def test_unbalanced_classes_are_found_only_where_balance_is_promised(verdicts) -> None:
    rows = clean_rows()
    rows["train"][0][0] = "1" if rows["train"][0][0] == "0" else "0"
    assert verdicts(rows, "labels") == {"labels": "miss"}
    assert verdicts(rows, "labels", task=None) == {"labels": "pass"}
    # Two labels for one instance.
    first, second = (next(r for r in rows["train"] if r[0] == label) for label in "01")
    second[1:] = [first[1].upper(), first[2]]
    assert verdicts(rows, "labels", task=None) == {"labels": "miss"}


@pytest.mark.parametrize("splits", [["train", "valid", "test"], ["test"]])
def test_a_middle_sentence_seen_elsewhere_is_found(verdicts, splits: list[str]) -> None:
    """A test that train gives away does not drown in train."""
    rows = clean_rows(texts=6)
    chance = random.Random(1)
    for split in splits:
        sources = rows["train"] if split == "test" else rows[split]
        for number, row in enumerate(rows[split]):
            if row[0] == "0":
                row[3] = chance.choice(sources)[1]
            if len(splits) == 1:
                # Short turns recur by nature, and must not hide it.
                row[4] = "Sí." if number % 2 else "No."
    assert verdicts(rows, "donors", task="discourse_coherence") == {"donors": "miss"}


def test_wordless_texts_are_told_apart(verdicts) -> None:
    rows = clean_rows(texts=1)
    for split, text in (("train", "¡!"), ("test", "…")):
        rows[split][0][1] = text
    found = verdicts(rows, "leakage", "labels", task="section_prediction")
    assert (found["leakage"], found["labels"]) == ("pass", "pass")


@pytest.fixture
def instances(tmp_path: Path, make_corpus, write_records) -> Path:
    datasets = {
        "sp_mine": {"task": "sentence_position"},
        "dc_mine": {"task": "discourse_coherence"},
    }
    # Numbers of as many digits, so that a donor's sentence is as long as its neighbours.
    records = write_records([document(n) for n in range(1000, 1400)])
    build(make_corpus(datasets=datasets), records, tmp_path / "ours" / "mine", "upstream")
    return tmp_path / "ours"


def same_document(folder: Path) -> None:
    """Let the first row of each file be of one document."""
    for path in (folder / "mine" / "sp_mine").glob("*.parquet"):
        table = pq.ParquetFile(path).read()
        index = table.schema.get_field_index("document_id")
        documents = pa.array(["same", *table["document_id"].to_pylist()[1:]])
        pq.write_table(table.set_column(index, table.schema.field(index), documents), path)


def of(report: dict, dataset: str, gate: str) -> str:
    return verdict_of(report["datasets"][dataset]["checks"], gate)


def test_our_instances_pass(instances, tmp_path, baselines) -> None:
    report = audit(instances, tmp_path / "audit")
    assert failures_of(report) == []
    assert of(report, "dc_mine", "donors") == of(report, "sp_mine", "documents") == "pass"
    assert read_audit(tmp_path / "audit" / "audit.json") == report
    assert set(baselines_of(report["datasets"]["sp_mine"])) >= {
        "majority",
        "length",
        "bag_of_words",
    }


def test_boilerplate_of_the_corpus_is_found(instances, tmp_path, make_corpus) -> None:
    rule = {"name": "follow", "pattern": "frase número 3 del documento 10"}
    facts = replace(make_corpus().facts, special={"rules": {"es": {"boilerplate": [rule]}}})
    corpus = make_corpus(recipe="mlsum", facts=facts)
    report = audit(instances, tmp_path / "audit", groups=groups_of([corpus], {}, "upstream"))
    assert of(report, "sp_mine", "text") == "undeclared"
    assert failures_of(report) == []


@pytest.mark.parametrize("recipe", ["mlsum", "opensubtitles", "theses"])
def test_recipes_say_their_boilerplate(make_corpus, recipe: str) -> None:
    facts = load_facts(recipe)
    corpus = make_corpus(recipe=recipe, facts=facts, options=dict(facts.options))
    patterns = load_recipe(recipe).boilerplate(corpus)
    assert len(patterns) >= 4
    assert not any(pattern.search(sentence(random.Random(2))) for pattern in patterns)


def test_declared_misses_are_inherited_and_stale_ones_noted(
    instances, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr("builders.auditing.auditing.SMALL_TEST", 1)
    same_document(instances)
    entry = {"at_most": 0.5, "because": "the source is so"}
    declared = {"sp_mine": {"documents": entry, "leakage": entry}}
    report = audit(instances, tmp_path / "audit", inherited=declared, strict=True)
    assert (of(report, "sp_mine", "documents"), failures_of(report)) == ("inherited", [])
    page = tmp_path / "audit" / "audit.md"
    assert "the source is so" in page.read_text("utf-8")
    notes = report["datasets"]["sp_mine"]["notes"]
    assert any("gate 1" in note and "but it is met in" in note for note in notes)
    assert all(f"Note: {note}." in page.read_text("utf-8") for note in notes)
    # Beyond what is declared it fails.
    declared = {"sp_mine": {"documents": entry | {"at_most": 0.001}}}
    report = audit(instances, tmp_path / "audit", inherited=declared)
    (failure,) = failures_of(report)
    assert "documents in two splits: 1, declared as at most 0.1% of rows" in failure
    assert "the source is so" not in page.read_text("utf-8")


def test_a_fault_of_ours_cannot_be_declared(instances, tmp_path, make_corpus) -> None:
    """Where params.yaml builds the dataset, no source has the fault."""
    same_document(instances)
    declared = {"sp_mine": {"documents": {"at_most": 1, "because": "the source is so"}}}
    groups = groups_of([make_corpus()], {}, "upstream")
    report = audit(instances, tmp_path / "audit", groups=groups, inherited=declared)
    assert of(report, "sp_mine", "documents") == "miss"
    assert failures_of(report)


@pytest.mark.parametrize("declared", [{"sp_mine": {"leaks": "x"}}, {"other": {"leakage": "x"}}])
def test_declarations_of_what_is_not_there_are_refused(instances, tmp_path, declared) -> None:
    with pytest.raises(InputError, match=r"audit\.inherited"):
        audit(instances, tmp_path / "audit", inherited=declared)


@pytest.mark.slow
def test_the_same_report_from_two_workers(tmp_path, monkeypatch, baselines) -> None:
    monkeypatch.setattr("builders.auditing.auditing._BYTES_PER_WORKER", 1)
    for name in "ab":
        rows = {split: of_split[:20] for split, of_split in clean_rows().items()}
        write_text(rows, tmp_path / "theirs" / name)
    for workers, out in ((1, "one"), (2, "two")):
        audit(tmp_path / "theirs", tmp_path / out, workers=workers)
    for name in ("audit.json", "audit.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_command_fails_on_a_miss_and_still_writes(tmp_path, write_params, capsys) -> None:
    rows = clean_rows()
    rows["test"][0] = rows["test"][1] = rows["train"][0]
    write_text(rows, tmp_path / "theirs" / "ds")
    params = write_params({})
    arguments = ["audit", str(tmp_path / "theirs"), "--out", str(tmp_path / "audit")]
    assert main([*arguments, "--params", str(params), "--workers", "1"]) == 1
    assert "instances in two splits: 1" in capsys.readouterr().err
    report = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert len(failures_of(report)) >= 1
    # Instances are counted once, rows as often as they are there.
    counted = {check["what"]: check["value"] for check in report["datasets"]["ds"]["checks"]}
    assert counted["test rows whose instance is in another split too"] == 2


def test_bad_files_are_refused_and_nothing_is_written(tmp_path) -> None:
    folder = write_text({"train": [["1", "Hace sol."], ["sola"]]}, tmp_path / "in" / "ds")
    with pytest.raises(InputError, match=r"train\.txt, line 2"):
        audit(folder.parent, tmp_path / "audit")
    assert not (tmp_path / "audit").exists()
    path = tmp_path / "test-00000-of-00001.parquet"
    pq.write_table(pa.table({"text": ["Sube la marea."] * 50}), path)
    content = path.read_bytes()
    # The beginning of a page.
    path.write_bytes(content[:8] + b"\xff" * 8 + content[16:])
    with refused(match="a Parquet file", where_is=str(path)):
        digest([path])


def test_reading_an_audit_imports_nothing_heavy() -> None:
    code = (
        "import sys, builders.audit_report\n"
        "print(*{'numpy', 'yaml', 'jinja2', 'pyarrow', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "theirs"


def run(folder: Path, monkeypatch, *gates: str, **options: Any) -> dict[str, Any]:
    """Audit with some gates only; the baselines take most of the time."""
    from builders.auditing.gates import ALL_GATES

    chosen = [gate for gate in ALL_GATES if gate.name in gates]
    monkeypatch.setattr("builders.auditing.gates.ALL_GATES", chosen)
    return audit(folder, folder.with_name("audit"), **options)


def pair(report: dict[str, Any], dataset: str, other: str) -> dict[str, Any]:
    (found,) = (s for s in report["shared"] if (s["dataset"], s["other"]) == (dataset, other))
    return found


def check(report: dict[str, Any], dataset: str, words: str) -> dict[str, Any]:
    (found,) = (c for c in report["datasets"][dataset]["checks"] if words in c["what"])
    return found


def position_rows(count: int) -> Rows:
    """Return rows of sentence position: the sentence of place ``label`` stands in front."""
    chance = random.Random(3)
    rows = []
    for number in range(count):
        texts, place = [sentence(chance) for _ in range(5)], number % 5
        rows.append([str(place), texts[place], *texts[:place], *texts[place + 1 :]])
    return {"test": rows}


def before_moving(row: list[str]) -> list[str]:
    place = int(row[0])
    return [*row[2 : place + 2], row[1], *row[place + 2 :]]


def test_pairs_that_are_rows_of_another_dataset_are_found(folder, monkeypatch) -> None:
    positions = position_rows(30)
    write_text(positions, folder / "SP" / "x")
    pairs = {
        "test": [before_moving(row)[n % 2 : n % 2 + 2] for n, row in enumerate(positions["test"])]
    }
    write_text(pairs, folder / "BSO" / "x")
    found = pair(run(folder, monkeypatch), "BSO_x", "SP_x")
    assert (found["rows"], found["whole"], found["same_number"], found["texts"]) == (30, 30, 30, 60)
    assert found["places"] == {"1, 2": 15, "2, 3": 15}
    assert found["first"][1] == ("test", 1, "test", 1)
    assert found["looked_up"] is None


def test_labels_that_another_dataset_gives_away_are_a_miss(folder, monkeypatch) -> None:
    passages = position_rows(400)
    chance = random.Random(4)
    coherent = [[str(1 - n % 2), *before_moving(row)] for n, row in enumerate(passages["test"])]
    for row in coherent[1::2]:
        row[3] = sentence(chance)
    write_text(passages, folder / "SP" / "x")
    write_text({"test": coherent}, folder / "DC" / "x")
    report = run(folder, monkeypatch, "donors")
    shared = pair(report, "DC_x", "SP_x")
    assert (shared["rows"], shared["whole"], shared["looked_up"]) == (400, 200, 400)
    looked_up = check(report, "DC_x", "labels of rows with texts of SP_x")
    assert (looked_up["value"], looked_up["verdict"]) == (1.0, "miss")


def test_test_rows_in_the_train_of_another_dataset_are_counted(folder, monkeypatch) -> None:
    first, second = clean_rows(seed=1), clean_rows(seed=2)
    for number in range(7):
        # In another order, with another label.
        second["train"][number][1:] = reversed(first["test"][number][1:])
    write_text(first, folder / "first")
    write_text(second, folder / "second")
    report = run(folder, monkeypatch)
    assert pair(report, "first", "second")["in_train"] == 7
    assert pair(report, "second", "first")["in_train"] == 0


def test_a_miss_names_its_first_rows(folder, monkeypatch) -> None:
    rows = clean_rows()
    for number in range(8):
        rows["test"][number][1:] = rows["train"][number + 10][1:]
    rows["valid"][2][2] = "La villa\x96 tenía pocos habitantes en aquel año tan lejano."
    write_text(rows, folder / "a")
    report = run(folder, monkeypatch, "leakage", "text", "labels")
    named = check(report, "a", "instances in two splits")["rows"]
    assert [row["number"] for row in named] == [1, 2, 3, 4, 5]
    assert {(row["file"], row["unit"], row["id"]) for row in named} == {("test.txt", "line", "")}
    assert named[0]["text"].startswith(rows["test"][0][1][:50])
    assert named[0]["why"] == "also train.txt, line 11"
    (damaged,) = check(report, "a", "corrupted characters")["rows"]
    assert (damaged["file"], damaged["number"]) == ("valid.txt", 3)
    assert damaged["why"].startswith("control_character: La villa\\x96 tenía")
    what = "rows with corrupted characters (control_character 1)"
    assert check(report, "a", "corrupted characters")["what"] == what
    page = (folder.with_name("audit") / "audit.md").read_text("utf-8")
    assert "- valid.txt, line 3: " in page
    assert check(report, "a", "mis-split")["rows"] == []


def test_donors_are_found_by_their_text(folder, monkeypatch) -> None:
    rows = clean_rows(texts=6)
    for number, row in enumerate(rows["test"]):
        if row[0] == "0":
            row[3] = rows["train"][number][2]
    write_text(rows, folder / "DC" / "x")
    first = next(number for number, row in enumerate(rows["test"]) if row[0] == "0")
    report = run(folder, monkeypatch, "donors")
    named = check(report, "DC_x", "a middle sentence occurs elsewhere")["rows"]
    # Both rows that have the sentence are named.
    assert named[0]["why"].endswith(f"text 2 is text 3 of test.txt, line {first + 1}")
    assert check(report, "DC_x", "rows with a middle sentence")["value"] == 200


def test_unlisted_boilerplate_and_swallowed_rows_are_found(folder, monkeypatch) -> None:
    rows = clean_rows(texts=1)
    ones = [row for of_split in rows.values() for row in of_split if row[0] == "1"]
    for row in ones[:40]:
        row[1] = f"Sigue las noticias de hoy en la red de {row[1]}"
    for row in rows["valid"]:
        row[1] = f"Según dijo ayer mismo la alcaldesa, {row[1]}"
    rows["train"][7][1] = " ".join(rows["train"][n][1] for n in range(200, 230))
    # A thousand texts are needed to know what is usual.
    rows["train"] += [["0", "Sube la marea."]] * 100 + [["1", "Sube la marea."]] * 100
    write_text(rows, folder / "SSP" / "x")
    report = run(folder, monkeypatch, "text")
    boilerplate = check(report, "SSP_x", "begin or end like others")
    assert (boilerplate["value"], boilerplate["verdict"]) == (0.04, "miss")
    assert "begins with “sigue las noticias de hoy”" in boilerplate["rows"][0]["why"]
    (swallowed,) = check(report, "SSP_x", "must hold several rows")["rows"]
    assert (swallowed["file"], swallowed["number"]) == ("train.txt", 8)


def test_nodes_that_a_tree_lacks_are_found(folder, monkeypatch) -> None:
    folder.mkdir()
    rows = [
        ["NN-Lista", ["Uno viene.", "Dos se van."], ["Tres se quedan."]],
        ["NN-Lista", ["Uno viene."], ["Dos se van."]],
        ["NN-Lista", ["Cuatro.", "Cinco."], ["Seis.", "Siete."]],
    ]
    (folder / "RST_TRAIN.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    report = run(folder, monkeypatch, "documents", task="discourse_relations")
    lacking = check(report, "RST", "no row divides")
    assert lacking["value"] == 2
    sides = [f"no row divides its {side} 2 units" for side in ("first", "last")]
    assert [row["why"] for row in lacking["rows"]] == sides


def test_a_dataset_of_one_split_has_baselines_and_no_order_by_class(
    folder, monkeypatch, baselines
) -> None:
    folder.mkdir()
    for name in ("pos", "neg"):
        texts = [f"Una obra {'buena' if name == 'pos' else 'mala'} del año {n}." for n in range(60)]
        (folder / f"films.{name}").write_text("\n".join(texts), "utf-8")
    report = run(folder, monkeypatch, "baselines", "row_order")
    checks = {c["what"]: c["value"] for c in report["datasets"]["films"]["checks"]}
    assert checks["bag_of_words"] == 1.0
    assert not any("row number" in what for what in checks)


INSTANCES, OUT = Path("instances"), Path("audit")
TASKS = {"sp_a": {"task": "sentence_position"}, "dc_a": {"task": "discourse_coherence"}}


@pytest.fixture
def two_datasets(empty_folder, make_corpus) -> None:
    """Change to a folder with two datasets."""
    records = write_as_read(empty_folder, [document(n) for n in range(1000, 1080)])
    build(make_corpus(datasets=TASKS), records, INSTANCES, "upstream")


def measure_all(out: Path, **options: Any) -> dict[str, Any]:
    locations = [instances_in(INSTANCES / name) for name in sorted(TASKS)]
    return auditing.audit(locations, out, target=str(INSTANCES), **options)


def new(**options: Any) -> int:
    """Audit the datasets, and return how many were measured."""
    cache = Cache("measured")
    measure_all(OUT, cache=cache, **options)
    return cache.written


def test_nothing_is_measured_twice(two_datasets, monkeypatch) -> None:
    assert new() == 2
    first = contents(OUT)
    monkeypatch.setattr("builders.auditing.auditing.measure", None)
    assert new() == 0
    assert contents(OUT) == first
    # What the declarations say of it is judged anew.
    declared = {"at_most": 0.1, "because": "the source is so"}
    assert new(inherited={"sp_a": {"leakage": declared}}) == 0
    assert contents(OUT) != first


def test_a_changed_dataset_alone_is_measured(two_datasets) -> None:
    """The other is compared with it all the same."""
    assert new() == 2
    (row, *_) = (
        row for row in pq.read_table(INSTANCES / "dc_a").to_pylist() if row["donor_id"] is not None
    )
    stolen = row["sentences"][row["replaced_position"] - 1]
    path = INSTANCES / "sp_a" / "train-00000-of-00001.parquet"
    table = pq.ParquetFile(path).read()
    rows = table.to_pylist()
    rows[0]["sentences"][0] = stolen
    pq.write_table(type(table).from_pylist(rows, table.schema), path)
    assert new() == 1
    report = measure_all(Path("fresh"))
    assert contents(OUT) == contents(Path("fresh"))
    assert any("dc_a" in miss and "replacement sentences" in miss for miss in failures_of(report))


@pytest.mark.parametrize("decides", ["code_digest", "stage_versions"])
def test_other_code_or_libraries_measure_anew(two_datasets, monkeypatch, decides: str) -> None:
    assert new() == 2
    monkeypatch.setattr(auditing, decides, lambda *_: "another")
    assert new() == 2
    assert new() == 0


def test_boilerplate_is_part_of_the_key(two_datasets) -> None:
    location = instances_in(INSTANCES / "dc_a")
    patterns = [[], [re.compile("Véase")], [re.compile("Véase", re.IGNORECASE)]]
    keys = [auditing.cache_key(location, each) for each in patterns]
    assert all(keys.count(key) == 1 for key in keys)


def cite(folder: Path) -> bytes:
    """Audit two datasets in a folder, and return what is cited."""
    rows = {split: of_split[:30] for split, of_split in clean_rows().items()}
    rows["test"][0] = rows["train"][0]
    for name in "ab":
        write_text(rows, folder / "theirs" / name)
    audit(folder / "theirs", folder / "audit", cited=folder / "cited.json")
    return (folder / "cited.json").read_bytes()


def test_it_says_what_was_audited_and_by_what(tmp_path: Path) -> None:
    written = cite(tmp_path / "one")
    assert cite(tmp_path / "other") == written
    cited = json.loads(written)
    assert cited["audited"] == {"name": "theirs"}
    facts = cited["datasets"]["a"]
    (file,) = facts["files"]["test"]
    content = (tmp_path / "one" / "theirs" / "a" / "test.txt").read_bytes()
    digest = sha256(content).hexdigest()
    assert file == {"name": "test.txt", "bytes": len(content), "sha256": digest}
    assert facts["verdicts"]["leakage"] == "miss"
    assert facts["rows"] == dict.fromkeys(("train", "validation", "test"), 30)
    (pair, _) = cited["shared"]
    assert (pair["dataset"], pair["whole"], pair["in_train"]) == ("a", 90, 1)


def test_every_field_is_documented(tmp_path: Path) -> None:
    cited = json.loads(cite(tmp_path))
    section = PAGES["docs/audit.md"].split("### JSON to cite")[1]
    described = {
        field: set(re.findall(r"`(\w+)`", row))
        for field, row in re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    }
    assert described.keys() == cited.keys() | {"checks"}
    facts = cited["datasets"]["a"]
    assert set(facts) == described["datasets"]
    missed = next(check for check in facts["checks"] if check["rows"])
    assert set(missed) | set(missed["rows"][0]) == described["checks"]
    assert set(cited["shared"][0]) == described["shared"]
    assert set(cited["audited_by"]) == described["audited_by"]
