"""Tests of corpora_recipes/wikipedia/{wikitext,templates,prose}.py: wikitext to whole sentences."""

import re
import sys

import pytest
from case_tables import read_tables
from dump_writer import NAMESPACES
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora_recipes.corpora.wikipedia import prose
from corpora_recipes.corpora.wikipedia.recipe import sections_of
from corpora_recipes.corpora.wikipedia.templates import MARKS, format_number, load_wiki
from corpora_recipes.corpora.wikipedia.wikitext import Article, Parser
from corpora_recipes.records import Drops
from corpora_recipes.text.cleaning import clean, find_damage
from corpora_recipes.text.sentences import split_sentences
from corpora_recipes.text.tidying import tidy

TABLES = read_tables(__file__)

LANGUAGES = ("es", "en", "fr", "pt", "de", "it", "ca", "gl", "eu", "ast", "an")
PARSERS = {code: Parser(code, tuple(NAMESPACES.items())) for code in LANGUAGES}
# What no sentence may hold.
LEFTOVER = re.compile(r"\[\[|\]\]|\{\{|\}\}|\{\||''|==|https?://|formula_\d|</?[a-z]|style=|[﷐-﷯]")


def parse(text: str, language: str = "es", title: str = "Título") -> Article:
    return PARSERS[language].parse(title, text)


def read(text: str, language: str = "es", title: str = "Título") -> tuple[list[list[str]], Drops]:
    """Return the paragraphs of a page, and the counts."""
    drops = Drops()
    sections = next(sections_of([parse(text, language, title)], language, drops))
    return [list(p) for section in sections for p in section.paragraphs], drops


def only_sentence(text: str, language: str = "es", title: str = "Título") -> str:
    """Return the only sentence, or "" if there is none, or "(reason)" if it was dropped."""
    runs, drops = read(text, language, title)
    kept = [sentence for run in runs for sentence in run]
    dropped = drops.dropped.elements()
    reasons = [f"({reason})" for unit, reason in dropped if unit == "sentences"]
    assert len(kept) <= 1, (kept, reasons)
    return "".join(kept + reasons)


# Template in a sentence, to the sentence that a reader sees.
SPANISH = [
    *TABLES["templates"],
    (f"Se estrenó el {{{{fecha|{'1' * 5000}|1|2000}}}}.", "(unrendered_template)"),
]


MARKUP = [
    *TABLES["markup"],
    ("Es &#" + "1" * 5_000 + "; hoy.", "(replacement_character)"),
    ("palabra " * 8_000 + ".", "(overlong)"),
    # As it was written: without the spaces before commas it would be short enough.
    ("palabra , " * 5_001 + "fin.", "(overlong)"),
]


@pytest.mark.parametrize(
    ("language", "text", "sentence"),
    [*TABLES["other_languages"], *(("es", *row) for row in SPANISH + MARKUP)],
)
def test_templates_and_markup(language: str, text: str, sentence: str) -> None:
    assert only_sentence(text, language) == sentence


# What a reader sees is in the sentence, or the sentence is dropped.
SHOWN = TABLES["shown"]


@pytest.mark.parametrize(("text", "sentence"), SHOWN)
def test_what_a_reader_sees_is_shown_or_the_sentence_is_dropped(text: str, sentence: str) -> None:
    assert only_sentence(text) == sentence


@pytest.mark.parametrize(("language", "text", "sentence"), TABLES["seen_by_readers"])
def test_templates_show_all_that_readers_see(language: str, text: str, sentence: str) -> None:
    assert only_sentence(text, language) == sentence


def test_a_language_without_tables_has_what_all_share() -> None:
    wiki = load_wiki("xx")
    assert wiki.rules["nowrap"] == ("show", "{1}")
    assert format_number("12345", wiki) == "12,345"


PAGE = TABLES["page"]


def test_a_page() -> None:
    article = parse(PAGE)
    drops = Drops()
    found = [(s.heading, s.level, s.paragraphs) for s in next(sections_of([article], "es", drops))]
    assert found == [
        ("", 1, [["Villa es una ciudad antigua."]]),
        ("", 1, [["Tiene un río.", "Sigue aquí.", "Y acaba aquí."]]),
        ("Historia", 2, [["Fue fundada ayer."], ["Creció mucho."]]),
        ("El siglo siglo XX", 3, [["Duró cien años."]]),
    ]
    assert article.topics == ["Ciudades de Chile", "Villas"]
    assert not article.disambiguation
    assert drops.seen["sentences"] == 9
    assert drops.dropped == {
        ("sentences", "unrendered_template"): 1,
        ("sentences", "unfinished"): 1,
        ("lines", "table"): 7,
        ("lines", "list"): 4,
        ("lines", "preformatted"): 1,
        ("lines", "blockquote"): 1,
        ("lines", "box"): 1,
        ("lines", "poem"): 3,
        ("lines", "gallery"): 3,
        ("lines", "center"): 1,
    }
    assert drops.seen["lines"] == 21


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        # Spaces open preformatted text, but not after something removed.
        (" Código aquí.\n\n{{cr}} Texto aquí.", [["Texto aquí."]]),
        ("Uno es\nasí. Dos\n\nTres es así.", [["Uno es así."], ["Tres es así."]]),
        ("Uno es así.<br><br/>Dos es así.", [["Uno es así."], ["Dos es así."]]),
        ("Uno es así.<br>Dos es así.", [["Uno es así.", "Dos es así."]]),
        # What is never closed ends at the next heading, items outside a list at the end of a line.
        *(
            (f"Es así.\n{opening}\nNo es prosa.\n== B ==\nVa así.", [["Es así."], ["Va así."]])
            for opening in ("{| class=x\n| celda", "<center>", "<blockquote>", "<ul><li>x")
        ),
        *(
            (f"Es así.\n{opening}\nSí es <b>prosa</b>.", [["Es así."], ["Sí es prosa."]])
            for opening in ("<li>x", "<li>x<b>y</b><li>z", "<dd>x")
        ),
        # A reference hid that a blank was missing.
        ("Uno es así.<ref>x</ref>Dos es así.", [["Uno es así.", "Dos es así."]]),
    ],
)
def test_paragraphs(text: str, paragraphs: list[list[str]]) -> None:
    assert read(text)[0] == paragraphs


@pytest.mark.parametrize(("language", "text"), TABLES["disambiguation"])
def test_disambiguation(language: str, text: str) -> None:
    assert parse(f"'''Luna''' puede ser:\n* [[Luna]].\n{text}", language).disambiguation
    assert not parse(f"Luna.<!-- {text} --><nowiki>{text}</nowiki>", language).disambiguation
    assert not parse("{{otros usos|Luna (desambiguación)}}\nLa Luna gira.").disambiguation


def test_a_framed_image_is_no_sign_of_the_sentence() -> None:
    options = {"es": "der", "en": "right", "fr": "droite", "pt": "direita", "de": "rechts"}
    for language, option in options.items():
        assert PARSERS[language].wiki.framed.search(f"|20px|{option}|x")
        assert not PARSERS[language].wiki.framed.search("|20px|alt=x")


ADVERSARIAL = TABLES["adversarial"]


# Openings of several kinds, each inside the last one and none ever closed.
MIXTURES = [*TABLES["mixtures"], ("=" * 1_000 + "a",)]


PAIRS = [("{{", "}}"), ("[[", "]]"), ("{{nowrap|", "}}"), ("<div>", "</div>"), ("{{{", "}}}")]
PAIRS += [("\n{|", "\n|}"), ("<center>", "</center>")]


@pytest.mark.parametrize("token", ADVERSARIAL)
def test_much_of_anything_ends(token: str) -> None:
    # A quadratic step would take minutes; what comes out is only checked to be clean.
    check_that_it_ends(token * (150_000 // len(token)))


@pytest.mark.parametrize("tokens", MIXTURES)
def test_mixtures_end(tokens: tuple[str, ...]) -> None:
    in_turn = "".join(tokens)
    check_that_it_ends(in_turn * (80_000 // len(in_turn)))
    one_after_the_other = [token * (80_000 // len(tokens) // len(token)) for token in tokens]
    check_that_it_ends("".join(one_after_the_other) + "}}]]" * 10_000)
    # Just short of what is dropped as overlong: this goes through the sentence splitter.
    check_that_it_ends(f"Es {in_turn * (45_000 // len(in_turn))} así.")


@pytest.mark.parametrize("tokens", [*MIXTURES, *((token,) for token in ADVERSARIAL)])
def test_twice_the_page_takes_twice_the_calls(tokens: tuple[str, ...]) -> None:
    in_turn = "".join(tokens)
    paragraph = in_turn * (2_000 // len(in_turn)) + "\n\nEs así.\n\n"
    read(paragraph)  # what is only done once is done
    once, twice = calls(paragraph * 10), calls(paragraph * 20)
    assert twice <= 2.2 * once


def calls(text: str) -> int:
    """Return how many functions are called to read a page: the same number each time."""
    count = 0

    def step(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        read(text)
    finally:
        sys.setprofile(None)
    return count


def check_that_it_ends(text: str) -> None:
    runs, _ = read(text)
    assert not any(LEFTOVER.search(s) for run in runs for s in run)


@pytest.mark.parametrize("pair", PAIRS)
def test_deep_nesting_ends(pair: tuple[str, str]) -> None:
    check_that_it_ends(pair[0] * 40_000 + "Es así. " + pair[1] * 40_000)


PARTS = ["Es así. ", "La casa ", "es roja.", "\n\n", "1900", "{{siglo|XX||s}}", "</sup>"]
PARTS += ["</center>", "<ref>x</ref>", "<math>x</math>", "{{x\n|y}}", "|}}", "[[Categoría:X]]"]
PARTS += ["'''", "5"]
PARTS += ADVERSARIAL


@settings(max_examples=150)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PARTS), max_size=40).map("".join)))
@example("{{nowrap|[[a|b}}]]")
@example("[[Archivo:a|{{]]}}")
@example("{{fecha|²|1|1}}")
def test_any_text_goes_through_and_leaves_no_markup(text: str) -> None:
    article = parse(text)
    runs, drops = read(text)
    kept = [sentence for run in runs for sentence in run]
    assert all(runs)
    for sentence in kept:
        assert not LEFTOVER.search(sentence)
        assert not any(mark in sentence for mark in MARKS)
        assert sentence == " ".join(sentence.split())
        assert prose.fault(sentence, "es") is None
    assert drops.kept("sentences") == len(kept)
    assert drops.kept("lines") == 0
    assert len(set(article.topics)) == len(article.topics)
    assert not any(mark in topic for topic in article.topics for mark in MARKS)
    for block in article.blocks:
        assert not LEFTOVER.search(prose.heading(block.heading))


@pytest.mark.parametrize(
    ("line", "heading"), [("== {{algo}} A ''b'' <!-- c --> ==", "A b"), ("== A [[b ==", "")]
)
def test_a_heading_with_markup_left_is_empty(line: str, heading: str) -> None:
    (_, block) = parse(f"{line}\nEs así.").blocks
    assert prose.heading(block.heading) == heading


def test_categories_that_are_no_topics() -> None:
    # A template would complete its name, or it is not about the subject.
    assert parse("[[Categoría:Nacidos en {{año}}]][[Categoría:_A_b|c]]").topics == ["A b"]
    names = ["1861 births", "Living people", "All stub articles", "Articles with hCards"]
    names += ["Use dmy dates from May 2020", "All-female bands", "Births in fiction", "1861 ships"]
    text = "".join(f"[[Category:{name}]]" for name in names)
    assert Parser("en", ()).parse("", text).topics == names[-3:]


@pytest.mark.parametrize(("sentence", "reason"), TABLES["faults"])
def test_faults(sentence: str, reason: str | None) -> None:
    assert prose.fault(sentence, "es") == reason


def test_punctuation_is_put_in_order() -> None:
    drops = Drops()
    text = (
        '[1] Su canción," Roble ", gustó.[2] Nació en 20 a. C.. Vivió en la casa (azul ).'
        ' Murió " en el río.'
    )
    assert prose.sentences([text], "es", drops)[0] == [
        'Su canción, "Roble", gustó.',
        "Nació en 20 a. C.",
        "Vivió en la casa (azul).",
        None,
    ]
    assert drops.dropped == {("sentences", "broken_quotation"): 1}


PIECES = [*" .,;:!?…()[]«»“”\"'-–%&<>=/_#{}|~", *"aAéÉñßǅΩяⅣ²1", "de", "el siglo", "población"]
PIECES += [*MARKS, "www.", "del", "3,5", "Lima", " y ", " , ", "Lima. ", "fin.El ", "€", "Ã©"]
PIECES += [" de。"]


def passes(text: str, language: str) -> bool:
    return not (find_damage(text) or prose._match([text], prose._possible_faults(language))[0])


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=12), st.sampled_from(["es", "fr"]))
def test_what_the_fast_search_passes_is_sound(pieces: list[str], language: str) -> None:
    text = clean("".join(pieces))
    if text and passes(text, language):
        assert not prose._is_suspect(text)
        assert not prose._has_hole(text, language)
        assert tidy(text, language) == text
        assert not any(prose._damage(sentence) for sentence in split_sentences(text, language))
    holes = load_wiki(language).holes
    if holes and not prose._match([text], load_wiki(language).possible_holes)[0]:
        assert not holes.search(text)


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*PIECES, ". ", "Casa. ", "(a) "]), min_size=1, max_size=16))
def test_sentences_of_what_the_fast_search_passes_are_the_same(pieces: list[str]) -> None:
    text = clean("".join(pieces))
    if text and passes(text, "es"):
        fast, slow = Drops(), Drops()
        kept = prose._check_sentences(text, "es", fast, plain=True, holes=False)
        closed = prose._close_blanks(text, "es")
        assert kept == prose._check_sentences(closed, "es", slow, plain=False, holes=True)
        assert fast == slow


LUGO = TABLES["lugo"]


def test_the_lead_is_what_stands_before_the_first_heading() -> None:
    whole = parse(LUGO)
    lead = PARSERS["es"].parse("Lugo", LUGO, lead_only=True)
    assert [block.heading for block in whole.blocks] == ["", " Historia "]
    assert lead.blocks == whole.blocks[:1]
    assert lead.topics == whole.topics == ["Ciudades", "Lugo (ciudad)"]
    assert not lead.disambiguation

    text = "Es uno.\n\nEs {{fecha|1|2|1903}}. [[Categoría:A]]"
    assert PARSERS["es"].parse("Uno", text, lead_only=True) == parse(text)


@pytest.mark.parametrize("mark", ["{{desambiguación}}", "{{ Desambig|x}}", "{{DES\n|a}}"])
def test_the_mark_of_a_disambiguation_page_may_stand_after_the_lead(mark: str) -> None:
    text = f"Lugo es:\n== Lugares ==\n* Uno.\n{mark}"
    assert PARSERS["es"].parse("Lugo", text, lead_only=True).disambiguation
