"""The store: each text once, layers, crashes, damage, other encoders and code, runs at once.

And what it says of datasets, and the copy of a vocabulary.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import numpy as np
import pytest
from contents import contents, flip_bit, leave_unfinished
from instance_files import row, write_dataset
from paradigm_files import Words, static
from stores import fill_store, forge_vectors, in_project

from corpora_recipes.running import code
from corpora_recipes.running.errors import InputError
from evaluation.datasets import Dataset, find_datasets
from evaluation.embedding import embedding, store
from evaluation.embedding.embedding import embed_datasets
from evaluation.embedding.store import (
    EmbeddingStore,
    EncodedDataset,
    fingerprint,
    open_vocabulary,
    prepare_store,
    read_described,
    text_keys,
    write_vocabulary,
)
from evaluation.encoders import make_encoder
from evaluation.encoders.char_hash import CharHash
from evaluation.encoders.encoder import Vectors


@in_project
@dataclass
class Fake:
    """Encodes a text as its length and its first letter, and notes what it was asked for.

    Layer "2" of its layers is twice that, and so on.
    """

    revision: str = "1"
    dimension: int = 2
    options: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    layers: tuple[str, ...] = ("1",)
    name: ClassVar[str] = "fake"
    form: ClassVar[Any] = "natural"
    prompts: ClassVar[dict[str, str]] = {}
    packages: ClassVar[tuple[str, ...]] = ("numpy",)
    postprocessing: ClassVar[Any] = "none"
    vectors: ClassVar[Any] = Vectors()
    parallel: bool = False

    @property
    def layer(self) -> str:
        return self.layers[-1]

    def encode(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        first = np.array([[len(t), ord(t[0])] for t in texts], np.float32)
        return np.stack([first * int(layer) for layer in self.layers], axis=1)


class Interrupted(Exception):
    """Stands for a run that is killed."""


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "CHUNK_TEXTS", 4)


def words(count: int) -> list[str]:
    return [f"{chr(97 + i % 26)}{'x' * i}" for i in range(count)]


@in_project
class Prompted(Fake):
    """Also encodes the length of the prompt."""

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> Any:
        vectors = super().encode(texts)
        vectors[:, :, 1] = -1 if prompt is None else len(prompt)
        return vectors


def test_a_prompt_is_part_of_the_key(tmp_path: Path) -> None:
    encoder = Prompted()
    for prompt in (None, "", "query: "):
        assert fill_store(tmp_path, encoder, words(6), 1, prompt) == 6
        assert fill_store(tmp_path, encoder, words(6), 1, prompt) == 0
    for prompt, length in ((None, -1), ("", 0), ("query: ", 7)):
        store = EmbeddingStore(tmp_path, encoder, prompt)
        assert store.lookup(words(6), "1")[:, 1].tolist() == [length] * 6
    with pytest.raises(InputError, match="no vector"):
        EmbeddingStore(tmp_path, encoder, "passage: ").lookup(words(6), "1")
    # Stores stay valid as long as it is the same.
    (key,) = text_keys(["año"])
    assert key == blake2b("año".encode(), digest_size=16).digest()


def test_lookup_in_any_order_with_repetitions(tmp_path: Path) -> None:
    fill_store(tmp_path, Fake(), words(7))
    fill_store(tmp_path, Fake(), words(20))
    store = EmbeddingStore(tmp_path, Fake())
    assert len(store) == 20
    asked = [words(20)[i] for i in (19, 0, 7, 7, 3)]
    vectors = store.lookup(asked, "1")
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[20, 116], [1, 97], [8, 104], [8, 104], [4, 100]]
    assert store.lookup([], "1").shape == (0, 2)
    with pytest.raises(InputError, match="'unknown'"):
        store.lookup(["a", "unknown"], "1")
    with pytest.raises(InputError, match="no store"):
        EmbeddingStore(tmp_path / "none", Fake())


def test_a_killed_run_loses_the_unfinished_part_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = Fake.encode

    def dies(self: Fake, texts: Sequence[str]) -> Any:
        if len(self.asked) == 8:
            raise Interrupted
        return encode(self, texts)

    monkeypatch.setattr(Fake, "encode", dies)
    with pytest.raises(Interrupted):
        fill_store(tmp_path, Fake(), words(20))
    assert len(EmbeddingStore(tmp_path, Fake())) == 8
    monkeypatch.setattr(Fake, "encode", encode)
    encoder = Fake()
    assert fill_store(tmp_path, encoder, words(20)) == len(encoder.asked) == 12
    vectors = EmbeddingStore(tmp_path, encoder).lookup(words(20), "1")
    assert vectors.tolist() == encode(encoder, words(20))[:, 0].tolist()


@pytest.mark.parametrize("kind", ["vectors.1", "digest.1", "keys"])
def test_a_run_killed_while_writing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader does not see the half-written part, and the next run clears it away."""
    replace = Path.replace

    def dies(self: Path, target: Path) -> Path:
        if f".{kind}.npy" in self.name:
            raise Interrupted
        return replace(self, target)

    fill_store(tmp_path, Fake(), words(4))
    monkeypatch.setattr(Path, "replace", dies)
    with pytest.raises(Interrupted):
        fill_store(tmp_path, Fake(), words(8))
    monkeypatch.undo()
    # An exception leaves no part, a kill does.
    assert not list(tmp_path.glob(".*.part"))
    leave_unfinished(tmp_path / f"0123.{kind}.npy")
    assert len(EmbeddingStore(tmp_path, Fake())) == 4
    assert fill_store(tmp_path, Fake(), words(8)) == 4
    assert not list(tmp_path.glob(".*.part"))
    assert len(list(tmp_path.glob("*.npy"))) == 2 * 3


def test_fewer_layers_are_there_already(tmp_path: Path) -> None:
    fill_store(tmp_path, Fake(layers=("1", "2", "3")), words(9))
    assert len(list(tmp_path.glob("*.npy"))) == 3 * 7
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    for layers in (("2",), ("3", "1"), ("1", "2", "3")):
        encoder = Fake(layers=layers)
        assert fill_store(tmp_path, encoder, words(9)) == 0
        store = EmbeddingStore(tmp_path, encoder)
        for layer in layers:
            expected = [int(layer) * length for length in range(1, 10)]
            assert store.lookup(words(9), layer)[:, 0].tolist() == expected
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == before


def test_more_layers_encode_again(tmp_path: Path) -> None:
    fill_store(tmp_path, Fake(layers=("2",)), words(9))
    both = Fake(layers=("1", "2"))
    assert len(EmbeddingStore(tmp_path, both)) == 0
    assert fill_store(tmp_path, both, words(10)) == len(both.asked) == 10
    store = EmbeddingStore(tmp_path, both)
    assert store.lookup(words(10), "2").tolist() == (2 * store.lookup(words(10), "1")).tolist()
    # What was there stays usable, and is not asked for twice.
    assert fill_store(tmp_path, Fake(layers=("2",)), words(10)) == 0
    assert fill_store(tmp_path, both, words(10)) == 0


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def permute(path: Path) -> None:
    np.save(path, np.load(path)[::-1])


def double(path: Path) -> None:
    np.save(path, 2 * np.load(path))


@pytest.mark.parametrize("kind", ["vectors.2", "digest.2", "keys"])
@pytest.mark.parametrize(
    "damage",
    [
        Path.unlink,
        cut,
        flip_bit,
        permute,
        double,
        lambda path: np.save(path, np.load(path)[..., :1]),
        lambda path: np.save(path, np.load(path).astype(float)),
    ],
)
def test_what_was_changed_is_refused_and_encoded_again(
    tmp_path: Path, kind: str, damage: Callable[[Path], None]
) -> None:
    both = Fake(layers=("1", "2"))
    fill_store(tmp_path, both, words(12))
    before = contents(tmp_path)
    damage(sorted(tmp_path.glob(f"*.{kind}.npy"))[1])
    with pytest.raises(InputError) as error:
        EmbeddingStore(tmp_path, both).lookup(words(12), "2")
    assert error.value.where == str(tmp_path)
    with pytest.raises(InputError):
        EmbeddingStore(tmp_path, both).digests(words(12))
    # The part's other layer is whole.
    assert fill_store(tmp_path, Fake(layers=("1",)), words(12)) == (4 if kind == "keys" else 0)
    assert fill_store(tmp_path, both, words(12)) == 4
    assert contents(tmp_path) == before


def test_forged_vectors_with_a_digest_that_fits_must_be_finite(tmp_path: Path) -> None:
    fill_store(tmp_path, Fake(), words(12))
    file = sorted(tmp_path.glob("*.vectors.1.npy"))[1]
    forge_vectors(file, lambda vectors: np.full_like(vectors, np.nan))
    with pytest.raises(InputError, match="finite numbers"):
        EmbeddingStore(tmp_path, Fake()).lookup(words(12), "1")


@pytest.mark.parametrize(
    ("where", "name"), [(store, "code_digest"), (code, "version")], ids=["code", "version"]
)
def test_vectors_of_other_code_or_packages_are_encoded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str
) -> None:
    fill_store(tmp_path, Fake(), words(9))
    before = contents(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(where, name, lambda *_: "another")
        assert fill_store(tmp_path, Fake(), words(9)) == 9
        assert fill_store(tmp_path, Fake(), words(9)) == 0
        assert "another" in str(EmbeddingStore(tmp_path, Fake()).made_by)
    assert fill_store(tmp_path, Fake(), words(9)) == 9
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "other",
    [Fake(revision="2"), Fake(options={"x": 1}), make_encoder("char_hash", {"dimension": 2})],
)
def test_another_encoder_empties_the_store(tmp_path: Path, other: Any) -> None:
    fill_store(tmp_path, Fake(), words(9))
    with pytest.raises(InputError, match="fake"):
        EmbeddingStore(tmp_path, other)
    assert fill_store(tmp_path, other, words(5)) == 5
    assert len(EmbeddingStore(tmp_path, other)) == 5


@in_project
class Slow(Fake):
    """Cannot tell its dimension without effort."""

    def __getattribute__(self, name: str) -> Any:
        if name == "dimension":
            raise Interrupted
        return super().__getattribute__(name)


def test_the_dimension_is_asked_for_a_new_store_only(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        fill_store(tmp_path, Slow(), words(3))
    fill_store(tmp_path, Fake(), words(3))
    assert fill_store(tmp_path, Slow(), words(3)) == 0
    assert EmbeddingStore(tmp_path, Slow()).dimension == 2
    with pytest.raises(Interrupted):
        fill_store(tmp_path, Slow("2"), words(3))


def test_a_store_of_another_form_is_made_anew(tmp_path: Path) -> None:
    fill_store(tmp_path, Fake(), words(3))
    before, file = contents(tmp_path), tmp_path / "encoder.json"
    header = json.loads(file.read_bytes())
    dimensions = [json.dumps(header | {"dimension": d}) for d in (0, 2.0, "2", True, None)]
    for text in ("", "[]", "{}", '{"encoder": "fake", "dimension": 2}', *dimensions):
        file.write_text(text)
        if text not in dimensions:
            with pytest.raises(InputError, match="with this encoder first"):
                EmbeddingStore(tmp_path, Fake())
        assert fill_store(tmp_path, Fake(), words(3)) == 3
        assert contents(tmp_path) == before


def test_another_dimension_without_another_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_store(tmp_path, Fake(), words(3))
    before, encode = contents(tmp_path), Fake.encode
    monkeypatch.setattr(Fake, "encode", lambda self, texts: encode(self, texts)[:, :, :1])
    with pytest.raises(InputError, match="dimension 1 of fake 1"):
        fill_store(tmp_path, Fake(dimension=1), words(4))
    assert contents(tmp_path) == before


def test_files_of_other_layouts_are_removed(tmp_path: Path) -> None:
    fill_store(tmp_path, Fake(), words(3))
    before = set(tmp_path.iterdir())
    (keys,) = tmp_path.glob("*.keys.npy")
    name = keys.name.removesuffix(".keys.npy")
    for kind in (".vectors.npy", ".npy", ".more.keys.npy", ".vectors..npy", ".keys.1.npy"):
        shutil.copy(keys, tmp_path / f"{name}{kind}")
    # Another layer of the same part, which this run does not ask for.
    shutil.copy(tmp_path / f"{name}.vectors.1.npy", tmp_path / f"{name}.vectors.avg.npy")
    (tmp_path / "datasets.json").write_text("{}")
    assert fill_store(tmp_path, Fake(), words(3)) == 0
    kept = {tmp_path / f"{name}.vectors.avg.npy", tmp_path / "datasets.json"}
    assert set(tmp_path.iterdir()) == before | kept


@in_project
class Scaled(Fake):
    """Multiplies by its revision."""

    def encode(self, texts: Sequence[str]) -> Any:
        return super().encode(texts) * int(self.revision)


@pytest.mark.parametrize(("revision", "encoded"), [("1", 0), ("3", 10)])
def test_of_two_runs_at_once_one_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any, revision: str, encoded: int
) -> None:
    """The second starts while the first one has vectors written and their keys not yet."""
    datasets, folder = [dataset(tmp_path, *words(10))], tmp_path / "store"
    reached, go, write, err = Event(), Event(), store._write_whole, ""

    def write_held(path: Path, content: Any) -> None:
        if path.name.endswith(".keys.npy"):
            reached.set()
            assert go.wait(60)
        write(path, content)

    monkeypatch.setattr(store, "_write_whole", write_held)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(embed_datasets, folder, Scaled("1"), datasets)
        assert reached.wait(60)
        second = pool.submit(embed_datasets, folder, Scaled(revision), datasets)
        while "waiting for another embed" not in err:
            err += capfd.readouterr().err
        go.set()
        assert (first.result()[1], second.result()[1]) == (10, encoded)
    encoder = Scaled(revision)
    vectors = EmbeddingStore(folder, encoder).lookup(words(10), "1")
    assert vectors.tolist() == encoder.encode(words(10))[:, 0].tolist()
    assert len(list(folder.glob("*.npy"))) == 3 * 3


@pytest.mark.parametrize(
    ("spoil", "words_of_error"),
    [
        (lambda v: np.where(v == 3, np.nan, v), ["NaN", "'cxx'"]),
        (lambda v: np.where(v == 3, 1e300, v.astype(np.float64)), ["infinite", "'cxx'"]),
        (lambda v: v[:-1], ["shape (4, 1, 2)", "(3, 1, 2)", "begins with"]),
        (lambda v: np.hstack([v, v]), ["(4, 2, 2)"]),
        (lambda v: v[:, 0], ["(4, 2)"]),
        (lambda v: v.astype(np.int64), ["floats", "int64"]),
    ],
)
def test_a_bad_encoder_is_named_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Any, words_of_error: list[str]
) -> None:
    fill_store(tmp_path, Fake(), ["k", "kk"])
    encode = Fake.encode
    monkeypatch.setattr(Fake, "encode", lambda self, texts: spoil(encode(self, texts)))
    with pytest.raises(InputError) as caught:
        fill_store(tmp_path, Fake(), words(4))
    for word in ["encoder fake\n", *words_of_error]:
        assert word in str(caught.value)
    assert len(EmbeddingStore(tmp_path, Fake())) == 2


@pytest.mark.slow
def test_history_and_workers_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = make_encoder("use_multilingual", {})
    texts = [f"Frase {i}." for i in range(5)]
    fill_store(tmp_path / "once", encoder, texts)
    fill_store(tmp_path / "parallel", encoder, texts, 2)
    assert contents(tmp_path / "once") == contents(tmp_path / "parallel")
    for part in (texts[3:5], texts[:1], texts[::-1]):
        fill_store(tmp_path / "thrice", encoder, part)
    monkeypatch.setattr(embedding, "CHUNK_TEXTS", 100)
    fill_store(tmp_path / "whole", encoder, texts)
    stores = [EmbeddingStore(tmp_path / name, encoder) for name in ("once", "thrice", "whole")]
    vectors = stores[0].lookup(texts, "output")
    assert all(np.array_equal(store.lookup(texts, "output"), vectors) for store in stores)
    (digests,) = {repr(store.digests(texts)) for store in stores}
    # They change with a text, its place, its prompt and its vector.
    assert repr(stores[0].digests(texts[::-1])) != digests
    assert repr(stores[0].digests(texts[1:])) != digests
    fill_store(tmp_path / "other", Fake(), texts)
    fill_store(tmp_path / "other", Prompted(), texts, 1, "query: ")
    plain, prompted = (
        EmbeddingStore(tmp_path / "other", Fake(), prompt).digests(texts)
        for prompt in (None, "query: ")
    )
    assert plain[0] == stores[0].digests(texts)[0] != prompted[0]
    assert plain[1] != prompted[1]


@in_project
class Knowing(CharHash):
    """Knows the token "a"; takes a prompt, and forgets it."""

    form: ClassVar[Any] = "tokens"
    prompts: ClassVar[dict[str, str]] = {"SSP": "query: "}

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> Any:
        return super().encode(texts)

    def vocabulary(self) -> Any:
        raise AssertionError

    def coverage(self, texts: Sequence[str]) -> dict[str, int]:
        tokens = " ".join(texts).split()
        return {"tokens": len(tokens), "out_of_vocabulary": sum(t != "a" for t in tokens)}


def dataset(folder: Path, *sentences: str, name: str = "ssp") -> Dataset:
    rows = [row(i, i % 2, sentence=sentence) for i, sentence in enumerate(sentences)]
    splits = {"train": rows, "validation": rows[:1], "test": rows[:1]}
    write_dataset(folder / "i" / name, "section_prediction", splits)
    return next(made for made in find_datasets(folder / "i") if made.name == name)


def test_what_is_said_of_each_dataset(tmp_path: Path) -> None:
    """Each different text counts once, in the encoder's form and with its prompt."""
    encoder = Knowing(8)
    one, two = (dataset(tmp_path, *texts, name=texts[0]) for texts in (["b", "a", "a"], ["c"]))
    described, new, _ = embed_datasets(tmp_path, encoder, [one, two])
    assert new == 3
    assert described["b"] == read_described(tmp_path, one)
    texts, vectors = EmbeddingStore(tmp_path, encoder, "query: ").digests(["a .", "b ."])
    coverage = {"tokens": 4, "out_of_vocabulary": 3}
    assert described["b"] == EncodedDataset(one.digest(), texts, vectors, coverage)
    # In whatever order and company; what was said of others goes.
    before = described["c"]
    assert embed_datasets(tmp_path, encoder, [two, one])[0]["c"] == before
    assert embed_datasets(tmp_path, encoder, [two])[0] == {"c": before}
    with pytest.raises(InputError, match="what was encoded of b"):
        read_described(tmp_path, one)


def test_other_rows_and_other_vectors_are_told(tmp_path: Path) -> None:
    ssp = dataset(tmp_path, "b", "a")
    before = embed_datasets(tmp_path, CharHash(8), [ssp])[0]["ssp"]
    assert before.coverage is None
    # Another row with the same texts: only the digest of the files differs.
    ssp = dataset(tmp_path, "b", "a", "a")
    with pytest.raises(InputError, match="of other rows"):
        read_described(tmp_path, ssp)
    after = embed_datasets(tmp_path, CharHash(8), [ssp])[0]["ssp"]
    assert before.digest != after.digest
    assert replace(after, digest=before.digest) == before
    other = embed_datasets(tmp_path / "other", CharHash(9), [ssp])[0]["ssp"]
    assert (other.texts, other.vectors != after.vectors) == (after.texts, True)


def test_a_damaged_file_is_refused_and_made_again(tmp_path: Path) -> None:
    ssp, file = dataset(tmp_path, "b", "a"), tmp_path / "datasets.json"
    embed_datasets(tmp_path, CharHash(8), [ssp])
    before = file.read_bytes()
    for content in ("", "{", "[]", "{}", '{"ssp": 3}', '{"ssp": {"digest": 1}}'):
        file.write_text(content)
        with pytest.raises(InputError, match="what was encoded of ssp"):
            read_described(tmp_path, ssp)
        embed_datasets(tmp_path, CharHash(8), [ssp])
        assert file.read_bytes() == before


BLOCKS: list[tuple[list[str], list[list[float]]]] = [
    (["el", "París", "nada"], [[1, 0], [0, 1], [0, 0]]),
    (["el", "parís", "\udcf1and\udcfa"], [[5, 5], [3, 4], [1, 1]]),
]


@pytest.fixture
def encoder() -> Any:
    return Words(BLOCKS)


def test_a_vocabulary_is_copied_and_mapped(tmp_path: Path, encoder: Any) -> None:
    assert write_vocabulary(tmp_path, encoder) == 5
    found = open_vocabulary(tmp_path, encoder)
    assert found is not None
    assert found.words == ["el", "París", "nada", "parís", "\udcf1and\udcfa"]
    assert isinstance(found.vectors, np.memmap)
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[1, 0], [0, 1], [0, 0], [3, 4], [1, 1]]
    assert found.norms.tolist() == [1, 1, 0, 5, 2**0.5]
    assert found.skipped == {"no_vector": 1, "repeated_word": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["vocabulary"]
    about = json.loads((tmp_path / "vocabulary" / "vocabulary.json").read_bytes())
    assert about == {"format": 1, **fingerprint(encoder), "repeated": 1}


def test_it_is_kept_only_if_it_is_the_encoders(tmp_path: Path, encoder: Any) -> None:
    write_vocabulary(tmp_path, encoder)
    encoder.blocks = [(["otra"], [[1, 2]])]
    assert write_vocabulary(tmp_path, encoder) == 5
    encoder.revision = "2"
    with pytest.raises(InputError, match="the words of"):
        open_vocabulary(tmp_path, encoder)
    assert write_vocabulary(tmp_path, encoder) == 1
    found = open_vocabulary(tmp_path, encoder)
    assert found is not None
    assert found.words == ["otra"]
    # With the store of another encoder, or of other code, it goes.
    prepare_store(tmp_path, make_encoder("char_hash", {}))
    assert not (tmp_path / "vocabulary").exists()
    write_vocabulary(tmp_path, encoder)
    other = make_encoder("char_hash", {})
    assert write_vocabulary(tmp_path, other) is None
    assert open_vocabulary(tmp_path, other) is None
    assert not (tmp_path / "vocabulary").exists()


NONSENSE = [None, b"", b"null", b"3", b"[]", b"PK\x03\x04"]


@pytest.mark.parametrize("file", ["vectors.npy", "norms.npy", "words.json", "vocabulary.json"])
def test_a_damaged_copy_is_made_again(tmp_path: Path, encoder: Any, file: str) -> None:
    write_vocabulary(tmp_path, encoder)
    damaged = tmp_path / "vocabulary" / file
    whole = damaged.read_bytes()
    for content in (*NONSENSE, whole[:-9]):
        damaged.unlink()
        if content is not None:
            damaged.write_bytes(content)
        with pytest.raises(InputError, match="not whole"):
            open_vocabulary(tmp_path, encoder)
        assert write_vocabulary(tmp_path, encoder) == 5
        assert damaged.read_bytes() == whole


def test_a_file_that_ends_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v.vec"
    encoder = static(path, {"a": [1, 0], "b": [0, 1]})
    path.write_text("3 2\na 1 0\nb 0 1\n", "utf-8")
    with pytest.raises(InputError, match="the number of words that follow, 2"):
        write_vocabulary(tmp_path / "store", encoder)
    assert list((tmp_path / "store").iterdir()) == []
    with pytest.raises(InputError, match="not whole"):
        open_vocabulary(tmp_path / "store", encoder)
