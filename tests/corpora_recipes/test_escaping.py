"""Users' texts in Markdown: whatever they are, a parser sees the same page and the same text."""

import pytest
from case_tables import read_tables
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from corpora_recipes.escaping import markdown, markdown_code, one_line

TABLES = read_tables(__file__)

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PAGES = TABLES["pages"]
HOSTILE = TABLES["hostile"]


def seen(page: str) -> tuple[list[tuple[str, str, int]], list[str]]:
    """Return the structure of a page, as a parser reads it, and its texts."""
    tokens: list[Token] = []
    texts = []
    for token in PARSER.parse(page):
        tokens.append(token)
        if token.type == "inline":
            children = token.children or []
            tokens += [child for child in children if child.type != "text"]
            texts.append("".join(child.content for child in children if child.type == "text"))
    return [(token.type, token.tag, token.nesting) for token in tokens], texts


def check(value: str) -> None:
    for page in PAGES:
        structure, texts = seen(page.replace("{}", markdown(value)))
        plain, expected = seen(page.replace("{}", "Q"))
        assert structure == plain, page
        assert texts == [text.replace("Q", one_line(value)).strip() for text in expected], page
    structure, _ = seen(f"| a |\n|---|\n| {markdown_code(value)} |")
    assert [kind for kind, *_ in structure].count("code_inline") == 1
    assert [kind for kind, *_ in structure].count("td_open") == 1


@pytest.mark.parametrize("name", list(HOSTILE))
def test_a_hostile_text_is_shown_and_does_nothing(name: str) -> None:
    check(HOSTILE[name])


@given(
    st.text(st.sampled_from("ab1 \n\t#>=-+*_~`|<>[]()!\\&;:^.{}$%@'\"/"), min_size=1, max_size=16)
)
def test_any_text_is_shown_as_it_is(value: str) -> None:
    if one_line(value):
        check(value)


def test_a_line_has_no_hidden_characters() -> None:
    assert one_line(HOSTILE["invisible"]) == "ab[31mc"
    assert one_line(" a\n\n b\u2028c\x85") == "a b c"
    assert one_line("می‌خواهم 👩‍🚀") == "می‌خواهم 👩‍🚀"
    assert markdown(1.5) == "1.5"
    assert markdown("-3.1 [−4, 2] of a_b") == "-3.1 [−4, 2] of a_b"
