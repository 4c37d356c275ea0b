"""How datasets are made: the benchmarks are those of the shipped params.yaml, and no others."""

from pathlib import Path

import pytest
import yaml

from builders.plan.groups import benchmark_of, load_groups, making_of
from builders.tasks.benchmarks import BENCHMARKS, WITHDRAWN


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
    assert [len(datasets) for datasets in BENCHMARKS.values()] == [20, 11, 17, 12, 2, 43, 4, 2, 11]


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


@pytest.mark.parametrize(
    ("where", "value", "out"),
    [
        ("corpora sqc corpus recipe", "fac", {"sqc"}),
        ("corpora gutenberg corpus documents", 7, {"dc_gdd"}),
        ("corpora mlsum datasets sp_mlsum rows", [100, 40, 40], {"sp_mlsum"}),
        ("corpora theses datasets sp_thesis folds", True, {"sp_thesis"}),
        ("corpora theses datasets sp_thesis task", "sentence_ordering", {"sp_thesis"}),
        ("corpora sts datasets sts14_es collection", "2015", {"sts14_es"}),
        ("rankings evalrank_es pairs", ["sts"], {"evalrank_es"}),
        ("corpora wikipedia datasets sp_mine", {"task": "sentence_position"}, {"sp_mine"}),
        # What is no option of the dataset.
        ("seed", 7, set()),
        ("corpora muchocine datasets mc version", "1.0.0", set()),
        ("corpora mlsum datasets sp_mlsum rows", [10_000, 4_000, 4_000], set()),
        ("corpora gutenberg corpus sources", "upstream", set()),
    ],
)
def test_a_dataset_of_the_same_name_with_another_recipe_task_or_option(
    repository: Path, tmp_path: Path, where: str, value: object, out: set[str]
) -> None:
    params = yaml.safe_load((repository / "params.yaml").read_text("utf-8"))
    *folders, last = where.split()
    entry = params
    for name in folders:
        entry = entry[name]
    entry[last] = value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(params), "utf-8")
    assert {name for name, benchmark in benchmarks_of(path).items() if not benchmark} == out


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
