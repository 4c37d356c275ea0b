"""`encoder: mteb`: a real model gives one score, however it is called."""

from collections.abc import Iterator
from pathlib import Path

import mteb
import pytest
from mteb.models.get_model_meta import MODEL_REGISTRY

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder, mteb_model
from evaluation.encoders.encoder import describe
from probeta import benchmark, score

RANDOM = "mteb/baseline-random-encoder"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    mteb_model._find_meta.cache_clear()
    mteb_model.load_model.cache_clear()


def test_one_score_by_three_ways(hub_folder: Path, cached_minilm: str, minilm: Path) -> None:
    Path("mine.yaml").write_text(
        "seed: 7\nencoders:\n"
        f"  ours: {{encoder: mteb, model: {cached_minilm}}}\n"
        f"  theirs: {{encoder: sentence_transformers, model: {minilm}}}\n"
    )
    common = {"data": hub_folder, "params": "mine.yaml"}
    ours, theirs = score("ours", **common), score("theirs", **common)
    model = mteb.get_model(cached_minilm, device="cpu")
    found = mteb.evaluate(model, benchmark(hub_folder), cache=None, show_progress_bar=False)
    by_mteb = {one.task_name: one.get_score() for one in found.task_results}
    for one in theirs.results.scores:
        assert ours[one.dataset].value == pytest.approx(one.value, abs=1e-6)
        assert by_mteb[f"probeta_{one.dataset}"] == pytest.approx(one.value, abs=1e-6)
    assert ours.results.encoder["revision"] == mteb.get_model_meta(cached_minilm).revision


def test_what_a_vector_depends_on() -> None:
    found = describe(make_encoder("mine", {"encoder": "mteb", "model": RANDOM, "batch": 8}))
    assert found.options == {"model": RANDOM, "batch": 8, "mteb": mteb.__version__}
    assert found.revision == mteb.get_model_meta(RANDOM).revision
    assert found.prompts["SS"] == found.prompts["default"] == "STS"
    assert {found.prompts[name] for name in ("SP", "SC", "LPT")} == {"Classification"}


def test_the_models_own_prompts_are_used(
    hub_folder: Path, cached_minilm: str, minilm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = {"model_prompts": {"STS": "query: "}}
    meta = mteb.get_model_meta(cached_minilm).model_copy(update={"loader_kwargs": prompts})
    monkeypatch.setitem(MODEL_REGISTRY, cached_minilm, meta)
    encoder = make_encoder("mine", {"encoder": "mteb", "model": cached_minilm})
    plain = make_encoder("plain", {"encoder": "sentence_transformers", "model": str(minilm)})
    text = ["El puente se abrió."]
    assert encoder.encode(text, "STS") == pytest.approx(plain.encode(text, "query: "), abs=1e-6)
    assert encoder.encode(text, "Classification") == pytest.approx(plain.encode(text), abs=1e-6)
    asked = benchmark(hub_folder, datasets=["sts_own"])
    found = mteb.evaluate(meta, asked, cache=None, show_progress_bar=False).task_results[0]
    theirs = score(minilm, hub_folder, datasets=["sts_own"], prompts={"SS": "query: "})
    assert found.get_score() == pytest.approx(theirs["sts_own"].value, abs=1e-6)


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(InputError, match="all-MiniLM-L6-v2"):
        make_encoder("mine", {"encoder": "mteb", "model": "all-MiniLM-L6-v3"}).encode(["a"])
