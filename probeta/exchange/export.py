"""Results in the formats of mteb and of the Hugging Face Hub."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from builders.packaging.harnesses import NAME, mteb_language, mteb_task_name
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder
from evaluation.results.citation import cite
from evaluation.results.comparison import Rank, compare, measure_all, rank_encoders
from evaluation.results.scores import Results, Score, read_predictions, read_results
from probeta.scores import validate_comparable

_NO_REVISION = "no_revision_available"
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w.-]+")
# What mteb knows of a model, besides its name and revision.
_UNKNOWN_METADATA = dict.fromkeys(
    (
        *("loader", "release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens"),
        *("license", "open_weights", "public_training_code", "public_training_data"),
        *("similarity_fn_name", "use_instructions", "training_datasets"),
    )
)


Ranked = Mapping[str, Rank | None]
"""Dataset to the rank of a model among those that are exported."""


class Model(NamedTuple):
    """What results are of.

    Attributes:
        name: id of the model on the Hub; or "probeta/" and the name of the results.
        revision: its commit, or the encoder's revision.
        on_hub: whether it is on the Hub.
    """

    name: str
    revision: str
    on_hub: bool

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return self.name.replace("/", "__")


def export(folders: Iterable[Path], repo: str, revision: str | None, out: Path) -> list[Model]:
    """Write results, of the main layers, for mteb and for the Hub.

    ``mteb/`` is a cache of mteb's (``mteb.ResultCache``), with ``<task>.json`` and
    ``model_meta.json`` in ``results/<model>/<revision>/``. ``hub/<model>/.eval_results/`` has the
    file for the repository of a model, from which the Hub makes leaderboards; models that are not
    there have none.

    Args:
        folders: each with the results of an encoder.
        repo: id of the datasets on the Hub.
        revision: their tag or commit there; None for none.
        out: the folder to write; another of the same name is replaced.

    Returns:
        The models.
    """
    if not _HUB_ID.fullmatch(repo):
        expected = "the id of the datasets on the Hugging Face Hub, such as organisation/name"
        todo = "write the name that `probeta publish` was given"
        raise InputError("repo", expected, repr(repo), todo)
    models: dict[Model, tuple[Path, Results]] = {}
    for folder in folders:
        results = read_results(folder)
        model = _model_of(results)
        if model in models:
            expected = "results of another model than the other folders"
            todo = "export one of them at a time: a leaderboard has one entry for a model"
            raise InputError(folder, expected, f"{model.name}, as in {models[model][0]}", todo)
        models[model] = folder, results
    ranks = _rank([*models.values()])
    with whole_folder(out) as temporary:
        for model, (_, results) in models.items():
            ranked = {dataset: of.get(results.name) for dataset, of in ranks.items()}
            folder = temporary / "mteb" / "results" / model.folder / model.revision
            _write_mteb(model, results, ranked, folder)
            if model.on_hub:
                _write_hub(results, ranked, repo, revision, temporary / "hub" / model.folder)
    return [*models]


def _rank(models: Sequence[tuple[Path, Results]]) -> dict[str, dict[str, Rank]]:
    """Return dataset to name of results to rank; nothing if they cannot be compared."""
    with suppress(InputError):
        for (_, first), (_, second) in combinations(models, 2):
            validate_comparable(first, second)
        readers = [(results, partial(read_predictions, folder)) for folder, results in models]
        measured = measure_all(readers) if readers[1:] else {}
        differences = compare(measured, {})
        ranks = {}
        for dataset in {difference.target: None for difference in differences}:
            values = {name: -of[dataset].value for name, of in measured.items() if dataset in of}
            pairs = (each for each in differences if each.target == dataset)
            ranks[dataset] = rank_encoders(sorted(values, key=values.__getitem__), pairs)
        return ranks
    return {}


def _model_of(results: Results) -> Model:
    """Return the model of the Hub that encoded; what else encodes is named after its results."""
    model = str(results.encoder["options"].get("model", ""))
    # It is the name of a folder; mteb calls a model without a revision so.
    revision = re.sub(r"[^\w.-]", "_", results.encoder["revision"]).strip(".") or _NO_REVISION
    # Folders have a name without an organisation.
    if _HUB_ID.fullmatch(model) and "weights" not in results.encoder["options"]:
        return Model(model, revision, on_hub=True)
    return Model(f"{NAME.lower()}/{results.name}", revision, on_hub=False)


def _write_mteb(model: Model, results: Results, ranked: Ranked, folder: Path) -> None:
    folder.mkdir(parents=True)
    metadata: dict[str, Any] = {"name": model.name, "revision": model.revision}
    metadata |= {"embed_dim": results.encoder.get("dimension"), "framework": []}
    _write_json(metadata | _UNKNOWN_METADATA, folder / "model_meta.json")
    for score in results.main:
        result = _task_result(results, score, ranked.get(score.dataset))
        _write_json(result, folder / f"{mteb_task_name(score.dataset)}.json")


def _task_result(results: Results, score: Score, rank: Rank | None) -> dict[str, Any]:
    """Return a score as ``mteb.TaskResult`` in JSON; it has no version of mteb, and no times."""
    ends = {"rank_low": rank.low, "rank_high": rank.high} if rank else {}
    entry = (
        mteb_scores(score)
        | ends
        | {
            "citation": str(cite(results, [score])),
            "main_score": score.value,
            "hf_subset": "default",
            "languages": [mteb_language(score.language)],
        }
    )
    return {
        "dataset_revision": score.version,
        "task_name": mteb_task_name(score.dataset),
        "mteb_version": None,
        "scores": {"train" if score.folds else "test": [entry]},
        "evaluation_time": None,
        "kg_co2_emissions": None,
    }


def mteb_scores(score: Score) -> dict[str, Any]:
    """Return what mteb keeps of a score.

    Returns:
        The main score under the name of its metric ("accuracy", "pearson"), all other measures;
        low_95 and high_95, the ends of its interval; majority and chance, for classes; rows and
        documents, the numbers of those tested; deviation, where starts are random; and sha256, the
        digest of the dataset's files.
    """
    values = {
        score.metric: score.value,
        **score.measures,
        "low_95": score.interval[0],
        "high_95": score.interval[1],
        "majority": score.majority,
        "chance": score.chance,
        "deviation": score.deviation,
        "rows": score.n_rows,
        "documents": score.test_documents,
        "sha256": score.digest,
    }
    return {name: value for name, value in values.items() if value is not None}


def _write_hub(
    results: Results, ranked: Ranked, repo: str, revision: str | None, folder: Path
) -> None:
    url = f"https://huggingface.co/datasets/{repo}"
    source = {"url": url, "name": f"{NAME} {results.versions['probeta']}"}
    entries = []
    for score in results.main:
        dataset = {"id": repo, "task_id": mteb_task_name(score.dataset)}
        low, high = (100 * end for end in score.interval)
        rank = ranked.get(score.dataset)
        of_rank = f"rank {rank.low} to {rank.high} here; " if rank else ""
        entries.append(
            {
                "dataset": dataset | ({"revision": revision} if revision else {}),
                # Per cent, with the digits that mteb gives.
                "value": round(100 * score.value, 5),
                "notes": f"95 % interval {low:.1f} to {high:.1f}; {of_rank}"
                f"{cite(results, [score])}",
                # A copy, which YAML does not write as an alias.
                "source": {**source},
            }
        )
    path = folder / ".eval_results" / f"{NAME.lower()}.yaml"
    path.parent.mkdir(parents=True)
    text = yaml.safe_dump(entries, sort_keys=False, width=1000)
    path.write_text(text, "utf-8")


def _write_json(content: Any, path: Path) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", "utf-8")
