"""Groups of datasets: skipped ones, declared misses, benchmarks, editions."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from case_tables import read_tables
from conftest import document, write_as_read
from neighbour_files import corpus_of_pairs
from recipe_reading import refused

from builders.audit_report import GATES
from builders.building import build
from builders.packaging.hub import package
from builders.plan.groups import (
    BuildGroup,
    benchmark_of,
    groups_of,
    inherited_of,
    load_groups,
    making_of,
    skipped_datasets,
    without_datasets,
)
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS, GROUPINGS, WITHDRAWN, group_of, groupings_of
from corpora_recipes.recipe import Corpus, Declared, load_facts, recipe_names
from corpora_recipes.records import WINDOW
from corpora_recipes.running.outputs import CORPORA, INSTANCES
from corpora_recipes.running.stage import Skipped, write_skipped
from probeta.auditing import audit

TABLES = read_tables(__file__)


@pytest.fixture
def groups(empty_folder, make_corpus) -> list[BuildGroup]:
    """Return a corpus of two datasets, one of pairs without any, and a ranking of these."""
    datasets = {"sp": {"task": "sentence_position"}, "dc": {"task": "discourse_coherence"}}
    corpora = [make_corpus(datasets=datasets), corpus_of_pairs(make_corpus())]
    rank = {"task": "sentence_ranking", "language": "es", "pairs": ["pairs/plain"]}
    found = groups_of(corpora, {"rank": rank}, "upstream")
    for group in found:
        for dataset in group.datasets:
            (INSTANCES / group.folder / dataset.name).mkdir(parents=True)
    return found


@pytest.mark.parametrize(("stage", "name", "expected"), TABLES["left_out"])
def test_a_dataset_is_left_out_with_what_it_is_made_from(groups, stage, name, expected) -> None:
    reason = Skipped("It is so.", asked_for=stage == "read")
    write_skipped(stage, {name: reason})
    found = skipped_datasets(groups, "read", "build", "compose", "audit")
    assert found == dict.fromkeys(expected, reason)
    others = [stage_ for stage_ in ("read", "build", "compose", "audit") if stage_ != stage]
    assert skipped_datasets(groups, *others) == {}
    left = [dataset.name for group in without_datasets(groups, found) for dataset in group.datasets]
    assert left == [name for name in ("dc", "sp", "rank") if name not in expected]


def test_the_reason_of_the_first_stage_is_given(groups) -> None:
    for stage, name in (("audit", "sp"), ("read", "mine"), ("build", "mine: sp")):
        write_skipped(stage, {name: Skipped(stage)})
    assert skipped_datasets(groups, "audit", "build", "read")["sp"] == Skipped("read")


def test_what_was_not_built_is_left_out(groups) -> None:
    (CORPORA / "mine" / "sp").rmdir()
    assert "`probeta build`" in skipped_datasets(groups)["sp"].why


PATH = Path("params.yaml")
MISS = {"at_most": 0.5, "because": "It is so."}


def test_params_replace_what_is_known_of_a_corpus(make_corpus) -> None:
    corpus = make_corpus()
    known = {name: {"text": Declared(0.1, "It was so.")} for name in ("sp_mine", "sp_other")}
    corpus = replace(corpus, facts=replace(corpus.facts, inherited=known))
    groups = groups_of([corpus], {}, "upstream")
    # Only of the datasets that are asked for.
    assert inherited_of({"audit": {}}, PATH, groups) == {
        "sp_mine": {"text": {"at_most": 0.1, "because": "It was so."}}
    }
    params = {"audit": {"inherited": {"sp_mine": {"leakage": MISS}}}}
    assert inherited_of(params, PATH, groups) == params["audit"]["inherited"]


def test_a_corpus_declares_misses_of_gates_by_datasets_that_are_made_of_it() -> None:
    for recipe in recipe_names():
        for name, gates in load_facts(recipe).inherited.items():
            (entry,) = (entries[name] for entries in BENCHMARKS.values() if name in entries)
            assert recipe in [settings["recipe"] for settings in entry["corpora"]]
            assert gates.keys() <= GATES.keys()


@pytest.mark.parametrize(
    ("audit", "where", "word"),
    [
        ({"sp": "x"}, ".sp", "keys among inherited"),
        ({"inherited": {"sp": "leakage"}}, ".inherited.sp", "gates"),
        ({"inherited": {"sp": {"text": {"at_most": 1}}}}, ".sp.text.because", "nothing"),
        ({"inherited": {"sp": {"text": MISS | {"at_most": 2}}}}, ".text.at_most", "share"),
        ({"inherited": {"sp": {"text": {"at_most": 1, "because": ""}}}}, ".because", "reason"),
    ],
)
def test_what_is_wrong_is_said(audit, where, word) -> None:
    with refused(where, match=f"^params.yaml: audit(.|\n)*{word}"):
        inherited_of({"audit": audit}, PATH, [])


def benchmarks_of(params: Path) -> dict[str, str]:
    """Return dataset to benchmark."""
    return {
        dataset.name: benchmark_of(dataset, [origin.corpus for origin in group.origins])
        for group in load_groups(params)
        for dataset in group.datasets
    }


def test_the_list_is_that_of_the_shipped_params(repository: Path, tmp_path: Path) -> None:
    """Corpora without a sample are commented out there."""
    text = (repository / "params.yaml").read_text("utf-8")
    start, end = text.index("  # disrpt_eu:"), text.index("\n  # English SentEval")
    path = tmp_path / "params.yaml"
    path.write_text(text[:start] + text[start:end].replace("  # ", "  ") + text[end:], "utf-8")
    listed = {name: title for title, datasets in BENCHMARKS.items() for name in datasets}
    assert benchmarks_of(path) == listed
    assert [len(datasets) for datasets in BENCHMARKS.values()] == [
        20,
        11,
        17,
        12,
        2,
        43,
        4,
        2,
        5,
        11,
    ]


def test_english_sets_are_averaged_in_the_groups_of_section_5_1() -> None:
    """Chen, Chu and Gimpel (2019); SST is one set there, two in the benchmark's own groups."""
    groups: dict[str, list[str]] = {}
    for name, entry in BENCHMARKS["english_senteval"].items():
        group = group_of("english_senteval", name, TASKS[entry["task"]].group)
        groups.setdefault(group.abbreviation, []).append(name)
    chen = GROUPINGS["chen2019"]["english_senteval"]
    assert chen["SC"] == ["mr", "cr", "mpqa", "subj", "sst5", "trec", "mrpc"]
    assert {*groups["SC"]} - {*chen["SC"]} == {"sst2"}
    assert {*chen["SSS"]} == {"sts_b_en_r", "sick_en_r", "sick_en_e"} == {*groups["SSS"]}
    assert chen["USS"] == [f"sts{year}_en" for year in range(12, 17)] == groups["USS"]
    assert len(chen["Probing"]) == 10
    assert {*chen["Probing"]} == {*groups["Probing"]}


def test_every_grouping_is_of_datasets_of_its_benchmark() -> None:
    """Of Wang, Kuo and Li (2022), Table 3 has nine sets of words and ten tasks, Table 6 eight."""
    for benchmarks in GROUPINGS.values():
        for benchmark, grouped in benchmarks.items():
            names = [name for members in grouped.values() for name in members]
            assert len({*names}) == len(names)
            assert {*names} <= BENCHMARKS[benchmark].keys()
    wang = GROUPINGS["wang2022"]["english_senteval"]
    assert {name: len(members) for name, members in wang.items()} == {
        **{"SC": 8, "SPC": 2, "SS": 8, "WS": 9}
    }
    assert groupings_of("sick_en_e", TASKS["pair_classification"].group) == [
        *("SSS", "english_senteval", "chen2019", "wang2022")
    ]
    assert groupings_of("sst2", TASKS["sentence_classification"].group)[2:] == ["wang2022"]


def test_what_is_withdrawn_is_a_dataset_of_the_users_own(repository: Path, tmp_path: Path) -> None:
    text = (repository / "params.yaml").read_text("utf-8")
    path = tmp_path / "params.yaml"
    for benchmark, datasets in WITHDRAWN.items():
        for name, entry in datasets.items():
            assert name not in BENCHMARKS[benchmark]
            assert text.count(f"      # {name}: ") == 1
            text = text.replace(f"      # {name}: ", f"      {name}: ")
            path.write_text(text, "utf-8")
            assert benchmarks_of(path)[name] == ""
            assert entry["withdrawn"]
    assert {name for datasets in WITHDRAWN.values() for name in datasets} == {"somo"}


@pytest.mark.parametrize(("where", "value", "out"), TABLES["changed"])
def test_a_dataset_of_the_same_name_with_another_recipe_task_or_option(
    repository: Path, tmp_path: Path, where: str, value: object, out: list[str]
) -> None:
    params = yaml.safe_load((repository / "params.yaml").read_text("utf-8"))
    *folders, last = where.split()
    entry = params
    for name in folders:
        entry = entry[name]
    entry[last] = value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params), "utf-8")
    assert [name for name, benchmark in benchmarks_of(path).items() if not benchmark] == out


def test_the_making_of_the_shipped_datasets(repository: Path) -> None:
    made = {
        dataset.name: making_of(dataset, [origin.corpus for origin in group.origins])
        for group in load_groups(repository / "params.yaml")
        for dataset in group.datasets
    }
    assert made["sp_wiki"] == made["sp_wiki_en"] == {"from": ["wikipedia"], "options": {}}
    assert made["dc_wiki_en"] == {"from": ["wikipedia"], "options": {"donors": "similar"}}
    assert made["paralex_es"] == made["paralex_en"] == {"from": ["paralex"], "options": {}}
    assert made["sts15_es"] == {"from": ["sts", "2015"], "options": {}}
    assert made["evalrank_es"]["from"] == ["sts", "sick_es"]


OLD = {"sp_old": {"task": "sentence_position"}, "dc_old": {"task": "discourse_coherence"}}
NEW = {"sp_new": {"task": "sentence_position", "edition_of": "sp_old"}}
OTHER_OPTIONS = {"task": "discourse_coherence", "donors": "same_topic", "edition_of": "dc_old"}


def two(make_corpus: Callable[..., Corpus], new: dict[str, Any] = NEW, **how: Any) -> list[Corpus]:
    old = make_corpus(datasets=OLD)
    return [old, replace(old, name="newer", datasets=new, **how)]


def test_an_edition_knows_the_older_dataset(make_corpus) -> None:
    groups = groups_of(two(make_corpus), {}, "upstream")
    found = {dataset.name: dataset.edition_of for group in groups for dataset in group.datasets}
    assert found == {"dc_old": "", "sp_old": "", "sp_new": "sp_old"}
    assert all("edition_of" not in d.about() for group in groups for d in group.datasets)


@pytest.mark.parametrize(
    ("entry", "how", "expected", "found"),
    [
        ("sp_none", {}, "another corpus: one of sp_old", "'sp_none', which is not a dataset"),
        ("sp_new", {}, "another corpus: one of sp_old", "'sp_new', which is of the same corpus"),
        ("dc_old", {}, "task discourse_coherence", "task sentence_position"),
        (OTHER_OPTIONS, {}, "options of the task {'donors': 'random'", "'same_topic'"),
        ("sp_old", {"recipe": "theses"}, "recipe documents", "recipe theses"),
        ("sp_old", {"language": "pt"}, "language es", "language pt"),
        (["sp_old"], {}, "the name of the older dataset", "['sp_old']"),
    ],
)
def test_editions_of_different_corpora_or_tasks(make_corpus, entry, how, expected, found) -> None:
    new = {"sp_new": {"task": "sentence_position", "edition_of": entry}}
    new["sp_new"] |= entry if isinstance(entry, dict) else {}
    with refused("corpora.newer.datasets.sp_new.edition_of", expected=expected, found=found):
        groups_of(two(make_corpus, new, **how), {}, "upstream")


def test_the_package_says_of_which_it_is_an_edition_and_of_when(tmp_path, make_corpus) -> None:
    window = {"after": "2026-01-01", "until": "2026-08-01", "uncertain_days": 2}
    window["known_by"] = "page ids from 7 on"
    corpora = two(make_corpus)
    corpora[0] = replace(corpora[0], datasets={"sp_old": OLD["sp_old"]})
    for corpus, first in zip(corpora, (0, 1000), strict=True):
        records = write_as_read(tmp_path, [document(first + n) for n in range(80)])
        if corpus.name == "newer":
            table = pq.read_table(records)
            pq.write_table(table.replace_schema_metadata({WINDOW: json.dumps(window)}), records)
        build(corpus, records, tmp_path / "instances" / "corpora" / corpus.name, "upstream")
    audit(tmp_path / "instances", tmp_path / "audit")
    groups = groups_of(corpora, {}, "upstream")
    package(groups, tmp_path / "instances", tmp_path / "audit" / "audit.json", tmp_path / "hub")
    audited = json.loads((tmp_path / "hub" / "audit.json").read_text("utf-8"))["datasets"]
    assert audited["sp_new"]["edition_of"] == "sp_old"
    assert "edition_of" not in audited["sp_old"]
    card = (tmp_path / "hub" / "docs" / "sp_new.md").read_text("utf-8")
    assert card.count("- A newer edition of `sp_old`, to compare scores with.\n") == 1
    said = "- Documents made after 2026-01-01, until 2026-08-01. Known by page ids from 7 on; "
    assert card.count(said + "uncertain by 2 days.\n") == 1
    assert "window" not in card
