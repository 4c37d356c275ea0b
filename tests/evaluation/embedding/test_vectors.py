"""The option `vectors`: float16, and vectors that are not kept; and a disk that is too small."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from case_tables import read_tables
from contents import contents, flip_bit
from functions import forget_functions
from instance_files import row, write_dataset
from paradigm_files import write_paradigms_dataset
from stores import fill_store

from corpora_recipes.running.cache import Cache
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import EMBEDDINGS, ENCODED, PACKAGE
from corpora_recipes.running.stage import read_skipped
from evaluation.embedding import embedding
from evaluation.embedding.store import EmbeddingStore
from evaluation.encoders import make_encoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import Vectors, describe
from probeta import score
from probeta.cli import main

TABLES = read_tables(__file__)

HALF = Vectors(dtype="float16")


class Given(CharHash):
    """Gives the vectors of some texts."""

    vectors_of: dict[str, Any]

    def encode(self, texts: Any) -> Any:
        return np.array([self.vectors_of[text] for text in texts], np.float32)[:, None]


Given.__module__ = CharHash.__module__


def store_of(folder: Path, vectors: Any, of: Vectors = HALF) -> tuple[EmbeddingStore, list[str]]:
    texts = [f"text {number}" for number in range(len(vectors))]
    encoder = Given(dimension=vectors.shape[1], vectors=of)
    object.__setattr__(encoder, "vectors_of", dict(zip(texts, vectors, strict=True)))
    fill_store(folder, encoder, texts)
    return EmbeddingStore(folder, encoder), texts


def test_float16_rounds_and_no_more(tmp_path: Path) -> None:
    """Whatever the scale of a vector: Gemma's are beyond float16, and 0 stays 0."""
    generator = np.random.Generator(np.random.PCG64(3))
    vectors = generator.normal(size=(70, 40)).astype(np.float32)
    vectors[3:6] *= np.float32([[0], [1e30], [1e-38]])
    vectors[6, 7] = 5e3
    store, texts = store_of(tmp_path / "half", vectors)
    order = generator.permutation(70)[:50]
    stored = store.lookup([texts[number] for number in order], "output")
    assert stored.dtype == np.float32
    assert stored == pytest.approx(vectors[order], rel=2**-11, abs=0)
    assert (stored != vectors[order]).mean() > 0.9
    assert not store.lookup([texts[3]], "output").any()
    # What is stored is stored again without a change.
    again, _ = store_of(tmp_path / "again", store.lookup(texts, "output"))
    assert (again.lookup(texts, "output") == store.lookup(texts, "output")).all()


def test_float16_takes_less_than_half(tmp_path: Path) -> None:
    vectors = np.random.Generator(np.random.PCG64(3)).normal(size=(500, 256)).astype(np.float32)
    sizes = []
    for of in (Vectors(), HALF):
        store_of(tmp_path / of.dtype, vectors, of)
        (file,) = (tmp_path / of.dtype).glob("*.vectors.*")
        sizes.append(file.stat().st_size)
        assert sizes[-1] < 500 * of.bytes_of(256) + 200
    assert sizes[1] < 0.46 * sizes[0]


def test_damage_is_seen_and_another_dtype_encodes_again(tmp_path: Path) -> None:
    encoder, texts = CharHash(dimension=16, vectors=HALF), [f"text {n}" for n in range(40)]
    assert fill_store(tmp_path, encoder, texts) == 40
    assert fill_store(tmp_path, encoder, texts) == 0
    (file,) = tmp_path.glob("*.vectors.*")
    flip_bit(file)
    with pytest.raises(InputError, match="the vectors that were encoded"):
        EmbeddingStore(tmp_path, encoder).lookup(texts, "output")
    assert fill_store(tmp_path, encoder, texts) == 40
    for content in (b"", np.zeros(3, np.uint8).tobytes()):
        np.save(file, np.frombuffer(content, np.uint8))
        assert fill_store(tmp_path, encoder, texts) == 40
    assert fill_store(tmp_path, CharHash(dimension=16), texts) == 40
    with pytest.raises(InputError, match="float16"):
        EmbeddingStore(tmp_path, encoder)


@pytest.mark.parametrize(("vectors", "expected"), TABLES["values"])
def test_other_values_are_refused(vectors: Any, expected: str) -> None:
    with pytest.raises(InputError) as refused:
        make_encoder("char_hash", {"vectors": vectors})
    assert expected in f"{refused.value.where}: expected: {refused.value.expected}"


def test_the_words_of_an_encoder_are_kept(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("1 2\nla 1 0\n")
    entry = {"path": str(tmp_path / "vectors.txt"), "vectors": {"keep": False}}
    with pytest.raises(InputError, match="its words are kept too"):
        make_encoder("static", entry)


# --- vectors that are not kept -------------------------------------------------------------------

PARAMS = """\
seed: 3
probing: {transfer: []}
encoders: {mine: {encoder: char_hash, dimension: 16VECTORS}}
"""
TRANSFER = PARAMS.replace("[]", "[section_prediction]")
# Dataset to the number of its texts.
SIZES = {"small": 40, "large": 90, "middle": 60}
N_WORDS = 20


def text(number: int) -> str:
    return f"{chr(97 + number % 26)}{chr(97 + number // 26)} {'xyz'[number % 3] * 5} texto"


@pytest.fixture(autouse=True)
def _here(empty_folder: Path) -> Iterator[None]:
    yield
    forget_functions()


@pytest.fixture
def _datasets(_here: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "CHUNK_TEXTS", 7)
    first = 0
    for name, size in SIZES.items():
        rows = [row(n, n % 2, sentence=text(first + n)) for n in range(size)]
        splits = {"train": rows[: size // 2], "validation": rows[size // 2 : -10]}
        write_dataset(PACKAGE / name, "section_prediction", {**splits, "test": rows[-10:]})
        # Of these, the next dataset has some too.
        first += size - 5
    words = [f"palabra{number}" for number in range(N_WORDS)]
    ranked = [
        {"id": word, "text": word, "tokens": word, "positives": [words[number ^ 1]]}
        | {"document_id": f"d{number // 2}"}
        for number, word in enumerate(words)
    ]
    write_dataset(PACKAGE / "ranked", "word_ranking", {"test": ranked})
    write_paradigms_dataset(PACKAGE / "forms", [("all", words[:5]), ("others", words[5:9])])


def run(*verbs: str, params: str = PARAMS, vectors: str = ", vectors: {keep: false}") -> None:
    Path("params.yaml").write_text(params.replace("VECTORS", vectors))
    for verb in verbs or ("embed", "probe", "rank", "paradigms"):
        assert main([verb]) == 0


def results() -> dict[str, Any]:
    found = {name: contents(Path("data", name)) for name in ("results", "rankings")}
    return found | {"paradigms": Path("data/paradigms/mine.json").read_bytes()}


class Watch:
    """Notes how many texts are encoded, and the most that are in a store at a time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.encoded = self.most = 0
        write_chunk = embedding.write_chunk

        def watched(folder: Path, keys: Any, encoder: Any, vectors: Any) -> None:
            write_chunk(folder, keys, encoder, vectors)
            self.encoded += len(keys)
            stored = sum(len(np.load(file)) for file in folder.glob("*.keys.npy"))
            self.most = max(self.most, stored)

        monkeypatch.setattr(embedding, "write_chunk", watched)


def vector_files() -> list[Path]:
    return [file for root in (EMBEDDINGS, ENCODED) for file in root.rglob("*.npy")]


@pytest.mark.usefixtures("_datasets")
def test_scores_are_the_same_and_the_disk_has_the_largest_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(vectors="", params=TRANSFER)
    kept = results()
    assert vector_files()
    shutil.rmtree("data")
    watch = Watch(monkeypatch)
    run("embed")
    assert watch.encoded == 0
    run("probe")
    assert (watch.encoded, watch.most) == (sum(SIZES.values()), max(SIZES.values()))
    run("rank", "paradigms")
    assert watch.most == max(SIZES.values())
    assert vector_files() == []
    # A family of datasets that probes are transferred in is there together.
    run("probe", params=TRANSFER)
    assert results() == kept
    # All is remembered.
    encoded = watch.encoded
    shutil.rmtree("data/memory/probe")
    run(params=TRANSFER)
    assert watch.encoded == encoded


@pytest.mark.usefixtures("_datasets")
def test_a_killed_run_loses_the_dataset_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    run("embed")
    put, left = Cache.put, [1]

    def die(cache: Cache, *arguments: Any, **named: Any) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        put(cache, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Cache, "put", die)
        assert main(["probe"]) == 130
    watch = Watch(monkeypatch)
    run("probe")
    # The largest was probed; of the next one, the vectors are still there.
    assert watch.encoded == SIZES["small"]
    assert vector_files() == []


@pytest.mark.usefixtures("_datasets")
def test_what_a_killed_run_has_left_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    run("embed")
    write_chunk = embedding.write_chunk

    def die(*arguments: Any) -> None:
        write_chunk(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(embedding, "write_chunk", die)
        assert main(["probe"]) == 130
    assert vector_files()
    watch = Watch(monkeypatch)
    run("rank")
    assert watch.most == N_WORDS
    run("embed", vectors="")
    assert not ENCODED.joinpath("mine").exists()


@pytest.mark.usefixtures("_datasets")
def test_a_function_that_changes_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path.cwd())])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("own_keeping.py").write_text(
        "import numpy\n\ndef encode(texts):\n"
        "    with open('weight.txt') as file:\n        weight = float(file.read())\n"
        "    return numpy.array([[len(t), ord(t[0]) * weight] for t in texts], float)\n"
    )
    entry = "mine: {encoder: callable, function: 'own_keeping:encode', vectors: {keep: false}}"
    params = f"seed: 3\nencoders: {{{entry}}}\n"
    watch = Watch(monkeypatch)
    for weight, n_encoded in (("1", sum(SIZES.values())), ("1", 0), ("2", sum(SIZES.values()))):
        Path("weight.txt").write_text(weight)
        forget_functions()
        before = watch.encoded
        run("embed", "probe", params=params)
        assert watch.encoded - before == n_encoded


@pytest.mark.usefixtures("_datasets")
@pytest.mark.parametrize("keep", [True, False])
def test_a_disk_that_is_too_small(monkeypatch: pytest.MonkeyPatch, keep: bool) -> None:
    stage, vectors = ("embed", "") if keep else ("probe", ", vectors: {keep: false}")
    if not keep:
        run("embed", vectors=vectors)
    watch, needed = Watch(monkeypatch), 16 * 4 * max(SIZES.values())
    monkeypatch.setattr(embedding, "free_at", lambda _: needed - 1)
    run(stage, vectors=vectors)
    why = read_skipped(stage)["mine"].why
    for words in ("the disk of data/", "texts, 1 layer of 16 dimensions", "kB free"):
        assert words in why
    assert ("keep: false" in why) == keep
    assert watch.encoded == 0
    monkeypatch.setattr(embedding, "free_at", lambda _: needed)
    run(stage, vectors=", vectors: {keep: true, dtype: float16}" if keep else vectors)
    assert bool(read_skipped(stage)) == keep


@pytest.mark.usefixtures("_datasets")
def test_score_takes_an_entry_whose_vectors_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, scored = Watch(monkeypatch), []
    for vectors in (", vectors: {keep: false}", ""):
        Path("params.yaml").write_text(PARAMS.replace("VECTORS", vectors))
        scored.append(score("mine", PACKAGE, cache=f"cache{len(scored)}"))
        if vectors:
            assert watch.most == max(SIZES.values())
            assert not list(Path("cache0").rglob("*.npy"))
    assert scored[0].results == scored[1].results


@pytest.mark.usefixtures("_datasets")
def test_verify_encodes_again_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    for vectors, said in (
        (", vectors: {dtype: float16}", "at most"),
        (", vectors: {keep: false}", "not encoded again: the vectors are not kept"),
    ):
        run("embed", "probe", vectors=vectors)
        assert main(["verify", "data/results/mine", "--encode"]) == 0
        assert said in capsys.readouterr().out


def test_a_description_says_the_dtype() -> None:
    encoder = CharHash(vectors=Vectors(dtype="float16", keep=False))
    assert describe(encoder).vectors.as_option == {"vectors": {"dtype": "float16"}}
    assert "vectors" not in encoder.options
