"""`score`: the pipeline's numbers, which encoder is meant; scores shown, given and compared."""

import json
import logging
import re
import subprocess
import sys
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from case_tables import read_tables
from contents import another_hash_seed
from functions import forget_functions
from imports import REPOSITORY

from builders.audit_report import DETECTABLE, SURFACE_FORM
from corpora_recipes.running.errors import InputError
from evaluation.results.comparison import compare, measure_all
from evaluation.results.scores import read_predictions, read_results
from probeta import Scores, evaluator, score
from probeta.cli import main
from probeta.scoring import resolve_encoder

TABLES = read_tables(__file__)

# --- scoring -------------------------------------------------------------------------------------

MODULE = """import numpy as np


def encode(texts, prompt=""):
    return np.array([[len(text), text.count("a"), 1.0 + len(prompt)] for text in texts])
"""


pytestmark = pytest.mark.usefixtures("empty_folder")


def encode(texts: list[str]) -> Any:
    return np.array([[len(text), text.count("a"), 1.0] for text in texts])


def test_the_numbers_are_those_of_the_pipeline(hub_folder: Path) -> None:
    Path("counting_letters.py").write_text(MODULE)
    entry = "{encoder: callable, function: 'counting_letters:encode'}"
    # The seed of the data is 7.
    Path("params.yaml").write_text(f"seed: 7\nencoders: {{mine: {entry}}}\n")
    score(encode, name="mine").save("scored")
    assert not Path("data").exists()
    assert main(["embed"]) == main(["probe"]) == 0
    piped = Path("data/results/mine")
    answers, facts = ("predictions.parquet", "scores.json")
    assert Path("scored", answers).read_bytes() == (piped / answers).read_bytes()
    both = [json.loads(folder.joinpath(facts).read_bytes()) for folder in (piped, Path("scored"))]
    for found in both:
        # Of a function at hand there is a name, and no file.
        found["encoder"].pop("options")
        found["encoder"].pop("revision")
    assert both[0] == both[1]
    score("mine").save("again")
    for name in (facts, answers):
        assert Path("again", name).read_bytes() == (piped / name).read_bytes()


def test_params_choose_the_protocol_unless_it_is_named(hub_folder: Path) -> None:
    Path("params.yaml").write_text(
        "seed: 1\nprobing: {protocol: senteval, pair_features: four_part}\n"
    )
    names = ["bso_own"]
    found = score(encode, datasets=names).results.protocol
    assert (found["name"], found["pair_features"]) == ("senteval", "four_part")
    found = score(encode, datasets=names, protocol="standard").results.protocol
    assert (found["name"], found["pair_features"]) == ("standard", "four_part")
    found = score(encode, datasets=names, params=Path("params.yaml")).results.protocol
    assert found["name"] == "senteval"
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        score(encode, params="nowhere.yaml")
    with pytest.raises(InputError, match="standrd"):
        score(encode, protocol="standrd")


def test_an_object_layers_and_names(hub_folder: Path) -> None:
    class Model:
        def encode(self, texts: list[str]) -> Any:
            return np.stack([encode(texts), 2 * encode(texts)], axis=1)

    found = score(Model(), datasets=["bso_own"])
    assert found.results.name == "Model"
    assert [each.layer for each in found.results.scores] == ["0", "1"]
    assert [each.layer for each in found.results.main] == ["1"]
    assert score(lambda texts: encode(texts), datasets=["bso_own"]).results.name == "lambda"


def test_vectors_of_a_function_are_kept_if_it_has_a_revision(
    hub_folder: Path, cache_of_the_user: Path
) -> None:
    calls, stores = [], set()

    def noting(texts: list[str]) -> Any:
        calls.append(len(texts))
        return encode(texts)

    def scored(revision: str | None) -> int:
        calls.clear()
        found = score(noting, datasets=["bso_own"], revision=revision)
        assert (found.store is not None) == (revision is not None)
        stores.add(found.store)
        # Beside the texts: one for the shape, one text alone.
        return sum(calls) - 2 * (len(calls) > 1)

    assert [scored(revision) for revision in (None, None, "1", "1", "2")] == [31, 31, 31, 1, 31]
    # In the cache, and not in the run's outputs; one version replaces another.
    (store,) = stores - {None}
    assert store.parent == cache_of_the_user / "vectors"
    assert json.loads((store / "encoder.json").read_bytes())["revision"] == "2"
    assert [path.name for path in Path().iterdir()] == ["dist"]


def test_vectors_of_a_function_are_kept_while_its_files_are_the_same(hub_folder: Path) -> None:
    calls = []

    def reading(texts: list[str]) -> Any:
        calls.append(len(texts))
        return encode(texts) + float(Path("weight.txt").read_text())

    def count_encoded(weight: str) -> int:
        calls.clear()
        forget_functions()
        Path("weight.txt").write_text(weight)
        score(reading, datasets=["bso_own"], revision="1")
        return sum(calls) - 2 * (len(calls) > 1)

    assert [count_encoded(weight) for weight in ("1", "1", "2", "2")] == [31, 1, 31, 1]


@pytest.mark.slow
def test_the_workers_change_nothing(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.probing.probing.WORK_OF_A_PROCESS", 1)
    one, two = (score("char_hash", workers=workers).results for workers in (1, 2))
    assert one == two


def test_prompts_are_those_of_params(hub_folder: Path) -> None:
    Path("prompting.py").write_text(MODULE)
    prompts = {"default": "q: ", "SC": "class: ", "sts_own": ""}
    entry = {"encoder": "callable", "function": "prompting:encode", "prompts": prompts}
    Path("params.yaml").write_text(json.dumps({"seed": 7, "encoders": {"own": entry}}))
    assert main(["embed"]) == main(["probe"]) == 0
    assert main(["list"]) == 1  # there are no such datasets in params.yaml
    found = score("prompting:encode", name="own", prompts=prompts)
    found.save("scored")
    for name in ("scores.json", "predictions.parquet"):
        assert Path("scored", name).read_bytes() == Path("data/results/own", name).read_bytes()
    assert found.results.encoder["options"]["prompts"] == prompts


def test_each_dataset_has_its_prompt_and_vectors_are_kept_by_it(hub_folder: Path) -> None:
    asked: dict[str, int] = {}

    def prompted(texts: list[str], prompt: str = "none") -> Any:
        asked[prompt] = asked.get(prompt, 0) + len(texts) * (len(texts) > 1)
        return encode(texts)

    def scored(**prompts: str) -> dict[str, int]:
        asked.clear()
        score(prompted, prompts=prompts, revision="1")
        return {prompt: count for prompt, count in asked.items() if count}

    assert scored(SC="c: ", sts_own="s: ") == {"none": 31, "c: ": 30, "s: ": 6}
    # Only what has another prompt is encoded.
    assert scored(default="d: ", SC="c: ", SS="other: ") == {"d: ": 31, "other: ": 6}


def zeros(texts: list[str]) -> Any:
    return np.zeros((len(texts), 2))


@pytest.mark.parametrize(
    ("encoder", "prompts", "words"),
    [
        (encode, {"default": "q: "}, ["an argument `prompt`", "the arguments texts"]),
        ("char_hash", {"default": "q: "}, ["encoder char_hash.prompts", "unknown"]),
        (lambda texts, prompt: encode(texts), {"SP": 3}, ["{default:", "{'SP': 3}"]),
        (
            lambda texts, prompt="": encode(texts),
            {"sts_wn": "q"},
            ["prompts of encoder", "sts_own"],
        ),
        (zeros, None, ["a number other than 0", "all 67 of 67 texts"]),
        (lambda texts: np.random.rand(len(texts), 64), None, ["depend only on their text"]),
        (lambda: None, None, ["vectors", "TypeError", "takes 0 positional arguments"]),
        (7, None, ["a function, an object with a method `encode`", "int"]),
    ],
)
def test_functions_that_are_refused(
    hub_folder: Path, encoder: Any, prompts: Any, words: Any
) -> None:
    with pytest.raises(InputError) as caught:
        score(encoder, prompts=prompts)
    for word in [*words, "to do:"]:
        assert word in str(caught.value)


def test_some_zeros_are_said(hub_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    def deaf(texts: list[str]) -> Any:
        return np.array([[float("salió" not in text), 0] for text in texts])

    with caplog.at_level(logging.WARNING):
        score(deaf, datasets=["bso_own"])
    assert "a vector of zeros for 1 of 31 texts, such as 'Primero salió.'" in caplog.text


def test_nothing_is_written_if_it_fails(hub_folder: Path) -> None:
    assert main(["score", "nowhere:encode"]) == 1
    assert sorted(path.name for path in Path().iterdir()) == ["dist"]


def run(code: str, **environment: str) -> str:
    """Return what a program prints that is given the folder of the project."""
    command = [sys.executable, "-c", code, str(REPOSITORY)]
    environment["PYTHONPATH"] = str(REPOSITORY)
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_runs_in_a_program_outside_a_clone_and_starts_fast(hub_folder: Path) -> None:
    code = (
        "import sys\n"
        "from probeta import Scores, score\n"
        "assert not {'numpy', 'pyarrow'} & sys.modules.keys()\n"
        "import numpy as np\n"
        "def encode(texts): return np.array([[len(text), 1] for text in texts])\n"
        "scores = score(encode)\n"
        "assert isinstance(scores, Scores)\n"
        "heavy = {'sklearn', 'scipy.stats', 'scipy.cluster', 'matplotlib', 'torch'}\n"
        "print(len(scores.results.scores), heavy & sys.modules.keys(), scores, sep='\\n')\n"
    )
    assert run(code, PYTHONHASHSEED=another_hash_seed()).startswith("3\nset()\ndataset ")


def test_the_command_needs_no_pandas_and_hides_it_from_nobody(hub_folder: Path) -> None:
    next(hub_folder.glob("tass_own/train*")).write_bytes(b"of no concern")
    code = (
        "import sys\n"
        "from probeta.cli import main\n"
        "assert main(['score', 'char_hash', '--datasets', 'bso_own', '--cache', 'cache']) == 0\n"
        "assert not {'pandas', 'sklearn', 'scipy.cluster'} & sys.modules.keys()\n"
        "import pandas as pd, pyarrow as pa\n"
        "frame = pd.DataFrame({'a': pd.Categorical(['x', None]), 'b': [1, None]})\n"
        "table = pa.Table.from_pandas(frame)\n"
        "assert table.to_pylist() == [{'a': 'x', 'b': 1}, {'a': None, 'b': None}]\n"
        "assert table.to_pandas().equals(frame) and pa.array(frame['b']).null_count == 1\n"
    )
    run(code)


# Writes the modules whose functions `score` enters, one a line; what imports run does not count.
ENTERED = """import inspect
import sys
from pathlib import Path

import numpy as np
from probeta import score

root, entered = sys.argv[1], set()


def note(frame, event, _):
    file, flags = frame.f_code.co_filename, frame.f_code.co_flags
    ours = file.startswith(root) and "site-packages" not in file
    if event == "call" and flags & inspect.CO_OPTIMIZED and ours:
        while frame and frame.f_code.co_name != "_find_and_load":
            frame = frame.f_back
        if frame is None:
            entered.add(str(Path(file).relative_to(root).with_suffix("")))


sys.setprofile(note)
score(lambda texts: np.array([[len(text), 1] for text in texts]), "dist/hub", datasets=["bso_own"])
sys.setprofile(None)
print(*sorted(entered), sep="\\n")
"""


def test_a_local_score_enters_few_modules(hub_folder: Path) -> None:
    """Neither a cluster, nor the cache of a run, nor what builds samples is there to be met."""
    entered = set(run(ENTERED).split())
    assert {"probeta/scoring", "evaluation/embedding/store"} <= entered
    unwanted = {
        f"corpora_recipes/{name}" for name in ("running/cluster", "running/cache", "params")
    }
    assert not {*unwanted, "corpora_recipes/reading", "builders/building"} & entered
    assert len(entered) <= 28, sorted(entered)


def test_an_evaluator_needs_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"(extra |\[)torch\b"):
        evaluator()


ENTRIES: dict[str, dict[str, Any]] = {"small": {"encoder": "char_hash", "dimension": 16}}


def found(given: object, **options: str) -> tuple[str, dict[str, Any], str, Path | None]:
    name, revision = options.get("name"), options.get("revision")
    target = resolve_encoder(given, name=name, revision=revision, prompts=None, entries=ENTRIES)
    return target.encoder.name, target.encoder.options, target.name, target.store


def test_names() -> None:
    small = {"dimension": 16, "shortest": 3, "longest": 5}
    assert found("small")[:3] == ("char_hash", small, "small")
    full = small | {"dimension": 512}
    assert found("char_hash")[:3] == ("char_hash", full, "char_hash")
    assert found("small", name="b.c")[2] == "b.c"


def test_no_two_encoders_have_one_store(cache_of_the_user: Path) -> None:
    def stores() -> list[Path | None]:
        named = [found(given, name="a")[3] for given in ("small", "char_hash", "own.vec")]
        return [*named, found("json:dumps", revision="1")[3]]

    for folder in ("here", "there"):
        Path(folder).mkdir()
        Path(folder, "own.vec").write_text("1 2\nuno 0.5 1.5\n")
    with chdir("here"):
        here = stores()
        assert found("json:dumps", revision="2")[3] == here[-1]
        # A file that changes is the same one.
        Path("own.vec").write_text("1 2\nuno 0.5 2.5\n")
        assert stores() == here
    with chdir("there"):
        there = stores()
    assert here[:2] == there[:2]
    assert len({*here, *there}) == 6
    assert all(store and store.parent == cache_of_the_user / "vectors" for store in here)


def test_functions_by_name() -> None:
    kind, options, name, store = found("json:decoder.scanstring")
    assert (kind, options["function"]) == ("callable", "json:decoder.scanstring")
    assert (name, store) == ("json-decoder.scanstring", None)


def test_files_and_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own.es.vec").write_text("1 2\nuno 0.5 1.5\n")
    assert found("own.es.vec")[:3] == ("static", {"file": "own.es.vec"}, "own.es.vec")
    assert found(Path("own.es.vec"))[0] == "static"
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: True)
    folder = Path("models/bert")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"hidden_size": 16, "num_hidden_layers": 2}')
    kind, options, name, _ = found("models/bert")
    assert (kind, options["model"], name) == ("transformers", "bert", "bert")
    (folder / "modules.json").write_text("[]")
    assert found("./models/bert")[0] == "sentence_transformers"


def test_models_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def download(model: str, file: str, *, revision: str, **_: object) -> str:
        asked.append((model, file, revision))
        if file == "modules.json":
            raise OSError("no such file")
        path = Path("snapshots/abc") / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"hidden_size": 16, "num_hidden_layers": 2}')
        return str(path)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: True)
    kind, options, name, _ = found("org/e5-v1.5", revision="v1")
    assert (kind, options["model"], name) == ("transformers", "org/e5-v1.5", "e5-v1.5")
    assert asked == [("org/e5-v1.5", file, "v1") for file in ("modules.json", "config.json")]


@pytest.mark.parametrize(("given", "options", "words"), TABLES["no_encoder"])
def test_what_is_no_encoder(given: str, options: dict[str, str], words: list[str]) -> None:
    Path("folder").mkdir()
    Path("words.txt").write_text("Nada.\n")
    with pytest.raises(InputError) as caught:
        found(given, **options)
    for word in [*words, "to do:"]:
        assert word in str(caught.value)


def test_a_model_that_is_not_on_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    # Torch is missing: this is said before the Hub is asked.
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: None)
    with pytest.raises(InputError, match="found:    no torch, transformers"):
        found("org/absent")
    monkeypatch.setattr("corpora_recipes.running.errors.find_spec", lambda name: True)
    with pytest.raises(InputError, match="no such folder; LocalEntryNotFoundError"):
        found("org/absent")


def files_in(folder: str) -> dict[str, tuple[bytes, int]]:
    """Return the files of a folder, each with its content and time."""
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def test_a_run_is_as_before_and_its_vectors_are_used(
    hub_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What DVC tracks does not change, whatever is scored."""
    Path("params.yaml").write_text("seed: 7\nencoders: {own: {encoder: char_hash}}\n")
    assert main(["embed"]) == main(["probe"]) == 0
    before = files_in("data") | files_in("dist")
    with monkeypatch.context() as patch:
        patch.setattr("evaluation.encoders.char_hash.CharHash.encode", None)
        scores = score("own")
    assert scores.results == read_results(Path("data/results/own"))
    assert scores.store
    # A changed encoder replaces links, not what they lead to.
    monkeypatch.setattr("evaluation.encoders.char_hash.CharHash.revision", "2")
    assert score("own").store == scores.store
    assert main(["score", "char_hash", "--name", "own"]) == 0
    assert files_in("data") | files_in("dist") == before


# --- scores --------------------------------------------------------------------------------------


@pytest.fixture
def floor(hub_folder: Path) -> Scores:
    return score("char_hash")


def test_to_pandas(floor: Scores) -> None:
    frame = floor.to_pandas().set_index("dataset")
    assert list(frame.index) == ["bso_own", "sts_own", "tass_own"]
    row = frame.loc["bso_own"]
    assert row.score == floor["bso_own"].value
    assert (row.low, row.high) == floor["bso_own"].interval
    assert (row.group, row.metric, row.chance, row.n) == ("BSO", "accuracy", 0.5, 8)
    assert (row.trivial, row.trivial_score, row["sample"]) == ("majority", 0.9, False)
    assert frame.chance.isna().tolist() == [False, True, False]
    assert frame.trivial.isna().tolist() == [False, True, True]
    with pytest.raises(KeyError):
        floor["words"]


def test_programs_get_the_same_fractions(floor: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = floor.to_pandas()
    floor.to_csv("scores.csv")
    assert Path("scores.csv").read_text("utf-8") == floor.to_csv()
    pd.testing.assert_frame_equal(pd.read_csv("scores.csv"), frame, check_dtype=False)
    logged = floor.to_dict()
    assert json.loads(json.dumps(logged)) == logged
    assert list(logged)[:3] == ["bso_own/score", "bso_own/low", "bso_own/high"]
    assert list(logged.values()) == frame[["score", "low", "high"]].to_numpy().ravel().tolist()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"(extra |\[)report\b"):
        floor.to_pandas()


def test_layers_have_a_table_and_the_main_one_is_compared(hub_folder: Path) -> None:
    Path("params.yaml").write_text("encoders: {deep: {encoder: use_multilingual, layer: all}}")
    deep, flat = (score(name) for name in ("deep", "use_multilingual"))
    # The three layers of the hub's datasets, one a group; STS is not trained, and has no best one.
    frame = deep.to_pandas()
    cells = {}
    for (group, layer), row in frame.set_index(["group", "layer"]).iterrows():
        best = frame[frame.group == group].set_index("layer").validation
        mark = "‡" if layer == best.fillna(-1).idxmax() and group != "SS" else ""
        cells[layer, group] = f"{100 * row.score:.1f}{mark}"
    groups = frame.group.unique().tolist()
    lines = str(deep).splitlines()
    start = lines.index("") + 1
    table = [re.split(r" +", line.strip()) for line in lines[start : start + 4]]
    assert table[0] == ["layer", *groups]
    assert table[1:] == [[n, *(cells[n, group] for group in groups)] for n in ("0", "1", "2")]
    assert "layers: means of the groups; ‡ best layer, chosen on validation" in lines
    assert "‡" not in str(flat)
    # Without layers it has the same main scores.
    assert [s.value for s in deep.results.main] == [s.value for s in flat.results.main]
    comparison = deep.compare(flat).to_pandas()
    assert comparison.difference.tolist() == [0] * len(comparison)


def test_compared_as_in_the_report(floor: Scores, capsys: pytest.CaptureFixture[str]) -> None:
    other = score("use_multilingual", datasets=["bso_own", "sts_own"])
    comparison = floor.compare(other)
    found = comparison.to_pandas()
    folders = (Path("one"), Path("other"))
    for scores, folder in zip((floor, other), folders, strict=True):
        scores.save(folder)
    measured = measure_all([(read_results(f), partial(read_predictions, f)) for f in folders])
    # The other one lacks the only dataset of SC.
    groups = {"BSO": ["bso_own"], "SC": ["tass_own"], "SS": ["sts_own"]}
    names = ["level", "what", "difference", "low", "high", "tie"]
    assert found[names].to_numpy().tolist() == [
        [d.level, d.target, d.value, *d.interval, d.tie] for d in compare(measured, groups)
    ]
    assert found.what.tolist() == ["bso_own", "sts_own", "BSO", "SS"]
    assert found.difference[0] == floor["bso_own"].value - other["bso_own"].value
    assert comparison.to_dict()["bso_own/difference"] == found.difference[0]
    assert main(["compare", "one", "other"]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{comparison}\n"
    difference = f"{100 * found.difference[0]:.1f}"
    assert re.split(r"  +", printed.splitlines()[1])[:3] == ["dataset", "bso_own", difference]
    end = "\nchar_hash minus use_multilingual, x 100. A tie may be due to chance.\n"
    assert printed.endswith(end)


def test_what_cannot_be_compared(floor: Scores, hub_folder: Path) -> None:
    cases = {
        "two names": floor,
        "a dataset that both": score("char_hash", name="a", datasets=["tass_own"]),
        "the same protocol": score("char_hash", name="b", protocol="senteval"),
    }
    one = score("char_hash", datasets=["bso_own"])
    (hub_folder / "bso_own").rename("kept")
    (hub_folder / "tass_own").rename(hub_folder / "bso_own")
    for words, other in cases.items():
        with pytest.raises(InputError, match=words):
            one.compare(other)


def facts(
    baseline: float | None = None, error: float = 0.0, benchmark: str = "", **checks: Any
) -> dict[str, Any]:
    """Return what an audit says of a dataset; ``checks`` are detectable and solved."""
    size = {"gate": "size", "what": DETECTABLE, "value": checks.get("detectable")}
    trivial = {"gate": "baselines", "what": "length", "value": baseline, "half_width": error}
    trivial["verdict"] = SURFACE_FORM if checks.get("solved") else "pass"
    given = [trivial] if baseline is not None else []
    return {"benchmark": benchmark, "checks": [size, *given]}


def test_a_score_has_one_mark_and_what_holds_for_all_is_said_once(floor: Scores) -> None:
    """The scores of tests that are built as those of a benchmark, its mean, and the notes."""
    names = [score.dataset for score in floor.results.main]
    low = floor["bso_own"].interval[0]

    def shown(sample: str = "", **given: Any) -> tuple[dict[str, str], list[str]]:
        of = dict.fromkeys(names, facts()) | given
        scores = Scores(floor.results, (), of, frozenset({sample}), None)
        rows = str(scores).splitlines()
        marks = {name: row.split()[-1] for name, row in zip(names, rows[1:4], strict=True)}
        return {name: mark for name, mark in marks.items() if mark in "†*"}, rows[5:]

    assert shown(bso_own=facts(low - 0.01))[0].get("bso_own") is None
    assert shown(bso_own=facts(low))[0]["bso_own"] == "†"
    # The baseline has an error, too.
    assert shown(bso_own=facts(low - 0.01, 0.2))[0]["bso_own"] == "†"
    # Without an audit, it is the best of two that need none.
    assert Scores(floor.results, (), {}, frozenset(), None).baseline("bso_own") == ("chance", 0.5)
    small = facts(low, detectable=0.2)
    marks, notes = shown(bso_own=small, sts_own=facts(0.1, solved=True))
    assert marks["bso_own"] == "*"
    assert "* too few rows to tell encoders apart" in notes[0] + str(notes)
    assert "Solved by surface form, without an encoder: sts_own." in notes
    marks, notes = shown(**dict.fromkeys(names, small))
    assert "*" not in marks.values()
    assert "All have too few rows to tell encoders apart." in notes


def test_a_benchmark_has_its_mean_if_all_its_datasets_were_scored(
    floor: Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {"mine": {"bso_own": {}, "tass_own": {}}, "more": {"sts_own": {}, "other": {}}}
    monkeypatch.setattr("builders.tasks.benchmarks.BENCHMARKS", entries)
    of = dict.fromkeys(("bso_own", "tass_own"), facts(benchmark="mine"))
    of["sts_own"] = facts(benchmark="more")

    def note(small: bool = False, samples: frozenset[str] = frozenset()) -> list[str]:
        audited = of | {"tass_own": facts(benchmark="mine", detectable=0.5 if small else None)}
        lines = str(Scores(floor.results, (), audited, samples, None)).splitlines()
        return [line for line in lines if "mean of" in line]

    first, last = floor["bso_own"].value, floor["tass_own"].value
    mean = f"mine: mean of 2 datasets {50 * (first + last):.1f}"
    assert note() == [mean]
    # In the report, too, a test that is too small is in no average, unless all are samples.
    assert note(small=True) == [f"mine: mean of 1 dataset {100 * first:.1f}"]
    assert note(small=True, samples=frozenset({"tass_own"})) == [mean]


def test_word_vectors_say_how_many_words_they_have(hub_folder: Path) -> None:
    Path("own.vec").write_text("2 2\nprimero 0.5 1.5\nsalió 1 0\n")
    text = str(score("own.vec", datasets="bso_own"))
    known, total = re.search(r"([\d.]+) % of the (\d+) words are in its vocabulary", text).groups()
    assert 0 < float(known) < 50
    assert int(total) > 60


def test_a_narrow_terminal_has_whole_lines(floor: Scores) -> None:
    lines = floor.format(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[1].split()[:3] == str(floor).splitlines()[1].split()[:3]
    assert floor.format(200).splitlines()[:4] == str(floor).splitlines()[:4]


def test_a_sample_is_said(floor: Scores) -> None:
    assert "sample" not in str(floor)
    marked = Scores(floor.results, (), {}, frozenset({"bso_own"}), None)
    assert str(marked).endswith("Built from the shipped samples, do not report: bso_own.")
    names = frozenset({"bso_own", "sts_own", "tass_own"})
    assert "All built from the shipped samples" in repr(Scores(floor.results, (), {}, names, None))
