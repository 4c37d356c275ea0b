"""report.md: it says what the page says, in a few hundred lines at most."""

import re
from pathlib import Path
from typing import Any

import pytest
from report_files import whole_report

from probeta.report.markdown import MAX_ENCODERS, write_markdown
from probeta.report.page import page_data
from probeta.report.sentences import FEW
from probeta.report.texts import in_language, phrase
from probeta.report.writing import open_report, write_report


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return whole_report(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def data(given: dict[str, Any]) -> dict[str, Any]:
    report, datasets = open_report(**given)
    return page_data(report, datasets, "dist/hub")


def rows(text: str, title: str) -> dict[str, list[str]]:
    """Return the table below a heading: the first cell of each line to the others."""
    section = re.split(rf"^## {re.escape(title)}$", text, flags=re.MULTILINE)[1].split("\n## ")[0]
    # An empty line would end the table.
    (table,) = re.findall(r"^\|.*?(?=\n\n|\Z)", section, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^\| (.*) \|$", table, re.MULTILINE)
    return {first: more for first, *more in (line.split(" | ") for line in lines)}


def test_a_few_encoders_are_the_columns(data: dict[str, Any]) -> None:
    text = write_markdown(data, ["scores", "ranks"])
    assert text.startswith(f"# {data['title']}\n\n")
    means = rows(text, "Means")
    assert means["Benchmark"] == ["trivial baseline", "char_hash", "deep"]
    table = rows(text, "own datasets")
    assert table["Dataset"] == ["Name in files", "Rows tested", *means["Benchmark"]]
    # The mean of all, of groups, and each dataset, with the marks of the page.
    (whole,) = (value for name, value in table.items() if name.startswith("**Mean of 8"))
    assert whole[2:] == means["own datasets"]
    shown = {row[0].strip("`"): row for row in table.values() if row[0].startswith("`")}
    assert shown.keys() == set(data["benchmarks"][0]["datasets"])
    for key, row in shown.items():
        dataset = data["datasets"][key]
        for cell, mark, text_of in zip(dataset["scores"], dataset["marks"], row[3:], strict=True):
            value = f"{cell[0] / 10:.1f}".replace("-", "−")
            form = {"L": "**{}", "b": "{}", "l": "**{}", "w": "*{}", "s": "*{}"}[mark]
            assert text_of.startswith(form.format(value + " ["))
    assert "![Scores](figures/scores.svg)" in text
    assert "![Ranks](figures/ranks.svg)" in text
    assert {"EvalRank", "ParaLex"} <= {*re.findall("^## (.*)", text, re.MULTILINE)}


def test_the_comparison_counts_the_datasets_of_the_page(data: dict[str, Any]) -> None:
    text = write_markdown(data)
    (line,) = re.findall(r"^\| own datasets \| char_hash − deep \| (.*) \|$", text, re.MULTILINE)
    difference, *counts = line.split(" | ")
    benchmark = data["benchmarks"][0]
    value, low, high, *tied = benchmark["means"][0][2][0]
    written = f"{value / 10:+.1f} [{low / 10:+.1f}, {high / 10:+.1f}]".replace("-", "−")
    assert difference == (written if tied else f"**{written}**")
    found = [data["datasets"][key]["differences"][0] for key in benchmark["datasets"]]
    up, down = (sum(len(d) == 3 and sign * d[0] > 0 for d in found if d) for sign in (1, -1))
    assert [*map(int, counts)] == [up, down, sum(map(bool, found)) - up - down]


def many(count: int, data: dict[str, Any]) -> dict[str, Any]:
    """Return the data as if there were so many encoders, all like the first one."""
    benchmarks = [
        {**b, "means": [[c[0][:1] * count, c[1][:1] * count, [0], *c[3:]] for c in b["means"]]}
        for b in data["benchmarks"]
    ]
    return {
        **data,
        "encoders": [[f"encoder{n}", "about it"] for n in range(count)],
        "benchmarks": benchmarks,
        "pairs": [[0, 1]],
    }


@pytest.mark.parametrize("count", [FEW + 1, MAX_ENCODERS, 200])
def test_many_encoders_are_the_lines(data: dict[str, Any], count: int) -> None:
    text = write_markdown(many(count, data))
    means = rows(text, "Means")
    assert means["Encoder"] == ["own datasets"]
    table = rows(text, "own datasets")
    shown = [name for name in table if name.startswith("encoder")]
    assert len(shown) == min(count, MAX_ENCODERS)
    assert table["encoder0"][0] == means["encoder0"][0]
    assert len(table["encoder0"]) == 1 + len(data["benchmarks"][0]["groups"])
    assert len(text.splitlines()) < 150
    assert (phrase("others", names=MAX_ENCODERS, others=180) in text) == (count == 200)


def test_names_cannot_break_out_of_the_tables(data: dict[str, Any]) -> None:
    name = "a | b\n# c *d* <b>"
    text = write_markdown({**data, "encoders": [[name, name], *data["encoders"][1:]]})
    assert text.count("a \\| b # c \\*d\\* \\<b>") >= len(data["benchmarks"])
    assert "\n# c" not in text


def test_what_is_missing_has_its_reason(given: dict[str, Any], tmp_path: Path) -> None:
    write_report(**given, out=tmp_path, refused={"old.json": "expected what"})
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "> **Results of others.**" in text
    assert "\n## Results that were refused\n\n- old.json: expected what\n" in text


def test_it_is_in_the_language_of_the_report(given: dict[str, Any]) -> None:
    with in_language("es"):
        report, datasets = open_report(**given)
        text = write_markdown(page_data(report, datasets, "dist/hub"))
    assert "\n## Medias\n" in text
    assert "trivial baseline" not in text
