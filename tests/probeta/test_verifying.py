"""`probeta verify`: results that agree with their answers and the data, and forged ones.

Each forgery is refused, or what it changes is named as not proved.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import reduce
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

from corpora_recipes.hashing import keyed_choice
from corpora_recipes.running.errors import InputError
from evaluation.datasets import find_datasets
from evaluation.embedding.store import describe_datasets
from evaluation.encoders import make_encoder
from evaluation.features import ProbeRows
from evaluation.probing.probing import score_predictions
from evaluation.results.citation import cite
from evaluation.results.scores import iter_predictions
from probeta.cli import main
from probeta.exchange.lm_eval import score_language_model
from probeta.report.reference import reference_scores
from probeta.report.submissions import facts_of_params, find_submitted, verify_submissions
from probeta.verifying import read_any_results

PROBED, RANKED, COMPLETED = Path("data/results/two"), Path("data/rankings/two"), "data/paradigms"
PREDICTIONS, RANKS = PROBED / "predictions.parquet", RANKED / "ranks.parquet"
SCORES, RANKINGS = PROBED / "scores.json", RANKED / "scores.json"
PARADIGMS = Path(COMPLETED, "two.json")
ALL = [str(PROBED), str(RANKED), str(PARADIGMS)]
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
        "nothing differs: 15 scores recomputed",
    }
    assert said.startswith("nothing differs")
    assert said.count("not proved: that this encoder, or any, gave these answers") == 1
    assert "digests of vectors" in verify()[1]


FORGED: dict[str, Any] = {"deviation": 0.1, "interval": [0.1, 0.9], "measures": {"f1": 1.0}}
FORGED |= {"folds": 3, "test_documents": 7, "rows.test": 80, "majority": 0.4, "chance": 0.4}
FORGED |= {"metric": "pearson", "task": "sentence_position", "corpus": "wikipedia"}
FORGED |= {"language": "en", "version": "2.0.0", "digest": "ab", "answers": "ab", "texts": ""}


def test_scores_of_any_kind_and_layer_are_cited(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (probed, ranked, completed) = (read_any_results(Path(path)) for path in ALL)
    lines = [cite(probed, [score]) for score in probed.scores]
    lines += [cite(ranked, [score]) for score in ranked.plain]
    lines += [cite(completed, [score]) for score in completed.main]
    assert len({*lines}) == len(lines)
    for line in lines:
        assert main(["cite", str(line), *ALL]) == 0
    printed = capsys.readouterr().out
    for score in probed.scores:
        assert f"{score.dataset}, {score.metric}: {100 * score.value:.1f} [" in printed
    for measure, value in ranked.plain[0].measures.items():
        assert f"words, {measure}: {100 * value:.1f}" in printed
    assert f"paralex, coherence: {100 * completed.main[0].coherence:.1f} [" in printed


REFERENCE_CASES = {
    "same": (0, 0, "reference two: 5 scores compared, 5 are the same to the bit; 0 not in it"),
    "rounded": (0.09, 0, "reference two: 5 scores compared, 4 are the same to the bit"),
    "another score": (0.11, 1, "  differs: bso_own, standard.5, accuracy: 1.0000: the "),
    "other rows": ("bso_own@0", 1, "accuracy: other rows, bso_own@"),
    "not in it": (
        "other@",
        0,
        "reference two: 4 scores compared, 4 are the same to the bit; 1 not",
    ),
}


@pytest.mark.parametrize("case", REFERENCE_CASES)
def test_scores_beside_those_of_a_reference(verify, monkeypatch, case: str) -> None:
    change, status, line = REFERENCE_CASES[case]
    own = [score for path in ALL for score in reference_scores(read_any_results(Path(path)))]
    (number,) = (i for i, score in enumerate(own) if score.cited.name == "bso_own")
    first = own[number]
    if isinstance(change, str):
        own[number] = first._replace(citation=first.citation.replace("bso_own@", change))
    else:
        value = first.value + change * (first.high - first.low)
        own[number] = first._replace(value=value)
    Path("reference.json").write_text(json.dumps({"scores": own}))
    monkeypatch.setattr("probeta.report.reference.PATH", Path("reference.json"))
    found, out, error = verify("--reference", "two")
    assert (found, line in out) == (status, True), out
    assert status == 0 or "docs/reference_scores.md" in error


def test_a_reference_that_results_do_not_have(verify) -> None:
    assert "use_multilingual" in refused(verify(PROBED, "--reference", "use_multilingua"))
    assert "none of 5 scores" in refused(verify(PROBED, "--reference", "char_hash"))


def test_each_forged_fact_is_named(verify) -> None:
    change(SCORES, {f"scores.0.{name}": value for name, value in FORGED.items()})
    out = verify()[1]
    for name in FORGED:
        assert f"  differs: bso_own, 0: {name.replace('.', ' ')}" in out


def twice_the_first(listed: list[Any]) -> list[Any]:
    return [listed[0], *listed]


def reversed_list(listed: list[Any]) -> list[Any]:
    return listed[::-1]


CLUSTERED = "paralex, shared, as_is, 0"


@pytest.mark.parametrize(
    ("file", "place", "value", "difference"),
    [
        (SCORES, "scores.0.value", 0.98, "bso_own, 0: value: stored 0.98, recomputed 0."),
        (SCORES, "scores.0.value", lambda value: value + 1e-10, "bso_own, 0: value"),
        (SCORES, "scores.0.dataset", "bso_other", "scores: none of bso_own, 0"),
        (SCORES, "scores.0.layer", "7", "scores: bso_own, 7: not expected"),
        (SCORES, "scores", lambda scores: scores[:1], "scores: none of bso_own, 1"),
        (
            SCORES,
            "scores",
            lambda scores: scores[:2],
            "row groups of predictions.parquet: mc_own, 0: not expected",
        ),
        (SCORES, "scores", twice_the_first, "scores: bso_own, 0: 2 times"),
        (SCORES, "scores", reversed_list, "scores: in another order"),
        (SCORES, "scores", [], "row groups of predictions.parquet: bso_own, 0: not expected"),
        (RANKINGS, "scores.0.answers", "ab", "words, 0, none, cosine: answers"),
        (RANKINGS, "scores.1.mrr", 0.9, "words, 1, none, cosine: mrr: stored 0.9"),
        (RANKINGS, "scores.1.hits.1", 0.1, "words, 1, none, cosine: hits 1: stored 0.1"),
        (RANKINGS, "scores.1.answers", "", "words, 1, none, cosine: answers"),
        (RANKINGS, "scores.1.texts", "", "words, 1, none, cosine: texts"),
        (RANKINGS, "scores.3.digest", "ab", "words, 1, centre, cosine: digest"),
        (RANKINGS, "scores.3.language", "en", "words, 1, centre, cosine: language"),
        (RANKINGS, "scores.3", GONE, "scores: none of words, 1, centre, cosine"),
        (RANKINGS, "scores", reversed_list, "scores: in another order"),
        (RANKINGS, "scores", twice_the_first, "scores: words, 0, none, cosine: 2 times"),
        (RANKINGS, "similarities.0.digest", "ab", "sts_own, 1, none, cosine: digest"),
        (RANKINGS, "similarities.0", GONE, "similarities: none of sts_own, 1, none, cosine"),
        (PARADIGMS, "scores.0.suggestion", 0.99, f"{CLUSTERED}: suggestion: stored 0.99, recom"),
        (PARADIGMS, "scores.0.coherence_interval", [0, 1], f"{CLUSTERED}: coherence_interval: st"),
        (PARADIGMS, "scores.0.clusters.0.suggestion", 0.987, f"{CLUSTERED}: suggestion: stored"),
        (PARADIGMS, "scores.0.clusters.0.terms", 4, f"{CLUSTERED}, colours: terms: stored 4, re"),
        (PARADIGMS, "scores.0.clusters", [], f"{CLUSTERED}: clusters: none of colours"),
        (PARADIGMS, "scores.0.clusters", twice_the_first, f"{CLUSTERED}: clusters: colours: 2 tim"),
        (PARADIGMS, "scores.0.vocabulary_digest", "ab", f"{CLUSTERED}: vocabulary_digest: store"),
        (PARADIGMS, "scores.0.digest", "ab", f"{CLUSTERED}: digest: stored ab"),
        (PARADIGMS, "scores.0", GONE, f"scores: none of {CLUSTERED}"),
        (PARADIGMS, "scores", reversed_list, "scores: in another order"),
        (PARADIGMS, "scores.0.vocabulary", "own", f"scores: none of {CLUSTERED}"),
    ],
)
def test_forged_results(verify, file: Path, place: str, value: Any, difference: str) -> None:
    change(file, {place: value})
    status, out, error = verify(file if file == PARADIGMS else file.parent)
    assert (status, "named above" in error, "\nproved" in out) == (1, True, False)
    assert f"  differs: {difference}" in out


def right(groups: list[Rows]) -> None:
    for answer in groups[0]:
        answer["predicted"] = [answer["gold"]]


def several(name: str, value: Any) -> Callable[[list[Rows]], None]:
    return lambda groups: groups[0][0].update({name: value})


@pytest.mark.parametrize(
    ("file", "forge", "difference"),
    [
        (PREDICTIONS, right, "bso_own, 0: value: stored 0."),
        (PREDICTIONS, several("gold", 7.0), "bso_own, 0: right answer of row 0 (i22; 1 rows dif"),
        (PREDICTIONS, several("id", "i9"), "bso_own, 0: id of row 0"),
        (PREDICTIONS, several("document_id", "d9"), "bso_own, 0: document of row 0"),
        (PREDICTIONS, lambda groups: groups[0].pop(), "bso_own, 0: rows: stored 7, in the data 8"),
        (PREDICTIONS, lambda groups: groups[0].append(groups[0][0]), "bso_own, 0: rows: stored 9"),
        (PREDICTIONS, lambda groups: groups[0].reverse(), "bso_own, 0: id of row 0"),
        (PREDICTIONS, lambda groups: groups.pop(0), "predictions.parquet: none of bso_own, 0"),
        (PREDICTIONS, lambda groups: groups.append(groups[0]), "parquet: bso_own, 0: 2 times"),
        (PREDICTIONS, lambda groups: groups.insert(0, groups[3]), "parquet: mc_own, 1: 2 times"),
        (PREDICTIONS, lambda groups: groups.reverse(), "predictions.parquet: in another order"),
        (RANKS, several("rank", 4.5), "words, 1, none, cosine: mrr"),
        (RANKS, several("rank", 0.5), "cosine: ranks: stored others than 1 … 8"),
        (RANKS, several("rank", float("nan")), "cosine: ranks: stored others"),
        (RANKS, several("positive", "tren"), "cosine: pairs of texts: stored ('faro'"),
        (RANKS, lambda groups: groups[0].pop(), "pairs of texts: stored 1, in the data 2"),
        (RANKS, lambda groups: groups.pop(), "row groups of ranks.parquet: none of words, l2"),
        (RANKS, lambda groups: groups.append(groups[0]), "ranks.parquet: words, cosine: 2 times"),
        (RANKS, lambda groups: groups.reverse(), "row groups of ranks.parquet: in another order"),
    ],
)
def test_forged_rows(
    verify, file: Path, forge: Callable[[list[Rows]], Any], difference: str
) -> None:
    change_groups(file, forge)
    status, out, _ = verify(file.parent)
    assert (status, difference in out) == (1, True)


def test_scores_that_were_left_away_are_named(verify) -> None:
    change(SCORES, {"scores": lambda scores: scores[:2]})
    change_groups(PREDICTIONS, lambda groups: groups.__delitem__(slice(2, None)))
    status, out, _ = verify()
    assert (status, "\n  4 datasets of the data not scored\n" in out) == (0, True)
    out = verify(PROBED, "--datasets", "bso_own,mc_own")[1]
    assert "\n  1 dataset of the data not scored: mc_own\n" in out
    # A layer less in all places.
    facts = {"encoder.layers": ["1"], "encoder.layer": "1", "scores": lambda scores: scores[1:]}
    change(SCORES, facts)
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
    forged |= {"seed": 9, "protocol.version": 99, "name": "best", "code": "0\n\x1b[31m"}
    change(SCORES, forged)
    status, out, _ = verify()
    assert (status, score["value"]) == (0, 1.0)
    assert "probes of best: 10 scores recomputed\n" in out
    assert "  made by other code, 0\\n\\x1b[31m (here " in out
    for named in ("this encoder, or any", "protocol, seed, versions, code", "on validation"):
        assert f"{named}" in out[out.index("not proved") :]
    change(SCORES, {"versions.numpy": "1.0", "scores.0.value": 1 - 1e-10})
    status, out, _ = verify()
    assert (status, "compared up to 1e-09: made with numpy 1.0 (here 2" in out) == (0, True)


@pytest.mark.parametrize(
    ("file", "place", "value"),
    [
        (SCORES, "encoder", None),
        (SCORES, "encoder.layer", "7"),
        (SCORES, "encoder.form", GONE),
        (SCORES, "encoder.options", []),
        (SCORES, "encoder.options.prompts", {"default": 3}),
        (SCORES, "versions", {"numpy": None}),
        (SCORES, "scores.0.value", 10**400),
        (SCORES, "scores.0.task", "x"),
        (SCORES, "scores.0.rows", {}),
        (SCORES, "scores.0.coverage", {"tokens": 3}),
        (PARADIGMS, "scores.0.clusters.0.suggestion", 7),
        (RANKINGS, "evalrank.similarities", []),
        (RANKINGS, "scores.0.hits", {}),
        (PARADIGMS, "scores.0.casing", "upper"),
        (PARADIGMS, "scores.0.clusters.0.left_out", {"no_vector": "rojo"}),
    ],
)
def test_malformed_results(verify, file: Path, place: str, value: Any) -> None:
    """Those that types alone refuse are in the tests of the readers."""
    change(file, {place: value})
    error = refused(verify(file if file == PARADIGMS else file.parent))
    assert re.search("run `probeta (probe|rank|paradigms)` again", error)


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
    ("number", "file", "place"),
    [
        (0, SCORES, "scores.0.vectors"),
        (1, RANKINGS, "similarities.0.vectors"),
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
    change(SCORES, {"encoder.revision": "2"})
    assert "results: encoder revision: stored 2, recomputed " in verify(PROBED, "--encode")[1]
    change(SCORES, {"name": "other"})
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


def submitted(path: Path, data: Path) -> tuple[list[Path], Path, None, dict[str, str]]:
    found, refused = find_submitted([path])
    return found, data, None, refused


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
    given = verify_submissions(*submitted(board.parent, run))
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
        verify_submissions(*submitted(Path("board/two.json"), run))


def test_answers_of_a_language_model(verify, run: Path) -> None:
    def likely(row: dict[str, Any]) -> list[float]:
        return [-1.0, -2.0] if row["id"] < "i26" else [-2.0, -1.0]

    write_log(Path("logged"), run, {"tass_own": likely})
    score_language_model("logged", name="large").save("large")
    status, out, _ = verify("large", "--encode")
    assert (status, "large: answers of a language model of large: 1 score re" in out) == (0, True)
    assert "a language model has no vectors" in out
    # A probe that calls itself a language model has texts that nobody compares.
    change(SCORES, {"protocol.name": "lm-eval"})
    status, out, _ = verify()
    assert (status, "bso_own, 0: texts: stored " in out) == (1, True)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"value": 0.9}, "nothing differs"),
        ({"dataset": "../x"}, "transfer bso_own, ../x, 0: not among datasets of one task"),
        ({"dataset": "tass_own"}, "transfer bso_own, tass_own, 0: not among datasets of one task"),
        ({"digest": "ab"}, "transfer bso_own, bso_own, 0: digest: stored ab"),
    ],
)
def test_transfers_are_named_as_not_proved(verify, facts: dict[str, Any], said: str) -> None:
    score = json.loads(SCORES.read_bytes())["scores"][0]
    change(SCORES, {"transfers": [{"sources": ["bso_own"], "score": score | facts}]})
    out = verify()[1]
    assert said in out
    assert "the scores of transfers" in out


def test_links_pipes_and_many_files_are_refused_at_once(run: Path) -> None:
    board = Path("board")
    shutil.copytree(PROBED, board / "honest" / "mine")
    names = ("linked", "device", "pipe", "many", "deep/" + "a/" * 12, "odd\udcff\x1b")
    folders = [board / name for name in names]
    for folder in folders:
        folder.mkdir(parents=True)
    linked, device, pipe, many, _, odd = folders
    (board / "honest" / "circle").symlink_to("..")
    (linked / "mine").symlink_to(PROBED.absolute())
    (device / "scores.json").symlink_to("/dev/zero")
    os.mkfifo(pipe / "scores.json")
    for number in range(1001):
        (many / f"{number}.json").touch()
    (odd / "a.json").write_text("[")
    given = verify_submissions(*submitted(board, run))
    assert given.results == [board / "honest" / "mine"]
    assert {Path(path).parts[1] for path in given.refused} == {
        *("honest", "linked", "device", "pipe", "many", "deep", r"odd\udcff\x1b")
    }
    os.mkfifo(PREDICTIONS.with_suffix(".pipe"))
    PREDICTIONS.unlink()
    PREDICTIONS.with_suffix(".pipe").rename(PREDICTIONS)
    assert verify_submissions(*submitted(board, run)).results


def test_who_makes_the_page_says_which_seed_counts(run: Path) -> None:
    for name, facts in {"a": {"seed": 8}, "b": {"seed": 8}, "c": {}, "d": {"name": "TWO"}}.items():
        shutil.copytree(PROBED, Path("board", name))
        change(f"board/{name}/scores.json", {"name": name, **facts})
    change("board/d/scores.json", {"name": "C"})
    found, refused = find_submitted([Path("board")])
    assert verify_submissions(found, run).results == [Path("board/a"), Path("board/b")]
    given = verify_submissions(found, run, facts_of_params(Path("params.yaml")), refused)
    assert given.results == [Path("board/c")]
    assert given.refused["board/a"] == "expected the seed of params.yaml, 7; found 8"
    assert "a name less like that of c" in given.refused["board/d"]


def test_a_small_file_that_is_large_in_memory(verify) -> None:
    table = pq.read_table(PREDICTIONS).slice(0, 1)
    for name, value in (("id", "x" * 10**6), ("predicted", [0.0] * 20_000)):
        column = pa.array([value], table.schema.field(name).type)
        one = table.set_column(table.column_names.index(name), name, column)
        pq.write_table(pa.concat_tables([one] * 2000), PREDICTIONS)
        assert re.search("texts of more than 134,217,728|too large ones", refused(verify()))


# Of the results of each kind, how many are changed; `make fuzz` asks for many more.
N_CHANGED = int(os.environ.get("PROBETA_MUTANTS", "25 ").split()[0])
DEEP: Any = reduce(lambda inner, _: [inner], range(60), 0)
WRONG: tuple[Any, ...] = (
    *(GONE, None, True, 0, 1, -1, 7, 2**64, 10**400, 0.5, 1.5, -1e9, 1e300, 1e999, float("nan")),
    *("", "x", "ñ", "<b>", "a\nb\x1b[2J", "=1+1", "../x", "\ud83d", "0", "x" * 10**5),
    *([], [None], ["x", "x"], [1.5, 2], {}, {"x": 1}, {"x": {"x": [{}]}}, DEEP),
    *(twice_the_first, reversed_list),
)
CONTROLS = {"intervals": {"code_length": [1, 2]}, "not_applicable": {"information": "few rows"}}
CONTROLS |= {"control": 0.4, "control_rows": 9, "uniform_code_length": 40.0}
CONTROLS |= {"control_code_length": 50.0, "curve": [{"rows": 9, "value": 0.5}]}


def places_in(value: Any, above: str = "") -> Iterator[str]:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in inside:
        yield f"{above}{name}"
        if isinstance(inner, dict | list):
            yield from places_in(inner, f"{above}{name}.")


def audit_all(data: Path) -> None:
    """Write an audit of all datasets in a folder."""
    report = json.loads((data / "audit.json").read_bytes())
    facts = report["datasets"]["bso_own"]
    for dataset in find_datasets(data):
        report["datasets"][dataset.name] = facts | {"rows": dataset.rows}
    (data / "audit.json").write_text(json.dumps(report))


def test_results_with_a_value_of_any_type(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are refused or shown; whatever they say, the page is written, with the honest ones."""
    audit_all(run)
    score = json.loads(SCORES.read_bytes())["scores"][0]
    change(SCORES, {"transfers": [{"sources": ["bso_own"], "score": score}]})
    change(SCORES, {"scores.0.controls": CONTROLS, "scores.0.measures.code_length": 1.5})
    change(SCORES, {"scores.0.coverage": {"tokens": 9, "out_of_vocabulary": 1}})
    board = Path("board")
    for file in (SCORES, RANKINGS, PARADIGMS):
        content = json.loads(file.read_bytes())
        # Of the items of a list, the first stands for all.
        places = [place for place in places_in(content) if not re.search(r"\.[1-9]", place)]
        for number in range(N_CHANGED):
            place = places[keyed_choice(len(places), 0, file.as_posix(), str(number), "place")]
            value = WRONG[keyed_choice(len(WRONG), 0, file.as_posix(), str(number), "value")]
            copy = board / f"z{number:06}" / file.parts[1]
            if file == PARADIGMS:
                copy.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy := copy / "two.json")
            else:
                shutil.copytree(file.parent, copy)
                copy /= "scores.json"
            change(copy, {"name": f"m{number}"})
            with suppress(TypeError, LookupError):  # no list to turn round
                change(copy, {place: value})
    changed = sorted(board.iterdir())
    for start in range(0, len(changed), 40):
        shutil.rmtree("sent", ignore_errors=True)
        for path in changed[start : start + 40]:
            shutil.move(path, Path("sent", path.name))
        for path in (PROBED, RANKED):
            shutil.copytree(path, Path("sent/a", path.parts[1]))
        shutil.copy(PARADIGMS, "sent/a")
        assert main(["report", "sent", "--data", str(run), "--out", "page"]) == 0
        refused = capsys.readouterr().out
        assert "sent/a" not in refused
        listed = json.loads(Path("page/scores.json").read_bytes())
        assert {"two"} <= {each["encoder"] for each in listed}
