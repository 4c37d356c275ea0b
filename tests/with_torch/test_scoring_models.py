"""`score` of models: a folder, and an object of sentence-transformers, with prompts."""

from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer

from probeta import score


@pytest.mark.parametrize("prompts", [None, {"SS": "query: "}])
def test_a_folder_and_the_object_have_one_score(
    hub_folder: Path, minilm: str, prompts: dict[str, str] | None
) -> None:
    common = {"data": "dist/hub", "datasets": ["sts_own"], "prompts": prompts}
    folder = score(minilm, **common)
    given = score(SentenceTransformer(minilm, device="cpu"), **common)
    assert folder.results.encoder["encoder"] == "sentence_transformers"
    assert folder["sts_own"].value == pytest.approx(given["sts_own"].value, abs=1e-5)
    assert (folder.results.name, given.results.name) == ("model", "SentenceTransformer")
    assert folder.store == Path("data/embeddings/model")
    plain = score(minilm, data="dist/hub", datasets=["sts_own"], name="plain")
    assert (folder["sts_own"].value == plain["sts_own"].value) == (prompts is None)


def test_a_model_without_pooling_is_of_transformers(hub_folder: Path, tiny: dict[str, str]) -> None:
    found = score(tiny["bert"], datasets=["bso_own"], name="tiny").results.encoder
    assert (found["encoder"], found["layers"]) == ("transformers", ["avg"])
