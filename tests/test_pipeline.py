"""The whole pipeline on the samples: `probeta repro` in a copy of the project."""

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from projects import entries_made, run

# What `probeta digest dist/hub` prints.
SAMPLES = Path(__file__).with_name("samples.tsv")


@cache
def digests(folder: Path) -> dict[tuple[str, str], tuple[int, str]]:
    lines = run("probeta digest dist/hub", folder).stdout.splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    return {(row[0], row[1]): (int(row[2]), row[4]) for row in rows}


def test_the_samples_give_these_rows(project: Path) -> None:
    """A change of the content is a change of the rows, and wants a new version of the dataset."""
    made = run("probeta digest dist/hub", project).stdout.splitlines()
    assert made == SAMPLES.read_text("utf-8").splitlines()


def test_what_was_read_was_used_or_left_out_for_a_reason(project: Path) -> None:
    units = []
    for path in sorted(project.glob("data/instances/*/*/build.json")):
        for name, entry in json.loads(path.read_text("utf-8")).items():
            for unit in entry.keys() & UNITS:
                counts = entry[unit]
                outcomes = {key: n for key, n in counts.items() if key not in OF_THE_USED}
                read = outcomes.pop("read", None) or outcomes.pop("found")
                assert read == sum(outcomes.values()), (name, unit, counts)
                assert min(outcomes.values()) >= 0, (name, unit, counts)
                units.append(unit)
            if "examples" in entry:
                assert entry["examples"]["used"] == sum(entry["rows"].values())
    assert len(units) > 60


UNITS = {"documents", "passages", "examples", "texts", "pairs", "sentences"}
# Outcomes that say more of what was used.
OF_THE_USED = {
    "also_in_another_split",
    "used_in_another_dataset_too",
    "with_positives",
    "groups_of_positives",
}


def test_the_report_has_every_dataset_and_encoder(project: Path) -> None:
    reports = project / "reports"
    report = (reports / "report.md").read_text("utf-8")
    params = yaml.safe_load((project / "params.yaml").read_text("utf-8"))
    corpora = params["corpora"].values()
    names = {name for corpus in corpora for name in corpus.get("datasets", {})}
    names |= set(params["rankings"])
    assert {name for name in names if name not in report} == set()
    scores = {
        (one["dataset"], one["encoder"]): one["score"]
        for one in json.loads((reports / "scores.json").read_text("utf-8"))
    }
    assert {dataset.split()[0] for dataset, _ in scores} == names
    assert len(scores) == len({dataset for dataset, _ in scores}) * len(params["encoders"])
    assert all(-1 <= score <= 1 for score in scores.values())
    assert scores["evalrank_es mrr cosine", "use_multilingual"] > 0.8
    assert scores["paralex_es suggestion shared lower", "use_multilingual"] > 0.2
    metrics = {path.stem: json.loads(path.read_bytes()) for path in (reports / "metrics").iterdir()}
    assert {"spanish_senteval", "spanish_discoeval", "discoeval"} <= metrics.keys()
    for means in metrics.values():
        assert set(means) == set(params["encoders"])
    summary = (reports / "summary.txt").read_text("utf-8").splitlines()
    assert max(map(len, summary)) <= 80
    assert {line.split()[0] for line in summary[3:]} == metrics.keys()
    made = {path.relative_to(reports).as_posix() for path in reports.rglob("*") if path.is_file()}
    pages = {"figures/scores.svg", "index.html", "report.md", "tables.json", "tables.tex"}
    made -= {f"metrics/{benchmark}.json" for benchmark in metrics}
    # With two encoders, no row stands out.
    assert made == pages | {"scores.json", "summary.txt"}
    assert len(report.splitlines()) <= 300


def test_a_long_sentence_is_in_one_part_of_those_that_are_dealt_here(project: Path) -> None:
    """Parts of a source may share sentences; what they share, the gate of leakage measures."""
    in_two_parts: dict[str, int] = {}
    folders = sorted({path.parent for path in project.glob("data/instances/*/*/*/*.parquet")})
    for folder in folders:
        # What a source has put into several parts is not dealt here.
        parts: dict[tuple[str, str], set[tuple[str, int | None]]] = {}
        for row in pq.read_table(folder).to_pylist():
            for sentence in row_sentences(row):
                found = parts.setdefault((sentence, row.get("source_split", "")), set())
                found.add((row["split"], row.get("fold")))
        if broken := sum(len(found) > 1 for found in parts.values()):
            in_two_parts[folder.name] = broken
    assert len(folders) == 119
    assert in_two_parts == {}


def row_sentences(row: dict[str, Any]) -> set[str]:
    """Return the words of each sentence of six words or more of a row."""
    texts: list[str] = []
    for column in ("sentence", "sentence1", "sentence2", "sentences", "left", "right", "text"):
        value = row.get(column) or []
        texts += [value] if isinstance(value, str) else value
    words = (re.findall(r"\w+", text.casefold()) for text in texts)
    return {" ".join(sentence) for sentence in words if len(sentence) >= 6}


def test_every_gate_is_met(project: Path) -> None:
    report = json.loads((project / "data" / "audit" / "audit.json").read_text("utf-8"))
    assert len(report["datasets"]) == 119
    for kind in ("failures", "undeclared"):
        assert {n: f[kind] for n, f in report["datasets"].items() if f[kind]} == {}
    for path in (project / "data" / "left_out").iterdir():
        assert path.read_text("utf-8") == "{}\n", path.name


@pytest.fixture(scope="module")
def entry() -> dict[str, Any]:
    """Return a domain of one's own, for `corpora`."""
    path = "corpora_recipes/corpora/documents/sample/documents.jsonl"
    corpus = {"recipe": "documents", "path": path, "language": "es"}
    tasks = {"sp_reviews": "sentence_position", "bso_reviews": "sentence_ordering"}
    return {"reviews": {"corpus": corpus, "datasets": {n: {"task": t} for n, t in tasks.items()}}}


@pytest.fixture(scope="module")
def changed(
    project: Path, entry: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Return a copy in which `probeta repro` has run again, and what that said.

    With a new domain, without a declaration for source data, after an interruption that has lost
    an output, and with one encoder, as a second one would tell nothing more.
    """
    folder = tmp_path_factory.mktemp("changed") / "probeta"
    shutil.copytree(project, folder, symlinks=True)
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    params["corpora"] |= entry
    declared = {gate: {"at_most": 1, "because": "It is so."} for gate in ("leakage", "text")}
    params["audit"] = {"inherited": {"paws_es": declared}}
    del params["encoders"]["use_multilingual"]
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    shutil.rmtree(folder / "data" / "instances" / "corpora" / "theses")
    done = run("probeta repro", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


def test_a_new_domain_costs_what_it_adds(
    project: Path, changed: tuple[Path, str], entry: dict[str, Any]
) -> None:
    folder, _ = changed
    ((name, domain),) = entry.items()
    before = entries_made(project)
    made = {entry for entry, time in entries_made(folder).items() if time != before.get(entry)}
    new = {"report/all", "package/all", "audit/all", "build/theses"}
    new |= {f"{stage}/{name}" for stage in ("read", "build")}
    new |= {f"{stage}/char_hash" for stage in ("embed", "probe", "rank", "paradigms")}
    parts = ("measured/{}", "tokens/{}", "probed/char_hash/{} output")
    new |= {part.format(dataset) for part in parts for dataset in domain["datasets"]}
    # The samples lie elsewhere; and parts of rankings and paradigms are written anew.
    assert {entry for entry in made if not entry.startswith(("fetch", "ranked", "comp"))} == new
    rows, after = digests(project), digests(folder)
    assert {key: after[key] for key in rows} == rows
    assert {config for config, _ in after} - {config for config, _ in rows} == {*domain["datasets"]}


def test_a_second_run_has_nothing_to_do(changed: tuple[Path, str]) -> None:
    folder, _ = changed
    before = entries_made(folder)
    assert run("probeta repro", folder).returncode == 0
    assert entries_made(folder) == before


def test_an_undeclared_miss_of_source_data_is_shown(changed: tuple[Path, str]) -> None:
    folder, said = changed
    title = "paws_es, gate 9. Documents and trees kept whole: documents in two splits"
    assert said.count(title) == 1
    assert "      documents: {at_most: 0." in said
    strict = run("probeta audit --strict", folder)
    assert strict.returncode == 1
    assert f"\n    {title}" in strict.stderr


def test_an_edited_file_is_read_again(changed: tuple[Path, str], entry: dict[str, Any]) -> None:
    folder, _ = changed
    (name,) = entry
    documents = folder / entry[name]["corpus"]["path"]
    edited = documents.with_name("edited")
    edited.write_text("".join(documents.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")
    edited.replace(documents)
    before = entries_made(folder)
    assert run("probeta read", folder).returncode == 0
    made = {entry for entry, time in entries_made(folder).items() if time != before[entry]}
    assert made == {f"fetch/{name}", f"read/{name}"}
