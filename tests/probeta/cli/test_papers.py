"""The starters of papers on files in the forms in which these are published."""

import csv
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from vector_files import numberbatch, polyglot, senna, text_of

from corpora_recipes.running.outputs import COMPLETED
from probeta.cli import main

LANGUAGES = ("en", "es", "vi")
# Directions of clusters, and one that differs from word to word.
SIZE = 14


def words_of_sample(repository: Path, language: str) -> dict[str, list[float]]:
    """Return the terms of a language, those of a cluster near to each other."""
    sample = repository / "corpora_recipes/corpora/paralex/sample/ParaLex.csv"
    words: dict[str, list[float]] = {}
    with sample.open(encoding="utf-8") as file:
        clusters = [row[3:] for row in csv.reader(file) if row[0] == language.upper()]
    for number, terms in enumerate(clusters):
        for place, term in enumerate(filter(None, map(str.strip, terms))):
            directions = [float(number == index) for index in range(SIZE)]
            words.setdefault(term, [*directions, place / 100])
    return words


def write_vectors(folder: Path, words: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """Write the files of Tables 1 and 2 by the names that the starter gives them."""
    lower = {
        language: {word.lower(): vector for word, vector in of_language.items()}
        for language, of_language in words.items()
    }
    content = numberbatch(lower).encode()
    (folder / "numberbatch-19.08.txt.gz").write_bytes(gzip.compress(content))
    for language, of_language in words.items():
        text = f"{len(of_language)} {SIZE + 1}\n{text_of(of_language)}"
        (folder / f"cc.{language}.300.vec.gz").write_bytes(gzip.compress(text.encode()))
        (folder / f"polyglot-{language}.pkl").write_bytes(polyglot(of_language))
    # What `paste -d " "` makes of the two files.
    one_word = {word: vector for word, vector in words["en"].items() if " " not in word}
    lines = (path.read_text("utf-8").splitlines() for path in senna(one_word, folder / "senna"))
    pasted = [" ".join(fields) + "\n" for fields in zip(*lines, strict=True)]
    (folder / "senna.txt").write_text("".join(pasted), "utf-8")


def test_the_starter_of_paralex_runs_on_every_kind_of_vectors(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--paper", "sumbler2018", "--quiet"]) == 0
    write_vectors(tmp_path, {each: words_of_sample(repository, each) for each in LANGUAGES})
    params = Path("params.yaml")
    text = params.read_text("utf-8").replace("sources: upstream", "sources: sample")
    others = rf"^ +paralex_(?!({'|'.join(LANGUAGES)}):)\w\w: .*\n"
    text = re.sub(others, "", text, flags=re.MULTILINE)
    used = rf"^  # ((senna|\w+_({'|'.join(LANGUAGES)})): \{{encoder)"
    params.write_text(re.sub(used, r"  \1", text, flags=re.MULTILINE), "utf-8")
    assert main(["repro", "--quiet"]) == 0
    expected = {f"{kind}_{each}" for kind in KINDS for each in LANGUAGES} | {"senna", "char_hash"}
    assert {path.stem for path in COMPLETED.glob("*.json")} == expected
    for kind in KINDS:
        for language in LANGUAGES:
            results = json.loads((COMPLETED / f"{kind}_{language}.json").read_text("utf-8"))
            own = [score for score in results["scores"] if score["vocabulary"] == "own"]
            assert {score["dataset"] for score in own} == {f"paralex_{language}"}
            # Clusters whose words are all in the file, and near to each other.
            best = max(score["suggestion"] for score in own)
            assert best > 0.9, (kind, language)


KINDS = ("fasttext", "polyglot", "numberbatch")
