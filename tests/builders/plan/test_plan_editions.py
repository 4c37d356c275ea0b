"""Editions of a dataset: which two may be compared, and what the package says of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import document, write_as_read

from builders.building import build
from builders.packaging.hub import package
from builders.plan.groups import groups_of
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import WINDOW
from corpora_recipes.running.errors import InputError
from probeta.auditing import audit

OLD = {"sp_old": {"task": "sentence_position"}, "dc_old": {"task": "discourse_coherence"}}
NEW = {"sp_new": {"task": "sentence_position", "edition_of": "sp_old"}}


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
        ("sp_old", {"recipe": "theses"}, "recipe documents", "recipe theses"),
        ("sp_old", {"language": "pt"}, "language es", "language pt"),
        (["sp_old"], {}, "the name of the older dataset", "['sp_old']"),
    ],
)
def test_editions_of_different_corpora_or_tasks(make_corpus, entry, how, expected, found) -> None:
    new = {"sp_new": {"task": "sentence_position", "edition_of": entry}}
    with pytest.raises(InputError) as error:
        groups_of(two(make_corpus, new, **how), {}, "upstream")
    assert error.value.where.endswith("corpora.newer.datasets.sp_new.edition_of")
    assert expected in error.value.expected
    assert found in error.value.found


def test_options_of_the_task_are_the_same(make_corpus) -> None:
    entry = {"task": "discourse_coherence", "donors": "same_topic", "edition_of": "dc_old"}
    with pytest.raises(InputError) as error:
        groups_of(two(make_corpus, {"dc_new": entry}), {}, "upstream")
    assert "options of the task {'donors': 'random'" in error.value.expected


def test_the_package_says_of_which_it_is_an_edition_and_of_when(
    tmp_path: Path, make_corpus
) -> None:
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
