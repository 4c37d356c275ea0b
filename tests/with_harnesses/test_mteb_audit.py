"""The audit of tasks that the installed mteb knows, from a server that speaks as the Hub."""

from pathlib import Path

import mteb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_server import commit, hub, point_at

from corpora_recipes.running.errors import InputError
from probeta.auditing import audit, locate

PAIRS = [("Llueve en la sierra.", "Cae agua en la sierra."), ("Nieva.", "Hace sol.")]


def test_a_task_tells_repository_revision_columns_and_language(tmp_path: Path, monkeypatch) -> None:
    about = mteb.get_task("STSES").metadata.dataset
    # The server takes what follows the @ for the name of a tag.
    folder = tmp_path / "STSES"
    test = tmp_path / f"STSES@{about['revision']}" / "data" / "test-00000-of-00001.parquet"
    folder.mkdir()
    test.parent.mkdir(parents=True)
    one, other = zip(*PAIRS, strict=True)
    columns = {"id": ["a", "b"], "sentence1": one, "sentence2": other, "score": [4.5, 0.5]}
    pq.write_table(pa.table(columns), test)
    with hub(folder, about["path"]) as endpoint:
        point_at(endpoint, tmp_path / "cache", monkeypatch)
        report = audit("mteb:STSES", tmp_path / "audit")
    assert report["source"] == {
        "name": "mteb:STSES",
        "repository": about["path"],
        "asked": about["revision"],
        "revision": commit(test.parents[1]),
    }
    (facts,) = report["datasets"].values()
    assert (facts["language"], facts["records"]) == ("es", "examples")
    assert (facts["texts"], facts["answer"]) == (["sentence1", "sentence2"], "score")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mteb:NoSuchTask", ["this version of mteb", "available-tasks"]),
        ("mteb:XNLI", ["one language", "es", "--language"]),
        ("mteb:ArguAna", ["PairClassification", "Retrieval", "hf://datasets/mteb/arguana@"]),
    ],
)
def test_tasks_that_cannot_be_audited(name: str, words: list[str]) -> None:
    with pytest.raises(InputError) as error:
        locate(name)
    assert all(word in str(error.value) for word in words), str(error.value)
