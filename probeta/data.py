"""Where datasets are: in a folder, on the Hub, or built here from the samples that are shipped.

Of the samples, the corpora of the datasets that are asked for are built, once for each version of
the code and its libraries, into the cache of the user:

    samples/KEY/CORPUS/DATASET/    as `probeta package` writes the datasets of one corpus
    samples/KEY/audit.json         what the audit says of all that are there
"""

import json
import shutil
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from corpora_recipes.running import console
from corpora_recipes.running.errors import MODULES, check_names, check_packages
from corpora_recipes.running.outputs import PACKAGE, as_json, load_json, locked_folder, write_whole

if TYPE_CHECKING:
    import pyarrow as pa

    from evaluation.datasets import Names

# In place of a folder: the shipped samples.
SAMPLES = "samples"
# Samples of other versions of the code are removed when they were not built for this long.
_SECONDS_KEPT = 30 * 86400


def cache_folder(cache: str | Path | None = None) -> Path:
    """Return the folder for vectors and samples: ``cache``, or that of the user."""
    # Most scores need no cache.
    from platformdirs import user_cache_path

    return Path(cache) if cache else user_cache_path("probeta", appauthor=False)


def locate_data(
    data: str | Path | None,
    datasets: "Names" = None,
    groups: "Names" = None,
    cache: str | Path | None = None,
) -> str | Path:
    """Return the folder or repository of datasets; samples are built if need be.

    Args:
        data: a folder, an id on the Hub, or ``SAMPLES``; None for dist/hub in the current folder,
            or the samples without one.
        datasets: names of the datasets that are needed.
        groups: of those that are needed. All if there are neither names nor groups.
        cache: see ``cache_folder``.
    """
    if not _means_samples(data):
        return PACKAGE if data is None else data
    # What follows is needed for samples alone.
    from corpora_recipes.params import load_params, shipped_params
    from evaluation.datasets import select_names

    if data is None:
        _say(f"no {PACKAGE} here: these are the samples that are shipped (--data names others)")
    path = shipped_params()
    corpora = {
        corpus: {name: about["task"] for name, about in (entry.get("datasets") or {}).items()}
        for corpus, entry in load_params(path)["corpora"].items()
    }
    tasks = {name: task for of_corpus in corpora.values() for name, task in of_corpus.items()}
    names = {*select_names("the samples", tasks, datasets, groups)}
    folder = cache_folder(cache) / SAMPLES / _samples_key(path)
    audit = folder / "audit.json"
    present = json.loads(audit.read_bytes())["datasets"].keys() if audit.is_file() else set()
    if missing := [c for c, of_corpus in corpora.items() if names & of_corpus.keys() - present]:
        check_packages("the samples", *MODULES["audit"], *MODULES["build"])
        with locked_folder(folder.parent, "score", wait=True):
            _build_samples(missing, folder, path)
    return folder


def _means_samples(data: str | Path | None) -> bool:
    return not PACKAGE.is_dir() if data is None else str(data) == SAMPLES


def _say(text: str) -> None:
    if not console.quiet:
        print(text, file=sys.stderr, flush=True)


def _samples_key(params: Path) -> str:
    """Return what changes with all that decides the samples: code, parameters, libraries."""
    from corpora_recipes.recipe import recipe_names
    from corpora_recipes.running.code import code_digest, stage_versions

    stages = ("corpora_recipes.reading", "builders.building", "builders.packaging.hub")
    auditing = ("builders.auditing.auditing", "builders.auditing.instances")
    recipes = (f"corpora_recipes.corpora.{name}.recipe" for name in recipe_names())
    code = code_digest(__name__, *stages, *auditing, *recipes)
    facts = [code, params.read_text("utf-8"), *map(stage_versions, ("read", "build", "audit"))]
    return sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _build_samples(corpora: Collection[str], folder: Path, params: Path) -> None:
    """Build corpora into the folder of a key, each whole or not at all, in this process."""
    for other in folder.parent.glob("*/"):
        if other != folder and time.time() - other.stat().st_mtime > _SECONDS_KEPT:
            shutil.rmtree(other, ignore_errors=True)
    _say(f"building samples, once, in {folder}: {', '.join(corpora)}")
    folder.mkdir(parents=True, exist_ok=True)
    with console.progress(len(corpora), "build", "sample") as bar:
        for corpus in corpora:
            if not (folder / corpus).is_dir():
                with console.quietly():
                    _build_corpus(corpus, folder / corpus, params)
            bar.update()
    reports = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*/audit.json"))]
    datasets = {name: facts for report in reports for name, facts in report["datasets"].items()}
    merged = reports[0] | {"datasets": datasets, "shared": []}
    write_whole(folder / "audit.json", as_json(merged))


def _build_corpus(name: str, out: Path, params: Path) -> None:
    """Do what the stages `read`, `build`, `audit` and `package` do, for the sample of a corpus."""
    from builders.auditing.auditing import audit
    from builders.auditing.instances import instances_in
    from builders.building import build
    from builders.packaging.hub import package
    from builders.plan.groups import groups_of, inherited_of
    from corpora_recipes.fetching.sources import fetch
    from corpora_recipes.params import corpus_of, load_params
    from corpora_recipes.reading import read

    loaded = load_params(params)
    corpus = corpus_of(loaded, params, name)
    (group,) = groups = groups_of([corpus], {}, "sample", params)
    with TemporaryDirectory() as temporary:
        raw, records, instances, audited = (
            Path(temporary, part) for part in ("raw", "records.parquet", "instances", "audit")
        )
        fetch(corpus, "sample", raw)
        read(corpus, raw, records, workers=1, executor="local")
        build(corpus, records, instances / group.folder, "sample")
        folders = sorted(instances / group.folder / dataset.name for dataset in group.datasets)
        audit(
            [*map(instances_in, folders)],
            audited,
            target=f"the sample of {name}",
            groups=groups,
            inherited=inherited_of(loaded, params, groups),
            params=params,
        )
        package(groups, instances, audited / "audit.json", out)


def data_of_results(
    data: str | Path | None, results: Collection[Path], datasets: Collection[str] | None = None
) -> Path:
    """Return the folder of the data of results; samples are built if need be.

    Args:
        data: see ``locate_data``.
        results: folders, or files of paradigms.
        datasets: names of those that are needed; without any, those of the results.
    """
    from evaluation.datasets import data_folder

    names = {*(datasets or ())}
    for path in results if _means_samples(data) and not names else ():
        for file in [path if path.is_file() else path / "scores.json"]:
            # What is damaged is refused when it is verified.
            with suppress(OSError, ValueError, KeyError, TypeError):
                names |= {score["dataset"] for score in load_json(file)["scores"]}
    return data_folder(locate_data(data, names), datasets)


def load(dataset: str, data: str | Path | None = None) -> "dict[str, pa.Table]":
    """Return the rows of a dataset.

    Args:
        dataset: its name.
        data: see ``score``.

    Returns:
        Split ("train", "validation", "test") to its table; only "train" for a dataset in folds, and
        only "test" for one without training. The columns are those of the dataset's page.

    Raises:
        InputError: there is no such folder, repository or dataset, or a split is missing.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from evaluation.datasets import data_folder, find_datasets

    folder = data_folder(locate_data(data, [dataset]), [dataset])
    by_name = {entry.name: entry for entry in find_datasets(folder)}
    check_names(f"datasets of {folder}", [dataset], [*by_name])
    return {
        split: pa.concat_tables(map(pq.read_table, files))
        for split, files in by_name[dataset].files.items()
    }
