"""Language models: the answers that lm-eval logged, scored as those of encoders."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from logged_files import DATE, write_log

from corpora_recipes.running.errors import InputError
from evaluation.results.scores import read_predictions, read_results
from probeta import score
from probeta.cli import main
from probeta.exchange.lm_eval import score_language_model

SAMPLES = f"samples_probeta_bso_own_{DATE}.jsonl"


def right(row: dict[str, Any]) -> list[float]:
    """Answer right, except about every fourth row."""
    wrong = int(row["id"].removeprefix("i")) % 4 == 0
    likely = row["label"] if not wrong else 1 - row["label"]
    return [-1.5 if choice == likely else -20.25 for choice in (0, 1)]


@pytest.fixture
def logged(hub_folder: Path) -> Path:
    write_log(Path("logged/model"), hub_folder, {"bso_own": right})
    return Path("logged/model")


def test_answers_are_scored_like_those_of_a_probe(logged: Path) -> None:
    scores = score_language_model(logged)
    asked = scores["bso_own"]
    assert asked.rows == {"train": 16, "validation": 6, "test": 8}
    assert (asked.value, asked.test_documents) == (0.75, 8)
    assert asked.interval[0] < 0.75 < asked.interval[1]
    assert (asked.majority, asked.chance) == (0.5, 0.5)
    assert (asked.layer, asked.validation) == ("answers", None)
    assert scores.results.name == "Large-2B"
    encoder = scores.results.encoder
    assert (encoder["encoder"], encoder["revision"], encoder["layer"]) == ("lm-eval", "", "answers")
    assert encoder["options"] == {"model": "org/Large-2B", "backend": "hf", "examples": 2}
    assert scores.results.versions["lm_eval"] == "0.4.13"
    scores.save("results/model")
    assert read_results(Path("results/model")) == scores.results
    found = read_predictions(Path("results/model"), "bso_own", "answers")
    assert (found.predicted[0] == found.gold).mean() == 0.75


def test_a_model_and_an_encoder_are_compared_and_reported(
    logged: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, encoder = score_language_model(logged), score("char_hash", datasets=["bso_own"])
    apart = model.compare(encoder)
    assert apart.differences[0].value == pytest.approx(0.75 - encoder["bso_own"].value)
    for scores in (model, encoder):
        scores.save(f"results/{scores.results.name}")
    assert main(["report", "results/Large-2B", "results/char_hash", "--out", "report"]) == 0
    tables = Path("report/tables.tex").read_text("utf-8")
    assert "asked in lm-evaluation-harness without a probe: Large-2B." in tables
    assert "Probe protocol standard, version" in tables
    page = Path("report/report.md").read_text("utf-8")
    assert "\n- **Large-2B**: lm-eval" in page


def test_the_command(logged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--from-lm-eval", "logged", "--name", "large", "--out", "here"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:3] == ["bso_own", "BSO", "75.0"]
    assert lines[-2] == "results: here"
    assert main(["score"]) == 1
    assert "found:    neither" in capsys.readouterr().err
    assert main(["score", "char_hash", "--from-lm-eval", "logged"]) == 1
    assert main(["score", "--from-lm-eval", "logged", "--protocol", "senteval"]) == 1
    assert "--protocol" in capsys.readouterr().err


def test_answers_of_different_lengths_count_per_character(hub_folder: Path) -> None:
    # The sum prefers the short answer, the mean the long one.
    answers, choices = {"tass_own": lambda row: [-2.0, -3.0]}, ["no", "muy buena"]
    write_log(Path("logged"), hub_folder, answers, metric="acc_norm", choices=choices)
    scores = score_language_model("logged")
    scores.save("results")
    found = read_predictions(Path("results"), "tass_own", "answers")
    assert found.predicted.tolist() == [[1.0] * 8]


def test_runs_of_a_model_are_joined(logged: Path, hub_folder: Path) -> None:
    write_log(logged, hub_folder, {"tass_own": right}, date="2026-11-23T10-00-00.5")
    both, one = score_language_model(logged), score_language_model(logged, groups=["SC"])
    assert [score.dataset for score in both.results.scores] == ["bso_own", "tass_own"]
    assert [score.dataset for score in one.results.scores] == ["tass_own"]
    write_log(logged, hub_folder, {"tass_own": right}, date="2026-11-24T10-00-00.5")
    twice = r"about tass_own once(.|\n)*samples_probeta_tass_own_2026-11-23"
    with pytest.raises(InputError, match=twice):
        score_language_model(logged)
    (logged / "results_2026-11-24T10-00-00.5.json").unlink()
    other = {"pretrained": "org/Small"}
    write_log(logged, hub_folder, {}, date="2026-11-25T10-00-00.5", model_args=other)
    with pytest.raises(InputError, match=r"the options of results_"):
        score_language_model(logged)


Lines = list[dict[str, Any]]


def fourth(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[3].update(changes)


def fifth_row(**changes: Any) -> Callable[[Lines], None]:
    return lambda lines: lines[4]["doc"].update(changes)


def wrongly_right(lines: Lines) -> None:
    gold = lines[3]["doc"]["label"]
    lines[3] |= {"filtered_resps": [["-9", "False"]] * 2, "acc": float(gold != 0)}


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines.pop(), "8 rows of bso_own(.|\n)*7; i29 is missing"),
        (lambda lines: lines.append(lines[2]), "line 9\n(.|\n)*which is in line 3 too"),
        (fifth_row(sentences=["Otra.", "Cosa."]), "line 5\n(.|\n)*with the sentences(.|\n)*--data"),
        (fifth_row(id="nobody"), "line 5\n(.|\n)*the id nobody, asked as version"),
        (fourth(filtered_resps=[["-1", "False"]]), "2 log-likelihoods"),
        (fourth(filtered_resps=[["nan", "False"], ["-1", "False"]]), "2 log-likelihoods"),
        (fourth(filtered_resps=[["-1", "False"], ["inf", "False"]]), "2 log-likelihoods"),
        (fourth(filtered_resps=["x", "y"]), "log-likelihoods under `filtered_resps`"),
        (wrongly_right, "as acc says"),
        (fourth(doc=3), "its id under `doc`"),
    ],
)
def test_damaged_answers_are_named(
    logged: Path, damage: Callable[[Lines], None], message: str
) -> None:
    file = logged / SAMPLES
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    damage(lines)
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    place = "" if "line " in message or "rows" in message else ", line 4\n(.|\n)*"
    with pytest.raises(InputError, match=rf"{SAMPLES}{place}(.|\n)*{message}"):
        score_language_model(logged)


@pytest.mark.parametrize(
    ("section", "changes", "message"),
    [
        ("config", {"model_args": {"x": math.nan}}, "the results of lm-eval 0.4.13 or later"),
        ("config", {"model_sha": "\ud800"}, "the results of lm-eval 0.4.13 or later"),
        ("task", {"doc_to_choice": ["", "b"]}, "the results of lm-eval 0.4.13 or later"),
        ("task", {"doc_to_choice": ["a", "b", "c"]}, "a task of 2 choices"),
    ],
)
def test_damaged_results_are_named(
    logged: Path, section: str, changes: dict[str, Any], message: str
) -> None:
    file = logged / f"results_{DATE}.json"
    results = json.loads(file.read_bytes())
    (task,) = results["configs"].values()
    (task if section == "task" else results["config"]).update(changes)
    file.write_text(json.dumps(results))
    with pytest.raises(InputError, match=message):
        score_language_model(logged)


def test_what_is_no_log(logged: Path, hub_folder: Path) -> None:
    wrong = {"nowhere": "no such folder", hub_folder: "results_….json of lm-eval"}
    for folder, message in wrong.items():
        with pytest.raises(InputError, match=message):
            score_language_model(folder)
    with pytest.raises(InputError, match=r"answers about tass_own"):
        score_language_model(logged, datasets=["tass_own"])
    (logged / SAMPLES).unlink()
    with pytest.raises(InputError, match="--log_samples"):
        score_language_model(logged)
    (logged / f"results_{DATE}.json").write_text('{"config": 3}')
    with pytest.raises(InputError, match=r"the results of lm-eval 0\.4\.13 or later"):
        score_language_model(logged)
