"""The audit: every gate finds what was planted and passes what is clean."""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import document

from builders.audit_report import (
    GATES,
    SURFACE_FORM,
    baselines_of,
    failures_of,
    read_audit,
    verdict_of,
)
from builders.auditing.gates import ALL_GATES
from builders.auditing.gates.baselines import BASELINES
from builders.auditing.trivial_baselines import Texts
from builders.building import build
from builders.plan.groups import groups_of
from builders.store import digest
from corpora_recipes.recipe import load_facts, load_recipe
from corpora_recipes.running.errors import InputError
from probeta.auditing import audit
from probeta.cli import main

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

        def found(_: object, test: Texts, __: int) -> dict[str, Any]:
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


@pytest.mark.parametrize(
    ("of_one", "of_zero", "verdict"),
    [
        ("{} nada más se supo de todo aquello.", "{}", "miss"),
        ("Hoy {}", "Aye {}", "solved by surface form"),
    ],
)
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
    """Of 200 rows of test and as many of validation, which are predicted together."""

    def answers(_, asked, __) -> dict[str, np.ndarray]:
        row = np.arange(len(asked.texts))
        return {"majority": row % 2 == 0, "lucky": row < 200, "steady": row % 4 > 0}

    monkeypatch.setattr("builders.auditing.gates.baselines.trivial_baselines", answers)
    monkeypatch.setattr("builders.auditing.gates.ALL_GATES", [BASELINES])
    folder = write_text(clean_rows(), tmp_path / "theirs" / "ds").parent
    found = audit(folder, tmp_path / "audit", task="sentence_ordering")["datasets"]["ds"]
    figures = [
        (c["what"], c["value"], c["validation"])
        for c in found["checks"]
        if c["gate"] == "baselines"
    ]
    assert figures == [("majority", 0.5, 0.5), ("lucky", 1, 0), ("steady", 0.75, 0.75)]
    assert found["chosen"] == "steady"
    named = [(c["what"], c["limit"]) for c in found["checks"] if c["verdict"] == SURFACE_FORM]
    assert named == [("steady", 0.65)]


@pytest.mark.parametrize(
    "damaged",
    [
        "La villa tenía una población de \ufffd habitantes en aquel año lejano.",
        "La villa\x96 tenía pocos habitantes en aquel año tan lejano.",
        "La villa (, 1882) tenía pocos habitantes en aquel año tan lejano.",
        "La villa tenía <b>pocos</b> habitantes en aquel año tan lejano.",
        "tenía pocos habitantes en aquel año tan lejano y frío.",
        # Tokenised text is joined before it is judged.
        "",
    ],
)
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
    assert set(baselines_of(report, "sp_mine")) >= {"majority", "length", "bag_of_words"}


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
    with pytest.raises(InputError, match="a Parquet file") as error:
        digest([path])
    assert error.value.where == str(path)


def test_reading_an_audit_imports_nothing_heavy() -> None:
    code = (
        "import sys, builders.audit_report\n"
        "print(*{'numpy', 'yaml', 'jinja2', 'pyarrow', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
