"""The report: the tables' text, the figure's bytes, and results that must not be compared."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpora_recipes.errors import InputError
from evaluation.figure import LONGEST, draw
from evaluation.report import write_report
from evaluation.results import Results, Score

SP = Score(
    dataset="sp_wiki",
    task="sentence_position",
    corpus="wikipedia",
    language="es",
    version="1.0.0",
    digest="5" * 64,
    rows={"train": 10000, "validation": 4000, "test": 4000},
    folds=0,
    test_documents=4000,
    metric="accuracy",
    value=0.4521,
    interval=(0.4366, 0.4675),
    measures={"accuracy": 0.4521},
    majority=0.2052,
    chance=0.2,
    chosen={"strength": 1.0},
    validation=0.46,
)
DR = replace(
    SP,
    dataset="dr_rst",
    task="discourse_relations",
    digest="6" * 64,
    rows={"train": 900, "validation": 120, "test": 130},
    value=0.3,
    interval=(0.22, 0.38),
    majority=0.25,
    chance=1 / 29,
)
# Without parts, and without a probe.
MC = replace(
    SP,
    dataset="mc",
    task="sentence_classification",
    digest="8" * 64,
    rows={"train": 2623},
    folds=10,
    test_documents=2623,
    value=0.7,
    interval=(0.68, 0.72),
    majority=0.51,
    chance=0.5,
)
STS = replace(
    SP,
    dataset="sts14_es",
    task="similarity",
    digest="9" * 64,
    rows={"test": 804},
    test_documents=804,
    metric="pearson",
    value=0.8,
    interval=(0.77, 0.83),
    measures={
        "pearson": 0.8,
        "spearman": 0.79,
        "pearson, news": 0.85,
        "spearman, news": 0.84,
        "pearson, wikipedia": 0.75,
        "spearman, wikipedia": -0.074,
    },
    majority=None,
    chance=None,
    chosen={},
    validation=None,
)
ONE = Results(
    format=2,
    name="char_hash",
    encoder={
        "encoder": "char_hash",
        "revision": "1",
        "form": "natural",
        "dimension": 512,
        "options": {"dimension": 512, "shortest": 3},
    },
    protocol={"name": "standard", "version": 2, "pair_features": "difference_product"},
    bootstrap={"resamples": 2000, "coverage": 0.95, "unit": "document", "few_documents": 20},
    seed=1111,
    versions={"python": "3.11.7"},
    scores=(DR, SP),
)
TWO = replace(
    ONE,
    name="use",
    encoder={**ONE.encoder, "encoder": "use_multilingual", "revision": "0.2.1", "options": {}},
    scores=(replace(SP, value=0.6, interval=(0.585, 0.615)),),
)


BASELINES = {
    "dr_rst": {"majority": 0.25, "length": 0.08, "first_text_only": 0.22},
    "sp_wiki": {"majority": 0.2052, "length": 0.231, "character_ngrams": 0.4371},
}
ALL = BASELINES | {
    "mc": {"majority": 0.51, "length": 0.52},
    "sts14_es": {"overlap": 0.6, "length_difference": -0.1},
}


def audit_file(folder: Path, baselines: dict[str, dict[str, float]], **rows: Any) -> Path:
    """Write what of an audit the report reads; ``rows`` in place of those of the results."""

    def checks(of: dict[str, float]) -> list[dict[str, Any]]:
        row_order = {"gate": "row_order", "what": "accuracy from the parity", "value": 0.99}
        return [
            row_order | {"verdict": "pass"},
            *(
                {"gate": "baselines", "what": w, "value": v, "verdict": "pass"}
                for w, v in of.items()
            ),
        ]

    datasets = {
        name: {
            "rows": rows.get(name, {one.dataset: one for one in (DR, SP, MC, STS)}[name].rows),
            "checks": checks(of),
        }
        for name, of in baselines.items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "audit.json"
    path.write_text(json.dumps({"format": 1, "datasets": datasets, "failures": []}), "utf-8")
    return path


def report(folder: Path, *results: Results) -> Path:
    write_report(results, audit_file(folder, BASELINES), folder / "out")
    return folder / "out"


def section(text: str, title: str) -> str:
    """Return what stands between a heading and the next one."""
    return text.split(f"## {title}\n\n")[1].split("\n\n## ")[0]


def test_tables(tmp_path: Path) -> None:
    text = (report(tmp_path, TWO, ONE) / "report.md").read_text("utf-8")
    assert text.startswith(
        "# Scores\n\n"
        "Accuracy on test in per cent, for semantic similarity Pearson's correlation × 100, with "
        "the 95 % bootstrap interval in brackets (2,000 resamples of the test's documents). "
        "Majority is the accuracy of always answering with train's most frequent class; Best "
        "trivial is the best of the other baselines below. Probe protocol `standard`, version 2, "
        "pair features difference product; seed 1111.\n\n"
        "Where a dataset has folds, each is test once and all rows are scored together; Majority "
        "and the baselines are fitted fold by fold too. Similarity is the cosine of two "
        "embeddings and needs no probe; all other tasks are probed.\n\n"
        "## Averages\n\n"
    )
    assert section(text, "Averages") == (
        "Over the datasets of a group (their number in brackets): SP sentence position, DR "
        "discourse relations.\n\n"
        "| Encoder | SP (1) | DR (1) |\n"
        "| --- | ---: | ---: |\n"
        "| char_hash | 45.2 | 30.0 |\n"
        "| use | 60.0 | – |"
    )
    assert section(text, "Sentence position (SP)") == (
        "|  | sp_wiki |\n"
        "| --- | ---: |\n"
        "| Train / validation / test | 10,000 / 4,000 / 4,000 |\n"
        "| Chance | 20.0 |\n"
        "| Majority | 20.5 |\n"
        "| Best trivial | 43.7 (character ngrams) |\n"
        "| **char_hash** | 45.2 [43.7, 46.8] † |\n"
        "| **use** | 60.0 [58.5, 61.5] |\n"
        "| the paper's encoders § | 42.8 … 52.0 |"
    )
    after = section(text, "Discourse relations (DR)").splitlines()
    assert after[0] == "|  | dr_rst \\* |"
    assert after[6:8] == ["| **char_hash** | 30.0 [22.0, 38.0] † |", "| **use** | – |"]
    assert [line[:40] for line in after[8:] if line] == [
        "\\* The test has fewer than 1,000 rows: d",
        "† Not shown to beat a trivial baseline: ",
        "§ As Araujo et al. (2022) report it, on ",
        "![Scores](scores.svg)",
    ]
    assert "Sent2Vec" in text
    assert section(text, "Trivial baselines").split("\n\n")[1] == (
        "| Dataset | Majority | Length | Character ngrams | First text only |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| sp_wiki | 20.5 | 23.1 | 43.7 | – |\n"
        "| dr_rst | 25.0 | 8.0 | – | 22.0 |"
    )
    assert section(text, "Encoders") == (
        "- `char_hash`: char_hash, revision 1, 512 dimensions, natural text; dimension 512, "
        "shortest 3\n"
        "- `use`: use_multilingual, revision 0.2.1, 512 dimensions, natural text\n"
    )


def test_folds_correlations_and_subsets(tmp_path: Path) -> None:
    both = replace(ONE, scores=(MC, STS, SP))
    write_report([both], audit_file(tmp_path, ALL), tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert section(text, "Averages").splitlines()[2:] == [
        "| Encoder | SC (1) | SS (1) | SP (1) |",
        "| --- | ---: | ---: | ---: |",
        "| char_hash | 70.0 | 80.0 | 45.2 |",
    ]
    assert section(text, "Sentence classification (SC)") == (
        "|  | mc |\n"
        "| --- | ---: |\n"
        "| Train / validation / test | 2,623 in 10 folds |\n"
        "| Chance | 50.0 |\n"
        "| Majority | 51.0 |\n"
        "| Best trivial | 52.0 (length) |\n"
        "| **char_hash** | 70.0 [68.0, 72.0] |"
    )
    assert section(text, "Semantic similarity (SS)") == (
        "|  | sts14_es \\* |\n"
        "| --- | ---: |\n"
        "| Train / validation / test | – / – / 804 |\n"
        "| Chance | – |\n"
        "| Majority | – |\n"
        "| Best trivial | 60.0 (overlap) |\n"
        "| **char_hash** | 80.0 [77.0, 83.0] |\n\n"
        "Pearson's / Spearman's correlation × 100, over all rows and by the subsets of the "
        "source:\n\n"
        "| Dataset | Rows | char_hash |\n"
        "| --- | --- | ---: |\n"
        "| sts14_es | all | 80.0 / 79.0 |\n"
        "| sts14_es | news | 85.0 / 84.0 |\n"
        "| sts14_es | wikipedia | 75.0 / -7.4 |"
    )


def test_a_single_subset_is_not_listed_besides_all(tmp_path: Path) -> None:
    names = ("pearson", "spearman", "pearson, track3", "spearman, track3")
    score = replace(STS, measures=dict.fromkeys(names, 0.8))
    audit = audit_file(tmp_path, {"sts14_es": ALL["sts14_es"]})
    write_report([replace(ONE, scores=(score,))], audit, tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "| sts14_es | all |" in text
    assert "track3" not in text


def test_the_mark_of_a_source_that_leaks(tmp_path: Path) -> None:
    path = audit_file(tmp_path, ALL)
    content = json.loads(path.read_text("utf-8"))
    for name, verdict in {"mc": "inherited", "sp_wiki": "pass"}.items():
        leakage = {"gate": "leakage", "what": "x", "value": 1, "verdict": verdict}
        content["datasets"][name]["checks"].append(leakage)
    path.write_text(json.dumps(content), "utf-8")
    write_report([replace(ONE, scores=(MC, STS, SP))], path, tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "|  | mc ¶ |" in text
    assert text.count("¶") == 2


def test_the_papers_scores_stand_beside_those_of_the_same_encoder(tmp_path: Path) -> None:
    results = [replace(ONE, name="mbert", scores=(STS,)), replace(ONE, scores=(STS,))]
    audit = audit_file(tmp_path, {"sts14_es": ALL["sts14_es"]})
    write_report(results, audit, tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert section(text, "Averages").splitlines()[4:] == [
        "| char_hash | 80.0 |",
        "| mbert | 80.0 |",
        "| mbert, the paper's § | 52.65 |",
    ]
    assert text.count("the paper's §") == 1


def test_no_note_without_need(tmp_path: Path) -> None:
    text = (report(tmp_path, TWO) / "report.md").read_text("utf-8")
    assert not {"\\*", "†", "‡"} & set(text.split())


@pytest.mark.parametrize(
    ("interval", "majority", "trivial", "beats"),
    [
        ((0.51, 0.6), 0.2, 0.5, True),
        ((0.5, 0.6), 0.2, 0.5, False),
        ((0.49, 0.6), 0.2, 0.5, False),
        ((0.49, 0.6), 0.5, 0.2, False),
        ((0.51, 0.6), 0.5, 0.2, True),
    ],
)
def test_the_mark_of_what_beats_no_baseline(
    tmp_path: Path,
    interval: tuple[float, float],
    majority: float,
    trivial: float,
    beats: bool,
) -> None:
    score = replace(MC, interval=interval, majority=majority)
    audit = audit_file(tmp_path, {"mc": {"majority": majority, "length": trivial}})
    write_report([replace(ONE, scores=(score,))], audit, tmp_path)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert ("†" not in text) == beats
    assert f"{100 * trivial:.1f} (length)" in text


@pytest.mark.parametrize(("documents", "marked"), [(1, True), (19, True), (20, False)])
def test_the_mark_of_a_test_of_few_documents(tmp_path: Path, documents: int, marked: bool) -> None:
    one = replace(ONE, scores=(DR, replace(SP, test_documents=documents)))
    text = (report(tmp_path, one) / "report.md").read_text("utf-8")
    assert ("|  | sp_wiki ‡ |" in text) == marked
    assert ("‡ The test is of fewer than 20 documents: rows were resampled" in text) == marked
    assert "|  | dr_rst \\* |" in text


def invariance_file(folder: Path, digest: str) -> Path:
    shares = {"scale": 0.005, "order": 0.0, "hash_seed": 0.0}
    datasets = {
        score.dataset: {
            "digest": digest if score is SP else score.digest,
            "test_rows": 200,
            **shares,
            "verdict": "pass",
        }
        for score in (SP, DR)
    }
    path = folder / "invariance.json"
    encoder = {"encoder": "char_hash", "options": {}}
    content = {
        "format": 1,
        "encoder": encoder,
        "seed": 1,
        "limits": shares,
        "correlation_limits": shares | {"scale": 0.002},
        "datasets": datasets,
    }
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_section_on_invariance(tmp_path: Path) -> None:
    audit, invariance = audit_file(tmp_path, BASELINES), invariance_file(tmp_path, SP.digest)
    write_report([ONE, TWO], audit, tmp_path, invariance)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "## Invariance (gate 10)" in text
    limits = "Limits: scale 0.5, order 0.0, hash seed 0.0; for scale, one prediction if that is"
    assert f"{limits} more." in text
    assert "correlation × 100 changes; limits: scale 0.2, order 0.0, hash seed 0.0." in text
    assert section(text, "Invariance (gate 10)").split("\n\n")[1].splitlines() == [
        "| Dataset | Test rows | Scale | Order | Hash seed | Verdict |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        "| sp_wiki | 200 | 0.5 | 0.0 | 0.0 | pass |",
        "| dr_rst | 200 | 0.5 | 0.0 | 0.0 | pass |",
    ]


def test_an_invariance_of_other_rows(tmp_path: Path) -> None:
    audit, invariance = audit_file(tmp_path, BASELINES), invariance_file(tmp_path, "0" * 64)
    with pytest.raises(InputError, match="measure the invariance again") as caught:
        write_report([ONE], audit, tmp_path / "out", invariance)
    for words in ("invariance.json: sp_wiki", "5" * 64, "0" * 64):
        assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("baselines", "rows", "words"),
    [
        ({"sp_wiki": BASELINES["sp_wiki"]}, {}, ["audit.json: dr_rst", "no such dataset"]),
        (
            BASELINES,
            {"sp_wiki": {"train": 10000, "validation": 4000, "test": 3998}},
            ["audit.json: sp_wiki", "'test': 4000", "'test': 3998"],
        ),
        (BASELINES | {"dr_rst": {"majority": 0.25}}, {}, ["audit.json: dr_rst", "besides"]),
    ],
)
def test_audits_that_do_not_fit(
    tmp_path: Path, baselines: dict[str, Any], rows: dict[str, Any], words: list[str]
) -> None:
    audit = audit_file(tmp_path, baselines, **rows)
    with pytest.raises(InputError, match="audit the same instances again") as caught:
        write_report([ONE], audit, tmp_path / "out")
    for word in words:
        assert word in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_metrics(tmp_path: Path) -> None:
    assert json.loads((report(tmp_path, TWO, ONE) / "metrics.json").read_bytes()) == {
        "dr_rst": {"char_hash": 0.3},
        "sp_wiki": {"char_hash": 0.4521, "use": 0.6},
    }


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = report(tmp_path / "a", ONE, TWO), report(tmp_path / "b", TWO, ONE)
    names = ["metrics.json", "report.md", "scores.png", "scores.svg"]
    assert sorted(path.name for path in first.iterdir()) == names
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert b"<dc:date>" not in (first / "scores.svg").read_bytes()


def test_figure(tmp_path: Path) -> None:
    import xml.etree.ElementTree as ElementTree

    out = report(tmp_path, ONE, TWO)
    comments = [
        line for line in (out / "scores.svg").read_text("utf-8").splitlines() if "<!--" in line
    ]
    for words in (
        "dr_rst",
        "(test: 4,000)",
        "char_hash",
        "use",
        "majority",
        "best trivial",
        "chance",
    ):
        assert any(f"<!-- {words} " in line for line in comments), words
    ElementTree.parse(out / "scores.svg")
    assert (out / "scores.png").read_bytes().startswith(b"\x89PNG")


def test_the_dots_stand_where_the_scores_are() -> None:
    datasets = {
        "dr_rst": {"char_hash": DR},
        "sts14_es": {"char_hash": STS},
        "sp_wiki": {"char_hash": SP, "use": TWO.scores[0]},
    }
    trivial = {"dr_rst": 0.22, "sts14_es": 0.6, "sp_wiki": 0.4371}
    axes = draw(["char_hash", "use"], datasets, trivial).axes[0]
    lines = {
        lines.get_label(): [segment[0][0] for segment in lines.get_segments()]
        for lines in axes.collections
        if not str(lines.get_label()).startswith("_")
    }
    assert lines == {
        "best trivial": pytest.approx([22.0, 60.0, 43.71]),
        "majority": pytest.approx([25.0, 20.52]),
        "chance": pytest.approx([100 / 29, 20.0]),
    }
    dots = {
        container.get_label(): container.lines[0].get_xdata().tolist()
        for container in axes.containers
    }
    assert dots == {
        "char_hash": pytest.approx([30.0, 80.0, 45.21]),
        "use": pytest.approx([60.0]),
    }
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "dr_rst\n(test: 130)",
        "sts14_es\n(test: 804)",
        "sp_wiki\n(test: 4,000)",
    ]
    assert axes.get_xlabel() == (
        "accuracy (%) or Pearson correlation (× 100) on test, 95 % interval"
    )


def test_many_datasets_stand_in_columns_that_lose_none() -> None:
    names = [f"sp_{number}" for number in range(LONGEST + 1)]
    figure = draw(["a"], {name: {"a": SP} for name in names}, dict.fromkeys(names, 0.5))
    drawn = [
        container.lines[0].get_xdata() for axes in figure.axes for container in axes.containers
    ]
    assert [len(own) for own in drawn] == [9, 8]


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"name": "char_hash"}, "one result file an encoder"),
        ({"seed": 2}, "the seed of char_hash, 1111"),
        ({"protocol": {"name": "standard", "version": 2}}, "the protocol of char_hash"),
        ({"scores": (replace(SP, digest="7" * 64),)}, "the rows that char_hash was probed on"),
    ],
)
def test_results_that_must_not_be_compared(
    tmp_path: Path, other: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        report(tmp_path, ONE, replace(TWO, **other))
    assert not (tmp_path / "out").exists()
