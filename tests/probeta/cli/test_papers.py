"""The starters of papers on files in the forms that others publish; the cells that they give."""

import csv
import gzip
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from vector_files import numberbatch, polyglot, senna, text_of

from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, GROUPINGS, WITHDRAWN
from corpora_recipes.running.outputs import COMPLETED
from probeta.cli import main
from probeta.cli.init import PAPERS as STARTERS
from probeta.report.tables import PAPERS, PARALEX_SCORES

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
    repository: Path, empty_folder: Path
) -> None:
    assert main(["init", "--paper", "sumbler2018", "--quiet"]) == 0
    write_vectors(empty_folder, {each: words_of_sample(repository, each) for each in LANGUAGES})
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
OTHERS = [paper for paper in STARTERS if paper != "eichin2025"]


@pytest.mark.parametrize(
    "paper", ["eichin2025", *(pytest.param(paper, marks=pytest.mark.slow) for paper in OTHERS)]
)
def test_the_run_of_a_paper_ends_on_the_samples(
    paper: str, empty_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All that is skipped needs more than a sample. By `standard`: the papers' takes minutes."""
    assert main(["init", "--paper", paper, "--quiet"]) == 0
    params = Path("params.yaml")
    text = params.read_text("utf-8").replace("sources: upstream", "sources: sample")
    params.write_text(text.replace("protocol: senteval", "protocol: standard"), "utf-8")
    assert main(["repro"]) == 0
    said = capsys.readouterr().out
    assert "from the small samples of the project: do not report them\n" in said
    assert "missing, must be asked for" not in said
    results = json.loads((COMPLETED / "char_hash.json").read_text("utf-8"))
    assert results
    if paper == "eichin2025":
        assert "skipped by read, as a sample is too small: eng_dep_scidtb, eng_dep_covdtb" in said
        scores = json.loads(Path("data/results/use_multilingual/scores.json").read_text("utf-8"))
        names = {
            f"relations_{name}" for name in ("eng_erst_gum", "spa_rst_rststb", "fra_sdrt_annodis")
        }
        assert {score["dataset"] for score in scores["scores"]} == names
        assert {score["layer"] for score in scores["scores"]} == {"0", "1", "2"}
        # From each to each other one, and from the two others together, in three layers.
        assert len(scores["transfers"]) == 3 * (6 + 3)


COLUMNS = ("table", "cells", "by a command", "refused", "of")
# Beside the examples: one that is a copy of another, and the entry of an encoder that is refused.
COPIED, REFUSED = {"dissent": "infersent"}, {"chen2019": {"elmo"}}


def cell_rows(repository: Path) -> list[dict[str, str]]:
    """Return the rows of the table of docs/papers.md that counts cells."""
    page = (repository / "docs/papers.md").read_text("utf-8")
    lines = page.partition("## The cells of the tables")[2].partition("\n## ")[0].splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if "|" in line
    ]
    assert tuple(cells[0]) == COLUMNS
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[2:]]


def test_the_cells_of_the_papers_add_up(repository: Path) -> None:
    *rows, total = cell_rows(repository)
    sums = dict.fromkeys(COLUMNS[1:4], 0)
    for row in rows:
        cells, by_command, refused = (int(row[column]) for column in COLUMNS[1:4])
        assert cells == by_command + refused, row
        factors = [int(number) for number in re.findall(r"(?:^|× )(\d+)", row["of"])]
        lacking = re.search(r"without (\d+) cells", row["of"])
        assert cells == math.prod(factors) - int(lacking[1] if lacking else 0), row
        for column in sums:
            sums[column] += int(row[column])
        assert bool(refused) == ("refused:" in row["of"]), row
    assert sums == {column: int(total[column]) for column in sums}
    share = sums["by a command"] / sums["cells"]
    assert total["of"] == f"{100 * share:.1f} % by a command"


def test_the_cells_of_the_papers_are_those_of_what_is_carried(repository: Path) -> None:
    cells = {row["table"]: int(row["cells"]) for row in cell_rows(repository)}
    spanish, *_ = PAPERS
    for table, benchmark, groups in (
        ("Araujo, 3", "spanish_senteval", {"SC", "SPC", "SS"}),
        ("Araujo, 4", "spanish_senteval", {"LPT"}),
        ("Araujo, 5", "spanish_discoeval", None),
    ):
        entries = BENCHMARKS[benchmark] | WITHDRAWN[benchmark]
        tasks = {name: TASKS[entry["task"]].group.abbreviation for name, entry in entries.items()}
        listed = [name for name, group in tasks.items() if groups is None or group in groups]
        assert cells[table] == len(spanish.scores) * len(listed)
    chen = next(paper for paper in PAPERS if paper.paper == "Chen et al. (2019), paper")
    # Four groups of SentEval, seven of DiscoEval, and an average.
    assert cells["Chen, 2"] == len(chen.scores.keys() - {"people"}) * 12
    wang = GROUPINGS["wang2022"]["english_senteval"]
    tasks_of_words = len(wang["SC"]) + len(wang["SPC"])
    assert cells["Wang, 3"] == (len(wang["WS"]) + 3) * tasks_of_words
    assert cells["Wang, 6"] == (len(wang["SS"]) + 3) * len(wang["SC"])
    printed = [score for scores in PARALEX_SCORES.values() for score in scores]
    assert cells["Sumbler, 2"] == len(printed) - printed.count(None)


def test_every_command_that_gives_a_cell_exists(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (repository / "docs/papers.md").read_text("utf-8")
    section = page.partition("## The cells of the tables")[2].partition("\n## ")[0]
    examples = {path.stem for path in (repository / "evaluation/encoders/examples").glob("*.py")}
    for verb in re.findall(r"`probeta (\w+)", section):
        with pytest.raises(SystemExit) as ended:
            main([verb, "--help"])
        assert ended.value.code == 0
    assert {*re.findall(r"`(\w+20\d\d)`", section)} == {*STARTERS}
    for paper in STARTERS:
        path = tmp_path / f"{paper}.yaml"
        assert main(["init", "--paper", paper, "--out", str(path), "--quiet"]) == 0
        text = path.read_text("utf-8")
        for name, module in re.findall(r"^  # (\w+): .*function: \"my_(\w+):", text, re.MULTILINE):
            if name not in REFUSED.get(paper, ()):
                assert COPIED.get(module, module) in examples, (paper, name)
    capsys.readouterr()
    assert "refused: `elmo`" in section
    # In the examples' own words, which entry they are for.
    for example in examples - {"__init__"}:
        source = (repository / f"evaluation/encoders/examples/{example}.py").read_text("utf-8")
        assert f'function: "my_{example}:encode"' in source
        assert len(source.splitlines()) <= 50
