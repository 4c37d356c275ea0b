"""Comparisons of datasets, cached measurements, and the JSON to cite."""

import json
import random
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import document, write_as_read
from contents import contents
from documentation import PAGES
from test_audit import Rows, clean_rows, sentence, write_text
from test_audit import baselines as baselines
from test_audit import quick as quick

from builders.audit_report import failures_of
from builders.auditing import auditing
from builders.auditing.instances import instances_in
from builders.building import build
from corpora_recipes.running.cache import Cache
from probeta.auditing import audit


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
def instances(tmp_path, monkeypatch, make_corpus) -> None:
    """Change to a folder with two datasets."""
    monkeypatch.chdir(tmp_path)
    records = write_as_read(tmp_path, [document(n) for n in range(1000, 1080)])
    build(make_corpus(datasets=TASKS), records, INSTANCES, "upstream")


def measure_all(out: Path, **options: Any) -> dict[str, Any]:
    locations = [instances_in(INSTANCES / name) for name in sorted(TASKS)]
    return auditing.audit(locations, out, target=str(INSTANCES), **options)


def new(**options: Any) -> int:
    """Audit the datasets, and return how many were measured."""
    cache = Cache("measured")
    measure_all(OUT, cache=cache, **options)
    return cache.written


def test_nothing_is_measured_twice(instances, monkeypatch) -> None:
    assert new() == 2
    first = contents(OUT)
    monkeypatch.setattr("builders.auditing.auditing.measure", None)
    assert new() == 0
    assert contents(OUT) == first
    # What the declarations say of it is judged anew.
    declared = {"at_most": 0.1, "because": "the source is so"}
    assert new(inherited={"sp_a": {"leakage": declared}}) == 0
    assert contents(OUT) != first


def test_a_changed_dataset_alone_is_measured(instances) -> None:
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
def test_other_code_or_libraries_measure_anew(instances, monkeypatch, decides: str) -> None:
    assert new() == 2
    monkeypatch.setattr(auditing, decides, lambda *_: "another")
    assert new() == 2
    assert new() == 0


def test_boilerplate_is_part_of_the_key(instances) -> None:
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
