"""EvalRank with one encoder: ranks on all ranking datasets, and scores of similarity.

Wang, Kuo and Li 2022, "Just Rank: Rethinking Evaluation with Word and Sentence Similarities": mean
reciprocal rank and hits of the positives among all texts, by cosine and by 1 / (1 + l2); and their
finding that post-processing improves the correlation with human scores and not the ranks, which is
why the similarity datasets are scored here too.

Differences from the code published with the paper: it centres all sentence vectors
(here the post-processing "centre"), gives words without a vector the mean of all (here their pairs
have the rank of chance, and are counted), removes two components from words (here "abtt" removes
d / 100), lets ties count in favour of the positive and other positives against it (here see
``ranks``), and computes the positive's score with another matrix product than the other scores.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from builders.auditing.statistics import pearson
from builders.tasks.ranking import TASKS
from corpora_recipes.parquet import array_of
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.memo import Key, Memo
from corpora_recipes.running.telling import progress
from evaluation.arrays import Doubles, Flags, Floats, Rows, Values
from evaluation.data.features import ProbeRows
from evaluation.data.instances import Dataset
from evaluation.data.texts import prompt_of, text_columns, unique_texts
from evaluation.embedding.store import EmbeddingStore, EncodedDataset, read_described
from evaluation.encoders.encoder import Description, Encoder, Form, describe
from evaluation.measures.intervals import leave_out_means, score_interval
from evaluation.measures.metrics import spearman
from evaluation.measures.similarity import cosines, inverse_distances
from evaluation.measures.threads import one_thread
from evaluation.ranking.postprocessing import Fitting, Name
from evaluation.ranking.ranks import Similarity, rank_positives
from evaluation.results.rankings import (
    FORMAT,
    HITS,
    MEASURES,
    PLAIN,
    PairRanks,
    RankingResults,
    RankScore,
    SimilarityScore,
    measure_pairs,
    ranks_digest,
    ranks_of,
    ranks_table,
    read_tables,
)
from evaluation.results.stored import encoder_facts, library_versions, typed

RANKED = tuple(task.name for task in TASKS)

# A post-processing of vectors, and a similarity.
_Way = tuple[Name, Similarity]


def rank_datasets(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    similarities: Sequence[Similarity],
    postprocessings: Sequence[Name],
    workers: int = 1,
    earlier: Path | None = None,
) -> tuple[RankingResults, list[pa.Table], int]:
    """Rank the positives of every ranking dataset with every layer of one encoder.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds.
        datasets: in any order; those of other tasks are skipped.
        store: folder of the embedding store.
        seed: the run's seed.
        similarities: one or more; layers other than the main one have only the first.
        postprocessings: one or more; layers other than the main one have none. Vectors are not
            whitened if there are no more texts than dimensions.
        workers: largest number of processes; the results do not depend on it.
        earlier: folder with the results of an earlier run, of which those are kept that the memory
            answers for, and ranking again could not change.

    Returns:
        The results; the ranks of the main layer's vectors as they are, if they are among
        ``postprocessings``, a table of ``ranks_table`` for each dataset and similarity; and the
        number of datasets that were ranked now.

    Raises:
        InputError: the store lacks a text or has a vector that is not finite, or a dataset is
            invalid.
    """
    known = describe(encoder)
    opened = EmbeddingStore(store, known)
    results = RankingResults(
        format=FORMAT,
        name=name,
        encoder=encoder_facts(known, opened.dimension),
        evalrank={"similarities": [*similarities], "postprocessings": [*postprocessings]},
        seed=seed,
        versions=library_versions("rank", opened.made_by),
        code=code_digest(__name__),
        scores=(),
        similarities=(),
    )
    asked = [dataset for dataset in datasets if dataset.task in RANKED]
    scored = sorted(
        (dataset for dataset in datasets if dataset.task == "similarity"),
        key=lambda own: (own.language, own.name),
    )
    described = {own.name: read_described(store, own) for own in (*asked, *scored)}

    def together(dataset: Dataset) -> tuple[str, str]:
        return dataset.language, repr(prompt_of(known, dataset))

    # Post-processing is fitted on the similarity datasets of a language and prompt together.
    families = [list(own) for _, own in groupby(sorted(scored, key=together), together)]
    parts = {own.name: [own] for own in asked}
    parts |= {f"similarity-{number}": own for number, own in enumerate(families)}
    keys = {
        part: _key(results, {own.name: described[own.name] for own in members})
        for part, members in parts.items()
    }
    memo = Memo(f"ranked/{name}")
    ranked, similar = _kept(memo, keys, earlier) if earlier else ({}, {})
    asked = [dataset for dataset in asked if dataset.name not in ranked]
    families = [
        own
        for part, own in parts.items()
        if part not in {*ranked, *similar} and own[0].task == "similarity"
    ]
    ways: list[_Way] = list(product(postprocessings, similarities))
    # The largest first, so that at the end no process is left alone with one of them.
    jobs: list[tuple[Any, ...]] = [
        (_rank_dataset, dataset, described[dataset.name], known, store, ways)
        for dataset in sorted(asked, key=_size, reverse=True)
    ]
    jobs += [(_compare, family, described, known, store, ways) for family in families]
    with (
        open_executor("local", max(1, min(workers, len(jobs)))) as executor,
        progress(len(jobs), f"rank {name}", "job") as bar,
    ):
        if executor is None:
            found = (function(*arguments) for function, *arguments in jobs)
        else:
            waiting = [executor.submit(*job) for job in jobs]
            found = (future.result() for future in waiting)
        for (_, of, *_), one in zip(jobs, found, strict=True):
            if isinstance(one, _Ranked):
                ranked[of.name] = one
            else:
                similar[next(part for part, own in parts.items() if own == of)] = one
            bar.update()
    if earlier:
        for part, key in keys.items():
            scores = ranked[part].scores if part in ranked else similar[part]
            memo.keep(part, key, facts=[asdict(score) for score in scores])
        memo.retain(keys)
    alike = [score for scores in similar.values() for score in scores]
    in_order = [own for _, own in sorted(ranked.items())]
    results = replace(
        results,
        scores=tuple(score for own in in_order for score in own.scores),
        similarities=tuple(sorted(alike, key=lambda score: score.dataset)),
    )
    tables = [table for own in in_order for table in own.tables]
    return results, tables, len(asked) + sum(map(len, families))


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The scores of a dataset, and its rows of ranks.parquet."""

    scores: list[RankScore]
    tables: list[pa.Table]


def _size(dataset: Dataset) -> int:
    return sum(file.stat().st_size for files in dataset.files.values() for file in files)


def _rank_dataset(
    dataset: Dataset,
    described: EncodedDataset,
    encoder: Description,
    store: Path,
    ways: Sequence[_Way],
) -> _Ranked:
    """Rank the positives of one dataset with all layers; see ``rank_datasets``."""
    queries = _read(dataset, described.digest, encoder.form)
    opened = EmbeddingStore(store, encoder, prompt_of(encoder, dataset))
    own = _Ranked([], [])
    with one_thread():
        for layer in encoder.layers:
            of_layer = ways if layer == encoder.layer else [(PLAIN, ways[0][1])]
            for score, ranks in _rank(dataset, queries, opened, layer, of_layer):
                score = replace(score, texts=described.texts, vectors=described.vectors[layer])
                if (layer, score.postprocessing) == (encoder.layer, PLAIN):
                    pairs = _pairs(score, queries, ranks)
                    own.tables.append(ranks_table(pairs))
                    score = replace(score, answers=ranks_digest(pairs))
                own.scores.append(score)
    return own


def _key(results: RankingResults, described: Mapping[str, EncodedDataset]) -> Key:
    """Return all that decides the scores on datasets that are scored together.

    Args:
        results: without scores.
        described: what the store says of each dataset.
    """
    facts = asdict(results)
    del facts["scores"], facts["similarities"]
    code, versions = facts.pop("code"), facts.pop("versions")
    inputs = {name: asdict(own) for name, own in described.items()}
    return {"inputs": inputs, "parameters": facts, "code": code, "versions": versions}


def _kept(
    memo: Memo, keys: Mapping[str, Key], earlier: Path
) -> tuple[dict[str, _Ranked], dict[str, list[SimilarityScore]]]:
    """Return what is remembered, where the ranks of the earlier run are the same."""
    tables = read_tables(earlier)
    ranked: dict[str, _Ranked] = {}
    similar: dict[str, list[SimilarityScore]] = {}
    for part, key in keys.items():
        facts = memo.kept(part, key) or []
        if facts and "mrr" not in facts[0]:
            similar[part] = [SimilarityScore(**one) for one in facts]
            continue
        scores: list[RankScore] = [typed(RankScore, fact) for fact in facts]
        found = [
            (score, tables.get((score.dataset, score.similarity)))
            for score in scores
            if score.answers
        ]
        if scores and all(table and _rests_on(score, table) for score, table in found):
            ranked[part] = _Ranked(scores, [table for _, table in found if table])
    return ranked, similar


def _rests_on(score: RankScore, table: pa.Table) -> bool:
    """Return whether a score is that of the ranks in a table."""
    pairs = ranks_of(table, score.dataset, score.similarity)
    mrr = float(measure_pairs(pairs.ranks)[0].mean())
    # The ranks are stored in another order than that of their sum.
    return ranks_digest(pairs) == score.answers and math.isclose(mrr, score.mrr, rel_tol=1e-12)


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a ranking dataset and its pairs.

    Attributes:
        digest: SHA-256 of the dataset's files.
        texts: in one form.
        ids: ids of the texts, [texts].
        groups: ids of the groups of texts linked by positives, [texts].
        queries: row of each pair's query, int64 [pairs].
        positives: row of each pair's positive, int64 [pairs].
    """

    digest: str
    texts: list[str]
    ids: Values
    groups: Values
    queries: Rows
    positives: Rows


def _read(dataset: Dataset, digest: str, form: Form) -> _Texts:
    """Read a ranking dataset, whose files' SHA-256 is given.

    Raises:
        InputError: two rows have the same id, a positive is not another row, or there are no
            positives.
    """
    (column,) = text_columns(dataset.task, form)
    table = dataset.read("test", ["id", column, "positives", "document_id"])
    ids = table["id"].to_pylist()
    rows = {text: row for row, text in enumerate(ids)}
    queries, positives = [], []
    for row, linked in enumerate(table["positives"].to_pylist()):
        # An unknown id is as wrong as the row itself.
        found = [rows.get(positive, row) for positive in linked]
        if rows[ids[row]] != row or row in found or len({*found}) < len(found):
            raise InputError(
                dataset.files["test"][0],
                ("a unique id in each row, and positives that are ids of other rows, each once"),
                (
                    f"the id {ids[row]} with the positives {', '.join(linked) or '(none)'} in "
                    f"row {row} of test"
                ),
                "build the dataset again with `probeta build`",
            )
        queries += [row] * len(found)
        positives += found
    if not queries:
        raise InputError(
            dataset.files["test"][0],
            "positives in some rows",
            "no positives",
            "name other pairs at `rankings:` in params.yaml, and run `probeta compose` again",
        )
    groups = array_of(table["document_id"])
    pairs = np.array([queries, positives], np.int64)
    texts = table[column].to_pylist()
    return _Texts(digest, texts, np.array(ids), groups, *pairs)


def _rank(
    dataset: Dataset,
    asked: _Texts,
    store: EmbeddingStore,
    layer: str,
    ways: Sequence[_Way],
) -> Iterator[tuple[RankScore, Doubles]]:
    """Yield the score of one layer for each way to compare, with the ranks, float64 [pairs].

    A text without known words has a vector of zeros: it counts as a text without a vector, for any
    similarity, and is not a candidate. Its pairs have the rank of chance, that of an encoder with
    one vector for all texts; otherwise an encoder that knows few words would be tested on few.
    """
    found = store.lookup(asked.texts, layer)
    present: Flags = np.any(found, axis=1)
    rows = np.cumsum(present) - 1
    asking = present[asked.queries] & present[asked.positives]
    queries, positives = rows[asked.queries[asking]], rows[asked.positives[asking]]
    texts = [asked.texts[row] for row in np.flatnonzero(present)]
    whole = found if present.all() else found[present]
    # The middle of all texts except the query and its other positives.
    by_chance = (len(found) - np.bincount(asked.queries)[asked.queries] + 1) / 2
    for (postprocessing, similarity), vectors in _vectors(dataset.name, texts, whole, ways):
        own = rank_positives(vectors, queries, positives, similarity)
        ranks = by_chance.copy()
        ranks[asking] = np.where(np.isnan(own.ranks), ranks[asking], own.ranks)
        directed = np.count_nonzero(vectors.any(axis=1))
        score = RankScore(
            dataset=dataset.name,
            task=dataset.task,
            language=dataset.language,
            version=dataset.version,
            digest=asked.digest,
            layer=layer,
            similarity=similarity,
            postprocessing=postprocessing,
            background=int(directed) if similarity == "cosine" else len(vectors),
            queries=len(np.unique(asked.queries)),
            pairs=len(ranks),
            without_vector=len(ranks) - int(np.count_nonzero(~np.isnan(own.ranks))),
            **measure_ranks(ranks, asked.groups[asked.queries]),
            ties=int(own.tied.sum()),
        )
        yield score, ranks


def _pairs(score: RankScore, asked: _Texts, ranks: Doubles) -> PairRanks:
    """Return the ranks behind a score, with the ids of the pairs, sorted by those."""
    queries, positives = asked.ids[asked.queries], asked.ids[asked.positives]
    order = np.lexsort((positives, queries))
    return PairRanks(
        dataset=score.dataset,
        similarity=score.similarity,
        queries=queries[order],
        positives=positives[order],
        documents=asked.groups[asked.queries[order]],
        ranks=ranks[order],
    )


def measure_ranks(ranks: Doubles, groups: Values) -> dict[str, Any]:
    """Return the measures of ranks, fields of ``RankScore``.

    Args:
        ranks: float64 [pairs].
        groups: ids of the groups of texts linked by positives, [pairs].
    """
    of_pairs = dict(zip(MEASURES, measure_pairs(ranks), strict=True))
    mrr = float(of_pairs["MRR"].mean())
    (left_out,) = leave_out_means(of_pairs["MRR"][None], groups)
    return {
        "mrr": mrr,
        "interval": score_interval("accuracy", mrr, left_out, len(ranks)),
        "hits": {str(place): float(of_pairs[f"Hits@{place}"].mean()) for place in HITS},
        "median_rank": float(np.median(ranks)),
    }


def _compare(
    datasets: Sequence[Dataset],
    described: Mapping[str, EncodedDataset],
    encoder: Description,
    store: Path,
    ways: Sequence[_Way],
) -> list[SimilarityScore]:
    """Return the main layer's scores on the similarity datasets of one language and prompt.

    Post-processing is fitted on the texts of all of them together: one dataset
    may have fewer texts than vectors have components.
    """
    rows = [ProbeRows(dataset, "test", encoder.form) for dataset in datasets]
    # Sorted, so that the order does not depend on that of sets.
    texts = sorted(set().union(*(unique_texts(dataset, encoder.form) for dataset in datasets)))
    places = {text: row for row, text in enumerate(texts)}
    names = ", ".join(dataset.name for dataset in datasets)
    prompt = prompt_of(encoder, datasets[0])
    found = EmbeddingStore(store, encoder, prompt).lookup(texts, encoder.layer)
    scores = []
    with one_thread():
        for (postprocessing, similarity), vectors in _vectors(names, texts, found, ways):

            def lookup(given: Sequence[str], vectors: Floats = vectors) -> Floats:
                return vectors[[places[text] for text in given]]

            compare = cosines if similarity == "cosine" else inverse_distances
            for dataset, part in zip(datasets, rows, strict=True):
                predicted = compare(*np.split(part.features(lookup), 2, axis=1))
                score = SimilarityScore(
                    dataset=dataset.name,
                    language=dataset.language,
                    digest=described[dataset.name].digest,
                    layer=encoder.layer,
                    similarity=similarity,
                    postprocessing=postprocessing,
                    spearman=spearman(part.y, predicted),
                    pearson=pearson(part.y, predicted),
                    texts=described[dataset.name].texts,
                    vectors=described[dataset.name].vectors[encoder.layer],
                )
                scores.append(score)
    return scores


def _vectors(
    names: str, texts: Sequence[str], found: Floats, ways: Sequence[_Way]
) -> Iterator[tuple[_Way, Floats]]:
    """Yield the texts' vectors for each way to compare.

    Without whitening if there are no more texts than dimensions: all distances would be equal,
    whatever the encoder.

    Args:
        names: names of the datasets, for messages.
        texts: the texts.
        found: their vectors, float32 [texts, dimension].
        ways: grouped by post-processing.

    Raises:
        InputError: a vector is not finite after post-processing.
    """
    fitting = Fitting(found)
    for name, same in groupby(ways, lambda way: way[0]):
        if name == "whitening" and len(found) <= found.shape[1]:
            continue
        vectors = fitting.postprocess(name)
        too_large = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(too_large):
            raise InputError(
                f"{names}, test: {texts[too_large[0]]!r}",
                "a vector of finite numbers after post-processing",
                "an infinite or too large number",
                "scale the encoder's vectors down: they are near the limit of float32",
            )
        for way in same:
            yield way, vectors
