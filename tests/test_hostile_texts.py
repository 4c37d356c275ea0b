"""What users write, from params.yaml to the card and the report: it is shown, and does nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree
from markdown_it import MarkdownIt

from corpora_recipes.escaping import one_line
from corpora_recipes.recipe import RECIPES
from probeta.cli import main

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# Each begins a line, a cell or a page anew, and then forges something.
HOSTILE = (
    "\n\n# Forged\n\nx\n===\n\n---\nlicense: mit\n---\n\n- x\n\n> x\n\n1. x\n\n```\nx\n",
    "\n| forged | row |\n|---|---|\n</td></tr><tr><td>x</td></tr></table>\n",
    "<script>window.forged = 1</script><img src=x onerror=forged()> <!-- \n</script><b>x</b>",
    "[x](http://forged.example) ![x](http://forged.example) [x]: http://forged.example\n\n"
    "<http://forged.example> *x* __x__ ~~x~~ `x` &lt;b&gt; {{ 7 * 7 }} ${{ secrets.FORGED }}",
    "=cmd|' /C calc'!A0\n\n}\\input{/etc/forged}\\end{table*} % $x^2$ & ~ # _ \\\\\n\n"
    "$(touch forged); `touch forged` '; touch forged #\x1b[31m\u202e\x00",
)
KEYS = ("name", "licence", "citation", "homepage", "description")
OUTPUTS = (
    "dist/hub/README.md",
    "dist/hub/docs/bso_mine.md",
    "dist/hub/LICENSE.md",
    "data/audit/audit.md",
    "reports/report.md",
)


def documents(marks: str) -> str:
    """Return the sample's documents with a text in their ids, titles, topics and headings.

    Their sentences have a fault that the audit finds, so that its declared reason is shown.
    """
    sample = (RECIPES / "documents" / "sample" / "documents.jsonl").read_text("utf-8")
    rows = [json.loads(line.replace(" y ", " [[y]] ")) for line in sample.splitlines()]
    for row in rows:
        row |= {"id": row["id"] + marks, "title": marks, "topics": [marks]}
        for section in row.get("sections", ()):
            section["heading"] = marks
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def whole_run(folder: Path, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all stages of a small corpus with these facts, and these texts in its documents."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("mine.jsonl").write_text(documents(" ".join(HOSTILE)), "utf-8")
    facts = {key: texts[n % len(texts)] for n, key in enumerate(KEYS)}
    params = {
        "seed": 1,
        "corpora": {
            "mine": {
                "corpus": {"recipe": "documents", "path": "mine.jsonl", "language": "es"} | facts,
                "datasets": {"bso_mine": {"task": "sentence_ordering"}},
            }
        },
        "audit": {
            "inherited": {"bso_mine": {"text": {"at_most": 1.0, "because": " ".join(texts)}}}
        },
        "encoders": {"char_hash": {"dimension": 64}},
    }
    Path("params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), "utf-8")
    assert main(["list"]) == 0
    assert main(["repro"]) == 0


def structure(page: str) -> list[tuple[str, str, int]]:
    """Return what a Markdown parser makes of a page, without its texts."""
    found = []
    for token in PARSER.parse(page):
        children = [child for child in token.children or [] if child.type != "text"]
        found += [(part.type, part.tag, part.nesting) for part in [token, *children]]
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of two runs that differ in what the user wrote, and in nothing else."""
    folder = tmp_path_factory.mktemp("runs")
    harmless = ["Uno" for _ in HOSTILE]
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, texts in (("hostile", list(HOSTILE)), ("harmless", harmless)):
            whole_run(folder / name, texts, monkeypatch)
    return {name: folder / name for name in ("hostile", "harmless")}


@pytest.mark.parametrize("output", OUTPUTS)
def test_markdown_keeps_its_structure(runs: dict[str, Path], output: str) -> None:
    pages = {name: (folder / output).read_text("utf-8") for name, folder in runs.items()}
    assert structure(pages["hostile"]) == structure(pages["harmless"])


def header(folder: Path) -> dict[str, Any]:
    first, text, _ = (folder / "dist/hub/README.md").read_text("utf-8").split("---\n", 2)
    assert not first
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_front_matter_and_description_keep_their_keys(runs: dict[str, Path]) -> None:
    hostile, other = (header(runs[name]) for name in ("hostile", "harmless"))
    assert hostile["license"] == "other"
    assert hostile.keys() == other.keys()
    assert hostile["configs"] == other["configs"]


def elements(page: Path) -> list[tuple[str, list[str]]]:
    """Return the elements of an HTML page, with the names of their attributes."""
    found = etree.HTML(page.read_text("utf-8")).iter(etree.Element)
    return [(str(element.tag), sorted(map(str, element.attrib))) for element in found]


def test_latex_and_the_page_hold_no_command_and_no_tag(runs: dict[str, Path]) -> None:
    hostile, other = ((runs[name] / "reports/tables.tex").read_text("utf-8") for name in runs)
    assert len(hostile.splitlines()) == len(other.splitlines())
    assert "\\input" not in hostile
    assert hostile.count("\\end{table*}") == other.count("\\end{table*}")
    hostile, other = (elements(runs[name] / "reports/index.html") for name in runs)
    assert hostile == other


def test_what_was_written_is_shown(runs: dict[str, Path]) -> None:
    """So that the tests above cannot pass because a text was left out."""
    for output, texts in {
        "dist/hub/README.md": HOSTILE[:2],
        "dist/hub/docs/bso_mine.md": HOSTILE[-1:],
        "dist/hub/LICENSE.md": HOSTILE,
        "data/audit/audit.md": HOSTILE,
    }.items():
        tokens = PARSER.parse((runs["hostile"] / output).read_text("utf-8"))
        inline = ["".join(child.content for child in token.children or []) for token in tokens]
        for text in texts:
            assert any(one_line(text) in found for found in inline), (output, text)


def test_nothing_is_written_outside_or_run(runs: dict[str, Path]) -> None:
    hostile, other = (
        {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        for folder in runs.values()
    )
    assert not [name for name in hostile if "forged" in name]
    assert hostile == other
