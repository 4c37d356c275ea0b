"""The command line: from instances to a report, errors without a traceback, help."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from instance_files import row, write_dataset

from builders.auditing.report import FORMAT
from evaluation.commands import VERBS, main

ROWS = [
    row(i, i % 2, sentences=["Primero salió.", f"Luego volvió {i}."][:: 1 if i % 2 else -1])
    for i in range(30)
]
PARAMS = "seed: 3\nencoders:\n  char_hash: {dimension: 16}\n  use_multilingual:\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(PARAMS)
    splits = {"train": ROWS[:20], "validation": ROWS[20:25], "test": ROWS[25:]}
    write_dataset(tmp_path / "instances" / "own" / "bso_own", "sentence_ordering", splits)
    return tmp_path


AUDIT = {
    "format": FORMAT,
    "datasets": {
        "bso_own": {
            "rows": {"train": 20, "validation": 5, "test": 5},
            "inherited": {},
            "checks": [
                {
                    "gate": "baselines",
                    "what": "length",
                    "value": 0.6,
                    "limit": None,
                    "verdict": "pass",
                    "correlation": False,
                }
            ],
        }
    },
}


REPORT = ["--instances", "instances", "--audit", "audit.json", "--out", "reports"]


def test_from_instances_to_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for encoder in ("char_hash", "use_multilingual"):
        common = [encoder, "--instances", "instances", "--workers", "1"]
        assert main(["embed", *common, "--out", f"vectors/{encoder}"]) == 0
        assert capsys.readouterr().out == f"{encoder}: 31 texts in 1 datasets, 31 encoded now\n"
        assert main(["embed", *common, "--out", f"vectors/{encoder}"]) == 0
        assert "0 encoded now" in capsys.readouterr().out
        command = ["--embeddings", f"vectors/{encoder}", "--out", f"results/{encoder}"]
        assert main(["probe", *common, *command]) == 0
        said = "bso_own: 100.0 (majority 40.0)\n1 datasets: 0 kept, 1 new\n"
        assert capsys.readouterr().out == said
    folders = [f"results/{encoder}" for encoder in ("char_hash", "use_multilingual")]
    Path("audit.json").write_text(json.dumps(AUDIT))
    assert main(["report", *folders, *REPORT]) == 0
    assert json.loads((here / "reports" / "metrics.json").read_bytes()) == {
        "bso_own": {"char_hash": 1.0, "use_multilingual": 1.0}
    }


def test_scores_of_pairs_and_the_option_of_their_features(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("params.yaml").write_text(PARAMS + "probing: {pair_features: four_part}")
    pairs = [
        row(i, None, score=float(i), sentence1="uno dos tres", sentence2="uno " * i + "cuatro")
        for i in range(5)
    ]
    write_dataset(here / "instances" / "sts" / "sts_own", "similarity", {"test": pairs})
    common = ["char_hash", "--instances", "instances", "--workers", "1"]
    assert main(["embed", *common, "--out", "vectors"]) == 0
    capsys.readouterr()
    assert main(["probe", *common, "--embeddings", "vectors", "--out", "r"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "bso_own: 100.0 (majority 40.0)"
    assert lines[1].startswith("sts_own: ")
    assert lines[1].endswith(" (Pearson)")
    assert (
        json.loads(Path("r/scores.json").read_bytes())["protocol"]["pair_features"] == "four_part"
    )


def test_ranks_and_their_differences(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["faro", "fanal", "tren", "pozo", "mapa", "farol"]
    rows = [
        {"id": word, "text": word, "tokens": word, "positives": [], "document_id": word}
        for word in words
    ]
    for one, other in ((0, 5), (5, 0)):
        rows[one] |= {"positives": [words[other]], "document_id": "faro"}
    write_dataset(here / "instances" / "words", "word_ranking", {"test": rows})
    encoders = ("char_hash", "use_multilingual")
    for encoder in encoders:
        common = [encoder, "--instances", "instances"]
        embeddings = f"vectors/{encoder}"
        assert main(["embed", *common, "--workers", "1", "--out", embeddings]) == 0
        command = [*common, "--embeddings", embeddings]
        assert main(["probe", *command, "--workers", "1", "--out", f"results/{encoder}"]) == 0
        capsys.readouterr()
        assert main(["rank", *command, "--out", f"rankings/{encoder}"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert [re.sub(r"\d+\.\d", "x", line) for line in said] == [
            *("words: MRR x (cosine)", "words: MRR x (l2)", "1 datasets: 0 kept, 1 new")
        ]
        assert main(["rank", *command, "--out", f"rankings/{encoder}"]) == 0
        assert capsys.readouterr().out.splitlines() == [*said[:2], "1 datasets: 1 kept, 0 new"]
        names = sorted(path.name for path in Path(f"rankings/{encoder}").iterdir())
        assert names == ["ranks.parquet", "scores.json"]
    content = json.loads(json.dumps(AUDIT))
    content["datasets"]["words"] = {"rows": {"test": 6}, "inherited": {}, "checks": []}
    Path("audit.json").write_text(json.dumps(content))
    folders = [f"results/{encoder}" for encoder in encoders]
    rankings = ["--rankings", *(f"rankings/{encoder}" for encoder in encoders)]
    assert main(["report", *folders, *REPORT, *rankings]) == 0
    text = (here / "reports" / "report.md").read_text("utf-8")
    assert "| Dataset | Similarity | Measure | char_hash − use_multilingual |" in text
    assert len(re.findall(r"^\| words \| (?:cosine|l2) \| MRR \| ", text, re.MULTILINE)) == 2
    # What an older version wrote.
    Path("rankings/old.json").write_text("{}")
    assert main(["report", *folders, *REPORT, *rankings, "rankings/old.json"]) == 1
    assert "remove it, if an older version wrote it" in capsys.readouterr().err


def test_results_of_an_encoder_that_params_lack_are_left_out(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    test_from_instances_to_report(here, capsys)
    Path("params.yaml").write_text("seed: 3\nencoders: {char_hash: {dimension: 16}}")
    folders = ["results/char_hash", "results/use_multilingual"]
    listed = ["--params", "params.yaml"]
    assert main(["report", *folders, *REPORT, *listed]) == 0
    assert "use_multilingual is not in params.yaml" in capsys.readouterr().err
    assert "use_multilingual" not in (here / "reports" / "report.md").read_text("utf-8")
    assert main(["report", *folders, *REPORT]) == 0
    assert "use_multilingual" in (here / "reports" / "report.md").read_text("utf-8")
    assert main(["report", folders[1], *REPORT, *listed]) == 1
    assert "probe an encoder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("embed bert --instances instances --out s", ["char_hash, use_multilingual", "'bert'"]),
        ("embed char_hash --instances nowhere --out s", ["nowhere", "no such folder"]),
        (
            "embed char_hash --instances instances --out s --params p.yaml",
            ["p.yaml", "no such file"],
        ),
        ("probe char_hash --instances instances --embeddings s --out r", ["no store"]),
        (
            "report r --instances i --audit a.json --out o",
            ["r/scores.json", "run `probeta probe` again"],
        ),
        ("invariance --instances nowhere --out i.json", ["nowhere", "no such folder"]),
    ],
)
def test_errors_are_one_message(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, words: list[str]
) -> None:
    assert main(command.split()) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    for word in [*words, "to do:"]:
        assert word in captured.err


@pytest.mark.parametrize(
    "params",
    ["", "[]", "seed: 1", "seed: x\nencoders: {}", "seed: 1\nencoders: [char_hash]", "a: [", "\0"],
)
def test_bad_params(here: Path, capsys: pytest.CaptureFixture[str], params: str) -> None:
    Path("params.yaml").write_text(params)
    assert main(["embed", "char_hash", "--instances", "instances", "--out", "s"]) == 1
    assert capsys.readouterr().err.startswith("error: params.yaml")


def test_options_that_are_no_mapping(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("params.yaml").write_text("seed: 1\nencoders: {char_hash: 512}")
    assert main(["embed", "char_hash", "--instances", "instances", "--out", "s"]) == 1
    assert "encoders.char_hash" in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert f"examples:\n  probeta {verb}" in said
    # Every argument is explained: a line of its own, or the words behind it.
    for line in said.partition("options:")[2].partition("examples:")[0].splitlines():
        assert not re.fullmatch(r"  -\S+( \S+)?", line) or len(line) > 22, line


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert [
        line.split()[0] for line in said.partition("verbs:\n")[2].splitlines()[: len(VERBS)]
    ] == [*VERBS]


def test_an_unknown_verb_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["prbe"])
    assert caught.value.code == 2
    assert "'prbe'" in capsys.readouterr().err


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import importlib, sys\n"
        "from evaluation.commands import VERBS\n"
        "for verb in VERBS.values(): importlib.import_module(verb.module)\n"
        "heavy = {'numpy', 'pyarrow', 'sklearn', 'scipy', 'matplotlib', 'yaml', 'tqdm', 'spacy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_workers_must_be_positive(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["embed", "char_hash", "--instances", "i", "--out", "s", "--workers", "0"])
    assert caught.value.code == 2
    assert "not 1 or more" in capsys.readouterr().err


def test_list_shows_the_entries_and_finds_what_is_misspelt(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list"]) == 0
    assert capsys.readouterr().out.splitlines()[-4:] == [
        "Encoders of params.yaml:",
        "  char_hash: char_hash (dimension 16)",
        "  use_multilingual: use_multilingual",
        "Probing: protocol standard, engine numpy, pair_features difference_product, "
        "ablations False",
    ]
    Path("params.yaml").write_text("seed: 3\nencoders: {own: {encoder: char_hsah}}")
    assert main(["list"]) == 1
    assert "'char_hsah'" in capsys.readouterr().err
    Path("other.yaml").write_text("seed: 3\nencoders: {own: {encoder: char_hsah}}")
    assert main(["list", "--params", "other.yaml"]) == 1
    assert "other.yaml: encoders.own" in capsys.readouterr().err
    Path("params.yaml").write_text("seed: 3\nprobing: {engine: torch}")
    assert main(["list"]) == 1
    assert "probing.engine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{encoder: static, path: nowhere.vec}", "nowhere.vec"),
        ("{encoder: static, path: instances}", "instances"),
        ("{encoder: callable, function: 'nowhere:encode'}", "a module nowhere"),
        ("{encoder: callable, function: 'json:encode'}", "a function encode"),
        ("{encoder: transformers, model: some/bert}", "torch"),
        ("{encoder: sentence_transformers, model: ./nowhere}", "torch"),
    ],
)
def test_list_looks_for_what_the_entries_need(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    entry: str,
    words: str,
) -> None:
    from evaluation.encoders import pretrained

    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    Path("params.yaml").write_text(f"seed: 3\nencoders: {{own: {entry}}}")
    assert main(["list"]) == 1
    assert words in capsys.readouterr().err


OWN = "mine: {corpus: {recipe: jsonl, path: own.jsonl}, datasets: {sp: {task: %s}}}"
RIGHT = OWN % "sentence_position"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ("corpora: {mine: {corpus: {recipe: jsonl}}}", "mine.yaml: corpora.mine.corpus.path\n"),
        (
            f"corpora: {{{RIGHT.replace('own.', 'other.')}}}",
            "mine.yaml: corpora.mine.corpus.path a",
        ),
        (f"corpora: {{{OWN % 'order'}}}", "mine.yaml: corpora.mine.datasets.sp.task\n"),
        ("corpora: {mine: {corpus: {recipe: tass}}}", "mine.yaml: corpora.mine.datasets\n"),
        ("rankings: {rank: {task: order}}", "mine.yaml: rankings.rank.task\n"),
        (
            "audit: {inherited: {sp: {leak: {at_most: 0.5, because: so}}}}",
            "mine.yaml: audit.inherited.sp\n",
        ),
        ("encoders: {own: {encoder: order}}", "mine.yaml: encoders.own\n"),
        ("sources: nowhere\ncorpora: {mine: {corpus: {recipe: tass}}}", "`sources` in mine.yaml"),
    ],
)
def test_messages_name_the_params_file(
    here: Path, capsys: pytest.CaptureFixture[str], params: str, words: str
) -> None:
    Path("own.jsonl").touch()
    Path("mine.yaml").write_text(f"seed: 3\n{params}")
    assert main(["list", "--params", "mine.yaml"]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert "params.yaml" not in said


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fetch mine --out r", "resumes the download"),
        ("read mine --raw r --out r.parquet --fetch", "resumes the download"),
        ("read mine --raw r --out r.parquet", "what was there before is unchanged"),
        ("embed own --instances i --out v", "the vectors encoded before are kept"),
        ("audit i --out a", "what was there before is unchanged"),
    ],
)
def test_what_an_interruption_leaves_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, words: str
) -> None:
    def interrupted(options: object) -> None:
        raise KeyboardInterrupt

    module = VERBS[command.split()[0]].module
    monkeypatch.setattr(f"{module}.run", interrupted)
    assert main(command.split()) == 130
    said = capsys.readouterr().err
    assert words in said
    assert said.count("download") == words.count("download")


def test_words_that_are_unknown_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.vec").write_text("1 2\nPrimero 0.5 1.5\n")
    Path("params.yaml").write_text("seed: 3\nencoders: {own: {encoder: static, path: own.vec}}")
    command = ["embed", "own", "--instances", "instances", "--workers", "1", "--out", "vectors"]
    assert main(command) == 0
    said = capsys.readouterr().out.splitlines()[1]
    assert re.fullmatch(r"own: \d\d\.\d% of \d+ tokens are not in its vocabulary", said)
