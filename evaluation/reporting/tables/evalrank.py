"""EvalRank: how highly paraphrases are ranked among all texts."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from builders.tasks.groups import EVALRANK
from evaluation.reporting.comparison import Difference, best_of
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import (
    BOLD,
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
        "Similarity is the cosine of two vectors, or l2, 1 / (1 + their Euclidean distance); the "
        f"vectors are as the encoder gives them. In brackets the {COVERED} interval "
        "(jackknife over the groups of texts linked by positives).",
    )
    found = [Table("evalrank", "EvalRank", (), (), about)]
    for dataset, scores in datasets.items():
        used = {table.name for table in found}
        name = unused_name(f"evalrank-{dataset}", used)
        found.append(_ranks(dataset, scores, name, inputs.neighbour_differences))
    return found


def _ranks(
    dataset: str,
    scores: Mapping[tuple[str, str], RankScore],
    name: str,
    differences: Sequence[Difference],
) -> Table:
    encoders = sorted({encoder for encoder, _ in scores})
    similarities = list(dict.fromkeys(similarity for _, similarity in scores))
    best = {}
    for similarity in similarities:
        own = {encoder: score for (encoder, by), score in scores.items() if by == similarity}
        key = next(iter(own.values())).key
        among = alike({encoder: score.background for encoder, score in own.items()})
        for what in MEASURES:
            reached = {encoder: own[encoder].measures[what] for encoder in among}
            best[similarity, what] = best_of(reached, key(what), differences)
    rows = []
    for encoder in encoders:
        cells = [named(encoder)]
        for similarity in similarities:
            score = scores.get((encoder, similarity))
            if score is None:
                cells += [Cell(NONE)] * (len(MEASURES) + 1)
                continue
            for what, value in score.measures.items():
                strong = encoder in best[similarity, what]
                detail = bracketed(score.interval) if what == "MRR" else ""
                cells.append(percent_cell(value, detail, strong))
            cells.append(Cell(f"{score.median_rank:,.1f}", value=score.median_rank))
        rows.append(Row(tuple(cells), "encoder"))
    columns = (
        f"{what}, {similarity}" for similarity in similarities for what in (*MEASURES, MEDIAN)
    )
    bold = f"In bold is the best encoder of a column, {BOLD}; {ALIKE.format('texts')}."
    return Table(
        name,
        f"EvalRank: {dataset}",
        headings("Encoder", *columns),
        tuple(rows),
        (_about_ranks(scores) + (f" {bold}" if len(encoders) > 1 else ""),),
        caption=(
            f"MRR (mean reciprocal rank) and hits in per cent; in brackets the {COVERED} interval.",
        ),
    )


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
        for score in {score.similarity: score for score in scores.values()}.values():
            for what in MEASURES:
                rows[score.key(what)] = (dataset, score.similarity, what)
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
    compared = sorted({key[-1] for key in correlations})
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
    header = headings("Encoder", "Similarity", "Vectors", compared_on, *datasets)
    return [Table("postprocessing", title, header, tuple(rows), (about,), texts=3)]


def _ranked(inputs: Inputs) -> dict[str, dict[tuple[str, str], RankScore]]:
    """Return dataset to encoder and similarity to the score of the vectors as they are."""
    scores = [(own.name, score) for own in inputs.rankings for score in own.plain]
    order = sorted({(score.task, score.dataset) for _, score in scores})
    return {
        dataset: {
            (name, score.similarity): score for name, score in scores if score.dataset == dataset
        }
        for _, dataset in order
    }


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean; None if a value is missing or there are no values."""
    found = list(values)
    there = [value for value in found if value is not None]
    return fmean(there) if there and len(there) == len(found) else None
