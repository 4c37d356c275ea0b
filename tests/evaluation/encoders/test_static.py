"""Word vectors: each format, its oddities and damages, means, unknown words, fastText's n-grams."""

import gzip
import pickle
import re
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from case_tables import read_tables
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from vector_files import numberbatch, polyglot

import evaluation.encoders.static as static
from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder
from evaluation.encoders.static import FASTTEXT_MAGIC, StaticVectors, ngram_hashes

TABLES = read_tables(__file__)

Make = Callable[..., StaticVectors]
HEADER = "3 2\n"
LINES = "el 1 0\nmar 0 1\nMadrid -2.5 1e-3\n"
TEXTS = ["el mar", "El  mar azul", "Madrid", "azul", "", "mar mar el"]
MEANS = [[0.5, 0.5], [0.5, 0.5], [-2.5, 0.001], [0, 0], [0, 0], [1 / 3, 2 / 3]]

# A model that the fastText package (0.9.2) trained: skipgram, dimension 7, n-grams of 3 to 6
# characters in 50 buckets; and the vectors that it gives.
MODEL = Path(__file__).parent / "fasttext_skipgram.bin"
MODEL_VECTORS = {
    "niño": [-0.009471, 0.03825, 0.010352, -0.006397, 0.011597, 0.024946, 0.025956],
    "casas": [-0.01253, 0.054325, 0.015368, -0.009097, 0.015701, 0.035895, 0.036513],
    "🙂": [-0.002701, 0.009071, 0.001558, -0.001555, 0.00285, 0.005402, 0.006034],
    "</s>": [-0.12171, 0.12449, -0.085604, -0.031243, 0.07341, 0.025317, 0.096948],
}


def binary(words: dict[str, list[float]], end: bytes = b"\n") -> bytes:
    """Return a binary file of word2vec; `end` follows each vector."""
    size = len(next(iter(words.values())))
    return f"{len(words)} {size}\n".encode() + b"".join(
        word.encode() + b" " + struct.pack(f"<{size}f", *numbers) + end
        for word, numbers in words.items()
    )


def fasttext(
    words: list[str], matrix: list[list[float]], labels: Sequence[str] = (), **options: int
) -> bytes:
    """Return a model of fastText."""
    given = {"buckets": 0, "longest": 2, "model": 2, "version": 12, "pruned": -1} | options
    size = len(matrix[0])
    entries = [(word, 0) for word in words] + [(label, 1) for label in labels]
    sizes = [5, 5, 1, 5, 1, 2, given["model"], given["buckets"], 1, given["longest"], 100]
    return b"".join(
        [
            FASTTEXT_MAGIC,
            struct.pack("<i12id", given["version"], size, *sizes, 1e-4),
            struct.pack("<iiiqq", len(entries), len(words), len(labels), 99, given["pruned"]),
            *(word.encode() + b"\0" + struct.pack("<qb", 7, kind) for word, kind in entries),
            struct.pack("<?qq", given.get("quantised", False), len(matrix), size),
            *(struct.pack(f"<{size}f", *row) for row in matrix),
            struct.pack(f"<?qq{size}f", False, 1, size, *matrix[0]),
        ]
    )


@pytest.fixture
def encoder(tmp_path: Path) -> Make:
    """Return a function that writes a file and makes an encoder of it."""

    def make(content: str | bytes, name: str = "vectors.txt") -> StaticVectors:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return StaticVectors(str(tmp_path / name))

    return make


@pytest.mark.parametrize(("zipped", "read_bytes"), [("", 3), (".gz", 1 << 22)])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("word2vec.txt", HEADER + LINES),
        ("glove.txt", LINES),
        ("no_last_line_feed.txt", LINES.rstrip()),
        ("fasttext.vec", (HEADER + LINES).replace("\n", " \n").replace("3 2 ", "3 2")),
        ("word2vec_mark.txt", "\ufeff" + HEADER + LINES),
        ("glove_mark.txt", "\ufeff" + LINES),
        ("windows.txt", (HEADER + LINES).replace("\n", "\r\n")),
        ("tabs.txt", LINES.replace(" ", "\t")),
        ("tab_after_the_word.txt", "el\t1 0\nmar\t0 1\nMadrid\t-2.5 1e-3\n"),
        ("tab_and_header.txt", "3\t2\nel\t1 0\nmar\t0\t1\nMadrid\t-2.5 1e-3\n"),
        ("word2vec.bin", binary({"el": [1, 0], "mar": [0, 1], "Madrid": [-2.5, 1e-3]})),
        ("gensim.bin", binary({"el": [1, 0], "mar": [0, 1], "Madrid": [-2.5, 1e-3]}, b"")),
        ("fasttext.bin", fasttext(["el", "mar", "Madrid"], [[1, 0], [0, 1], [-2.5, 1e-3]])),
        ("polyglot-es.pkl", polyglot({"el": [1, 0], "mar": [0, 1], "Madrid": [-2.5, 1e-3]})),
    ],
)
def test_every_format_gives_the_same_means(
    encoder: Make,
    name: str,
    content: str | bytes,
    zipped: str,
    read_bytes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(static, "READ_BYTES", read_bytes)
    made = encoder(content, name + zipped)
    vectors = made.encode(TEXTS)
    assert (made.dimension, vectors.dtype) == (2, np.float32)
    assert vectors.tolist() == np.float32(MEANS)[:, None].tolist()
    assert made.coverage(TEXTS) == {"tokens": 10, "out_of_vocabulary": 2}
    assert made.encode([]).shape == (0, 1, 2)
    ((words, of_words),) = made.vocabulary()
    assert (words, of_words.dtype) == (["el", "mar", "Madrid"], np.float32)
    assert of_words.tolist() == np.float32([[1, 0], [0, 1], [-2.5, 1e-3]]).tolist()


@pytest.mark.parametrize("name", ["words.txt", "words.bin"])
def test_the_vocabulary_comes_in_blocks(
    encoder: Make, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    words: dict[str, list[float]] = {f"p{i}": [i, 1] for i in range(8)}
    text = "".join(f"{word} {first} {second}\n" for word, (first, second) in words.items())
    made = encoder(text if name == "words.txt" else binary(words), name)
    monkeypatch.setattr(static, "BLOCK_ROWS", 3)
    # Nothing else is read into memory.
    monkeypatch.setattr(static, "load_model", None)
    blocks = list(made.vocabulary())
    assert [len(block) for block, _ in blocks] == [3, 3, 2]
    assert [word for block, _ in blocks for word in block] == list(words)
    assert np.concatenate([vectors for _, vectors in blocks]).tolist() == list(words.values())


def test_a_vector_depends_on_its_text_alone_to_the_bit(encoder: Make) -> None:
    drawn = np.random.default_rng(5).normal(size=(50, 33))
    lines = [f"p{i} {' '.join(map(str, row))}\n" for i, row in enumerate(drawn)]
    made = encoder("".join(lines), "v.txt")
    texts = [" ".join(f"p{j * i % 60}" for j in range(i)) for i in range(1, 40)]
    together = made.encode(texts)
    assert np.array_equal(np.vstack([made.encode([text]) for text in texts]), together)
    assert np.array_equal(made.encode(texts[::-1])[::-1], together)


def test_exact_word_before_the_lower_cased_one(encoder: Make) -> None:
    made = encoder("Mar 1\nmar 2\nSOL 3\n")
    assert made.encode(["Mar", "MAR", "mar", "sol", "SOL"])[:, 0, 0].tolist() == [1, 2, 2, 0, 3]
    assert made.coverage(["MAR sol"]) == {"tokens": 2, "out_of_vocabulary": 1}


def test_words_with_blanks_or_without_utf8(encoder: Make) -> None:
    lines = [b". . . 1 2", b". 3 4", b"a b@c 5 6", b"\xf1and\xfa 7 8", b"\xf1and\xfb 9 9"]
    lines += ["\N{NO-BREAK SPACE} 10 11".encode(), b"1 12 13", "\x85 14 15".encode()]
    made = encoder(b"\n".join(lines))
    assert made.dimension == 2
    vectors = made.encode([". . .", ".", "1", "\N{NO-BREAK SPACE}", "\x85"])
    assert vectors[:, 0, 0].tolist() == [3, 3, 12, 10, 14]
    assert encoder("\ufeff 1 2\na 3 4\n").encode(["\ufeff"])[0, 0].tolist() == [1, 2]
    assert made.encode(["\ufffdand\ufffd"])[0, 0].tolist() == [0, 0]
    twisted = binary({"a": [1, 2]}).replace(b"a ", b"\xf1 ")
    assert encoder(twisted, "v.bin").encode(["a"])[0, 0].tolist() == [0, 0]


def test_more_words_than_a_block(encoder: Make) -> None:
    count = 2 * static.BLOCK_ROWS + 3
    made = encoder("".join(f"p{i} {i} {-i}\n" for i in range(count)))
    texts = [f"p{i}" for i in (0, 4095, 4096, 4097, 8191, 8192, count - 1)]
    assert made.encode(texts)[:, 0, 1].tolist() == [-float(text[1:]) for text in texts]
    lines = [f"p{i} {i}" for i in range(count)]
    for bad in ("p7 x", "p7 nan", "p7"):
        lines[4100] = bad
        with pytest.raises(InputError, match="line 4102"):
            encoder(f"{count} 1\n" + "\n".join(lines)).encode(["p1"])


CONCEPTS = {"es": {"el": [1, 0], "buen día": [0, 1]}, "sh": {"el": [5, 5]}, "est": {"el": [7, 7]}}


@pytest.mark.parametrize(("language", "words", "vectors"), TABLES["numberbatch"])
@pytest.mark.parametrize("header", [0, 1])
def test_a_language_of_numberbatch(
    encoder: Make,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    words: list[str],
    vectors: list[list[float]],
    header: int,
) -> None:
    monkeypatch.setattr(static, "BLOCK_ROWS", 1)
    content = "".join(numberbatch(CONCEPTS).splitlines(keepends=True)[header:])
    made = replace(encoder(content), language=language)
    assert made.options == {"file": "vectors.txt", "language": language}
    assert made.encode(["el"]).tolist() == [[vectors[0]]]
    blocks = list(made.vocabulary())
    assert [word for block, _ in blocks for word in block] == words
    assert np.concatenate([each for _, each in blocks]).tolist() == vectors


def test_a_language_that_is_not_there_or_not_named(encoder: Make) -> None:
    made = encoder(numberbatch(CONCEPTS))
    with pytest.raises(InputError, match=r"(?s)`language:`.*found: +'/c/es/el 1 0") as caught:
        made.check()
    assert "such as `language: es`" in str(caught.value)
    other = replace(made, language="s")
    with pytest.raises(InputError, match=r"(?s)begin with /c/s/.*found: +none"):
        other.encode(["el"])
    # The line is that of the file.
    damaged = encoder(numberbatch(CONCEPTS).replace("5 5", "5 x"))
    with pytest.raises(InputError, match=r"line 4\n"):
        replace(damaged, language="sh").encode(["el"])
    short = encoder(numberbatch(CONCEPTS).replace("4 2", "5 2"))
    with pytest.raises(InputError, match=r"words that follow, 4\n *found: +5"):
        replace(short, language="es").encode(["el"])


MADRID = {"el": [1.0, 0.0], "Madrid": [0.5, 2.0]}


def test_a_file_of_polyglot_is_one_of_pickle() -> None:
    """The test's own file, which nothing but a test loads."""
    words, array = pickle.loads(polyglot(MADRID), encoding="latin1")
    assert dict(zip(words, array.tolist(), strict=True)) == MADRID


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (polyglot(MADRID, function=b"fromfile"), "GLOBAL numpy.core.multiarray fromfile"),
        (polyglot(MADRID).replace(b"numpy\ndtype", b"os\nsystem"), "GLOBAL os system"),
        (polyglot(MADRID)[:-1] + b"\x81.", "NEWOBJ"),
        (polyglot(MADRID, kind=b"f8"), "[b'f8', b'<']"),
        (polyglot(MADRID).replace(b"cnumpy\ndtype", b"X\x02\0\0\0elcnumpy\ndtype"), "2 words"),
        (polyglot(MADRID)[:-1], "pickle exhausted before seeing STOP"),
        (polyglot(MADRID)[:60], "no newline found"),
        (pickle.dumps((["el"], np.float32([[1, 2]])), 2), "GLOBAL numpy"),
        (b"\x80\x02).", "0 words"),
    ],
)
def test_a_pickle_is_read_without_running_it(encoder: Make, content: bytes, found: str) -> None:
    with pytest.raises(InputError, match=re.escape(found)):
        encoder(content, "polyglot-es.pkl").encode(["el"])


def test_a_header_settles_that_a_word_has_blanks(encoder: Make) -> None:
    made = encoder("3 2\n10 000 1 2\nel 3 4\n7 1/2 5 6\n")
    assert [word for block, _ in made.vocabulary() for word in block] == ["10 000", "el", "7 1/2"]
    # Without it, a line may have a number too many; with it, if all lines have one, it is wrong.
    for content, place in (("el 3 4\n10 000 1 2\n", 2), ("2 2\nel 0 3 4\nmar 0 5 6\n", 2)):
        with pytest.raises(InputError, match=rf"line {place}\n.*2 numbers"):
            encoder(content).encode(["el"])


@pytest.mark.parametrize("name", ["v.txt", "v.bin"])
def test_of_a_repeated_word_the_first_vector_is_taken(
    encoder: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    rows = [("el", 1), ("mar", 2), ("el", 3), ("sol", 4), ("mar", 5), ("el", 6)]
    text = "".join(f"{word} {number}\n" for word, number in rows)
    packed = b"".join(word.encode() + b" " + struct.pack("<f", number) for word, number in rows)
    monkeypatch.setattr(static, "BLOCK_ROWS", 2)
    made = encoder(b"6 1\n" + packed if name == "v.bin" else text, name)
    assert made.encode(["el", "mar", "sol"]).ravel().tolist() == [1, 2, 4]
    place = "word 3" if name == "v.bin" else "line 3"
    assert f"3 repeated words, such as 'el' in {place}: the first" in caplog.text


def test_options(tmp_path: Path, encoder: Make) -> None:
    encoder(LINES, "v.txt")
    made = make_encoder("mine", {"encoder": "static", "path": str(tmp_path / "v.txt")})
    assert (made.form, made.layers, made.parallel) == ("tokens", ("output",), False)
    assert made.options == {"file": "v.txt"}
    # printf … | sha256sum
    assert made.revision == "26667f79b20a0ece"


def test_a_file_is_read_once_until_it_changes(
    encoder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = encoder("mar 1\n")
    before = made.revision
    assert made.encode(["mar"]).item() == 1
    with monkeypatch.context() as patched:
        patched.setattr(static, "open_vectors", None)
        assert made.encode(["mar"]).item() == made.coverage(["mar"])["tokens"] == 1
    encoder("mar 25\n")
    assert made.revision != before
    assert made.encode(["mar"]).item() == 25


TWO = binary({"el": [1, 0], "mar": [0, 1]})
A = fasttext(["a"], [[1], [2]], buckets=1)
TEXT_ERRORS: list[tuple[str | bytes, str, str]] = [
    ("", ", line 1", "nothing"),
    ("esto es texto\n", ", line 1", "'esto es texto'"),
    ("0 2\n", ", line 1", "'0 2'"),
    ("3 1000000000000\n" + LINES, ", line 1", "'3 1000000000000'"),
    ("1000000000000 2\n" + LINES, ", line 1", "1000000000000"),
    ("2 2\n" + LINES, ", line 1", "2"),
    ("3 3\n" + LINES, ", line 2", "2 fields after the word: 'el 1 0'"),
    ("3 1\n" + LINES, ", line 2", "2 fields after the word: 'el 1 0'"),
    (HEADER + LINES.replace("mar 0 1", ""), ", line 3", "0 fields after the word: ''"),
    (LINES.replace("mar 0 1", "mar 0  1"), ", line 2", "3 fields after the word: 'mar 0  1'"),
    (LINES.replace("mar 0 1", " 0 1"), ", line 2", "2 fields after the word: ' 0 1'"),
    (HEADER + LINES.replace("mar 0 1", "mar 0 1_0"), ", line 3", "'1_0'"),
    (LINES.replace("mar 0 1", "mar 0\r 1"), ", line 2", r"'0\r'"),
    ("\ufeff" + LINES.replace("mar 0 1", "mar 0 x"), ", line 2", "'x'"),
    (LINES.replace("mar 0 1", "mar 1e39 1"), ", line 2", "NaN or an infinite number"),
    ("x" * 2_000_000, ", line 1", "'xxx"),
]
BINARY_ERRORS: list[tuple[str | bytes, str, str]] = [
    (b"", ", line 1", "''"),
    (LINES.encode(), ", line 1", "'el 1 0'"),
    (TWO[:-3], ", word 2", "the end of the file after 1 words"),
    (TWO.replace(b"2 2", b"1000000000000 2"), ", word 3", "the end of the file after 2 words"),
    (TWO.replace(b"2 2", b"1 2"), ", after word 1", "12 bytes or more"),
    (TWO.replace(b"2 2", b"2 1"), ", after word 2", "4 bytes or more"),
    (b"9 2\n" + b"x" * 1_100_000 + b" " * 99, ", word 1", "no space within 1048576 bytes"),
    (binary({"el": [1, 0], "mar": [float("nan"), 1]}), ", word 2", "NaN or"),
    (fasttext(["a"], [[1]], version=13), "", "version 13"),
    (fasttext(["a"], [[1]], model=4), "", "version 12, model 4"),
    (fasttext(["a"], [[1]], quantised=True), "", "a quantised one"),
    (fasttext(["a"], [[1]], pruned=0), "", "a quantised, pruned one"),
    (fasttext(["a", "a"], [[1], [2]]), "", "1 words"),
    (fasttext(["a"], [[1], [2]]), "", "1 words, a matrix of 2 × 1"),
    (fasttext(["a"], [[1], [float("inf")]], buckets=1), ", rows 1 to 2 of the matrix", "NaN"),
    (A[:-28], ", rows 1 to 2 of the matrix", "the end of the file"),
    (A[:60], "", "its end in the middle"),
]
ERRORS = [("txt", *row) for row in TEXT_ERRORS] + [("bin", *row) for row in BINARY_ERRORS]


@pytest.mark.parametrize(("kind", "content", "place", "found"), ERRORS, ids=range(len(ERRORS)))
def test_errors(encoder: Make, kind: str, content: str | bytes, place: str, found: str) -> None:
    for name in (f"vectors.{kind}", f"vectors.{kind}.gz"):
        made = encoder(content, name)
        with pytest.raises(InputError) as caught:
            made.encode(["a"])
        assert caught.value.where == f"{made.path}{place}"
        assert caught.value.found.startswith(found)


def test_errors_of_the_file_itself(tmp_path: Path, encoder: Make) -> None:
    for action in ("revision", "dimension"):
        with pytest.raises(InputError, match=r"(?s)none.txt.*No such file.*path"):
            getattr(StaticVectors(str(tmp_path / "none.txt")), action)
    with pytest.raises(InputError, match="directory"):
        StaticVectors(str(tmp_path)).encode(["a"])
    whole = gzip.compress(LINES.encode())
    for damaged in (whole[:-12], whole[:20] + b"\xff\xff" + whole[22:], whole[:10] + b"xx"):
        (tmp_path / "v.txt.gz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"v.txt.gz\n.*a whole file"):
            StaticVectors(str(tmp_path / "v.txt.gz")).encode(["a"])


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
# A blank parts the fields, "\n" the lines, "\r" may end one; a digit first would be a number.
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \n\r"), min_size=1, max_size=6
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[float]]:
    size = draw(st.integers(1, 5))
    vector = st.lists(NUMBERS, min_size=size, max_size=size)
    return draw(st.dictionaries(WORDS, vector, min_size=1, max_size=8))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(words=tables(), kind=st.sampled_from(["word2vec", "glove", "binary", "gensim", "fasttext"]))
def test_what_is_written_is_read(encoder: Make, words: dict[str, list[float]], kind: str) -> None:
    size = len(next(iter(words.values())))
    lines = "".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in words.items())
    # The words of a fastText model end at a zero.
    assume(kind != "fasttext" or "\0" not in "".join(words))
    made = {
        "word2vec": lambda: encoder(f"{len(words)} {size}\n{lines}"),
        "glove": lambda: encoder(lines),
        "binary": lambda: encoder(binary(words), "v.bin"),
        "gensim": lambda: encoder(binary(words, b""), "v.bin"),
        "fasttext": lambda: encoder(fasttext([*words], [*words.values()], longest=0), "v.bin"),
    }[kind]()
    table = static.load_model(*static._cache_key(made.path))
    assert {word: table.matrix[row].tolist() for word, row in table.rows.items()} == words
    assert made.encode(list(words))[:, 0].tolist() == list(words.values())


@settings(max_examples=150)
@given(content=st.binary(max_size=60), name=st.sampled_from(["v.txt", "v.bin", "v.bin.gz"]))
def test_any_bytes_are_read_or_refused_clearly(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any_{name}"
    path.write_bytes(content)
    with suppress(InputError):
        assert np.isfinite(StaticVectors(str(path)).encode(["a"])).all()


# fastText.


def test_ngram_hashes_are_those_of_the_fasttext_package() -> None:
    # get_subwords of a model with n-grams of 1 to 3 characters and 2,000,000 buckets, less the
    # number of its words; the word itself left out.
    assert [h % 2_000_000 for h in ngram_hashes("<niño>", 1, 3)] == [
        *(1120655, 1585938, 1445553, 1069064, 250336, 223172, 189916),
        *(1903433, 380921, 1950498, 1308308, 667934, 600544),
    ]
    assert [h % 2_000_000 for h in ngram_hashes("<€a>", 1, 3)] == [
        *(1359509, 284316, 493227, 782462, 1435072, 2220, 1614806)
    ]


@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_a_model_of_the_fasttext_package(encoder: Make, zipped: str) -> None:
    made = encoder(MODEL.read_bytes(), f"model.bin{zipped}")
    assert made.dimension == 7
    vectors = made.encode([*MODEL_VECTORS, "NIÑO", "niño casas", ""])[:, 0]
    expected = np.array(list(MODEL_VECTORS.values()))
    assert vectors[:4] == pytest.approx(expected, abs=1e-6)
    assert vectors[4].tolist() == vectors[0].tolist()
    assert vectors[5] == pytest.approx(expected[:2].mean(axis=0), abs=1e-6)
    assert not vectors[6].any()
    assert made.coverage(["niño casas", "NIÑO </s>"]) == {"tokens": 4, "out_of_vocabulary": 1}
    ((words, of_words),) = made.vocabulary()
    assert {"niño", "</s>"} <= set(words)
    assert np.array_equal(of_words, made.encode(words)[:, 0])


def test_a_word_is_the_mean_of_itself_and_its_ngrams(encoder: Make) -> None:
    # One bucket: every n-gram is row 1. "a" has "<a", "a", "a>".
    made = encoder(fasttext(["a"], [[8], [4]], buckets=1), "m.bin")
    assert made.encode(["a", "A", "b", "</s>"])[:, 0, 0].tolist() == [5, 5, 4, 0]
    # Supervised models of version 11 say they have n-grams, and have none.
    for options in ({"version": 11}, {"longest": 0}):
        labels = ["__label__x"]
        model = fasttext(["a"], [[8], [4]], buckets=1, model=3, labels=labels, **options)
        made = encoder(model, "supervised.bin")
        assert made.encode(["a", "b", *labels])[:, 0, 0].tolist() == [8, 0, 0]
        assert made.coverage(["a b"])["out_of_vocabulary"] == 1
