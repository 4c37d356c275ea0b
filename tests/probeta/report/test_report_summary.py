"""The summary on a terminal: averages in one table, scores with intervals on small datasets."""

from dataclasses import replace
from pathlib import Path

import pytest
from report_files import BASELINES, ONE, SP, TWO, audit_file, change_audit, report_of

from builders.audit_report import DETECTABLE
from probeta.report.summary import MAX_COLUMNS, summarise

UNITS = "points of 100 [95 % interval]; baseline: chance, or best trivial in validation\n\n"


def test_averages_are_one_table(tmp_path: Path) -> None:
    assert summarise(report_of(tmp_path, ONE, TWO, baselines=BASELINES)) == UNITS + (
        "average            datasets  baseline          char_hash  use\n"
        "spanish_discoeval   2 of 11      34.4  37.6 [33.5, 41.7]    –\n"
    )


def test_many_encoders_fit_a_terminal(tmp_path: Path) -> None:
    encoders = [replace(ONE, name=f"encoder_{n}") for n in range(7)]
    encoders.append(replace(ONE, name="a" * 60))
    lines = summarise(report_of(tmp_path, *encoders, baselines=BASELINES)).splitlines()
    assert max(map(len, lines)) <= MAX_COLUMNS
    # In blocks below each other.
    shown = " ".join(line for line in lines if line.startswith("average")).split()
    names = {f"encoder_{n}" for n in range(7)} | {"a" * 23 + "…"}
    assert {*shown} == {"average", "datasets", "baseline"} | names
    assert shown.count("average") == 4


@pytest.mark.parametrize("encoders", [(ONE,), (ONE, replace(ONE, name="z", scores=(SP,)))])
def test_a_domain_too_small_for_an_average_has_its_scores(tmp_path: Path, encoders) -> None:
    audit = audit_file(tmp_path, BASELINES)
    facts = {"gate": "size", "what": DETECTABLE, "verdict": "pass", "limit": None}
    for name in ("dr_rst", "sp_wiki"):
        change_audit(audit, name, value=0.241, **facts)
    text = summarise(report_of(tmp_path, *encoders, audit=audit))
    heading, *rows = [line.split() for line in text.splitlines()[2:-2]]
    assert heading[:4] == ["spanish_discoeval", "rows", "detects", "baseline"]
    assert rows[0] == ["sp_wiki", "4,000", "24.1", "43.7", "45.2", "[43.7,", "46.8]"]
    assert rows[1] == ["dr_rst", "130", "24.1", "25.0", "30.0", "[22.0,", "38.0]"]
    # A second encoder has no place beside it.
    more = [["spanish_discoeval", "z"], ["sp_wiki", *rows[0][4:]], ["dr_rst", "–"]]
    assert rows[2:] == (more if len(encoders) > 1 else [])
    assert "too few rows" in text.splitlines()[-2]
    assert "12 points" in text.splitlines()[-1]


def test_what_helps_is_said_of_ones_own_documents(tmp_path: Path) -> None:
    audit = audit_file(tmp_path, {"sp_own": BASELINES["sp_wiki"]}, sp_own=SP.rows)
    facts = {"gate": "size", "what": DETECTABLE, "verdict": "pass", "limit": None}
    change_audit(audit, "sp_own", value=0.241, **facts)
    for folds in (0, 5):
        own = replace(ONE, scores=(replace(SP, dataset="sp_own", folds=folds),))
        text = summarise(report_of(tmp_path / str(folds), own, audit=audit))
        assert "documents help" in text
        assert ("`folds: true`" in text) == (folds == 0)
