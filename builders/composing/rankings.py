"""All rankings of params.yaml in one folder; those that are unchanged are not composed again."""

import json
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from builders.composing.composing import compose
from builders.plan.rankings import RankingDataset
from builders.store.dataset_files import write_report
from builders.store.missing import said_missing, write_missing
from builders.store.record_files import why_missing
from builders.store.shards import copy_shards, digest_of_files, shards_in
from corpora_recipes.hashing import sha256_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder


def compose_rankings(
    rankings: Sequence[RankingDataset],
    chosen: Collection[str],
    records: Path,
    out: Path,
    sources: str,
) -> tuple[dict[str, Any], int]:
    """Compose some rankings, each into ``out/<ranking>``, see ``compose``.

    A ranking with a missing corpus has a mark instead (``builders.store.missing``), and no report.

    A ranking is kept if its records, parameters and code are those that it was composed with, which
    ``made_from`` in its build.json states; the result is the same.

    Args:
        rankings: all those of params.yaml; what ``out`` held of others is removed.
        chosen: the names of those to compose; the others stay as they are.
        records: the folder with the records of their corpora, ``<corpus>.parquet``.
        out: the folder to write.
        sources: `sources` of params.yaml.

    Returns:
        The reports on the chosen rankings, by name, and the number of those that were kept.

    Raises:
        InputError: see ``compose``; or a ranking is in the folder beside ``out`` where earlier
            versions of the project wrote it.
    """
    reports: dict[str, Any] = {}
    kept = 0
    with whole_folder(out) as folder:
        for ranking in rankings:
            name = ranking.name
            _check_place(out.parent / name)
            if name not in chosen:
                if (out / name).exists():
                    shutil.copytree(out / name, folder / name)
                continue
            why = (why_missing(records / f"{corpus.name}.parquet") for corpus in ranking.corpora)
            if lacking := " ".join(dict.fromkeys(filter(None, why))):
                (folder / name).mkdir()
                write_missing(lacking, folder / name)
                print(*said_missing({name: lacking}))
                continue
            made_from = _made_from(ranking, records, sources)
            report = _kept(name, made_from, out, folder)
            kept += report is not None
            if report is None:
                report = compose(ranking, records, folder / name, sources)[name]
                report["made_from"] = made_from | {"files": _files(folder / name / name)}
            write_report({name: report}, folder / name)
            reports[name] = report
    return reports, kept


def _made_from(ranking: RankingDataset, records: Path, sources: str) -> dict[str, Any]:
    """Return all that decides the rows of a ranking and the report on it."""
    corpora = ranking.corpora
    # The datasets of a corpus decide what is left out of it, which about() states.
    entry = repr([ranking.about(), sources, [replace(corpus, datasets={}) for corpus in corpora]])
    paths = [records / f"{corpus.name}.parquet" for corpus in corpora]
    return {
        "records": {path.stem: sha256_of(path) for path in paths if path.exists()},
        "entry": sha256(entry.encode()).hexdigest(),
        "code": code_digest("builders.composing.rankings"),
        "pyarrow": version("pyarrow"),
    }


def _kept(name: str, made_from: dict[str, Any], out: Path, folder: Path) -> dict[str, Any] | None:
    """Copy a ranking from ``out`` to ``folder`` and return its report; None if it has changed."""
    try:
        report: dict[str, Any] = json.loads((out / name / "build.json").read_bytes())[name]
        known = report["made_from"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if known != made_from | {"files": _files(out / name / name)}:
        return None
    copy_shards(out / name / name, folder / name / name)
    return report


def _files(dataset: Path) -> dict[str, str]:
    return {split: digest_of_files(shards) for split, shards in shards_in(dataset).items()}


def _check_place(earlier: Path) -> None:
    if (earlier / "build.json").exists():
        raise InputError(
            earlier,
            expected="all rankings in one folder",
            found="a ranking that an earlier version of Probeta composed",
            todo=f"remove this folder: `rm -r {earlier}`",
        )
