"""A task, an encoder and a section of the report are added in few places: the whole way of each.

What is added here at run time is what CONTRIBUTING.md says: a task, an encoder, a section, and
entries in params.yaml. Everything else must work as it is.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import yaml

from builders.sampling.passages import Passage, as_passages, first_sentences
from builders.tasks import TASKS, sentence_ordering
from builders.tasks.task import Text
from evaluation.encoders import ENCODERS
from evaluation.encoders.encoder import OneVector
from probeta.cli import main
from probeta.report import formats
from probeta.report.statistics import Report
from probeta.report.texts import all_texts


def passages(document: Any, draw: Any) -> list[Passage]:
    del draw
    return as_passages(document, first_sentences(document, 3))


def instances(found: Sequence[Passage], draw: Any, quota: int) -> list[dict[str, Any]]:
    """Make rows of three sentences, whose class is whether the first two are swapped."""
    del draw
    rows = []
    for number, passage in enumerate(found[: min(quota, len(found)) // 2 * 2]):
        one, two, three = passage.sentences
        shown = [one, two, three] if number % 2 else [two, one, three]
        rows.append({"passage": passage.id, "sentences": shown, "label": number % 2})
    return rows


TOY_TASK = replace(
    sentence_ordering.TASK,
    name="toy_order",
    question="Are the first two of three sentences swapped?",
    texts=(Text("sentences", "tokens", "strings", "natural text", 3),),
    passages=passages,
    instances=instances,
)


@dataclass(frozen=True)
class ToyEncoder(OneVector):
    """Counts letters."""

    name: ClassVar[str] = "toy"
    revision: ClassVar[str] = "1"
    dimension: ClassVar[int] = 3
    parallel: ClassVar[bool] = True

    def encode(self, texts: Sequence[str]) -> Any:
        counts = [[[text.count(letter) + 1 for letter in "aeo"]] for text in texts]
        return np.array(counts, np.float32).reshape(len(texts), 1, 3)


# Its code decides its vectors: a new encoder is a module of this room.
ToyEncoder.__module__ = "evaluation.encoders.char_hash"


def toy_table(report: Report) -> Iterator[dict[str, Any]]:
    yield from ({"encoder": name, "toy": "seen", "value": 0.5} for name in report.names)


def test_a_task_an_encoder_and_a_section(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TASKS, "toy_order", TOY_TASK)
    monkeypatch.setitem(ENCODERS, "toy", ToyEncoder)
    section = (toy_table, formats.Layout("toy_table", "encoder", "toy"))
    monkeypatch.setitem(all_texts(), "toy_table", {"title": "A table of the test"})
    monkeypatch.setattr(formats, "TABLES", {**formats.TABLES, "toy_table": toy_table})
    monkeypatch.setattr(formats, "SECTIONS", (*formats.SECTIONS, section))
    documents = repository / "corpora_recipes/corpora/documents/sample/documents.jsonl"
    params = {
        "seed": 1,
        "corpora": {
            "mine": {
                "corpus": {"recipe": "documents", "path": str(documents), "language": "es"},
                "datasets": {"toy_mine": {"task": "toy_order"}},
            }
        },
        "encoders": {"toy": {}},
    }
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    assert main(["list"]) == 0
    assert main(["repro"]) == 0
    assert "toy_mine" in Path("dist/hub/README.md").read_text("utf-8")
    assert TOY_TASK.question in Path("dist/hub/docs/toy_mine.md").read_text("utf-8")
    (score,) = json.loads(Path("reports/scores.json").read_bytes())
    assert (score["encoder"], score["dataset"]) == ("toy", "toy_mine")
    assert 0 <= score["score"] <= 1
    toys = json.loads(Path("reports/tables.json").read_bytes())["toy_table"]
    assert toys["data"] == [["toy", "seen", 0.5]]
    assert "A table of the test" in Path("reports/tables.tex").read_text("utf-8")
    assert TOY_TASK.question in Path("reports/index.html").read_text("utf-8")
