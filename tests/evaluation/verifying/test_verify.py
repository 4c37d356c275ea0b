"""`probeta verify`: results that agree with their answers and the data, and all that may not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from instance_files import row, write_dataset
from logged_files import write_log
from paradigm_files import write_paradigms_dataset

from evaluation import score
from evaluation.commands import main
from evaluation.results.probes import PREDICTIONS, SCORES
from evaluation.results.rankings import RANKS
from evaluation.scoring.language_model import score_language_model

RESULTS = Path("results/char_hash")
PARAMS = "seed: 7\nencoders: {char_hash: {dimension: 16}}\nprobing: {ablations: true}\n"


@pytest.fixture
def scored(hub_folder: Path) -> Path:
    """Return a folder of datasets, of which some are scored to ``RESULTS``."""
    score("char_hash", datasets=["bso_own", "sts_own", "tass_own"]).save(RESULTS)
    shutil.rmtree("data")
    return hub_folder


@pytest.fixture
def verify(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str], str]]:
    """Return a function that verifies: the exit status, the lines printed, the error."""

    def verify(*arguments: str) -> tuple[int, list[str], str]:
        capsys.readouterr()
        status = main(["verify", *arguments])
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err

    return verify


def change_score(dataset: str, **changes: Any) -> None:
    content = json.loads((RESULTS / SCORES).read_bytes())
    (own,) = [own for own in content["scores"] if own["dataset"] == dataset]
    own |= changes
    (RESULTS / SCORES).write_text(json.dumps(content))


def change_table(path: Path, change: Callable[[list[dict[str, Any]]], None], group: int) -> None:
    """Change the rows of one row group of a Parquet file."""
    with pq.ParquetFile(path) as file:
        tables = [file.read_row_group(number) for number in range(file.num_row_groups)]
    rows = tables[group].to_pylist()
    change(rows)
    tables[group] = pa.Table.from_pylist(rows, schema=tables[group].schema)
    with pq.ParquetWriter(path, tables[0].schema) as writer:
        for table in tables:
            writer.write_table(table)


def test_results_agree_with_answers_and_data(scored: Path, verify) -> None:
    status, lines, _ = verify(str(RESULTS))
    assert (status, lines) == (
        0,
        [
            "results/char_hash: probes of char_hash: 3 scores recomputed",
            "  not verified: what was chosen on validation, and the share of known words",
            "nothing differs",
        ],
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"value": 0.98}, "differs: bso_own, output: value: stored 0.98, recomputed "),
        ({"interval": [0.1, 0.9]}, "differs: bso_own, output: interval: stored [0.1, 0.9], "),
        ({"majority": 0.4}, "differs: bso_own, output: majority: stored 0.4, recomputed 0.5"),
        ({"measures": {}}, "differs: bso_own, output: measures accuracy: stored nothing, "),
        ({"version": "2.0.0"}, "differs: bso_own, output: version: stored 2.0.0, "),
        ({"test_documents": 7}, "differs: bso_own, output: test_documents: stored 7, "),
    ],
)
def test_a_score_changed_by_hand_is_named(
    scored: Path, verify, changes: dict[str, Any], said: str
) -> None:
    change_score("bso_own", **changes)
    status, lines, error = verify(str(RESULTS))
    assert (status, len(lines)) == (1, 3)
    assert lines[1].startswith(f"  {said}")
    assert "1 that differ, named above" in error


def test_a_changed_answer_is_named(scored: Path, verify) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["predicted"] = [1 - rows[0]["predicted"][0]]

    change_table(RESULTS / PREDICTIONS, change, 0)
    status, lines, _ = verify(str(RESULTS))
    differing = [line.split(":")[2] for line in lines if "differs" in line]
    assert (status, differing) == (1, [" value", " interval", " measures accuracy"])


def test_a_changed_similarity_is_named(scored: Path, verify) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        rows[1]["predicted"] = [0.123]

    change_table(RESULTS / PREDICTIONS, change, 1)
    _, lines, _ = verify(str(RESULTS))
    assert lines[1].startswith("  differs: sts_own, output: value: stored ")


def test_another_version_of_the_data_is_named(scored: Path, verify) -> None:
    rows = [row(i, i % 2, sentence=f"{'Poco' if i % 2 else 'Todo'} {i}.") for i in range(30)]
    splits = {"train": rows[:16], "validation": rows[16:22], "test": rows[22:]}
    write_dataset(scored / "tass_own", "sentence_classification", splits)
    status, lines, _ = verify(str(RESULTS))
    assert (status, len(lines)) == (1, 3)
    assert lines[1].startswith("  differs: tass_own, output: digest: stored ")
    # Other answers, and fewer rows.
    splits["test"] = [*rows[22:24], row(24, 1, sentence="Todo 24."), *rows[25:]]
    write_dataset(scored / "tass_own", "sentence_classification", splits)
    _, lines, _ = verify(str(RESULTS))
    assert lines[2] == (
        "  differs: tass_own, output: right answer of row 2 (i24; 1 rows differ): stored 0.0, "
        "recomputed 1"
    )
    write_dataset(scored / "tass_own", "sentence_classification", splits | {"test": rows[22:25]})
    _, lines, _ = verify(str(RESULTS))
    assert lines[2] == "  differs: tass_own, output: rows: stored 8, recomputed 3"


def test_what_is_missing_is_told(scored: Path, verify) -> None:
    shutil.rmtree(scored / "sts_own")
    status, lines, _ = verify(str(RESULTS))
    assert status == 1
    assert lines[1] == (
        "  differs: sts_own, output: dataset: stored its score, recomputed no such dataset in "
        "dist/hub"
    )
    assert verify(str(RESULTS), "--datasets", "bso_own,tass_own")[0] == 0
    status, _, error = verify(str(RESULTS), "--datasets", "bso_owm")
    assert (status, "did you mean bso_own?" in error) == (1, True)
    status, _, error = verify(str(RESULTS), "--datasets", "words")
    assert (status, "expected: scores on words" in error) == (1, True)
    (RESULTS / PREDICTIONS).unlink()
    status, _, error = verify(str(RESULTS))
    assert (status, "predictions.parquet" in error) == (1, True)
    assert verify("nowhere")[0] == verify(str(RESULTS), "--data", "nowhere")[0] == 1


def test_answers_of_a_language_model(hub_folder: Path, verify) -> None:
    def likely(row: dict[str, Any]) -> list[float]:
        return [-1.0, -2.0] if row["id"] < "i26" else [-2.0, -1.0]

    write_log(Path("logged"), hub_folder, {"tass_own": likely})
    score_language_model("logged", name="large").save("results/large")
    status, lines, _ = verify("results/large")
    assert (status, lines[0]) == (
        0,
        "results/large: answers of a language model of large: 1 scores recomputed",
    )


def test_ablations_layers_and_folds(tmp_path: Path, monkeypatch, verify) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(PARAMS)
    rows = [
        row(i, i % 5, sentences=[f"{word} {i * i}." for word in "abcde"], document=f"d{i // 2}")
        for i in range(40)
    ]
    splits = {"train": rows[:20], "validation": rows[20:30], "test": rows[30:]}
    write_dataset(tmp_path / "dist/hub/sp_own", "sentence_position", splits)
    folds = [
        row(i, i % 2, fold=i % 3, sentence=f"{'Nada' if i % 2 else 'Todo'} {i}.") for i in range(30)
    ]
    write_dataset(tmp_path / "dist/hub/mc_own", "sentence_classification", {"train": folds})
    assert main(["score", "char_hash", "--out", "results"]) == 0
    status, lines, _ = verify("results")
    assert (status, lines[0]) == (0, "results: probes of char_hash: 2 scores recomputed")
    assert lines[1].endswith("known words, and ablations")


@pytest.fixture
def neighbours(hub_folder: Path) -> Path:
    """Return a folder of a ranking and of paradigms, which are scored to here."""
    Path("params.yaml").write_text(PARAMS)
    words = ["lunes", "martes", "jueves", "rojo", "azul", "verde", "faro", "farol"]
    rows = [
        {"id": word, "text": word, "tokens": word, "positives": [], "document_id": word}
        for word in words
    ]
    for one, other in ((6, 7), (7, 6)):
        rows[one] |= {"positives": [words[other]], "document_id": "faro"}
    write_dataset(hub_folder / "words", "word_ranking", {"test": rows})
    clusters = [("days", words[:3]), ("colours", words[3:6])]
    write_paradigms_dataset(hub_folder / "paralex_own", clusters)
    common = ["char_hash", "--instances", "dist/hub"]
    assert main(["embed", *common, "--workers", "1", "--out", "vectors"]) == 0
    for verb, out in (("rank", "ranked"), ("paradigms", "paradigms.json")):
        assert main([verb, *common, "--embeddings", "vectors", "--out", out]) == 0
    return hub_folder


def test_rankings_and_paradigms(neighbours: Path, verify) -> None:
    status, lines, _ = verify("ranked", "paradigms.json")
    assert (status, lines[-1]) == (0, "nothing differs")
    assert lines[0] == "ranked: rankings of char_hash: 2 scores recomputed"
    assert sum("not verified" in line for line in lines) == 4

    def change(rows: list[dict[str, Any]]) -> None:
        rows[0]["rank"] += 1
        rows[1]["positive"] = "tren"

    change_table(Path("ranked", RANKS), change, 0)
    content = json.loads(Path("paradigms.json").read_bytes())
    content["scores"][0]["clusters"][0]["suggestion"] = 0.987
    Path("paradigms.json").write_text(json.dumps(content))
    status, lines, error = verify("ranked", "paradigms.json")
    differing = [line.split(": ")[2] for line in lines if "differs" in line]
    assert status == 1
    assert differing[:3] == ["pairs of texts", "mrr", "interval"]
    assert differing[-2:] == ["suggestion", "suggestion_interval"]
    assert f"{len(differing)} that differ" in error


def test_the_words_of_a_vocabulary_are_those_of_the_data(neighbours: Path, verify) -> None:
    rows = pq.read_table(neighbours / "words" / "test-00000-of-00001.parquet").to_pylist()
    rows[0]["text"] = "domingo"
    write_dataset(neighbours / "words", "word_ranking", {"test": rows})
    _, lines, _ = verify("paradigms.json")
    assert "vocabulary_digest" in lines[1]
    shutil.rmtree(neighbours / "words")
    status, lines, _ = verify("paradigms.json")
    assert (status, lines[-2]) == (
        0,
        "  not verified: shared vocabularies, whose word rankings are not in the data",
    )
