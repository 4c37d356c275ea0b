"""`probeta verify`: results that agree with their answers and the data, and forged ones.

Each forgery is refused, or what it changes is named as not proved.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from instance_files import row, write_dataset
from logged_files import write_log
from paradigm_files import write_paradigms_dataset
from scoring_files import write_hub
from stores import forge_vectors

from corpora_recipes.running.errors import InputError
from evaluation.datasets import find_datasets
from evaluation.embedding.store import describe_datasets
from evaluation.encoders import make_encoder
from evaluation.features import ProbeRows
from evaluation.probing.probing import score_predictions
from evaluation.results.scores import iter_predictions
from probeta.cli import main
from probeta.exchange.lm_eval import score_language_model
from probeta.report.writing import verify_submissions

PROBED, RANKED, COMPLETED = Path("data/results/two"), Path("data/rankings/two"), "data/paradigms"
PREDICTIONS, RANKS = PROBED / "predictions.parquet", RANKED / "ranks.parquet"
ALL = [str(PROBED), str(RANKED), f"{COMPLETED}/two.json"]
ENTRY = {"encoder": "callable", "function": "two_layers:encode", "prompts": {"default": "q: "}}
PARAMS = f"""\
seed: 7
encoders: {{two: {json.dumps(ENTRY)}}}
probing: {{ablations: true}}
evalrank: {{postprocessings: [none, centre]}}
"""
ENCODE = '''\
import hashlib
import numpy as np

def encode(texts, prompt=None):
    """Two layers of four numbers."""
    seeds = [hashlib.sha512(f"{prompt}{text}".encode()).digest() for text in texts]
    return np.array([[list(seed[:4]), list(seed[4:8])] for seed in seeds], np.float32) / 255 - 0.4
'''
GONE = object()
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which probe, rank and paradigms have scored an encoder of two layers."""
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", list(sys.path))
        hub = write_hub(Path("dist/hub"))
        texts = [[f"{word} {i * i}." for word in "abcde"] for i in range(40)]
        rows = [row(i, i % 5, sentences=texts[i], document=f"d{i // 2}") for i in range(40)]
        splits = {"train": rows[:20], "validation": rows[20:30], "test": rows[30:]}
        write_dataset(hub / "sp_own", "sentence_position", splits)
        folds = [row(i, i % 2, fold=i % 3, sentence=f"Todo {i}.") for i in range(30)]
        write_dataset(hub / "mc_own", "sentence_classification", {"train": folds})
        words = ["lunes", "martes", "jueves", "rojo", "azul", "verde", "faro", "farol"]
        ranked: Rows = [
            {"id": word, "text": word, "tokens": word, "positives": [], "document_id": word}
            for word in words
        ]
        for one, other in ((6, 7), (7, 6)):
            ranked[one] |= {"positives": [words[other]], "document_id": "faro"}
        write_dataset(hub / "words", "word_ranking", {"test": ranked})
        write_paradigms_dataset(hub / "paralex", [("colours", words[3:6]), ("days", words[:3])])
        Path("two_layers.py").write_text(ENCODE)
        Path("params.yaml").write_text(PARAMS)
        for verb in (["embed"], ["probe"], ["rank", "--workers", "1"], ["paradigms"]):
            assert main(verb) == 0
        yield folder


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, which is the current one."""
    shutil.copytree(made, tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    return Path("dist/hub")


@pytest.fixture
def verify(run: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return a function that verifies: the exit status, what is printed, the error."""

    def verify(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["verify", *map(str, arguments or [PROBED])])
        return status, *capsys.readouterr()

    return verify


def change(path: Path | str, changes: dict[str, Any]) -> None:
    """Change a JSON file: "scores.0.value" to another value, or ``GONE``."""
    content = json.loads(Path(path).read_bytes())
    for place, value in changes.items():
        *parents, last = [int(name) if name.isdecimal() else name for name in place.split(".")]
        inner = content
        for name in parents:
            inner = inner[name]
        if value is GONE:
            del inner[last]
        else:
            inner[last] = value(inner[last]) if callable(value) else value
    Path(path).write_text(json.dumps(content))


def change_groups(path: Path, forge: Callable[[list[Rows]], Any]) -> None:
    """Change the rows of a Parquet file, row group by row group."""
    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        groups = [file.read_row_group(at).to_pylist() for at in range(file.num_row_groups)]
    forge(groups)
    with pq.ParquetWriter(path, schema) as writer:
        for rows in groups:
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def refused(said: tuple[int, str, str]) -> str:
    """Return an error in four parts."""
    status, _, error = said
    assert status == 1
    parts = [line.split(":")[0].strip() for line in error.splitlines() if ": " in line]
    assert parts[0] == "error"
    assert parts[-3:] == ["expected", "found", "to do"]
    return error


def test_results_that_agree(verify) -> None:
    status, said, error = verify(*ALL, "--encode")
    assert (status, error) == (0, "")
    lines = {line for line in said.splitlines() if not line.startswith(("proved", "not proved"))}
    assert lines == {
        f"{PROBED}: probes of two: 10 scores recomputed",
        f"{RANKED}: rankings of two: 2 scores recomputed",
        f"{COMPLETED}/two.json: paradigms of two: 3 scores recomputed",
        "  numbers compared exactly: same platform and libraries",
        "  16 texts of each of 5 datasets encoded again: vectors the same to the bit",
        "  16 texts of each of 2 datasets encoded again: vectors the same to the bit",
        "nothing differs",
    }
    assert said.count("not proved: that this encoder, or any, gave these answers") == 1
    assert "digests of vectors" in verify()[1]


FORGED: dict[str, Any] = {
    "deviation": 0.1,
    "interval": [0.1, 0.9],
    "measures": {"f1": 1.0},
    "majority": 0.4,
    "chance": 0.4,
    "folds": 3,
    "test_documents": 7,
    "metric": "pearson",
    "task": "sentence_position",
    "corpus": "wikipedia",
    "language": "en",
    "version": "2.0.0",
    "digest": "ab",
    "answers": "ab",
    "texts": "",
    "rows.test": 80,
}


@pytest.mark.parametrize(
    ("forged", "said"),
    [
        (FORGED, [f"bso_own, 0: {name.replace('.', ' ')}" for name in FORGED]),
        ({"value": 0.98}, ["bso_own, 0: value: stored 0.98, recomputed 0."]),
        ({"value": lambda value: value + 1e-10}, ["bso_own, 0: value"]),
        ({"dataset": "bso_other"}, ["scores: none of bso_own, 0"]),
        ({"layer": "7"}, ["scores: bso_own, 7: not expected"]),
    ],
)
def test_a_forged_score(verify, forged: dict[str, Any], said: list[str]) -> None:
    change(PROBED / "scores.json", {f"scores.0.{place}": value for place, value in forged.items()})
    status, out, error = verify()
    assert (status, "named above" in error, "\nproved" in out) == (1, True, False)
    assert [line for line in said if f"  differs: {line}" not in out] == []


def right(groups: list[Rows]) -> None:
    for answer in groups[0]:
        answer["predicted"] = [answer["gold"]]


def several(name: str, value: Any) -> Callable[[list[Rows]], None]:
    return lambda groups: groups[0][0].update({name: value})


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (right, "bso_own, 0: value: stored 0."),
        (several("gold", 7.0), "bso_own, 0: right answer of row 0 (i22; 1 rows differ): "),
        (several("id", "i9"), "bso_own, 0: id of row 0"),
        (several("document_id", "d9"), "bso_own, 0: document of row 0"),
        (lambda groups: groups[0].pop(), "bso_own, 0: rows: stored 7, in the data 8"),
        (lambda groups: groups[0].append(groups[0][0]), "bso_own, 0: rows: stored 9"),
        (lambda groups: groups[0].reverse(), "bso_own, 0: id of row 0"),
        (lambda groups: groups.pop(0), "predictions.parquet: none of bso_own, 0"),
        (lambda groups: groups.append(groups[0]), "parquet: bso_own, 0: 2 times"),
        (lambda groups: groups.insert(0, groups[3]), "parquet: mc_own, 1: 2 times"),
        (lambda groups: groups.reverse(), "row groups of predictions.parquet: in another order"),
    ],
)
def test_forged_answers(verify, forge: Callable[[list[Rows]], Any], said: str) -> None:
    change_groups(PREDICTIONS, forge)
    status, out, _ = verify()
    assert (status, said in out) == (1, True)


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda scores: scores[:1], "scores: none of bso_own, 1"),
        (lambda scores: scores[:2], "row groups of predictions.parquet: mc_own, 0: not expected"),
        (lambda scores: [*scores, scores[0]], "scores: bso_own, 0: 2 times"),
        (lambda scores: scores[::-1], "scores: in another order"),
        (lambda scores: [], "row groups of predictions.parquet: bso_own, 0: not expected"),
    ],
)
def test_forged_lists_of_scores(verify, forge: Callable[[Rows], Rows], said: str) -> None:
    change(PROBED / "scores.json", {"scores": forge})
    status, out, _ = verify()
    assert (status, f"  differs: {said}" in out) == (1, True)


def test_scores_that_were_left_away_are_named(verify) -> None:
    change(PROBED / "scores.json", {"scores": lambda scores: scores[:2]})
    change_groups(PREDICTIONS, lambda groups: groups.__delitem__(slice(2, None)))
    status, out, _ = verify()
    assert (status, "  not scored: mc_own, sp_own, sts_own, tass_own\n" in out) == (0, True)
    # A layer less in all places.
    facts = {"encoder.layers": ["1"], "encoder.layer": "1", "scores": lambda scores: scores[1:]}
    change(PROBED / "scores.json", facts)
    change_groups(PREDICTIONS, lambda groups: groups.__delitem__(0))
    assert verify()[0] == 0
    assert "results: encoder layers: stored ['1']" in verify(PROBED, "--encode")[1]


def test_consistent_forgeries_are_named_as_not_proved(verify, run: Path) -> None:
    """All answers right, and the scores those of such answers: no check can find that."""
    change_groups(PREDICTIONS, right)
    (dataset,) = (dataset for dataset in find_datasets(run) if dataset.name == "bso_own")
    parts = {split: ProbeRows(dataset, split) for split in dataset.files}
    _, answers = next(iter_predictions(PROBED))
    score = asdict(score_predictions(dataset, "0", parts, answers.predicted)[0])
    kept = ("interval", "value", "measures", "deviation", "answers")
    forged = {f"scores.0.{name}": score[name] for name in kept}
    forged |= {"scores.0.chosen": {}, "scores.0.validation": 0.99, "encoder.encoder": "better"}
    forged |= {"seed": 9, "protocol.version": 99, "name": "best\n\x1b[31m", "code": "0"}
    change(PROBED / "scores.json", forged)
    status, out, _ = verify()
    assert (status, score["value"]) == (0, 1.0)
    assert "probes of best\\n\\x1b[31m: 10 scores recomputed\n" in out
    assert "  made by other code, 0 (here " in out
    for named in ("this encoder, or any", "protocol, seed, versions, code", "on validation"):
        assert f"{named}" in out[out.index("not proved") :]
    change(PROBED / "scores.json", {"versions.numpy": "1.0", "scores.0.value": 1 - 1e-10})
    status, out, _ = verify()
    assert (status, "compared up to 1e-09: made with numpy 1.0 (here 2" in out) == (0, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": {}},
        {"encoder": None},
        {"encoder.layer": "7"},
        {"encoder.form": GONE},
        {"encoder.options": []},
        {"encoder.options.prompts": {"default": 3}},
        {"versions": {"numpy": None}},
        {"scores": None},
        {"scores.0": "bso_own"},
        {"scores.0.value": "0.9"},
        {"scores.0.value": float("nan")},
        {"scores.0.value": True},
        {"scores.0.value": 10**400},
        {"scores.0.interval": [0.1]},
        {"scores.0.metric": "f1"},
        {"scores.0.version": GONE},
        {"scores.0.colour": "red"},
        {"format": 5},
        {"intervals": {}},
        {"scores.0.task": "x"},
        {"scores.0.rows": {}},
        {"scores.0.coverage": {"tokens": 3}},
    ],
)
def test_malformed_scores(verify, changes: dict[str, Any]) -> None:
    change(PROBED / "scores.json", changes)
    assert "run `probeta probe` again" in refused(verify())


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "", "[]", '{"format": 6}'])
def test_files_that_are_no_results(verify, content: str) -> None:
    for path in (PROBED, RANKED):
        (path / "scores.json").write_text(content)
        refused(verify(path))
    Path("paradigms.json").write_text(content)
    refused(verify("paradigms.json"))


@pytest.mark.parametrize(
    "forge",
    [
        *(several("predicted", value) for value in (None, [], [None], [0.0, 1.0], [np.nan])),
        lambda groups: [answer.update(predicted=[]) for answer in groups[0]],
        *(several(name, None) for name in ("dataset", "id", "gold")),
        several("layer", "1"),
        lambda groups: groups[0].clear(),
    ],
)
def test_malformed_answers(verify, forge: Callable[[list[Rows]], Any]) -> None:
    change_groups(PREDICTIONS, forge)
    assert "run `probeta probe` again" in refused(verify())


def test_other_files_for_answers(verify) -> None:
    whole = PREDICTIONS.read_bytes()
    for content in (whole[:100], whole[:-9], b"", RANKS.read_bytes()):
        PREDICTIONS.write_bytes(content)
        assert "run `probeta probe` again" in refused(verify())
    PREDICTIONS.unlink()
    refused(verify())
    refused(verify("nowhere"))
    refused(verify(PROBED, "--data", "nowhere"))


def test_answers_of_any_size(verify) -> None:
    """Numbers that overflow differ, and warn of nothing."""
    change_groups(PREDICTIONS, lambda groups: groups[6][0].update(predicted=[1e308]))
    status, out, error = verify()
    assert (status, "sts_own, 0: value" in out, "Warning" in error) == (1, True, False)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scores.0.answers": "ab"}, "words, 0, none, cosine: answers"),
        ({"scores.1.mrr": 0.9}, "words, 1, none, cosine: mrr: stored 0.9"),
        ({"scores.1.hits.1": 0.1}, "words, 1, none, cosine: hits 1: stored 0.1"),
        ({"scores.1.answers": ""}, "words, 1, none, cosine: answers"),
        ({"scores.1.texts": ""}, "words, 1, none, cosine: texts"),
        ({"scores.3.digest": "ab"}, "words, 1, centre, cosine: digest"),
        ({"scores.3.language": "en"}, "words, 1, centre, cosine: language"),
        ({"scores.3": GONE}, "scores: none of words, 1, centre, cosine"),
        ({"scores": lambda scores: scores[::-1]}, "scores: in another order"),
        (
            {"scores": lambda scores: [scores[0], *scores]},
            "scores: words, 0, none, cosine: 2 times",
        ),
        ({"similarities.0.digest": "ab"}, "sts_own, 1, none, cosine: digest"),
        ({"similarities.0": GONE}, "similarities: none of sts_own, 1, none, cosine"),
    ],
)
def test_forged_rankings(verify, changes: dict[str, Any], said: str) -> None:
    change(RANKED / "scores.json", changes)
    status, out, _ = verify(RANKED)
    assert (status, f"  differs: {said}" in out) == (1, True)


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda groups: groups[0][0].update(rank=4.5), "words, 1, none, cosine: mrr"),
        (lambda groups: groups[0][0].update(rank=0.5), "cosine: ranks: stored others than 1 … 8"),
        (lambda groups: groups[0][0].update(rank=float("nan")), "cosine: ranks: stored others"),
        (
            lambda groups: groups[0][0].update(positive="tren"),
            "cosine: pairs of texts: stored ('faro'",
        ),
        (lambda groups: groups[0].pop(), "cosine: pairs of texts: stored 1, in the data 2"),
        (lambda groups: groups.pop(), "row groups of ranks.parquet: none of words, l2"),
        (lambda groups: groups.append(groups[0]), "ranks.parquet: words, cosine: 2 times"),
        (lambda groups: groups.reverse(), "row groups of ranks.parquet: in another order"),
    ],
)
def test_forged_ranks(verify, forge: Callable[[list[Rows]], Any], said: str) -> None:
    change_groups(RANKS, forge)
    status, out, _ = verify(RANKED)
    assert (status, said in out) == (1, True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scores.0.suggestion": 0.99}, "as_is, 0: suggestion: stored 0.99, recomputed"),
        ({"scores.0.coherence_interval": [0, 1]}, "as_is, 0: coherence_interval: stored (0.0"),
        ({"scores.0.clusters.0.suggestion": 0.987}, "as_is, 0: suggestion: stored"),
        ({"scores.0.clusters.0.suggestion": 7}, "as_is, 0: clusters: none, or stored scores"),
        ({"scores.0.clusters.0.terms": 4}, "as_is, 0, colours: terms: stored 4, recomputed 3"),
        ({"scores.0.clusters.0": GONE}, "as_is, 0: clusters: none of colours"),
        ({"scores.0.clusters": []}, "as_is, 0: clusters: none of colours"),
        ({"scores.0.clusters": lambda kept: [*kept, kept[0]]}, "0: clusters: colours: 2 times"),
        ({"scores.0.vocabulary_digest": "ab"}, "as_is, 0: vocabulary_digest: stored ab"),
        ({"scores.0.digest": "ab"}, "as_is, 0: digest: stored ab"),
        ({"scores.0": GONE}, "scores: none of paralex, shared, as_is, 0"),
        ({"scores": lambda scores: scores[::-1]}, "scores: in another order"),
        ({"scores.0.vocabulary": "own"}, "scores: none of paralex, shared, as_is, 0"),
    ],
)
def test_forged_paradigms(verify, changes: dict[str, Any], said: str) -> None:
    change(ALL[2], changes)
    status, out, _ = verify(ALL[2])
    assert (status, said in out) == (1, True)


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        (RANKED / "scores.json", {"evalrank": {}}),
        (RANKED / "scores.json", {"evalrank.similarities": []}),
        (RANKED / "scores.json", {"evalrank.similarities": ["best"]}),
        (RANKED / "scores.json", {"scores.0.hits": [1]}),
        (RANKED / "scores.json", {"scores.0.hits": {}}),
        (RANKED / "scores.json", {"similarities": None}),
        (ALL[2], {"scores.0.casing": "upper"}),
        (ALL[2], {"scores.0.clusters.0": "colours"}),
        (ALL[2], {"scores.0.clusters.0.left_out": {"no_vector": "rojo"}}),
        (ALL[2], {"left_out": None}),
    ],
)
def test_malformed_rankings_and_paradigms(verify, path: Path, changes: dict[str, Any]) -> None:
    change(path, changes)
    refused(verify(path if path == ALL[2] else RANKED))


@pytest.mark.parametrize(
    ("number", "file", "place"),
    [
        (0, PROBED / "scores.json", "scores.0.vectors"),
        (1, RANKED / "scores.json", "similarities.0.vectors"),
        (2, ALL[2], "scores.0.vectors.1"),
    ],
)
def test_vectors_of_the_store(verify, number: int, file: Path, place: str) -> None:
    change(file, {place: "ab"})
    assert verify(ALL[number])[0] == 0
    status, out, _ = verify(ALL[number], "--encode", 3)
    assert (status, ": vectors: stored " in out) == (1, True)


def forge_store(factor: float) -> None:
    """Change all vectors of the store, with their digests, and score those."""
    for file in Path("data/embeddings/two").glob("*.vectors.*.npy"):
        forge_vectors(file, lambda vectors: vectors * np.float32(factor))
    store, two = Path("data/embeddings/two"), make_encoder("two", ENTRY)
    describe_datasets(two, find_datasets(Path("dist/hub")), store)
    shutil.rmtree("data/memory")
    assert main(["probe"]) == 0


@pytest.mark.parametrize(
    ("factor", "status", "said"),
    [
        (1 + 1e-6, 0, "3 texts of each of 5 datasets encoded again: vectors at most 1e-06 of"),
        (1.001, 1, "bso_own, 0: vectors: encoded again, up to 0.001 of their length away"),
    ],
)
def test_scores_of_other_vectors_than_the_encoder_gives(
    verify, factor: float, status: int, said: str
) -> None:
    forge_store(factor)
    assert verify()[0] == 0
    found, out, _ = verify(PROBED, "--encode", 3)
    assert (found, said in out) == (status, True)


def test_an_encoder_that_is_not_that_of_the_results(verify) -> None:
    change(PROBED / "scores.json", {"encoder.revision": "2"})
    assert "results: encoder revision: stored 2, recomputed " in verify(PROBED, "--encode")[1]
    change(PROBED / "scores.json", {"name": "other"})
    assert "the encoder other, to encode texts again" in refused(verify(PROBED, "--encode"))
    shutil.rmtree("data/embeddings")
    assert "run `probeta embed`" in refused(verify(RANKED, "--encode"))


def test_other_data(verify, run: Path) -> None:
    rows = [row(i, i % 2, sentence=f"{'Poco' if i % 2 else 'Todo'} {i}.") for i in range(30)]
    splits = {"train": rows[:16], "validation": rows[16:22], "test": rows[22:]}
    write_dataset(run / "tass_own", "sentence_classification", splits)
    out = verify()[1]
    assert all(f"tass_own, 1: {what}: stored" in out for what in ("digest", "texts"))
    splits["test"] = [*rows[22:24], row(24, 1, sentence="Todo 24."), *rows[25:]]
    write_dataset(run / "tass_own", "sentence_classification", splits)
    assert "right answer of row 2 (i24; 1 rows differ): stored 0.0, in the data 1" in verify()[1]
    shutil.rmtree(run / "tass_own")
    assert f"differs: tass_own: no such dataset in {run}" in verify()[1]
    assert verify(PROBED, "--datasets", "bso_own,sts_own")[0] == 0
    assert "did you mean bso_own" in refused(verify(PROBED, "--datasets", "bso_owm"))
    assert "expected: scores on words" in refused(verify(PROBED, "--datasets", "words"))
    shutil.rmtree(run / "words")
    status, out, _ = verify(ALL[2])
    assert (status, out.count("shared vocabularies not compared")) == (0, 1)


def test_results_of_others_are_reported_if_they_can_be_verified(run: Path) -> None:
    board = Path("board")
    for name in ("good", "twice", "forged", "malformed", "unlike", ".hidden"):
        shutil.copytree(PROBED, board / "by_name" / name)
    shutil.copytree(RANKED, board / "ranked")
    shutil.copy(f"{COMPLETED}/two.json", board)
    (board / "empty").mkdir()
    board = board / "by_name"
    change(board / "forged" / "scores.json", {"name": "a", "scores.0.value": 1.0})
    change(board / "malformed" / "scores.json", {"scores.0.interval": None})
    change(board / "unlike" / "scores.json", {"name": "a", "seed": 8})
    given = verify_submissions([board.parent], run)
    assert given[:3] == ([board / "good"], [Path("board/ranked")], [Path("board/two.json")])
    whys = dict(given.refused)
    told = {
        "forged": "expected what the answers give; found ",
        "malformed": "expected what `probeta probe` wrote",
        "twice": "expected the results of one run per encoder",
        "unlike": "expected the seed of two, 7; found 8",
    }
    assert all(why in whys.pop(f"board/by_name/{name}") for name, why in told.items())
    assert [*whys] == ["board/empty"]
    with pytest.raises(InputError, match="results of an encoder or a language model"):
        verify_submissions([Path("board/two.json")], run)


def test_answers_of_a_language_model(verify, run: Path) -> None:
    def likely(row: dict[str, Any]) -> list[float]:
        return [-1.0, -2.0] if row["id"] < "i26" else [-2.0, -1.0]

    write_log(Path("logged"), run, {"tass_own": likely})
    score_language_model("logged", name="large").save("large")
    status, out, _ = verify("large", "--encode")
    assert (status, "large: answers of a language model of large: 1 scores" in out) == (0, True)
    assert "a language model has no vectors" in out
    # A probe that calls itself a language model has texts that nobody compares.
    change(PROBED / "scores.json", {"protocol.name": "lm-eval"})
    status, out, _ = verify()
    assert (status, "bso_own, 0: texts: stored " in out) == (1, True)
