"""Corpora from the servers that publish them, which are on loopback, up to instances.

The rows are those of the samples, so that what follows is that of the run on the samples.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from imports import REPOSITORY
from internet import Internet
from projects import copy_of_project, run

pytestmark = pytest.mark.slow

# Corpora that their publishers send on request: they are in a mirror.
ON_REQUEST = (
    "arxiv",
    "pdtb",
    "roc_stories",
    "rst_discourse_treebank",
    "rst_spanish_treebank",
    "tass",
)
# Servers of theses of which the sample has nothing.
SILENT = ("repositorio.uautonoma.cl", "repositorio.ucn.cl", "repositoriobibliotecas.uv.cl")


@pytest.fixture(scope="module")
def internet() -> Iterator[Internet]:
    internet = Internet(REPOSITORY / "params.yaml")
    yield internet
    internet.close()


@pytest.fixture(scope="module")
def rehearsal(internet: Internet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with the instances of `sources: upstream`."""
    folder = copy_of_project(tmp_path_factory.mktemp("rehearsal") / "probeta")
    internet.at_home(folder)
    path = folder / "params.yaml"
    params = yaml.safe_load(path.read_text("utf-8"))
    params["sources"] = "upstream"
    for name in ("theses", "gutenberg"):
        params["corpora"][name]["corpus"]["delay_seconds"] = 0.0
    for name in ON_REQUEST:
        sample = REPOSITORY / "corpora_recipes" / "corpora" / name / "sample"
        shutil.copytree(sample, folder / "asked_for" / name)
        params["corpora"][name]["corpus"]["sources"] = "asked_for"
    path.write_text(yaml.safe_dump(params, allow_unicode=True, sort_keys=False), "utf-8")
    for stage in ("read", "build", "compose"):
        probeta(stage, folder, internet)
    return folder


def probeta(arguments: str, folder: Path, internet: Internet) -> None:
    """Run a stage without any other server; nothing may be left out."""
    done = run(f"probeta {arguments} --strict", folder, **internet.environment)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def rows(folder: Path) -> dict[str, list[dict[str, object]]]:
    """Return the rows of each file of a folder, without what sources of texts decide."""
    found = {}
    for path in sorted(folder.rglob("*.parquet")):
        table = pq.read_table(path)
        found[path.relative_to(folder).as_posix()] = [
            {key: value for key, value in row.items() if key != "licence"}
            for row in table.to_pylist()
        ]
    return found


def test_the_rows_of_the_samples_come_from_the_servers(
    rehearsal: Path, project: Path, internet: Internet
) -> None:
    expected, found = rows(project / "data/instances"), rows(rehearsal / "data/instances")
    assert expected.keys() == found.keys()
    for name, its in found.items():
        assert its == expected[name], name
    assert len(found) > 100
    unknown = {url.split("/")[2] for url in internet.unknown}
    assert unknown == set(SILENT)


def test_every_second_source_with_the_first_one_dead(
    rehearsal: Path, internet: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = internet.first_of_several()
    assert {"gutenberg", "mlsum", "muchocine", "sts", "theses", "wikipedia", "xnli"} <= first.keys()
    monkeypatch.setattr(internet, "dead", tuple(url for urls in first.values() for url in urls))
    second = rehearsal.with_name("second")
    shutil.copytree(rehearsal, second, ignore=lambda place, _: ["data"] * (place == str(rehearsal)))
    probeta(f"read --only {','.join(first)}", second, internet)
    for name in first:
        again = pq.read_table(second / "data" / "records" / f"{name}.parquet").to_pylist()
        before = pq.read_table(rehearsal / "data" / "records" / f"{name}.parquet").to_pylist()
        if name == "theses":
            # No server has what another one has.
            before = [row for row in before if row["id"].startswith("oai:repositorio.uc.cl:")]
        assert again == before, name
        assert again
