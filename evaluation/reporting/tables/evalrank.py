"""EvalRank: how highly paraphrases are ranked among all texts."""

from collections.abc import Iterable, Mapping
from statistics import fmean

from builders.tasks.groups import EVALRANK
from evaluation.reporting.averages import OWN
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    COVERED,
    NONE,
    Cell,
    Row,
    Table,
    about_differences,
    bracketed,
    headings,
    named,
    percent_cell,
    signed,
    spaced,
    unused_name,
)
from evaluation.reporting.tables.compared import ALIKE, alike, measure_differences
from evaluation.reporting.tables.marks import BOLD, best_marked, dataset_cell, sampled
from evaluation.results.rankings import MEASURES, PLAIN, RankScore

MEDIAN = "Median rank"


def evalrank(inputs: Inputs) -> list[Table]:
    """Return how highly positives are ranked: an explanation, then a table for each dataset.

    Encoders are in rows, MRR and hits by each similarity in columns.
    """
    datasets = _ranked(inputs)
    if not datasets:
        return []
    about = (
        "Wang, Kuo and Li (2022): each text of a paraphrase pair is the query once, and the other "
        "text, its positive, is ranked among all texts of the dataset except the query and "
        "its other positives. MRR is the mean of 1 / rank over the pairs; Hits@1 and Hits@3 are "
        "the shares of pairs with a rank of at most 1 and 3, all in per cent; the median rank is "
        "taken over the pairs. Each text with the same score as the positive counts as half a "
        "rank above it.",
        "Similarity is the cosine of two vectors, or l2, 1 / (1 + their Euclidean distance), which "
        "is not shown where it gives all encoders the ranks of cosine; the vectors are as the "
        f"encoder gives them. In brackets the {COVERED} interval (jackknife over the groups of "
        "texts linked by positives).",
    )
    found = [Table("evalrank", "EvalRank", (), (), about)]
    for dataset, scores in datasets.items():
        used = {table.name for table in found}
        name = unused_name(f"evalrank-{dataset}", used)
        found.append(_ranks(inputs, dataset, scores, name))
    return found


def _ranks(
    inputs: Inputs, dataset: str, scores: Mapping[tuple[str, str], RankScore], name: str
) -> Table:
    encoders = inputs.in_order({encoder for encoder, _ in scores})
    similarities = _distinct(scores)
    columns: list[Mapping[str, Cell]] = []
    for similarity in similarities:
        own = {encoder: score for (encoder, by), score in scores.items() if by == similarity}
        key = next(iter(own.values())).key
        among = alike({encoder: score.background for encoder, score in own.items()})
        beating = {encoder for encoder in among if own[encoder].interval[0] > _chance(own[encoder])}
        for what in MEASURES:
            cells = {
                encoder: percent_cell(
                    score.measures[what], bracketed(score.interval) if what == "MRR" else ""
                )
                for encoder, score in own.items()
            }
            compared = {encoder: cells[encoder] for encoder in among}
            marked = best_marked(compared, key(what), inputs.neighbour_differences, beating)
            columns.append(cells | marked)
        columns.append(
            {
                encoder: Cell(f"{score.median_rank:,.1f}", value=score.median_rank)
                for encoder, score in own.items()
            }
        )
    rows = [
        Row(
            (
                named(encoder),
                *(sampled(inputs, [dataset], own.get(encoder, Cell(NONE))) for own in columns),
            ),
            "encoder",
        )
        for encoder in encoders
    ]
    header = (
        f"{what}, {similarity}" for similarity in similarities for what in (*MEASURES, MEDIAN)
    )
    bold = f"{BOLD.format('encoder of a column')} {ALIKE.format('texts')}."
    return Table(
        name,
        f"EvalRank: {dataset}" + f", {OWN}" * (inputs.benchmark(dataset) == OWN),
        headings("Encoder", *header),
        tuple(rows),
        (_about_ranks(scores) + (f" {bold}" if len(encoders) > 1 else ""),),
        caption=(
            f"MRR (mean reciprocal rank) and hits in per cent; in brackets the {COVERED} interval.",
        ),
    )


def _distinct(scores: Mapping[tuple[str, str], RankScore]) -> list[str]:
    """Return the similarities, without l2 if it ranks as cosine does, for all encoders."""
    found = list(dict.fromkeys(similarity for _, similarity in scores))
    same = all(
        (cosine := scores.get((encoder, "cosine"))) is not None
        and (cosine.measures, cosine.median_rank) == (score.measures, score.median_rank)
        for (encoder, similarity), score in scores.items()
        if similarity == "l2"
    )
    return [one for one in found if one != "l2" or not same]


def _chance(score: RankScore) -> float:
    """Return the mean reciprocal rank of a positive at a random place."""
    return sum(1 / rank for rank in range(1, score.background + 1)) / score.background


def _about_ranks(scores: Mapping[tuple[str, str], RankScore]) -> str:
    """Return the number of texts that are ranked, and the encoders' exceptions."""
    first = next(iter(scores.values()))
    texts = max(score.background for score in scores.values())
    parts = [f"{texts:,} texts, {first.queries:,} queries, {first.pairs:,} pairs."]
    unknown = {encoder: s.without_vector for (encoder, _), s in scores.items() if s.without_vector}
    ties = [
        f"{encoder} by {similarity} {score.ties:,}"
        for (encoder, similarity), score in scores.items()
        if score.ties
    ]
    fewer = {e: s.background for (e, _), s in scores.items() if s.background < texts}
    if unknown:
        parts.append(
            f"Pairs with a text without a vector, which get the rank of chance: {_counts(unknown)}."
        )
    if fewer:
        parts.append(
            f"With vectors of fewer texts: {_counts(fewer)}. Among fewer texts, ranks are better."
        )
    if ties:
        parts.append(f"Pairs whose positive shares its score with another text: {', '.join(ties)}.")
    return " ".join(parts)


def _counts(of_encoders: Mapping[str, int]) -> str:
    return ", ".join(f"{encoder} {count:,}" for encoder, count in of_encoders.items())


def rank_differences(inputs: Inputs) -> list[Table]:
    """Return the differences of every two encoders' ranks."""
    rows = {}
    for dataset, scores in _ranked(inputs).items():
        by_similarity = {score.similarity: score for score in scores.values()}
        for similarity in _distinct(scores):
            for what in MEASURES:
                rows[by_similarity[similarity].key(what)] = (dataset, similarity, what)
    return measure_differences(
        inputs.neighbour_differences,
        EVALRANK,
        ("Dataset", "Similarity", "Measure"),
        rows,
        about_differences("group of texts linked by positives"),
    )


def postprocessing(inputs: Inputs) -> list[Table]:
    """Return the effect of post-processing on similarity and on ranks, if any was done.

    Wang, Kuo and Li (2022) find that it improves similarity and not ranks.
    """
    datasets = list(_ranked(inputs))
    ranks = {
        (own.name, score.similarity, score.postprocessing, score.dataset): score.mrr
        for own in inputs.rankings
        for score in own.main
    }
    correlations = {
        (own.name, score.similarity, score.postprocessing, score.dataset): score.spearman
        for own in inputs.rankings
        for score in own.similarities
    }
    ways = list(dict.fromkeys(key[:3] for key in ranks))
    if not datasets or all(done == PLAIN for *_, done in ways):
        return []
    compared = sorted(inputs.shipped({key[-1] for key in correlations}))
    rows = []
    changes: dict[str, tuple[list[float], list[float]]] = {}
    for encoder, similarity, done in ways:
        cells = [named(encoder), Cell(similarity), Cell(spaced(done))]
        columns = [(correlations, compared), *((ranks, [dataset]) for dataset in datasets)]
        for column, (values, names) in enumerate(columns):
            value, plain = (
                _mean([values.get((encoder, similarity, how, name)) for name in names])
                for how in (done, PLAIN)
            )
            detail = ""
            if done != PLAIN and value is not None and plain is not None:
                detail = f"({signed(value - plain)})"
                changes.setdefault(done, ([], []))[column > 0].append(value - plain)
            cells.append(percent_cell(value, detail))
        rows.append(Row(tuple(cells), "encoder"))
    on_average = "; ".join(
        f"{spaced(done)} changes "
        + " and ".join(
            f"{what} by {signed(fmean(own))}"
            for what, own in zip(("Spearman's correlation", "the MRR"), of, strict=True)
            if own
        )
        for done, of in changes.items()
    )
    about = (
        "Does post-processing improve similarity, and ranks too? Mean Spearman's correlation × "
        f"100 over the similarity datasets ({', '.join(compared) or 'none'}) and MRR in per "
        "cent; in brackets the difference from the vectors as they are. Post-processing is "
        "fitted on the texts that are ranked, and for similarity on the texts of all its datasets "
        "in one language. If there are fewer texts than dimensions, they are not whitened, since "
        "all distances would be equal. Averaged over encoders, similarities and datasets, "
        f"{on_average}."
    )
    title = "EvalRank: post-processed vectors"
    compared_on = f"Similarity datasets ({len(compared)})"
    header = (
        *headings("Encoder", "Similarity", "Vectors", compared_on),
        *(dataset_cell(inputs, name) for name in datasets),
    )
    return [Table("postprocessing", title, header, tuple(rows), (about,), texts=3)]


def _ranked(inputs: Inputs) -> dict[str, dict[tuple[str, str], RankScore]]:
    """Return dataset to encoder and similarity to the score of the vectors as they are."""
    scores = [(own.name, score) for own in inputs.rankings for score in own.plain]
    order = sorted(
        {(inputs.benchmark(score.dataset) == OWN, score.task, score.dataset) for _, score in scores}
    )
    return {
        dataset: {
            (name, score.similarity): score for name, score in scores if score.dataset == dataset
        }
        for *_, dataset in order
    }


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean; None if a value is missing or there are no values."""
    found = list(values)
    there = [value for value in found if value is not None]
    return fmean(there) if there and len(there) == len(found) else None
