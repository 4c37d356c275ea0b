"""A fetch that has not ended: `read` refuses its folder, and says what is missing."""

import json
from pathlib import Path

import pytest

from corpora_recipes.fetching import sources
from corpora_recipes.fetching.pins import (
    MANIFEST,
    Fetched,
    check_complete,
    read_fetched,
    write_fetched,
)
from corpora_recipes.reading.reading import read
from corpora_recipes.running.errors import InputError


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """Return a folder of three files, in which the corpus of the tests is."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    for name in "abc":
        line = {"id": name, "paragraphs": [f"Esta es la frase de {name}, y no hay otra."]}
        (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    return folder


def test_a_fetch_that_ends_is_complete(tmp_path: Path, mirror: Path, make_corpus) -> None:
    sources.fetch(make_corpus(options={"path": str(mirror)}), "sample", tmp_path / "raw")
    names = ["a.jsonl", "b.jsonl", "c.jsonl"]
    assert read_fetched(tmp_path / "raw") == Fetched(f"path {mirror}", names, complete=True)
    check_complete(tmp_path / "raw", "mine")


def test_what_a_killed_fetch_left_is_not_read(
    tmp_path: Path, mirror: Path, make_corpus, monkeypatch
) -> None:
    raw = tmp_path / "raw"
    corpus = make_corpus(options={"path": str(mirror)})
    link = sources._link

    def killed_at_b(path: Path, target: Path) -> None:
        if target.name == "b.jsonl":
            raise KeyboardInterrupt
        link(path, target)

    monkeypatch.setattr(sources, "_link", killed_at_b)
    with pytest.raises(KeyboardInterrupt):
        sources.fetch(corpus, "sample", raw)
    with pytest.raises(InputError) as caught:
        read(corpus, raw, tmp_path / "out.parquet", workers=1, executor="local")
    assert caught.value.found == "a fetch that has not ended; missing: b.jsonl, c.jsonl"
    assert "run `probeta fetch --only mine`" in caught.value.todo
    assert not (tmp_path / "out.parquet").exists()
    monkeypatch.undo()
    sources.fetch(corpus, "sample", raw)
    drops = read(corpus, raw, tmp_path / "out.parquet", workers=1, executor="local")
    assert drops.as_dict()["documents"]["kept"] == 3


def test_patterns_that_no_file_fits_are_missing(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "page-0.xml").touch()
    wanted = ["here/page-*.xml", "there/page-*.xml", *(f"{n}.zip" for n in range(12))]
    write_fetched(tmp_path, Fetched("upstream", wanted, complete=False))
    with pytest.raises(InputError, match=r"missing: there/page-\*\.xml, 0.zip, .* and 3 more"):
        check_complete(tmp_path, "mine")


def test_a_folder_of_the_user_is_read(tmp_path: Path) -> None:
    assert read_fetched(tmp_path) is None
    check_complete(tmp_path, "mine")


def test_a_manifest_without_a_note_of_the_end_is_of_a_fetch_that_may_have_been_killed(
    tmp_path: Path,
) -> None:
    (tmp_path / MANIFEST).write_text('{"source": "sample", "files": ["a"]}', "utf-8")
    with pytest.raises(InputError, match="missing: a\n"):
        check_complete(tmp_path, "mine")


@pytest.mark.parametrize("text", ["", "[1]", '{"source": "sample"}', '{"other": 1}', "null"])
def test_a_damaged_manifest_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(InputError, match="JSON that fetch wrote"):
        read_fetched(tmp_path)
