"""What a run has left out: written, read, and told from what must be asked for."""

from pathlib import Path

import pytest

from corpora_recipes.missing import missing_corpus
from corpora_recipes.params import corpus_of
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.left_out import LeftOut, read_left_out, write_left_out


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"sqc": 1}', '{"sqc": {"reason": ""}}'])
def test_a_damaged_file_is_one_of_a_stage_that_has_not_run(text: str) -> None:
    write_left_out("build", {})
    Path("data/left_out/build.json").write_text(text, "utf-8")
    assert read_left_out("build") == {}


def test_a_corpus_that_must_be_asked_for_is_no_fault() -> None:
    fault = InputError("a.xml", expected="one", found="two", todo="three")
    assert LeftOut.because(fault) == LeftOut(str(fault), asked_for=False)
    params = {"seed": 1, "corpora": {"tweets": {"corpus": {"recipe": "tass"}}}}
    corpus = corpus_of(params, Path("params.yaml"), "tweets")
    reason = LeftOut.because(missing_corpus(corpus, ["a.zip"], Path("raw")))
    assert reason.asked_for
    assert reason.why.startswith("TASS 2020 cannot be fetched")
    assert "\n" not in reason.why
