"""CoNLL-U: words, tokens and texts of sentences, every oddity of the format, and bad files."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from case_tables import read_tables
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora_recipes.formats import conllu
from corpora_recipes.formats.conllu import Parse, Piece, iter_pieces, parse_sentence, read_comments
from corpora_recipes.recipe import Dropped
from corpora_recipes.records import Token, Word, text_of
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

SENTENCE = TABLES["sentence"]


def row(number: object, form: str, head: object = 0, **more: str) -> str:
    """Return a line of ten columns."""
    names = ("lemma", "upos", "xpos", "features", "head", "relation", "deps", "misc")
    given = {"head": str(head), "relation": "dep"} | more
    return "\t".join([str(number), form, *(given.get(name, "_") for name in names)])


def piece_of(text: str | bytes) -> Piece:
    data = text if isinstance(text, bytes) else text.encode()
    return Piece(data.splitlines(keepends=True), 1, 0)


def read(*lines: str) -> Parse:
    return parse_sentence(piece_of("\n".join(lines) + "\n"), Path("x.conllu"))


def test_words_tokens_and_text() -> None:
    found = parse_sentence(piece_of(SENTENCE), Path("x.conllu"))
    assert [word.form for word in found.words] == (
        ["Quiere", "dar", "se", "lo", "a", "María", ",", "y", "Luis", ",", "también", "."]
    )
    assert found.words[5] == Word("María", "María", "PROPN", "", 2, "obl:arg")
    assert found.words[0].feature("Mood") == "Ind"
    assert found.tokens[1] == Token("dárselo", 3, True)
    assert sum(token.words for token in found.tokens) == len(found.words)
    assert text_of(found.tokens) == "Quiere dárselo a María, y Luis, también."
    assert read_comments(piece_of(SENTENCE)) == {
        "newdoc id": "carta",
        "sent_id": "carta-1",
        "text": "Quiere dárselo a María, y Luis, también.",
    }


def test_spaces_are_those_of_the_text_and_without_one_those_of_the_tokens() -> None:
    rows = [row(1, "20 000"), row(2, "€", 1, misc="SpaceAfter=No"), row(3, "?", 1)]
    assert text_of(read(*rows).tokens) == "20 000 €?"
    assert text_of(read("# text = 20 000€ ?", *rows).tokens) == "20 000€ ?"


def test_text_is_normal_and_without_invisible_characters() -> None:
    rows = [row(1, "cafe\u0301\u200b"), row(2, ",", 1), row(3, "sí", 1)]
    found = read("# text = cafe\u0301\u200b, \u00a0sí", *rows)
    assert found.tokens == (Token("café", 1, False), Token(",", 1, True), Token("sí", 1, False))


def test_html_entities_are_decoded_where_text_and_words_agree() -> None:
    words = [
        row(1, "&#39;&#39;", lemma="&#39;&#39;"),
        row(2, "Rock&amp;Roll", 1),
        row(3, "&#9;", 1),
    ]
    for text in ("&#39;&#39; Rock&amp;Roll &#9;", "'' Rock&Roll &#9;"):
        found = read(f"# text = {text}", *words)
        assert text_of(found.tokens) == "'' Rock&Roll &#9;"
        assert (found.words[0].form, found.words[0].lemma) == ("''", "''")
    parts = [row(n, form, 0 if n == 1 else 1) for n, form in enumerate(("&", "#39", ";"), 1)]
    with pytest.raises(Dropped, match="text_mismatch"):
        read("# text = &#39;", *parts)


def test_what_is_not_annotated_is_empty() -> None:
    (word,) = read(row(1, "así")).words
    assert word == Word("así", "", "", "", 0, "dep")
    (word,) = read(row(1, "_", lemma="_")).words
    assert (word.form, word.lemma) == ("_", "_")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row(1, "a", 2), row(2, "b", 1), row(3, "c")], "cycle"),
        ([row(1, "a"), row(2, "b")], "not_one_root"),
        (["# text = Otra cosa", row(1, "a")], "text_mismatch"),
        (["# text = ", row(1, "a")], "text_mismatch"),
        ([row(1, "a", features="number=sing")], "malformed_features"),
        ([row(1, "a", features="Number=sing")], "malformed_features"),
        ([row(1, "a", upos="noun")], "unknown_upos"),
        ([row(1, "\u200b")], "empty_form"),
        ([row("1-2", ""), row(1, "a"), row(2, "b", 1)], "empty_form"),
        ([row("0.1", "a", "_")], "no_words"),
        (["# text = solo un comentario"], "no_words"),
    ],
)
def test_an_odd_sentence_is_dropped(rows: list[str], reason: str) -> None:
    with pytest.raises(Dropped) as dropped:
        read(*rows)
    assert dropped.value.reason == reason


@pytest.mark.parametrize(
    ("rows", "line", "expected", "found"),
    [
        ([row(1, "a"), row(2, "b", 1)[:-2]], 2, "10 columns", "9"),
        ([row(1, "a") + "\t_"], 1, "10 columns", "11"),
        ([row(1, "a"), "# tarde"], 2, "10 columns", "1"),
        ([row(1, "a"), row(3, "b", 1)], 2, "the id 2", "'3'"),
        ([row(2, "a"), row(1, "b", 1)], 1, "the id 1", "'2'"),
        ([row("١", "a")], 1, "the id 1", "'١'"),
        ([row(1, "a", 2)], 1, "a head from 0 to 1", "'2'"),
        ([row(1, "a", -1)], 1, "the number of a word as the head", "'-1'"),
        ([row(1, "a", "9" * 5000)], 1, "the number of a word as the head", "'999"),
        ([row("2-3", "b"), row(1, "a")], 1, "begins with 1", "'2-3'"),
        ([row("1-3", "a"), row(1, "a"), row("2-3", "b")], 3, "begins with 2", "'2-3'"),
        ([row("1-2", "a"), row(1, "a")], 2, "words up to 2", "1"),
    ],
)
def test_damage_is_refused_with_its_line(rows, line, expected, found) -> None:
    with pytest.raises(InputError) as error:
        read(*rows)
    assert error.value.where == f"x.conllu, line {line}"
    assert expected in error.value.expected
    assert error.value.found.startswith(found)


def test_a_sentence_of_too_many_words_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(conllu, "MAX_WORDS", 3)
    rows = [row(number, "a", number - 1) for number in range(1, 5)]
    assert len(read(*rows[:3]).words) == 3
    with pytest.raises(InputError, match=r"line 4\n.*at most 3 words"):
        read(*rows)


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    piece = piece_of(b"# sent_id = 1\n# text = ni\xf1o\n")
    with pytest.raises(InputError, match=r"x.conllu, line 2\n.*UTF-8\n.*xf1"):
        parse_sentence(piece, Path("x.conllu"))
    # The comments are read before, and must not stop the corpus.
    assert read_comments(piece)["sent_id"] == "1"


def test_pieces_of_a_file(tmp_path) -> None:
    path = tmp_path / "x.conllu"
    first, second = f"# n = 1\n{row(1, 'a')}\n", f"{row(1, 'b')}\r\n{row(2, 'c', 1)}\r\n"
    path.write_bytes(f"\ufeff{first}\n \n{second}\r\n{row(1, 'ñ')}".encode())
    found = list(iter_pieces(path))
    assert [(len(piece.lines), piece.first) for piece in found] == [(2, 1), (2, 5), (1, 8)]
    words = [[word.form for word in parse_sentence(piece, path).words] for piece in found]
    assert words == [["a"], ["b", "c"], ["ñ"]]
    data = path.read_bytes()
    for piece in found:
        assert data[piece.offset :].startswith(piece.lines[0])
    some = iter_pieces(path, found[1].offset, found[2].offset, found[1].first)
    assert list(some) == found[1:2]


def test_a_sentence_without_an_end_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(conllu, "LARGEST_SENTENCE", 100)
    path = tmp_path / "x.conllu"
    path.write_text("".join(row(number, "a") + "\n" for number in range(1, 20)), "utf-8")
    with pytest.raises(InputError, match=r"x.conllu, line \d+\n.*at most 100 bytes"):
        list(iter_pieces(path))


FORMS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zs", "Zl", "Zp"]), min_size=1
).filter(lambda form: form != "_")


@st.composite
def sentences(draw: st.DrawFn) -> tuple[Sequence[Word], Sequence[Token]]:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=8))
    count = sum(sizes)
    # Each word depends on one before it in some order, so that there is no cycle.
    order = draw(st.permutations(range(1, count + 1)))
    heads = {order[0]: 0}
    for place, number in enumerate(order[1:], 1):
        heads[number] = draw(st.sampled_from(order[:place]))
    words = [Word(draw(FORMS), "x", "NOUN", "", heads[n], "dep") for n in range(1, count + 1)]
    tokens, at = [], 0
    for size in sizes:
        form = words[at].form if size == 1 else draw(FORMS)
        at += size
        tokens.append(Token(form, size, at < count and draw(st.booleans())))
    return words, tokens


@settings(max_examples=15)
@given(sentences())
def test_a_sentence_comes_back_from_its_lines(given_sentence) -> None:
    words, tokens = given_sentence
    lines, at = [], 0
    for token in tokens:
        misc = "_" if token.space_after else "SpaceAfter=No"
        if token.words > 1:
            lines.append(row(f"{at + 1}-{at + token.words}", token.form, "_", misc=misc))
        for word in words[at : at + token.words]:
            at += 1
            word_misc = misc if token.words == 1 else "_"
            lines.append(row(at, word.form, word.head, lemma="x", upos="NOUN", misc=word_misc))
    expected = re.sub(r"\s+", " ", text_of(tokens))
    found = parse_sentence(piece_of("\n".join([f"# text = {expected}", *lines])), Path("x.conllu"))
    normal = text_of(found.tokens)
    assert [word.head for word in found.words] == [word.head for word in words]
    assert [token.words for token in found.tokens] == [token.words for token in tokens]
    assert normal == text_of(read(*lines).tokens)
