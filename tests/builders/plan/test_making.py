"""What a dataset shares with the same one in another language: sources and options."""

from pathlib import Path

from builders.plan.groups import load_groups
from builders.plan.making import making_of


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
