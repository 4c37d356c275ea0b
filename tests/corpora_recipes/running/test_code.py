"""The code that decides an output: imports, types left out, data files, recipes, digests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from case_tables import read_tables
from contents import forget_code

from corpora_recipes.running import code
from corpora_recipes.running.code import code_digest, code_files, imported

TABLES = read_tables(__file__)

ROWS = """\
from typing import TYPE_CHECKING

from builders.words import (
    one,
    other,
)
if TYPE_CHECKING:
    from builders.typed import Row

PAGE = 'page.jinja'


def late():
    import builders.deep.late
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make a small project whose modules are looked at."""
    files = {
        "builders/__init__.py": "",
        "builders/rows.py": ROWS,
        "builders/words.py": "from corpora_recipes.running.errors import InputError\n",
        "builders/page.jinja": "{{ rows }}",
        "builders/other.jinja": "not named by any module",
        "corpora_recipes/corpora/tass/sample/train.tsv": "1\tbien\n",
    }
    empty = ["builders/__init__.py", "builders/typed.py"]
    empty += ["builders/deep/__init__.py", "builders/deep/late.py"]
    recipes = ("", "running/", "corpora/", "corpora/tass/")
    empty += [f"corpora_recipes/{folder}__init__.py" for folder in recipes]
    empty += ["corpora_recipes/running/errors.py", "corpora_recipes/corpora/tass/recipe.py"]
    for name, text in {**dict.fromkeys(empty, ""), **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setattr(code, "ROOT", tmp_path)
    forget_code()
    yield
    forget_code()


def test_imports_in_every_form_without_those_for_types() -> None:
    names = {"builders", "builders.words", "builders.deep", "builders.deep.late"}
    assert imported("builders.rows") == names


def test_the_files_are_the_modules_reached_and_the_data_that_they_name() -> None:
    assert list(code_files("builders.rows")) == [
        "builders/__init__.py",
        "builders/deep/__init__.py",
        "builders/deep/late.py",
        "builders/page.jinja",
        "builders/rows.py",
        "builders/words.py",
        "corpora_recipes/__init__.py",
    ]
    # The folder of a recipe counts whole.
    sample = "corpora_recipes/corpora/tass/sample/train.tsv"
    assert sample in code_files("corpora_recipes.corpora.tass.recipe")


@pytest.mark.parametrize(("changed", "same"), TABLES["changed"])
def test_the_digest_changes_with_the_files(tmp_path: Path, changed: str, *, same: bool) -> None:
    before = code_digest("builders.rows")
    assert len(before) == 16
    assert code_digest("builders.rows", "builders.words") == before
    (tmp_path / changed).write_text("# changed\n", "utf-8")
    assert code_digest("builders.rows") == before
    forget_code()
    assert (code_digest("builders.rows") == before) == same
