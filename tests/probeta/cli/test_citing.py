"""Lines to cite: what `probeta score` prints, `probeta cite` finds; what differs is said."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from case_tables import read_tables
from result_files import RESULTS, SCORE

from evaluation.results.citation import cite, parse_citation
from evaluation.results.scores import Results
from probeta import Scores, score
from probeta.cli import main

TABLES = read_tables(__file__)

Captured = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.fixture
def line(hub_folder: Path, capsys: Captured) -> str:
    """The line below the table of one dataset, whose results are there."""
    assert main(["score", "char_hash", "--datasets", "bso_own", "--out", "results/mine"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = (line for line in lines if line.startswith("cite bso_own: probeta:"))
    return line.partition(": ")[2]


def test_the_parts_of_a_line() -> None:
    """What decides a score is in its line; what does not, is not."""
    of = replace(RESULTS, versions={"probeta": "1.2"})
    given = cite(of, [SCORE])
    assert str(given).startswith("probeta:1.2|data:bso_own@abababababab|protocol:standard.3|")
    assert parse_citation(f" {given}\n") == given
    assert (given.layer, given.seed, given.n) == ("0", "3", "3")

    def changed(results: Results) -> list[str]:
        pairs = zip(given._fields, given, cite(results, [SCORE]), strict=True)
        return [name for name, before, after in pairs if before != after]

    asked, layers = of.protocol, of.encoder | {"layers": ["0"], "layer": "0"}
    for same in ({"controls": True}, {"encoder": layers}, {"code": "1"}):
        assert changed(replace(of, **same)) == []
    assert changed(replace(of, encoder=of.encoder | {"options": {"a": 1}})) == ["encoder"]
    assert changed(replace(of, name="beto")) == ["encoder"]
    fourfold = replace(of, protocol=asked | {"engine": "torch", "pair_features": "four_part"})
    assert cite(fourfold, [SCORE]).protocol == "standard.3+torch+four_part"
    other = replace(SCORE, dataset="sts_own", digest="cd" * 32)
    mean = cite(of, [SCORE, other], "discoeval SP")
    assert mean == cite(of, [other, SCORE], "discoeval SP")
    assert (mean.data.partition("@")[0], mean.n) == ("discoeval.SP", "6")
    assert mean.data != cite(of, [SCORE, replace(other, digest="ef" * 32)], "discoeval SP").data


def test_the_shell_cites_means_or_a_few_datasets(hub_folder: Path) -> None:
    scores = score("char_hash", datasets="bso_own,sts_own")
    assert [*scores.citations()] == ["bso_own", "sts_own"]
    assert scores.citations()["sts_own"] == scores.cite("sts_own")
    of = {name: {"benchmark": "discoeval", "checks": ()} for name in ("bso_own", "sts_own")}
    averaged = Scores(scores.results, (), of, frozenset(), None)
    assert [*averaged.averages] == ["discoeval", "discoeval BSO", "discoeval SS"]
    assert parse_citation(averaged.cite("discoeval SS")).data.startswith("discoeval.SS@")
    with pytest.raises(KeyError):
        averaged.cite("sick")
    assert list(scores.to_pandas()["citation"]) == [*scores.citations().values()]


def test_a_line_is_found_and_verified(line: str, capsys: Captured) -> None:
    found = json.loads(Path("results/mine/scores.json").read_bytes())["scores"][0]
    assert main(["cite", line, "results"]) == 0
    printed = capsys.readouterr().out
    value, (low, high) = found["value"], found["interval"]
    shown = f"bso_own, accuracy: {100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]\n"
    assert printed.startswith(shown)
    assert "verified: the stored answers give these numbers" in printed


@pytest.mark.parametrize(("old", "new", "expected", "found"), TABLES["differences"])
def test_what_differs_from_the_results_is_said(
    line: str, capsys: Captured, old: str, new: str, expected: str, found: str
) -> None:
    assert old in line
    assert main(["cite", line.replace(old, new), "results/mine"]) == 1
    where, first, second, todo = capsys.readouterr().err.splitlines()
    assert where == "error: citation"
    assert expected in first
    assert second.removeprefix("  found:    ").startswith(found)
    assert todo.startswith("  to do:    ")


@pytest.mark.parametrize("key", ["value", "digest"])
def test_a_changed_number_is_found(line: str, capsys: Captured, key: str) -> None:
    path = Path("results/mine/scores.json")
    content = json.loads(path.read_bytes())
    content["scores"][0][key] = {"value": 0.99, "digest": "0" * 64}[key]
    path.write_text(json.dumps(content))
    forged = line.replace(line.split("@")[1].split("|")[0], "0" * 12) if key == "digest" else line
    assert main(["cite", forged, "results/mine"]) == 1
    error = capsys.readouterr().err
    assert f"bso_own, output: {key}: stored {content['scores'][0][key]}" in error
