"""`probeta init`: a valid params.yaml for every language, the shipped one for those it has.

And for documents, and papers.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from case_tables import read_tables

from builders.plan.datasets import Dataset, check_tokens
from builders.plan.groups import benchmark_of, load_groups
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS
from corpora_recipes.languages import corpora_by_language
from corpora_recipes.params import load_params
from corpora_recipes.recipe import load_facts
from evaluation.encoders import ENCODERS
from evaluation.params import (
    encoder_factories,
    encoders_params,
    evalrank_params,
    paralex_params,
    trained_params,
)
from evaluation.probing.protocols import probing_params
from probeta.cli import init, main
from probeta.cli.init import PAPERS, paper_text, params_text
from probeta.report.tables import PARALEX_SCORES

TABLES = read_tables(__file__)

Capsys = pytest.CaptureFixture[str]
# What they have of Wikipedia, subtitles, and so on; the treebanks' tasks are not listed here.
PASSAGES = ["bso_wiki", "connective_wiki", "dc_opus", "dc_wiki", "sp_wiki"]
NAMES = {
    "ca": [*PASSAGES, "paralex"],
    "eu": [*PASSAGES, "relations"],
    "pt": [*PASSAGES, "paralex", "pdtb_explicit", "pdtb_implicit", "relations"],
}
NAMES["de"] = [*PASSAGES, "nli", "paralex", "paws", "pdtb_explicit", "pdtb_implicit", "rst"]
NAMES["de"] += ["nuclearity", "bso_mlsum", "connective_mlsum", "sp_mlsum", "ssp_mlsum"]


def datasets(folder: Path, language: str) -> dict[str, tuple[Dataset, str]]:
    """Write the file, check all its entries, and return its datasets with their benchmarks."""
    path = folder / "params.yaml"
    path.write_text(params_text(language), "utf-8")
    return benchmarks_in(path)


def benchmarks_in(path: Path) -> dict[str, tuple[Dataset, str]]:
    """Check all entries of a file, and return its datasets with their benchmarks."""
    return {
        dataset.name: (dataset, benchmark_of(dataset, [o.corpus for o in group.origins]))
        for group in load_groups(path)
        for dataset in group.datasets
    }


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_shipped_languages_give_the_shipped_datasets(
    repository: Path, tmp_path: Path, language: str
) -> None:
    offered = datasets(tmp_path, language)
    shipped = {
        dataset.name: dataset
        for group in load_groups(repository / "params.yaml")
        for dataset in group.datasets
        if dataset.language == language or dataset.name == f"paralex_{language}"
    }
    listed = {name: one for one, some in BENCHMARKS.items() for name in some if name in shipped}
    assert {name: benchmark for name, (_, benchmark) in offered.items() if benchmark} == listed
    versions = {name: dataset.version for name, (dataset, _) in offered.items() if name in listed}
    assert versions == {name: shipped[name].version for name in listed}


@pytest.mark.parametrize("language", NAMES)
def test_the_datasets_of_other_languages(tmp_path: Path, language: str) -> None:
    offered = datasets(tmp_path, language)
    others = [name for name in offered if "_ud_" not in f"_{name}_"]
    assert sorted(others) == sorted(f"{name}_{language}" for name in NAMES[language])
    assert {dataset.language for dataset, _ in offered.values()} == {language}


def test_every_language_gives_a_valid_file(tmp_path: Path) -> None:
    by_language = corpora_by_language()
    languages = [code for code, names in by_language.items() if len(names) > 1]
    for language in [*languages, "lmo", "pt-BR", "zh-TW"]:
        offered = datasets(tmp_path, language)
        assert offered, language
        if language not in ("ja", "ko", "th", "vi"):  # spaCy needs a package for these
            for dataset, _ in offered.values():
                check_tokens(dataset)


def test_a_language_that_cannot_be_split_into_sentences(tmp_path: Path) -> None:
    assert datasets(tmp_path, "bo") == {}
    assert "# Not used. " in params_text("bo")
    assert not {name for name in datasets(tmp_path, "th") if "wiki" in name}
    assert set(datasets(tmp_path, "zh")) >= {"sp_wiki_zh", "ud_bigram_shift_zh", "paws_zh"}


def test_a_package_that_a_language_needs_is_named() -> None:
    assert "`uv pip install sudachipy sudachidict-core`" in params_text("ja")
    assert "uv pip" not in params_text("zh")
    assert "# Checked on known text." in params_text("ja")
    assert "# Not checked in this language." in params_text("lmo")


@pytest.mark.parametrize(("language", "left_out", "why"), TABLES["unsupported"])
def test_tasks_that_the_treebanks_of_a_language_do_not_support(
    language: str, left_out: str, why: str
) -> None:
    (offer,) = init.offers_in(language, {"universal_dependencies": language})
    assert sorted(offer.left_out) == sorted(f"ud_{task}_{language}" for task in left_out.split())
    assert len([*offer.datasets, *offer.left_out]) == len(BENCHMARKS["probing_ud"]) == 17
    assert not offer.reason
    assert offer.checked.startswith(why)


def test_treebanks_of_too_few_sentences() -> None:
    (offer,) = init.offers_in("aii", {"universal_dependencies": "aii"})
    assert offer.reason == "Its treebanks have too few sentences for most tasks."
    assert offer.corpus == {"recipe": "universal_dependencies", "language": "aii"}


def test_what_it_leaves_out_is_as_in_the_shipped_file(repository: Path, tmp_path: Path) -> None:
    shipped, path = repository / "params.yaml", tmp_path / "params.yaml"
    path.write_text(params_text("ca"), "utf-8")
    ours, theirs = load_params(path), load_params(shipped)
    assert ours["seed"] == theirs["seed"]
    # Transfer is between languages, and the file has one language.
    assert theirs["probing"].pop("transfer") == ["nuclearity"]
    for read in (probing_params, evalrank_params, paralex_params):
        assert read(ours, path) == read(theirs, shipped)


def test_the_encoders(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(params_text("ca"), "utf-8")
    assert list(encoders_params(load_params(path), path)) == ["char_hash", "use_multilingual"]
    assert encoder_factories(path)["char_hash"]().name == "char_hash"
    assert "Catalan is not among them" in params_text("ca")
    assert "not among them" not in params_text("nl")
    # What is switched off is valid too.
    _, _, section = params_text("ca").partition("\nencoders:\n")
    section = re.sub(r"^  # (\w+: \{)", r"  \1", section, flags=re.MULTILINE)
    path.write_text(f"seed: 1\nencoders:\n{section}\n", "utf-8")
    names = list(encoders_params(load_params(path), path))
    assert names[2:] == ["fasttext", "e5", "labse", "mbert_cased", "xlm_roberta"]
    kinds = [encoder_factories(path)[name]().name for name in names[2:]]
    assert kinds == ["static", *["sentence_transformers"] * 2, *["transformers"] * 2]


def test_the_verbs(capsys: Capsys) -> None:
    assert main(["init", "--language", "gl", "-o", "-"]) == 0
    said = capsys.readouterr()
    assert said.out == params_text("gl") + "\n"
    assert "16 datasets of 3 corpora: Galician" in said.err
    assert main(["init", "--language", "galician", "-o", "-"]) == 1
    assert "gl (Galician)" in capsys.readouterr().err
    assert main(["list", "--languages"]) == 0
    assert "gl    Galician" in capsys.readouterr().out


# Of Wang et al. (2022), those of Table 5 first: 19, and with post-processing 38.
WORD_MODELS = (
    "glove word2vec fasttext dict2vec glove_6b_50 glove_6b_100 glove_6b_200 glove_6b_300 glove_42b "
    "glove_twitter_25 glove_twitter_50 glove_twitter_100 glove_twitter_200 fasttext_subword "
    "fasttext_wiki fasttext_wiki_subword dict2vec_100 dict2vec_200 paragram"
)
# What is asked for, and the encoders besides char_hash, all but use_multilingual switched off.
OF_PAPERS = {
    "araujo2022": (
        {"spanish_senteval", "spanish_discoeval"},
        "use_multilingual beto bertin roberta_bne electra_small mbert sent2vec elmo",
    ),
    "chen2019": (
        {"english_senteval", "discoeval"},
        "use_multilingual bert_base bert_large elmo skip_thought infersent dissent",
    ),
    "sumbler2018": (
        {"paralex"},
        "skipgram glove senna "
        + " ".join(
            f"{vectors}_{language}"
            for language, printed in sorted(PARALEX_SCORES.items())
            for vectors, score in zip(("fasttext", "polyglot", "numberbatch"), printed, strict=True)
            if score is not None
        ),
    ),
    "wang2022": (
        {"english_senteval", "evalrank"},
        "use_multilingual use_multilingual_centred use_multilingual_whitened "
        + " ".join(f"{name} {name}_abtt" for name in WORD_MODELS.split())
        + " bert bert_whitened bert_cls bert_last sentence_bert simcse infersent",
    ),
}


@pytest.mark.parametrize("paper", OF_PAPERS)
def test_the_params_of_papers(paper: str, tmp_path: Path, capsys: Capsys) -> None:
    path = tmp_path / "params.yaml"
    assert main(["init", "--paper", paper, "--out", str(path)]) == 0
    assert f"Next: probeta repro --params {path}" in capsys.readouterr().err
    text = path.read_text("utf-8")
    benchmarks, encoders = OF_PAPERS[paper]
    language = "es" if paper == "araujo2022" else "en"
    made = {name: benchmark for name, (_, benchmark) in benchmarks_in(path).items()}
    expected = {
        name: benchmark
        for benchmark in benchmarks & BENCHMARKS.keys()
        for name, entry in BENCHMARKS[benchmark].items()
        if entry.get("language", "es") == language or benchmark == "paralex"
    }
    assert expected.items() <= made.items()
    clusters = [name for name in made if name.startswith("paralex_")]
    assert len(clusters) == 46 * (paper == "sumbler2018")
    assert clusters or len(made) == len(expected)
    # What is switched off is valid, too.
    on = re.sub(r"^# (trained:$|  \w+: \{)", r"\1", text, flags=re.MULTILINE)
    on = re.sub(r"^  # (\w+: \{encoder)", r"  \1", on, flags=re.MULTILINE)
    path.write_text(on, "utf-8")
    params = load_params(path)
    trained = list(trained_params(params, path))
    assert len(trained) == (8 if paper == "chen2019" else 0)
    assert list(encoders_params(params, path)) == ["char_hash", *encoders.split(), *trained]
    assert {make().name for make in encoder_factories(path).values()} <= ENCODERS.keys()
    protocol = probing_params(params, path).protocol
    assert protocol == ("standard" if paper == "sumbler2018" else "senteval")
    assert "whitening" in evalrank_params(params, path)["postprocessings"]
    assert paralex_params(params, path)


# Of studies in many languages: datasets, also those switched off; languages; what transfers; and
# encoders besides char_hash.
STUDIES = {"eichin2025": (24, 12, "unit_relations", 24), "koto2021": (14, 4, "nuclearity", 12)}


@pytest.mark.parametrize("paper", STUDIES)
def test_the_params_of_studies_in_many_languages(paper: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    text = paper_text(paper)
    path.write_text(
        re.sub(r"^  # ((?:  )*\w+:(?: \{.*)?)$", r"  \1", text, flags=re.MULTILINE), "utf-8"
    )
    n_datasets, n_languages, task, n_encoders = STUDIES[paper]
    datasets = [dataset for dataset, _ in benchmarks_in(path).values()]
    assert len(datasets) == n_datasets
    assert len({dataset.language for dataset in datasets}) == n_languages
    params = load_params(path)
    assert probing_params(params, path).transfer == [task]
    # Each has its language's treebank, and folds where that has no part to learn from.
    for name, entry in params["corpora"].items():
        if entry["corpus"]["recipe"] == "disrpt":
            facts = load_facts("disrpt").treebanks[entry["corpus"]["treebank"]]
            assert facts.language == entry["corpus"]["language"]
            no_train = not any("_train." in source.file for source in facts.sources)
            assert entry["corpus"].get("published_parts", True) is not no_train, name
    entries = encoders_params(params, path)
    assert len(entries) == 1 + n_encoders
    assert all(entry["layer"] == "all" for name, entry in entries.items() if name != "char_hash")
    assert {make().name for make in encoder_factories(path).values()} <= ENCODERS.keys()


def test_all_papers_are_listed_with_their_costs(empty_folder: Path, capsys: Capsys) -> None:
    assert {*PAPERS} == OF_PAPERS.keys() | STUDIES.keys()
    assert main(["init", "--paper", "all"]) == 0
    said = capsys.readouterr().out
    assert re.findall(r"^(\w+): \w+", said, re.MULTILINE) == PAPERS
    of_paper = {block.partition(":")[0]: block for block in re.split(r"\n(?=\w)", said)}
    assert 'Koto, Lau and Baldwin (2021), "Discourse Probing' in of_paper["koto2021"]
    assert "\n  must be asked for: tass, rst_spanish_treebank\n" in of_paper["araujo2022"]
    assert "\n  20 datasets: rows that only `read` can count\n" in of_paper["eichin2025"]
    assert "\n  65 datasets: at most 63,740 rows of 65\n" in of_paper["sumbler2018"]
    assert all("\n  to download: " in block for block in of_paper.values())
    for paper, n_off in {"sumbler2018": 138, "eichin2025": 23, "koto2021": 11}.items():
        assert f"\n  {n_off} encoders more, to be uncommented" in of_paper[paper]
    # Nothing is written.
    assert not list(empty_folder.iterdir())


@pytest.mark.parametrize(("asked", "message"), TABLES["conflicts"])
def test_options_that_do_not_go_together(asked: str, message: str, capsys: Capsys) -> None:
    assert main(["init", "-o", "-", *asked.split()]) == 1
    assert message in capsys.readouterr().err


def test_a_file_that_is_there_stays(empty_folder: Path, capsys: Capsys) -> None:
    path = Path("params.yaml")
    path.write_text("seed: 5\n", "utf-8")
    assert main(["init", "--language", "gl"]) == 1
    assert "replace it with --force" in capsys.readouterr().err
    assert path.read_text("utf-8") == "seed: 5\n"
    assert main(["init", "--language", "gl", "--force", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert path.read_text("utf-8") == params_text("gl") + "\n"
    path.write_text("")
    assert main(["init", "--language", "eu"]) == 0
    assert path.read_text("utf-8") == params_text("eu") + "\n"
    # The shell empties the file before: nothing but the parameters gets into it.
    command = f"{sys.executable} -m probeta init --language gl > params.yaml"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert "Galician" in ended.stderr
    assert path.read_text("utf-8") == params_text("gl") + "\n"
    path.write_text("# nothing\n", "utf-8")
    assert main(["repro"]) == 1
    assert "an empty file\n  to do:    write it with `probeta init`" in capsys.readouterr().err


def test_a_paper_follows_its_text_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    first = paper_text("araujo2022").replace("sentence_ordering", "sentence_ordering, pair: first")
    path.write_text(first, "utf-8")
    options = [d.options for g in load_groups(path) for d in g.datasets if "bso" in d.name]
    assert options == [{"pair": "first"}] * 3


@pytest.mark.parametrize("with_topics", [False, True])
def test_the_datasets_of_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys, with_topics: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["río", "monte", "casa", "perro", "pan", "vino", "libro", "carta", "tren", "barco"]
    with Path("texts.jsonl").open("w", encoding="utf-8") as file:
        for n in range(120):
            order = words[n % 10 :] + words[: n % 10]
            texts = [
                f"Aquel día {n} vieron {m} veces el {word} del pueblo."
                for m, word in enumerate(order)
            ]
            row = {"number": n, "body": " ".join(texts), "kind": str(n % 3)}
            file.write(json.dumps(row | {"split": "train"}) + "\n")
        file.write(json.dumps(row) + "\n")
    topics = ["topics=kind"] if with_topics else []
    columns = ["--columns", "id=number", "text=body", *topics]
    asked = ["init", "--documents", "texts.jsonl", "--name", "days", *columns]
    assert main(asked) == 0
    said, text = capsys.readouterr().err, Path("params.yaml").read_text("utf-8")
    assert said.startswith("params.yaml: 3 datasets of 120 documents, in Spanish (es, guessed: ")
    assert "\nDropped: 1 document (duplicate id)\n" in said
    assert "\nToo small for an average: 3 of 3 datasets; " in said
    size = "60 rows, each tested in a fold; detects 21 points"
    assert f"\n  sp_days    {size}\n" in said
    assert f"# {size}\n      sp_days: {{task: sentence_position, folds: true}}\n" in text
    donors = ", donors: same_topic" if with_topics else ""
    assert f"dc_days: {{task: discourse_coherence, folds: true{donors}}}\n" in text
    assert (
        "\n  ssp_days   none beside the others, which share the documents: a row needs a finished"
        in said
    )
    assert (
        "# Not ssp_days, with too few rows beside the others, which share the documents. A row"
        in text
    )
    assert main(["list"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["texts.jsonl", "params.yaml"]
    # Documents with a split of their source have no folds.
    assert main([*asked, "split=split", "--force"]) == 1
    # A task in the group of another displaces none.
    twin = replace(TASKS["sentence_position"], name="sentence_gap")
    monkeypatch.setitem(TASKS, "sentence_gap", twin)
    assert main([*asked, "--force"]) == 0
    text = Path("params.yaml").read_text("utf-8")
    assert "sp_days: {task: sentence_position," in text
    assert "sentence_gap_days: {task: sentence_gap," in text


def test_the_language_of_documents_is_guessed_or_asked_for(tmp_path: Path, capsys: Capsys) -> None:
    for n in range(40):
        text = " ".join(f"The {n}th day was long, and {m} of them went home." for m in range(9))
        (tmp_path / f"{n}.txt").write_text(text, "utf-8")
    asked = ["init", "-o", "-", "--documents", str(tmp_path)]
    assert main(asked) == 0
    assert "corpus: {recipe: documents, language: en, " in capsys.readouterr().out
    for n in range(20):
        (tmp_path / f"{n}.txt").write_text("El barco llegó al puerto, pero nadie lo esperaba.")
    assert main(asked) == 1
    assert "found:    20 in " in (said := capsys.readouterr().err)
    assert "--language CODE" in said


@pytest.mark.parametrize(("name", "text", "asked", "message"), TABLES["nothing"])
def test_documents_that_give_nothing(
    tmp_path: Path, capsys: Capsys, name: str, text: str, asked: str, message: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert main(["init", "--documents", str(tmp_path), "-o", "-", *asked.split()]) == 1
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
