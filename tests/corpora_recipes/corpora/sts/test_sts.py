"""STS: input and gold files that do not fit each other, archives and folders."""

import shutil
from functools import partial
from pathlib import Path
from unittest.mock import ANY

import pytest
from conftest import corpus_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from recipe_reading import pack, read_examples, refused, write_files

from corpora_recipes.corpora.sts import recipe
from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "sts" / "sample"
CORPUS = corpus_of("sts")
PAIRS = "STS14-es-test/STS.input.news.txt"
GOLD = "STS14-es-test/STS.gs.news.txt"
TWO = "Uno\tDos\nTres\tCuatro"
read = partial(read_examples, corpus=CORPUS)


def write(raw: Path, pairs: str, gold: str) -> Path:
    return write_files(raw, {PAIRS: pairs, GOLD: gold})


def rows(examples: list[Example]) -> list[tuple[str, str, float | None]]:
    return [(*example.texts, example.score) for example in examples]  # type: ignore[misc]


def test_2017_is_taken_as_it_stands(tmp_path: Path) -> None:
    pair = b"Un reloj , creo , de  pared .\tOtro reloj"
    inputs = {"STS2017.eval.v1.1/STS.input.track3.es-es.txt": pair}
    pack(tmp_path / "Sts2017.eval.v1.1.zip", inputs)
    pack(tmp_path / "Sts2017.gs.zip", {"STS2017.gs/STS.gs.track3.es-es.txt": b"4.600000\n"})
    examples, _ = read(tmp_path)
    assert rows(examples) == [("Un reloj , creo , de pared .", "Otro reloj", 4.6)]
    assert examples[0].id == "2017/track3/1"


def test_bom_crlf_and_a_quote_that_never_closes(tmp_path: Path) -> None:
    pairs = '\ufeff" Hoy llueve .\tHoy llueve .\r\nNieva .\tNo " nieva\r\n'
    examples, _ = read(write(tmp_path, pairs, "\ufeff4\r\n3.75\r\n"))
    assert [(*e.texts, e.score) for e in examples] == [
        (ANY, "Hoy llueve.", 4.0),
        ("Nieva.", ANY, 3.75),
    ]
    assert [examples[0].texts[0][0], examples[1].texts[1].count('"')] == ['"', 1]


def test_pairs_without_a_score_or_a_text_are_counted(tmp_path: Path) -> None:
    pairs = "Uno .\tDos .\nTres .\t \nCinco .\tSeis .\nSiete .\tOcho .\n"
    examples, drops = read(write(tmp_path, pairs, "\n1\n2\n\n"))
    assert rows(examples) == [("Cinco.", "Seis.", 2.0)]
    assert examples[0].id == "2014/news/3"
    assert drops.as_dict()["examples"]["dropped"] == {"empty_text": 1, "no_score": 2}


@pytest.mark.parametrize(
    ("pairs", "gold", "where", "expected", "found"),
    [
        *(
            (TWO, gold, GOLD, "2 lines, one for each line of", number)
            for gold, number in (("1\n", 1), ("1\n2\n3\n", 3), ("1\n2\n\n", 3))
        ),
        *(
            (
                "Uno\tDos\nTres\tCuatro",
                f"1\n{score}\n",
                f"{GOLD}, line 2",
                "a score from 0 to 4",
                score,
            )
            for score in ("4.2", "-0.2", "nan", "tres", "2,4", "1\t2")
        ),
        *(
            (f"Uno\tDos\n{line}", "1\n2\n", f"{PAIRS}, line 2", "two sentences and a tab", line)
            for line in ("Uno", "Uno\tDos\tTres", "")
        ),
    ],
)
def test_files_that_do_not_fit(tmp_path, pairs, gold, where, expected, found) -> None:
    write(tmp_path, pairs + "\n", gold)
    with refused(where, expected, f"found:    {found!r}\n"):
        read(tmp_path)


def test_some_subsets_are_enough_but_both_files_of_each(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"two files of a subset(.|\n)*found: +none"):
        recipe.blocks(tmp_path, CORPUS)
    write(tmp_path, "Uno\tDos\n", "1\n")
    assert [block.key for block in recipe.blocks(tmp_path, CORPUS)] == ["2014/news"]
    (tmp_path / GOLD).unlink()
    with pytest.raises(InputError, match=r"the other half of STS14-es-test/STS\.input\.news\.txt"):
        recipe.blocks(tmp_path, CORPUS)
    write(tmp_path, "Uno\tDos\n", "1\n")
    shutil.copy(SAMPLE / "Sts2017.gs.zip", tmp_path)
    with refused("Sts2017.eval.v1.1.zip/STS.input.track3.es-es.txt"):
        recipe.blocks(tmp_path, CORPUS)


def test_an_archive_without_the_file(tmp_path: Path) -> None:
    inputs = tmp_path / "Sts2017.eval.v1.1.zip"
    pack(inputs, {"STS2017.eval.v1.1/STS.input.track5.en-en.txt": b"One\tTwo\n"})
    with pytest.raises(InputError, match=r"one file STS\.input\.track3\.es-es\.txt"):
        recipe.blocks(tmp_path, CORPUS)


WORDS = st.text(st.characters(categories=("L", "Nd")), min_size=1)


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, WORDS, st.integers(0, 20)), min_size=1, max_size=20))
def test_line_stays_beside_line(tmp_path_factory, table) -> None:
    pairs = "".join(f"{first}\t{second}\n" for first, second, _ in table)
    # Every fifth part of a point; above 4 stands for no score.
    gold = "".join(f"{score / 5}\n" if score < 20 else "\n" for _, _, score in table)
    assume(gold.strip())
    examples, drops = read(write(tmp_path_factory.mktemp("raw"), pairs, gold))
    scored = [(number, row) for number, row in enumerate(table, 1) if row[2] < 20]
    assert [(e.id, e.score) for e in examples] == [
        (f"2014/news/{number}", score / 5) for number, (_, _, score) in scored
    ]
    assert drops.dropped["examples", "no_score"] == len(table) - len(scored)


def test_natural_text_if_it_is_there(tmp_path: Path) -> None:
    write(tmp_path, "Sí , llueve .\tNo , nieva .\n", "2\n")
    gold = {"sts-es-test.2014/STS.gs.news.txt": b"2\n"}
    gold["sts-es-test.2014/STS.gs.wikipedia.txt"] = b"3\n"
    inputs = {
        "sts-es-test.2014/STS.input.news.txt": "Sí, llueve .\tNo, nieva.\n".encode(),
        "sts-es-test.2014/STS.input.wikipedia.txt": b"Uno.\tDos.\n",
        "__MACOSX/sts-es-test.2014/._STS.input.news.txt": b"x",
    }
    pack(tmp_path / "STS2014-es-test.zip", inputs | gold)
    examples, _ = read(tmp_path)
    # As it stands, with the same ids and scores; a subset may be in one form only.
    assert [(e.id, *e.texts, e.score) for e in examples] == [
        ("2014/news/1", "Sí, llueve .", "No, nieva.", 2.0),
        ("2014/wikipedia/1", "Uno.", "Dos.", 3.0),
    ]
    (tmp_path / "STS2014-es-test.zip").unlink()
    assert rows(read(tmp_path)[0]) == [("Sí, llueve.", "No, nieva.", 2.0)]


def test_the_archives_of_2015_in_both_layouts(tmp_path: Path) -> None:
    for folder in ("STS2015-es-test/", ""):
        pack(
            tmp_path / "STS2015-es-test.zip",
            {
                f"{folder}STS.{file}.{subset}.txt": text
                for subset in ("newswire", "wikipedia")
                for file, text in (("input", b"Uno.\tDos.\n"), ("gs", b"0.5\n"))
            },
        )
        assert [e.id for e in read(tmp_path)[0]] == ["2015/newswire/1", "2015/wikipedia/1"]
