"""The encoder transformers; the protocol senteval in torch."""

import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from probe_problems import QUICK, folds, splits
from tiny_models import WRITERS, write_bert
from transformers import AutoModel, AutoTokenizer

from evaluation.encoders import make_encoder, transformer
from evaluation.encoders.transformer import Transformer, _batches
from evaluation.probing.protocols import senteval
from evaluation.probing.protocols.senteval import SCHEDULES, fit_predict

POOLINGS = Transformer.choices["pooling"]

# --- transformer ---------------------------------------------------------------------------------

TEXTS = [
    "el perro come",
    "la gato duerme muy bien en una casa y no ve un puente",
    "un",
    "el puente cruza el río que no ve la casa",
    "no come y no duerme",
    "perro perro perro",
]
LAYERS = {"bert": 2, "roberta": 2, "gpt2": 3, "t5": 3}


def encode(model: str, texts: list[str], **options: Any) -> np.ndarray:
    entry = {"encoder": "transformers", "model": model, **options}
    return make_encoder("mine", entry).encode(texts)


def by_hand(folder: str, text: str) -> np.ndarray:
    """Return the hidden states of one text alone, [layers, tokens, dimension]."""
    model = AutoModel.from_pretrained(folder).eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    given = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    with torch.no_grad():
        output = model(**given, output_hidden_states=True)
    return torch.stack(output.hidden_states)[:, 0].numpy()


POOL = {
    "mean": lambda states: states.mean(1),
    "cls": lambda states: states[:, 0],
    "max": lambda states: states.max(1),
    "last": lambda states: states[:, -1],
    "weighted_mean": lambda states: np.average(
        states, axis=1, weights=np.arange(1, states.shape[1] + 1)
    ),
}


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("kind", WRITERS)
def test_all_layers_by_hand(kind: str, pooling: str, tiny: dict[str, str]) -> None:
    options = {"model": tiny[kind], "layer": "all", "pooling": pooling}
    encoder = make_encoder("transformers", options)
    count = LAYERS[kind]
    assert encoder.layers == (*map(str, range(count + 1)), "avg")
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), count + 2, encoder.dimension) == (6, count + 2, 16)
    for text, of_text in zip(TEXTS, vectors, strict=True):
        pooled = POOL[pooling](by_hand(tiny[kind], text))
        assert of_text[:-1] == pytest.approx(pooled, abs=1e-5)
        assert of_text[-1] == pytest.approx(pooled.mean(0), abs=1e-5)
    # Layers and texts differ, or the above would show little.
    assert np.abs(np.diff(vectors, axis=1)).max(2).min() > 0.01
    assert np.abs(np.diff(vectors[:, -1], axis=0)).max(1).min() > 0.01


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_list_of_layers(kind: str, tiny: dict[str, str]) -> None:
    whole = encode(tiny[kind], TEXTS, layer="all")
    entry = {"encoder": "transformers", "model": tiny[kind], "layer": [-1, 0, "first_last"]}
    encoder = make_encoder("mine", entry)
    assert (encoder.layers, encoder.layer) == ((str(LAYERS[kind]), "0", "first_last"), "first_last")
    vectors = encoder.encode(TEXTS)
    assert vectors[:, :2] == pytest.approx(whole[:, [LAYERS[kind], 0]], abs=1e-6)
    assert vectors[:, 2] == pytest.approx(whole[:, [1, LAYERS[kind]]].mean(1), abs=1e-6)
    # Nothing above the highest layer runs.
    assert encode(tiny[kind], TEXTS, layer=[1, 0])[:, 0] == pytest.approx(whole[:, 1], abs=1e-6)


@pytest.mark.parametrize("pooling", [name for name in POOLINGS if name != "cls"])
def test_without_special_tokens(pooling: str, tiny: dict[str, str]) -> None:
    vectors = encode(tiny["bert"], [*TEXTS, ""], layer=-1, pooling=pooling, special_tokens=False)
    for text, vector in zip(TEXTS, vectors, strict=False):
        words = by_hand(tiny["bert"], text)[-1:]
        # [CLS] is pooled with the weight 0: the others keep their places.
        words = words.copy() if pooling == "weighted_mean" else words[:, 1:]
        if pooling == "weighted_mean":
            places = np.arange(1, words.shape[1] + 1) * ([0] + [1] * (words.shape[1] - 2) + [0])
            expected = np.average(words, axis=1, weights=places)
        else:
            expected = POOL[pooling](words[:, :-1])
        assert vector == pytest.approx(expected, abs=1e-5)
    assert not vectors[-1].any()
    entry = {"encoder": "transformers", "model": tiny["bert"], "special_tokens": False}
    assert make_encoder("mine", entry).options["special_tokens"] is False


@pytest.mark.parametrize("kind", WRITERS)
def test_random_weights_come_from_the_seed(kind: str, tiny: dict[str, str]) -> None:
    torch.manual_seed(7)
    state = torch.get_rng_state()
    found = encode(tiny[kind], TEXTS, layer="all", weights="random")
    assert torch.equal(torch.get_rng_state(), state)
    transformer.load_model.cache_clear()
    assert np.array_equal(encode(tiny[kind], TEXTS, layer="all", weights="random", seed=1), found)
    for other in ({"weights": "random", "seed": 2}, {"weights": "trained", "seed": 2}):
        assert np.abs(encode(tiny[kind], TEXTS, layer="all", **other) - found).max() > 0.01
    # As the library draws them: a matrix has the deviation of the configuration.
    entry = {"encoder": "transformers", "model": tiny[kind], "weights": "random"}
    encoder = make_encoder("mine", entry)
    loaded = transformer.load_model(
        encoder.source, LAYERS[kind], LAYERS[kind], 16, encoder.loading, 1
    )  # type: ignore[union-attr]
    if kind != "t5":
        weight = max(loaded.model.parameters(), key=lambda p: p.numel() * (p.dim() == 2))
        assert float(weight.detach().std()) == pytest.approx(0.02, rel=0.2)
    assert encoder.options.items() >= {"weights": "random", "seed": 1}.items()
    trained = make_encoder("mine", {"encoder": "transformers", "model": tiny[kind], "seed": 2})
    assert not {"weights", "seed"} & trained.options.keys()


def test_random_weights_need_no_trained_ones(tiny: dict[str, str], tmp_path: Path) -> None:
    expected = encode(tiny["bert"], TEXTS, weights="random")
    folder = shutil.copytree(tiny["bert"], tmp_path / "bert")
    (folder / "model.safetensors").unlink()
    assert np.array_equal(encode(str(folder), TEXTS, weights="random"), expected)


@pytest.mark.parametrize("kind", WRITERS)
def test_each_layer_alone(kind: str, tiny: dict[str, str]) -> None:
    whole = encode(tiny[kind], TEXTS, layer="all")
    for place, layer in enumerate([*map(str, range(LAYERS[kind] + 1)), "avg"]):
        alone = encode(tiny[kind], TEXTS, layer=layer)
        assert alone.shape == (6, 1, 16)
        assert alone[:, 0] == pytest.approx(whole[:, place], abs=1e-6)


def test_layers_above_the_one_asked_for_do_not_run(tiny: dict[str, str]) -> None:
    from evaluation.encoders.transformer import load_model

    encoder = make_encoder("mine", {"encoder": "transformers", "model": tiny["gpt2"], "layer": "1"})
    encoder.encode(["el"])
    assert load_model.cache_info().currsize == 1
    loaded = load_model(encoder.source, 3, 2, 16, encoder.loading, None)  # type: ignore[union-attr]
    assert load_model.cache_info().hits > 0
    assert len(loaded.model.h) == loaded.n_layers == 2


@pytest.mark.parametrize("kind", WRITERS)
def test_order_and_company_decide_no_bit(kind: str, tiny: dict[str, str]) -> None:
    texts = [f"{text} {end}" for end in ("bien", "casa de", "y") for text in TEXTS]
    found = encode(tiny[kind], texts, layer="all")
    assert np.array_equal(encode(tiny[kind], texts[::-1], layer="all")[::-1], found)
    for some in (slice(4, 5), slice(9, 12), slice(1, None, 2)):
        assert np.array_equal(encode(tiny[kind], texts[some], layer="all"), found[some])
    for batch in (1, 2, 7):
        other = encode(tiny[kind], texts, layer="all", batch=batch)
        assert other == pytest.approx(found, abs=1e-5)


def test_order_and_company_decide_no_bit_of_a_real_size(tmp_path: Path) -> None:
    """With matrices for which libraries choose other kernels, and texts of several shapes."""
    model = write_bert(tmp_path / "wide", hidden_size=192, intermediate_size=768)
    words = " ".join(TEXTS).split()
    texts = [" ".join(words[start : start + 1 + start * 5 % 40]) for start in range(30)]
    found = encode(model, texts * 3)
    assert np.array_equal(encode(model, texts[::-1])[::-1], found[:30])
    assert np.array_equal(found[30:60], found[:30])
    for row in (0, 7, 29):
        assert np.array_equal(encode(model, texts[row : row + 1]), found[row : row + 1])


def test_a_batch_has_the_shape_of_its_texts() -> None:
    lengths = [0, 3, 8, 9, 64, 65, 81, 300, 900, *[5] * 70]
    fixed = list(_batches(lengths, 512, 32, fixed=True))
    long = [(1, 512), (1, 320), (5, 96), (6, 80), (8, 64), (32, 16)]
    assert [(count, size) for _, count, size in fixed] == [*long, (64, 8), (64, 8)]
    assert sorted(row for rows, *_ in fixed for row in rows) == [*range(1, 79)]
    # Not fixed, as on a GPU: as few batches as may be, as long as their longest text.
    free = list(_batches(lengths, 512, 32, fixed=False))
    shapes = [(len(rows), count, size) for rows, count, size in free]
    assert shapes == [(8, 8, 512), (32, 32, 5), (32, 32, 5), (6, 6, 5)]


def test_texts_that_are_too_long_are_cut_and_counted(
    tiny: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    words = [*TEXTS[0].split(), *TEXTS[1].split()]
    texts = [" ".join(words), " ".join([*words, *words]), "el"]
    with caplog.at_level(logging.WARNING):
        five = encode(tiny["bert"], texts, max_length=5)
    assert "2 of 3 texts have more than 5 tokens and were cut" in caplog.text
    assert five[:2] == pytest.approx(encode(tiny["bert"], ["el perro come"] * 2), abs=1e-5)
    caplog.clear()
    assert encode(tiny["bert"], ["el perro come"], max_length=5).any()
    assert not caplog.records
    # The model's own limit: 20 positions less the padding token's and those before it.
    with caplog.at_level(logging.WARNING):
        long = encode(tiny["roberta"], [" ".join([*words, *words])])
    assert "1 of 1 texts have more than 17 tokens" in caplog.text
    kept = " ".join([*words, *words][:17])
    assert long == pytest.approx(encode(tiny["roberta"], [kept]), abs=1e-5)


def test_a_text_without_tokens_gets_zeros(tiny: dict[str, str]) -> None:
    found = encode(tiny["gpt2"], ["", "el perro", " "], layer="all")
    assert not found[[0, 2]].any()
    assert found[1] == pytest.approx(encode(tiny["gpt2"], ["el perro"], layer="all")[0], abs=1e-5)
    assert encode(tiny["gpt2"], [""]).shape == (1, 1, 16)
    assert encode(tiny["gpt2"], []).shape == (0, 1, 16)


def test_lower_case_is_the_tokenisers_affair(tmp_path: Path) -> None:
    texts = ["El perro", "el perro", "EL PERRO"]
    a, b, c = encode(write_bert(tmp_path / "uncased", lower=True), texts)
    assert np.array_equal(a, b)
    assert np.array_equal(a, c)
    a, b, c = encode(write_bert(tmp_path / "cased", lower=False), texts)
    assert a != pytest.approx(b, abs=0.01)
    assert c != pytest.approx(b, abs=0.01)


def test_bfloat16(minilm: str) -> None:
    texts = ["El perro come.", "Hay un puente sobre el río."]
    full, half = encode(minilm, texts), encode(minilm, texts, dtype="bfloat16")
    assert half.dtype == np.float32
    assert not np.array_equal(half, full)
    assert half == pytest.approx(full, abs=0.03)
    entry = {"encoder": "transformers", "model": minilm, "dtype": "bfloat16"}
    assert make_encoder("mine", entry).options["dtype"] == "bfloat16"


def test_a_prompt_stands_before_each_text(tiny: dict[str, str]) -> None:
    entry = {"encoder": "transformers", "model": tiny["bert"], "prompts": {"default": "un perro "}}
    encoder = make_encoder("mine", entry)
    assert "prompts" not in encoder.options
    expected = encode(tiny["bert"], [f"un perro {text}" for text in TEXTS])
    assert np.array_equal(encoder.encode(TEXTS, "un perro "), expected)
    assert not np.array_equal(encoder.encode(TEXTS), expected)
    around = encode(tiny["bert"], [f"un {text} come" for text in TEXTS])
    assert np.array_equal(encoder.encode(TEXTS, "un {} come"), around)


# --- senteval engines ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["sentence_classification", "discourse_coherence", "relatedness"])
def test_torch_agrees_with_numpy(task, monkeypatch):
    short = {
        name: replace(schedule, passes=60, hidden=min(50, schedule.hidden))
        for name, schedule in SCHEDULES.items()
    }
    monkeypatch.setattr(senteval, "SCHEDULES", short)
    problem, _ = splits(task, apart=0.5)
    if task == "relatedness":
        y, other = problem.y / 2, problem.validation[1] / 2
        problem = replace(problem, metric="pearson", y=y, validation=(problem.validation[0], other))
    by_numpy, by_torch = (fit_predict(problem, 1, name, 2) for name in ("numpy", "torch"))
    assert np.mean(np.abs(by_numpy.predictions - by_torch.predictions) < 1e-3) >= 0.99
    assert by_numpy.chosen == by_torch.chosen


def test_torch_agrees_with_numpy_in_folds(monkeypatch):
    monkeypatch.setattr(senteval, "Schedule", lambda: QUICK)
    problem = folds(apart=1)
    by_numpy, by_torch = (fit_predict(problem, 1, name, 2) for name in ("numpy", "torch"))
    assert np.mean(by_numpy.predictions == by_torch.predictions) >= 0.99
