"""The message of an error: four parts, of bounded length, that any terminal can print."""

import pickle

from corpora_recipes.running.errors import LONGEST_SAID, LONGEST_SHOWN, InputError


def test_the_four_parts() -> None:
    error = InputError("a.txt, line 3", expected="a number", found="'x'", todo="correct it")
    assert str(error) == (
        "a.txt, line 3\n  expected: a number\n  found:    'x'\n  to do:    correct it"
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_comes_from_the_input_is_cut() -> None:
    error = InputError("p" * 10**6, expected="e" * 10**6, found="é" * 10**6, todo="t" * 10**6)
    cut = " … (1,000,000 characters)"
    assert error.found == "é" * (LONGEST_SHOWN - len(cut)) + cut
    assert len(str(error)) < 2 * (LONGEST_SHOWN + LONGEST_SAID) + 50
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_control_characters_reach_no_terminal() -> None:
    error = InputError("a\udcff", expected="á", found="\x1b[31m\r\x07b\nc", todo="")
    assert (error.where, error.expected) == (r"a\udcff", "á")
    assert error.found == "\\x1b[31m\\r\\x07b\nc"
    str(error).encode()
