"""Which datasets are meant: a folder or a repository, names and groups; errors name the nearest."""

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import hub

from corpora_recipes.running.errors import InputError
from evaluation.datasets import find_data
from probeta.cli import main


def names(data: str | None = None, **chosen: list[str]) -> list[str]:
    found = find_data(data, chosen.get("datasets"), chosen.get("groups"))
    return [dataset.name for dataset in found.datasets]


def test_all_names_groups(hub_folder: Path) -> None:
    assert names() == ["bso_own", "sts_own", "tass_own"]
    assert names("dist/hub", datasets=["tass_own"]) == ["tass_own"]
    assert names(groups=["SS", "BSO"]) == ["bso_own", "sts_own"]
    assert names(groups=["SS"], datasets=["tass_own"]) == ["sts_own", "tass_own"]
    found = find_data(hub_folder, None, None)
    assert (found.seed, found.samples) == (7, frozenset())
    # Not majority; and not of other rows.
    assert found.baselines == {"bso_own": ("bag_of_words", 0.7)}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dist/hub", ["tas_own", "bso-own"], None], ["among bso_own", "'tas_own', 'bso-own'"]),
        (["dist/hub", ["wikipedia"], None], ["'wikipedia'", "choose some of these"]),
        (["dist/hub", None, ["bso"]], ["names among BSO, SS, SC", "did you mean BSO?"]),
        (["dist/hub", "bso_own", None], ["lists of names", "write ['bso_own']"]),
        (["dist/hub", ["words"], None], ["words, where neighbours", "probeta rank"]),
        (["dist/hub/words", None, None], ["train-00000-of-00001.parquet", "no such file"]),
        (["./nowhere", None, None], ["nowhere", "no such folder", "correct the path"]),
        (["dist/hub/audit.json", None, None], ["a file", "correct the path"]),
        (["hub/audit.json", None, None], ["a file", "correct the path"]),
    ],
)
def test_what_is_not_there(
    hub_folder: Path, arguments: tuple[str, list[str], list[str]], words: list[str]
) -> None:
    shutil.copytree("dist/hub", "hub")  # in the form of an id of the Hub
    with pytest.raises(InputError) as caught:
        find_data(*arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ([], []),
        (["bso_own"], None),
        (["bso_own", "rows"], 3),
        (["bso_own", "checks"], [1]),
        (["bso_own", "checks", 1, "what"], ["length"]),
        (["bso_own", "checks", 1, "value"], "0.6"),
        (["bso_own", "checks", 1, "value"], math.nan),
        (["bso_own", "chosen"], ["length"]),
    ],
)
def test_an_audit_of_others_is_checked(
    hub_folder: Path, place: list[str | int], value: object
) -> None:
    report = json.loads((hub_folder / "audit.json").read_bytes())
    inner, (*parents, last) = report, ["datasets", *place]
    for name in parents:
        inner = inner[name]
    inner[last] = value
    (hub_folder / "audit.json").write_text(json.dumps(report))
    with pytest.raises(InputError, match=r"audit.json: datasets(.|\n)*run the audit again"):
        find_data("dist/hub", ["bso_own"], None)


def test_without_data_it_says_how_to_get_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["score", "char_hash"]) == 1
    err = capsys.readouterr().err
    for word in ("--data", "probeta repro", "Hugging Face Hub", str(tmp_path)):
        assert word in err


@pytest.fixture
def endpoint(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Serve the datasets as org/name; yield the requests."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(Path("cache").resolve()))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    shutil.copytree(hub_folder, "repository")
    requests: list[str] = []
    with hub(Path("repository").resolve(), "org/name", requests=requests) as url:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", url)
        yield requests


def test_data_of_the_hub(hub_folder: Path, endpoint: list[str]) -> None:
    found = find_data("org/name", ["bso_own"], None)
    assert [dataset.name for dataset in found.datasets] == ["bso_own"]
    assert found.baselines == {"bso_own": ("bag_of_words", 0.7)}
    # Only the requested files were downloaded.
    assert not [request for request in endpoint if "tass_own" in request]
    assert names("org/name") == ["bso_own", "sts_own", "tass_own"]
    for dataset in find_data("dist/hub", None, None).datasets:
        (same,) = find_data("org/name", [dataset.name], None).datasets
        assert same.digest() == dataset.digest()


def test_a_dataset_that_is_not_on_the_hub(endpoint: list[str]) -> None:
    with pytest.raises(InputError, match="tass_own") as caught:
        find_data("org/name", ["tas_own"], None)
    assert "did you mean tass_own" in caught.value.todo


def test_a_repository_that_is_not_there(hub_folder: Path, endpoint: list[str]) -> None:
    shutil.rmtree("repository")
    with pytest.raises(InputError) as caught:
        find_data("org/name", None, None)
    for word in ("data org/name", "no such folder; RepositoryNotFoundError", "hf auth login"):
        assert word in str(caught.value)
