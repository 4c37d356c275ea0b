"""What the report calls benchmarks, groups, languages and datasets, in every language."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from builders.plan.groups import benchmark_of, label_of, load_groups
from builders.tasks.benchmarks import BENCHMARKS, GROUPS, OF_BENCHMARKS, SP, SS, Group, group_of
from corpora_recipes.params import shipped_params
from probeta.report.inputs import OWN, Inputs
from probeta.report.names import (
    benchmark_name,
    benchmark_question,
    dataset_names,
    group_name,
    language_name,
)
from probeta.report.texts import FILES, all_texts, in_language


def inputs_of(datasets: dict[str, tuple[dict[str, Any], Group]], name: str = "") -> Inputs:
    """Return what the names are made of: each dataset's entry in the audit, and its group."""
    return cast(
        "Inputs",
        SimpleNamespace(
            audit={name: entry for name, (entry, _) in datasets.items()},
            groups={name: group for name, (_, group) in datasets.items()},
            benchmark=lambda name: datasets[name][0].get("benchmark") or OWN,
            audit_report={"name": name},
        ),
    )


@pytest.fixture(scope="module")
def shipped() -> Inputs:
    """The datasets of the shipped params.yaml."""
    datasets = {}
    for built in load_groups(shipped_params()):
        for dataset in built.datasets:
            benchmark = benchmark_of(dataset, [origin.corpus for origin in built.origins])
            label = label_of(dataset, built.origins)
            entry = {"label": label, "benchmark": benchmark, "language": dataset.language}
            entry["task"] = dataset.task.name
            datasets[dataset.name] = entry, group_of(benchmark, dataset.name, dataset.task.group)
    return inputs_of(datasets)


@pytest.mark.parametrize("language", FILES)
def test_everything_shipped_has_a_name_in_every_language(shipped: Inputs, language: str) -> None:
    with in_language(language):
        named = all_texts()["groups"].keys()
        assert {group.abbreviation for group in (*GROUPS, *OF_BENCHMARKS)} <= named
        for benchmark in BENCHMARKS:
            assert benchmark_name(benchmark, shipped)
            assert benchmark_question(benchmark)
        assert {entry["language"] for entry in shipped.audit.values()} <= all_texts()[
            "language_names"
        ].keys()
        names = dataset_names(shipped)
        if language != "en":
            labels = {str(entry["label"]) for entry in shipped.audit.values()}
            assert labels - all_texts()["names"].keys() == set()
    # The names alone tell the datasets of a benchmark apart, without their keys.
    whole = [(shipped.benchmark(name), called.whole) for name, called in names.items()]
    assert len(names) == len(set(whole)) == 119
    assert not [called for name, called in names.items() if f"({name})" in called.short]


def test_names_of_some_datasets(shipped: Inputs) -> None:
    names = dataset_names(shipped)
    assert names["sp_wiki"] == ("Wikipedia", "Sentence position: Wikipedia")
    assert names["ud_tense_es"].whole == "Form and grammar: Tense"
    assert names["relations_fr"].short == "ANNODIS (French)"
    assert names["sick_en_e"].short == "SICK (pair classification)"
    assert names["sick_en_r"].short == "SICK (relatedness)"
    with in_language("es"):
        names = dataset_names(shipped)
        assert names["sp_wiki"].whole == "Posición de la oración: Wikipedia"
        assert names["evalrank_words_es"].short == "Palabras (español)"
        assert benchmark_name("spanish_discoeval", shipped) == "DiscoEval en español"


def test_own_datasets_are_called_after_their_corpus_and_told_apart() -> None:
    notes = {"title": "notas", "label": "notas", "language": "es"}
    one = inputs_of({"sp_notas": (notes, SP), "similar": ({**notes, "label": "notas"}, SS)})
    assert dataset_names(one)["sp_notas"] == ("notas", "Sentence position: notas")
    assert benchmark_name(OWN, one) == "notas"
    assert benchmark_question(OWN) == ""
    other = {"title": "cartas", "label": "notas", "language": "ca"}
    several = inputs_of(
        {"sp_notas": (notes, SP), "sp_more": (notes, SP), "sp_ca": (other, SP), "old": ({}, SS)}
    )
    names = {name: called.short for name, called in dataset_names(several).items()}
    assert names == {
        "sp_notas": "notas (Spanish) (sp_notas)",
        "sp_more": "notas (Spanish) (sp_more)",
        "sp_ca": "notas (Catalan)",
        "old": "old",
    }
    assert benchmark_name(OWN, several) == OWN
    named = {"x": (notes, SP)}
    assert benchmark_name(OWN, inputs_of(named, "Letters")) == "Letters"
    shared = {**named, "sp_wiki": ({"benchmark": "spanish_discoeval"}, SP)}
    assert benchmark_name(OWN, inputs_of(shared, "Letters and benchmarks")) == "notas"
    assert language_name("es-MX") == "Spanish"
    assert language_name("tlh") == "tlh"
    assert group_name(Group("X", "Mine")) == "Mine"
