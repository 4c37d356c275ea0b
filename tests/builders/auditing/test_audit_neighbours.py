"""The audit of rankings and of paradigms: links that hold, clusters that can be asked, sizes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_audit import of
from test_audit import quick as quick

from builders.audit_report import failures_of, undeclared_of
from builders.store import instance_schema
from builders.tasks import TASKS
from builders.tasks.task import further_columns
from corpora_recipes.recipe import CollectionFacts
from corpora_recipes.running.errors import InputError
from probeta.auditing import audit

Rows = list[dict[str, Any]]
SENTENCES = ["El faro se apagó antes del amanecer.", "La luz del faro dejó de verse al alba."]
TERMS = ["pleamar", "bajamar", "estoa", "Reflujo"]


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that audits a dataset: its verdicts, values by words, and failures."""

    def make(task: str, rows: Rows, split: str = "test", name: str = "ds") -> dict[str, Any]:
        further = further_columns(CollectionFacts("", None, columns={"cluster": "its name"}))
        columns = TASKS[task].columns({}, further if task == "paradigms" else {})
        names = rows[0].keys()
        columns = {name: column for name, column in columns.items() if name in names}
        about = {"dataset": "ds", "task": task, "corpus": "mine", "records": "examples"}
        schema = instance_schema(columns, [], about | {"language": "es"})
        folder = tmp_path / name / "ds"
        folder.mkdir(parents=True)
        table = pa.Table.from_pylist(rows, schema=schema)
        pq.write_table(table, folder / f"{split}-00000-of-00001.parquet")
        report = audit(folder.parent, tmp_path / "audit")
        checks = report["datasets"]["ds"]["checks"]
        return {
            "verdicts": {check["gate"]: of(report, "ds", check["gate"]) for check in checks},
            "values": {check["what"]: check["value"] for check in checks},
            "failures": failures_of(report),
            "undeclared": undeclared_of(report),
        }

    return make


def ranked(texts: list[str], positives: dict[int, list[int]], documents: str = "") -> Rows:
    """Return the rows of a ranking; every linked one is of the same document, if not said."""
    rows: Rows = []
    for number, text in enumerate(texts):
        linked = positives.get(number, [])
        document = documents[number] if documents else ("0" if linked else str(number))
        rows.append({"id": f"r{number}", "text": text, "tokens": text, "document_id": document})
        rows[-1] |= {"positives": [f"r{other}" for other in linked], "source": "c/pairs"}
        rows[-1] |= {"split": "test", "licence": "CC0"}
    return rows


def clusters(*terms: list[str]) -> Rows:
    return [
        {"id": f"es/{n}", "terms": listed, "document_id": f"es/{n}", "cluster": f"{n}"}
        for n, listed in enumerate(terms)
    ]


NOT_ASKED = dict.fromkeys(("leakage", "donors", "row_order", "baselines"), "not applicable")


def test_a_ranking_passes_and_its_size_is_stated(measured) -> None:
    texts = [*SENTENCES, "El mar está en calma esta tarde.", "el mar está en calma esta tarde"]
    found = measured("sentence_ranking", ranked(texts, {0: [1], 1: [0]}))
    gates = ("text", "language", "labels", "size", "documents")
    assert found["verdicts"] == NOT_ASKED | dict.fromkeys(gates, "pass")
    values = found["values"]
    assert values["queries"] == values["pairs of a query and a positive"] == 2
    assert values["groups of texts linked as positives"] == 1
    assert values["standard error of a hit rate of 50 % on so many groups"] == 0.5
    # Stated, with no limit: a published set has such rows.
    assert values["rows that differ from another row only in case, punctuation and symbols"] == 1
    assert found["failures"] == []


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (ranked(SENTENCES, {0: [1, 7], 1: [0]}), "positives that are not rows of the dataset"),
        (ranked(SENTENCES, {0: [0, 1], 1: [0]}), "rows that are their own positive"),
        (ranked(SENTENCES, {0: [1]}, "00"), "one-sided links (A lists B, B does not list A)"),
        (ranked([SENTENCES[0]] * 2, {0: [1], 1: [0]}), "rows with the text of another row"),
        (ranked(SENTENCES, {0: [1, 1], 1: [0]}), "duplicate positives"),
        (ranked(SENTENCES, {}), "rankings without a query"),
        (ranked([*SENTENCES, ""], {0: [1], 1: [0]}), "rows without a letter or a digit"),
        (ranked([*SENTENCES, "¿…?"], {0: [1], 1: [0]}), "rows without a letter or a digit"),
    ],
)
def test_links_that_do_not_hold_are_found(measured, rows, what) -> None:
    found = measured("sentence_ranking", rows)
    assert (found["values"][what], found["verdicts"]["labels"]) == (1, "miss")
    assert found["failures"] == [f"ds, gate 7. Balanced, consistent labels: {what}: 1"]


def test_rows_in_another_split_or_with_the_id_of_another_are_found(measured) -> None:
    rows = ranked(SENTENCES, {})
    rows[1]["id"] = "r0"
    found = measured("sentence_ranking", rows, "train")
    assert found["values"]["rows outside the test split"] == 2
    assert found["values"]["rows with the id of another row"] == 1
    assert found["verdicts"]["labels"] == "miss"


@pytest.mark.parametrize(
    "value", [{"id": None}, {"document_id": None}, {"positives": None}, {"positives": ["r0", None]}]
)
def test_null_is_an_error(measured, value) -> None:
    (column,) = value
    rows = ranked(SENTENCES, {0: [1], 1: [0]})
    rows[1] |= value
    with pytest.raises(InputError, match=f"text in the column {column}\n") as error:
        measured("sentence_ranking", rows)
    assert error.value.where.endswith("ds/test-00000-of-00001.parquet, row 1")


def test_positives_in_another_document_are_found(measured) -> None:
    found = measured("sentence_ranking", ranked(SENTENCES, {0: [1], 1: [0]}, "01"))
    assert found["values"]["positives from another document than their row"] == 2
    assert found["verdicts"]["documents"] == "miss"


def test_single_words_are_judged_by_their_characters_alone(measured) -> None:
    # In a sentence these would be lost ends and another language.
    texts = ["de", "thehouseoverthere", "whatever", "(a", "a|b", "fa\ufffdro"]
    found = measured("word_ranking", ranked(texts, {0: [1], 1: [0]}))
    assert found["verdicts"]["language"] == "not applicable"
    assert found["undeclared"] == ["ds, gate 5. Undamaged text: rows with corrupted characters: 1"]
    assert found["failures"] == []


def test_clusters_pass_and_both_casings_are_stated(measured) -> None:
    found = measured("paradigms", clusters(TERMS, ["reflujo", "flujo", "marea"]))
    assert found["failures"] == []
    passed = dict.fromkeys(("text", "labels", "size", "documents"), "pass")
    assert found["verdicts"] == NOT_ASKED | passed | {"language": "not applicable"}
    values = found["values"]
    assert (values["clusters"], values["terms"], values["different terms"]) == (2, 7, 7)
    assert values["different terms in lower case"] == 6
    assert values["terms with a capital letter"] == 1


def test_repeated_terms_are_found(measured) -> None:
    found = measured("paradigms", clusters(TERMS, ["a", "b"], [*TERMS, "estoa"]))
    assert found["values"]["terms repeated in a cluster"] == 1
    assert found["verdicts"]["labels"] == "undeclared"


def test_small_clusters_are_stated(measured) -> None:
    found = measured("paradigms", clusters(TERMS, ["a", "b"], ["c"]))
    assert found["values"]["clusters of fewer than three terms, which score 0"] == 2
    assert (found["verdicts"]["labels"], found["failures"]) == ("pass", [])


def test_an_empty_cluster_or_a_missing_column_is_an_error(measured) -> None:
    with pytest.raises(InputError, match=r"row 1(.|\n)*one text or more"):
        measured("paradigms", clusters(TERMS, []))
    rows = [{k: v for k, v in row.items() if k != "positives"} for row in ranked(SENTENCES, {})]
    with pytest.raises(InputError, match="the columns text, document_id, positives, source, id"):
        measured("sentence_ranking", rows, name="other")
