"""Lines of a PDF that become paragraphs, and headings that say where a section belongs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.peerread.recipe import (
    LOST,
    Heading,
    paragraphs,
    parse_heading,
    reasons,
    words_of,
)

WORDS = words_of(["We use large-scale maps and underline words; rewriting is hard."])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One line of prose.\nAnother of prose.", ["One line of prose.", "Another of prose."]),
        # A break inside a sentence.
        ("The text goes\non after the break.", ["The text goes on after the break."]),
        # Words at a line break, with the hyphen if the paper has it.
        ("They re-\nwriting the large-\nscale maps.", ["They rewriting the large-scale maps."]),
        ("Words with ﬁne ligatures.", ["Words with fine ligatures."]),
        # A footnote interrupts a sentence.
        ("The robot must\n∗ Work done abroad.\nwait for rain.",
         [f"The robot must {LOST}", "∗ Work done abroad.", f"{LOST} wait for rain."]),
        # A formula does.
        ("We write this as\nf (x) = ∑\ni wi xi + b (1)\nwhere the sum is finite.",
         [f"We write this as {LOST}", f"{LOST} where the sum is finite."]),
        ("It is small.\nα = 1\nIt learns a lot.", ["It is small.", f"{LOST} It learns a lot."]),
        ("The model is\nα = 1", [f"The model is {LOST}"]),
        ("ar X\niv :0\n80 4.", []),
        ("", []),
    ],
)  # fmt: skip
def test_paragraphs(text: str, found: list[str]) -> None:
    assert paragraphs(text, WORDS) == found


@given(st.text(alphabet="ab AB.-\n(1)∑"))
def test_nothing_is_said_twice(text: str) -> None:
    joined = "".join(paragraphs(text, WORDS))
    assert joined.count("a") <= text.count("a")


@pytest.mark.parametrize(
    ("raw", "heading"),
    [
        ("2 SVM with indefinite kernels", Heading("SVM with indefinite kernels", 2, "2", False)),
        ("3.1 THE MODEL", Heading("The model", 3, "3", False)),
        ("3.1.2. A simple\ncase", Heading("A simple case", 4, "3", False)),
        ("IV. Results", Heading("Results", 2, "IV", False)),
        ("A.1 Proofs", Heading("Proofs", 3, "A", True)),
        ("A Further results", Heading("Further results", 2, "A", True)),
        ("A simple model", Heading("A simple model", 2, "", False)),
        ("Related Work", Heading("Related Work", 2, "", False)),
        ("-1 Acknowledgements", Heading("Acknowledgements", 2, "-1", False)),
        ("3.1", None),
        ("", None),
    ],
)
def test_parse_heading(raw: str, heading: Heading | None) -> None:
    assert parse_heading(raw) == heading


def test_which_sections_are_not_in_the_middle() -> None:
    ends = {"introduction": ["introduction"], "conclusion": ["conclu", "summary$"]}
    headings = ["", "1 Introduction", "1.1 Results", "2 A Summary of Rules", "2.1 Summary",
                "3 Data", "4 Conclusions and Outlook", "A Proofs"]  # fmt: skip
    found = reasons([parse_heading(heading) for heading in headings], ends)
    assert found == ["no_heading", "introduction", "introduction", None, "conclusion",
                     None, "conclusion", "appendix"]  # fmt: skip
