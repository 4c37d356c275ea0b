"""What a package holds for leaderboards, mteb and lm-evaluation-harness."""

import ast
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_tables import read_tables
from conftest import COLLECTIONS, corpus_of, document, opinion, write_as_read
from documentation import blocks
from jinja2 import Environment, StrictUndefined

from builders.building import build
from builders.packaging.harnesses import (
    LANGUAGES,
    Question,
    _bibtex,
    mteb_language,
    question_of,
    short_code,
)
from builders.packaging.hub import package
from builders.plan.datasets import datasets_of, origins_of
from builders.plan.groups import groups_of
from builders.tasks import TASKS
from corpora_recipes.recipe import RECIPES, Corpus, load_facts, read_facts
from corpora_recipes.running.errors import InputError
from corpora_recipes.yaml_files import load_yaml
from probeta.auditing import audit

TABLES = read_tables(__file__)

# --- harnesses -----------------------------------------------------------------------------------

AT = "In Proceedings of X (X 2020), pages 1–2, Lima"


@pytest.mark.parametrize(
    ("citation", "entry"),
    [
        (
            f"Ana Ñu, B. C. Li and Eva de la O (2020). Title: what? {AT}. https://x.org/1.2",
            "@misc{nu2020,\n  author = {Ana Ñu and B. C. Li and Eva de la O},\n"
            f"  note = {{{AT}.}},\n  title = {{Title: what}},\n"
            "  url = {https://x.org/1.2},\n  year = {2020},\n}\n",
        ),
        ("Wikipedia contributors. Wikipedia. Dumps, https://dumps.wikimedia.org/", ""),
        ("", ""),
    ],
)
def test_articles_as_bibtex(citation: str, entry: str) -> None:
    assert _bibtex(citation) == entry


def test_provenance_of_what_is_shipped() -> None:
    """Only users know that of their documents and words; parts have their own, or none."""
    unknown = set()
    for file in RECIPES.glob("*/corpus.yaml"):
        facts = read_facts(file)
        parts = [*facts.collections.values(), *facts.treebanks.values()]
        if not facts.provenance and not any(part.provenance for part in parts):
            unknown.add(file.parent.name)
    assert unknown == {"documents", "word_pairs"}


QUESTIONS = Path(__file__).parents[3] / "builders" / "packaging"
PDTB2 = [
    *(f"Comparison.{sense}" for sense in ("Concession", "Contrast")),
    *(f"Contingency.{sense}" for sense in ("Cause", "Condition")),
    *(f"Contingency.Pragmatic {sense}" for sense in ("cause", "condition")),
    *(f"Expansion.{sense}" for sense in ("Alternative", "Conjunction", "Instantiation")),
    *("Expansion.List", "Expansion.Restatement", "Temporal.Asynchronous", "Temporal.Synchrony"),
]


def render(template: str, row: dict[str, Any]) -> str:
    """Render a template as lm-eval does."""
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(template).render(**row)


def asked(corpus: Corpus, labels: list[str], **entry: str) -> Question | str:
    """Return the question about the only dataset of a corpus."""
    (dataset,) = datasets_of(replace(corpus, datasets={"mine": entry}), "upstream")
    return question_of(dataset, origins_of([corpus], "upstream")[0], labels)


@pytest.mark.parametrize("label", range(5))
@pytest.mark.parametrize("task", ["sentence_position", "sentence_ordering"])
def test_the_right_choice_is_the_passage(make_corpus, task: str, label: int) -> None:
    """No words are needed of the language."""
    passage = ["Uno, «1».", "El 'dos'.", 'Y "tres".', "{{ cuatro }}", "Cinco\\."]
    shown = [passage[label], *passage[:label], *passage[label + 1 :]]
    if task == "sentence_ordering":
        passage, label = passage[:2], label % 2
        shown = passage if label else passage[::-1]
    question = asked(make_corpus(language="de"), list("12345"), task=task)
    assert isinstance(question, Question)
    choices = ast.literal_eval(render(str(question.choices), {"sentences": shown}))
    assert (question.text, choices[label]) == ("", " ".join(passage))
    assert len(choices) == len(set(choices)) == len(passage)


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_use_columns_of_their_tasks_and_answers_differ(language: str) -> None:
    for key, question in load_yaml(QUESTIONS / LANGUAGES[language]).items():
        task, *of = key.split("/")
        lists = {text.natural: text.kind == "strings" for text in TASKS[task].texts}
        row = {name: ["una", "dos"] if many else "una" for name, many in lists.items()}
        assert "una" in render(question["text"], row), key
        assert set(question) <= {"text", "answers", "by_length"}
        assert question["answers"].keys() >= {*TASKS[task].labels}, key
        if len(of) == 2:
            facts = load_facts(of[0]).collections[of[1]]
            assert set(question["answers"]) == set(facts.labels.values()), key
            answers = list(question["answers"].values())
            assert len(set(answers)) == len(answers), key


def test_the_page_shows_a_question_as_it_is_asked() -> None:
    (block,) = blocks("text", page="docs/lm_eval.md")
    turns = [line[2:] for line in block.text.splitlines() if line.startswith("- ")]
    dialogues = corpus_of("opensubtitles")
    question = asked(dialogues, ["incoherent", "coherent"], task="discourse_coherence")
    assert isinstance(question, Question)
    assert render(question.text, {"sentences": turns}) + "\n" == block.text
    assert question.choices == ["sí", "no"]


def test_relations_are_told_with_the_nucleus_where_it_is() -> None:
    rst = corpus_of("rst_discourse_treebank", "en")
    labels = ["NN-Contrast", "NS-Cause", "SN-Cause"]
    question = asked(rst, labels, task="discourse_relations", label="text_order")
    cause = "{} is the cause or the result of {}"
    answers = ["A and B contrast", cause.format("B", "A"), cause.format("A", "B")]
    assert (question.choices, question.metric) == (answers, "acc_norm")
    row = {"left": ["He fell,", "as it seems,"], "right": ["for it rained."]}
    assert render(question.text, row) == (
        "A: He fell, as it seems,\nB: for it rained.\nQuestion: How do A and B relate?\nAnswer:"
    )


def test_every_relation_of_the_treebanks_has_another_answer() -> None:
    spanish = corpus_of("rst_spanish_treebank")
    question = asked(spanish, list(spanish.facts.labels), task="discourse_relations")
    assert len(question.choices) == len(set(question.choices)) == 29
    english = corpus_of("rst_discourse_treebank", "en")
    classes = load_yaml(RECIPES / "rst_discourse_treebank" / "classes.yaml")
    for treebank in ("rst_dt", "gum"):
        every = list(map("-".join, product(("NN", "NS", "SN"), classes[treebank])))
        question = asked(english, every, task="discourse_relations", label="text_order")
        assert len(set(question.choices)) == len(every), treebank
    for collection in ("explicit", "implicit"):
        entry = {"task": f"{collection}_relations", "collection": collection}
        question = asked(corpus_of("pdtb", "en"), PDTB2, **entry)
        assert len(set(question.choices)) == len(PDTB2)


@pytest.mark.parametrize(("corpus", "labels", "entry", "reason"), TABLES["not_asked"])
def test_what_cannot_be_asked_is_told(corpus, labels, entry: str, reason: str) -> None:
    task, _, collection = entry.partition(" ")
    options = {"collection": collection} if collection else {}
    assert str(asked(corpus_of(*corpus), labels, task=task, **options)).endswith(reason)


@pytest.fixture(scope="module")
def instances(tmp_path_factory, make_corpus) -> tuple[Path, Corpus]:
    """Return instances and audit, of passages and of labelled examples without splits."""
    folder: Path = tmp_path_factory.mktemp("packaged")
    tasks = {"sp": "sentence_position", "bso": "sentence_ordering", "dc": "discourse_coherence"}
    mine = make_corpus(datasets={f"{name}_mine": {"task": task} for name, task in tasks.items()})
    records = write_as_read(folder, [document(n) for n in range(80)])
    build(mine, records, folder / "instances" / "corpora" / "mine", "upstream")
    audit(folder / "instances", folder / "audit")
    return folder, mine


def tasks_of(folder: Path, corpus: Corpus, **options: Any) -> dict[str, Any]:
    groups = groups_of([corpus], {}, "upstream")
    audited = folder / "audit" / "audit.json"
    package(groups, folder / "instances", audited, folder / "hub", **options)
    texts = {path.name: path.read_text("utf-8") for path in (folder / "hub/lm_eval").iterdir()}
    page = texts.pop("README.md")
    return {"README.md": page} | {name: yaml.safe_load(text) for name, text in texts.items()}


def test_a_package_has_tasks_and_groups(instances) -> None:
    folder, mine = instances
    files = tasks_of(folder, mine)
    tasks = ["probeta_bso_mine", "probeta_dc_mine", "probeta_sp_mine"]
    named = [f"{task}.yaml" for task in tasks]
    assert sorted(files) == ["README.md", "common", "group.probeta.yaml", *named]
    assert files["group.probeta.yaml"]["task"] == tasks
    report = json.loads((folder / "hub" / "audit.json").read_text("utf-8"))["datasets"]
    task = files["probeta_dc_mine.yaml"]
    content = report["dc_mine"]["content"]["test"]
    stated = {"version": "1.0.0", "dataset": "dc_mine", "content": content, "answer": "acc"}
    assert task["metadata"] == stated
    assert (task["doc_to_choice"], task["tag"]) == (["sí", "no"], "probeta_dc")
    assert (task["target_delimiter"], task["fewshot_split"]) == (" ", "train")
    for pattern in task["dataset_kwargs"]["data_files"].values():
        assert len(list((folder / "hub").glob(pattern))) == 1
    assert "has 3 of these datasets as tasks" in (folder / "hub" / "README.md").read_text("utf-8")


def test_a_published_package_reads_from_the_hub(instances) -> None:
    folder, mine = instances
    found = tasks_of(folder, mine, hub=("org/name", "v1.2.3"))
    task = found["probeta_sp_mine.yaml"]
    assert (task["dataset_path"], task["dataset_name"]) == ("org/name", "sp_mine")
    assert task["dataset_kwargs"] == {"revision": "v1.2.3"}
    assert "`org/name` on the Hub, version `v1.2.3`" in found["README.md"]


def test_a_dataset_with_folds_is_asked_without_examples(tmp_path, make_corpus) -> None:
    collections = {"reviews": replace(COLLECTIONS["opinions"], sizes={"all": 60})}
    facts = replace(make_corpus().facts, records="examples", collections=collections)
    entry = {"mc": {"task": "sentence_classification"}}
    mine = make_corpus(recipe="muchocine", facts=facts, datasets=entry)
    rows = [opinion(n, collection="reviews", id=f"reviews/{n}") for n in range(60)]
    records = write_as_read(tmp_path, rows)
    build(mine, records, tmp_path / "instances" / "corpora" / "mine", "upstream")
    audit(tmp_path / "instances", tmp_path / "audit")
    task = tasks_of(tmp_path, mine)["probeta_mc.yaml"]
    assert (task["test_split"], task["num_fewshot"]) == ("train", 0)
    assert "fewshot_split" not in task
    assert task["dataset_kwargs"]["data_files"] == {"train": "mc/train-*.parquet"}


# --- language codes ------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", ["es spa-Latn", "zh zho-Hans", "fa fas-Arab", "ar ara-Arab"])
def test_codes_for_mteb_and_back(pair: str) -> None:
    code, mteb = pair.split()
    assert (mteb_language(code), short_code(mteb)) == (mteb, code)


def test_varieties_and_languages_without_a_short_code() -> None:
    assert mteb_language("es-MX") == "spa-Latn"
    assert list(map(short_code, ("arb-Arab", "cmn-Hans", "ast-Latn"))) == ["ar", "zh", "ast"]


def test_a_language_that_is_not_in_the_table() -> None:
    with pytest.raises(InputError, match="language xx"):
        mteb_language("xx")
