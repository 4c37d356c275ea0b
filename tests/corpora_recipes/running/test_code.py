"""The code that decides an output: imports, types left out, data files, recipes, digests."""

from pathlib import Path

import pytest

from corpora_recipes.running import code
from corpora_recipes.running.code import code_digest, code_files, imported


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a small project whose modules are looked at."""
    files = {
        "builders/__init__.py": "",
        "builders/rows.py": (
            "from typing import TYPE_CHECKING\n"
            "\n"
            "from builders.words import (\n    one,\n    other,\n)\n"
            "if TYPE_CHECKING:\n"
            "    from builders.typed import Row\n"
            "\n"
            "PAGE = 'page.jinja'\n\n\n"
            "def late():\n"
            "    import builders.deep.late\n"
        ),
        "builders/words.py": "from corpora_recipes.running.errors import InputError\n",
        "builders/typed.py": "",
        "builders/deep/__init__.py": "",
        "builders/deep/late.py": "",
        "builders/page.jinja": "{{ rows }}",
        "builders/other.jinja": "not named by any module",
        "corpora_recipes/__init__.py": "",
        "corpora_recipes/running/__init__.py": "",
        "corpora_recipes/running/errors.py": "",
        "corpora_recipes/corpora/__init__.py": "",
        "corpora_recipes/corpora/tass/__init__.py": "",
        "corpora_recipes/corpora/tass/recipe.py": "",
        "corpora_recipes/corpora/tass/sample/train.tsv": "1\tbien\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setattr(code, "ROOT", tmp_path)
    for cached in (code.imported, code._file, code._data_files):
        cached.cache_clear()


@pytest.fixture(autouse=True, scope="module")
def _forget():
    yield
    for cached in (code.imported, code._file, code._data_files):
        cached.cache_clear()


def test_imports_in_every_form_without_those_for_types() -> None:
    assert imported("builders.rows") == {
        "builders",
        "builders.words",
        "builders.deep",
        "builders.deep.late",
    }


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


def test_the_folder_of_a_recipe_counts_whole() -> None:
    assert "corpora_recipes/corpora/tass/sample/train.tsv" in code_files(
        "corpora_recipes.corpora.tass.recipe"
    )


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ("builders/deep/late.py", False),
        ("builders/page.jinja", False),
        ("builders/other.jinja", True),
        ("builders/typed.py", True),
        ("corpora_recipes/running/errors.py", True),
    ],
)
def test_the_digest_changes_with_the_files(tmp_path: Path, changed: str, *, same: bool) -> None:
    before = code_digest("builders.rows")
    assert len(before) == 16
    assert code_digest("builders.rows", "builders.words") == before
    (tmp_path / changed).write_text("# changed\n", "utf-8")
    assert (code_digest("builders.rows") == before) == same
