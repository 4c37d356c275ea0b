"""Architectures of today, tiny and with random weights: the library's own vectors, or refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import CrossEncoder, MultiVectorEncoder, SentenceTransformer
from sentence_transformers import SparseEncoder as Sparse
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    Normalize,
    Pooling,
    StaticEmbedding,
    Transformer,
)
from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling
from tiny_models import word_tokenizer

from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder

TEXTS = [
    "el perro come",
    "la gato duerme muy bien en una casa y no ve un puente que cruza el río",
    "un",
    "el puente cruza el río que no ve la casa",
]
SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
SIZES |= {"num_hidden_layers": 3, "max_position_embeddings": 64}
GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8}
GPT = {"n_layer": 3, "n_head": 4}
TEXT = {"text_config": GROUPED | {"sliding_window": 8}, "mm_tokens_per_image": 4}
VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
VISION |= {"num_attention_heads": 2, "image_size": 8, "patch_size": 4}
# Name to the type in transformers, and its sizes.
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "albert": ("albert", SIZES | {"embedding_size": 16}),
    "bart": ("bart", {"d_model": 32, "encoder_layers": 3, "decoder_layers": 2}),
    "bert": ("bert", SIZES),
    "bloom": ("bloom", GPT | {"hidden_size": 32}),
    "clip_text": ("clip_text_model", SIZES | {"eos_token_id": 1}),
    "deberta_v3": (
        "deberta-v2",
        SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8},
    ),
    "distilbert": ("distilbert", {"dim": 32, "hidden_dim": 48, "n_heads": 4, "n_layers": 3}),
    "electra": ("electra", SIZES | {"embedding_size": 16}),
    "gemma3": ("gemma3", TEXT | {"vision_config": VISION}),
    "gemma3_text": ("gemma3_text", GROUPED | {"sliding_window": 8}),
    "gpt2": ("gpt2", GPT | {"n_embd": 32}),
    "gpt_neox": ("gpt_neox", SIZES),
    "llama": ("llama", GROUPED),
    "mamba": ("mamba", {"hidden_size": 32, "num_hidden_layers": 3, "state_size": 8}),
    "mistral": ("mistral", GROUPED | {"sliding_window": 8}),
    "modernbert": ("modernbert", SIZES | {"local_attention": 8}),
    "mpnet": ("mpnet", SIZES),
    "opt": ("opt", SIZES | {"ffn_dim": 48, "word_embed_proj_dim": 32}),
    "phi": ("phi", SIZES),
    "qwen3": ("qwen3", GROUPED),
    "roberta": ("roberta", SIZES),
    "t5": ("t5", {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 3, "num_heads": 4}),
    "xlm_roberta": ("xlm-roberta", SIZES),
    "xlnet": ("xlnet", {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48}),
}
# Models of transformers whose tokenisers have no token for padding.
CAUSAL = {"bloom", "gemma3", "gemma3_text", "gpt2", "gpt_neox", "llama", "mamba", "mistral", "opt"}
CAUSAL |= {"phi", "qwen3"}


def write_body(folder: Path, name: str, kind: str = "AutoModel") -> Path:
    """Save a model whose layers and tokens differ, and a tokeniser of words."""
    special = (
        {"eos_token": "</s>"} if name in CAUSAL else {"pad_token": "<pad>", "eos_token": "</s>"}
    )
    tokenizer = word_tokenizer("left" if name in CAUSAL else "right", **special)
    tokenizer.model_max_length = 64
    model_type, sizes = BODIES[name]
    tokens = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id or 0}
    tokens |= {"bos_token_id": 0, "eos_token_id": 0, "initializer_range": 0.3, "init_std": 0.3}
    sizes = tokens | sizes
    if text := sizes.get("text_config"):
        sizes = {"text_config": tokens | text, "vision_config": sizes["vision_config"]}
        sizes |= {"mm_tokens_per_image": 4}
    config = transformers.AutoConfig.for_model(model_type, **sizes)
    torch.manual_seed(1)
    model = getattr(transformers, kind).from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += torch.randn(parameter.shape) * 0.05
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(params=BODIES)
def body(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_body(tmp_path / request.param, request.param)


def encode(model: Path, kind: str = "transformers", **options: Any) -> np.ndarray:
    return make_encoder("mine", {"encoder": kind, "model": str(model), **options}).encode(TEXTS)


def means_by_hand(folder: Path) -> np.ndarray:
    """Return the means over the tokens by the library, of one text at a time, in all layers."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    means = []
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            states = model(ids, output_hidden_states=True).hidden_states
        means.append(torch.cat(states).mean(1).numpy())
    return np.stack(means)


def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.vecdot(x, y) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)


def test_the_layers_are_the_librarys(body: Path) -> None:
    found = encode(body, layer="all")
    expected = means_by_hand(body)
    assert found.shape == (4, len(expected[0]) + 1, 32)
    scale = np.abs(expected).max((0, 2))[:, None]
    assert found[:, :-1] / scale == pytest.approx(expected / scale, abs=1e-5)
    assert np.abs(np.diff(found, axis=0)).max(2).min() > 1e-3
    if body.name == "xlnet":  # the library itself mixes two types
        with pytest.raises(InputError, match="Half"):
            encode(body, dtype="float16")
    else:
        assert cosines(encode(body, layer="all", dtype="float16"), found).min() >= 0.999


# The library's names of poolings by ours.
MODES = {"mean": "mean", "cls": "cls", "max": "max", "last": "lasttoken"}
MODES |= {"weighted_mean": "weightedmean"}


@pytest.mark.parametrize("name", ["bert", "gemma3_text", "modernbert", "qwen3", "t5"])
def test_poolings_are_those_of_sentence_transformers(name: str, tmp_path: Path) -> None:
    body = write_body(tmp_path / name, name)
    for pooling, mode in MODES.items():
        model = SentenceTransformer(modules=[Transformer(str(body)), Pooling(32, mode)])
        model.tokenizer.padding_side = "right"
        model.tokenizer.pad_token = model.tokenizer.pad_token or "</s>"
        model.save(str(tmp_path / pooling))
        expected = model.encode(TEXTS, convert_to_numpy=True)
        by_library = encode(tmp_path / pooling, "sentence_transformers")
        assert by_library[:, 0] == pytest.approx(expected, abs=1e-5)
        found = encode(body, layer=-1, pooling=pooling)
        assert found[:, 0] == pytest.approx(expected, abs=1e-5 * float(np.abs(expected).max()))


def write_static(folder: Path) -> None:
    torch.manual_seed(1)
    tokenizer = word_tokenizer(pad_token="<pad>").backend_tokenizer
    SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=16)]).save(str(folder))


def write_model2vec(folder: Path) -> None:
    """Write what `model2vec` saves: its own names, and modules.json for sentence-transformers."""
    from safetensors.torch import save_file

    folder.mkdir()
    tokenizer = word_tokenizer(pad_token="[PAD]", unk_token="[UNK]")
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    vectors = torch.randn((len(tokenizer), 16), generator=torch.Generator().manual_seed(1))
    save_file({"embeddings": vectors}, folder / "model.safetensors")
    (folder / "config.json").write_text(
        json.dumps({"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": True})
    )
    kinds = {"StaticEmbedding": ".", "Normalize": "1_Normalize"}
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(kinds.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))


def write_clip(folder: Path) -> None:
    body = write_body(folder / "body", "clip_text")
    modules = [Transformer(str(body)), Pooling(32, "cls"), Normalize()]
    SentenceTransformer(modules=modules).save(str(folder))


@pytest.mark.parametrize("write", [write_static, write_model2vec, write_clip])
def test_static_vectors_and_others_are_the_librarys(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path / "model")
    expected = SentenceTransformer(str(tmp_path / "model"), device="cpu").encode(TEXTS)
    found = encode(tmp_path / "model", "sentence_transformers")
    assert found[:, 0] == pytest.approx(expected, abs=1e-5)
    assert np.abs(np.diff(found, axis=0)).max(2).min() > 1e-3


# --- refused -------------------------------------------------------------------------------------


def write_splade(folder: Path) -> str:
    body = write_body(folder / "body", "bert", "AutoModelForMaskedLM")
    Sparse(modules=[MLMTransformer(str(body)), SpladePooling()]).save(str(folder / "model"))
    return "SparseEncoder"


def write_cross_encoder(folder: Path) -> str:
    body = write_body(folder / "body", "bert", "AutoModelForSequenceClassification")
    CrossEncoder(str(body)).save(str(folder / "model"))
    return "CrossEncoder"


def write_late_interaction(folder: Path) -> str:
    body = write_body(folder / "body", "bert")
    modules = [Transformer(str(body)), Dense(32, 8, module_output_name="token_embeddings")]
    MultiVectorEncoder(modules=[*modules, MultiVectorMask()]).save(str(folder / "model"))
    return "MultiVectorEncoder"


OTHERS = [write_splade, write_cross_encoder, write_late_interaction]


@pytest.mark.parametrize("write", OTHERS)
@pytest.mark.parametrize("named", [True, False], ids=["type", "modules"])
def test_another_model_of_the_library_is_refused(
    write: Callable[[Path], str], named: bool, tmp_path: Path
) -> None:
    kind, folder = write(tmp_path), tmp_path / "model"
    if not named:
        (folder / "config_sentence_transformers.json").unlink()
    encoder = make_encoder("mine", {"encoder": "sentence_transformers", "model": str(folder)})
    for refuse in (encoder.check, lambda: encoder.encode(["el perro"])):
        with pytest.raises(InputError) as caught:
            refuse()
        assert caught.value.where == f"model {folder}"
        assert "score a sentence encoder" in caught.value.todo
        assert kind in caught.value.found or not named


def change_config(**values: object) -> Callable[[Path], None]:
    """Return what writes a BERT with other values in config.json."""

    def write(folder: Path) -> None:
        path = write_body(folder, "bert") / "config.json"
        path.write_text(json.dumps(json.loads(path.read_bytes()) | values))

    return write


def write_clip_of_both(folder: Path) -> None:
    write_body(folder, "clip_text")
    text = {"projection_dim": 8, **SIZES, "vocab_size": 30}
    vision = {**VISION, "projection_dim": 8}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision)
    transformers.CLIPModel(config).save_pretrained(folder)


@pytest.mark.parametrize(
    ("write", "found"),
    [
        (lambda f: write_body(f, "bert", "AutoModelForSequenceClassification"), "cross-encoder"),
        (change_config(architectures=["HF_ColBERT"]), "HF_ColBERT"),
        (change_config(auto_map={"AutoModel": "modeling.Both"}), "modeling.Both"),
        (write_clip_of_both, "NoneType"),
    ],
    ids=["classifier", "colbert", "own-code", "clip"],
)
def test_another_architecture_is_refused(
    write: Callable[[Path], object], found: str, tmp_path: Path
) -> None:
    write(tmp_path / "model")
    with pytest.raises(InputError) as caught:
        encode(tmp_path / "model")
    assert caught.value.where == f"model {tmp_path / 'model'}"
    assert found in caught.value.found
    assert caught.value.expected
    assert caught.value.todo


def test_token_vectors_without_pooling_are_refused(tmp_path: Path) -> None:
    body = write_body(tmp_path / "body", "bert")
    modules = [Transformer(str(body)), Dense(32, 8, module_output_name="token_embeddings")]
    SentenceTransformer(modules=modules).save(str(tmp_path / "model"))
    with pytest.raises(InputError, match="gives a text a vector"):
        encode(tmp_path / "model", "sentence_transformers")
