"""Tables of the evaluations that ask for neighbours, and of what they tell about downstream."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from evaluation.bootstrap import FEW_DOCUMENTS, RESAMPLES
from evaluation.comparison import Difference, best_of
from evaluation.downstream import (
    LEAST,
    SIMILARITY_MEAN,
    Relation,
    downstream_means,
    downstream_scores,
    intrinsic_scores,
    relate,
)
from evaluation.paradigms.results import MEASURES as ASKED
from evaluation.paradigms.results import ClusterScore, ParadigmScore
from evaluation.ranking.results import MEASURES, PLAIN, RankScore
from evaluation.report.inputs import PARADIGMS, RANKING, Inputs
from evaluation.report.layout import (
    BOLD,
    NONE,
    Cell,
    Row,
    Table,
    about_differences,
    difference_cell,
    headings,
    named,
    percent,
    percent_cell,
    signed,
    spaced,
    unused_name,
)
from evaluation.report.published import PUBLISHED

MEDIAN = "Median rank"
# The share of the most texts, or words, that any encoder has vectors of: with fewer, a score is no
# better for being higher.
ENOUGH = 0.9
ALIKE = "only of those with vectors of nine tenths of the {} or more"
# So many differences are read without being unfolded.
SHORT = 60


def neighbour_tables(inputs: Inputs) -> list[Table]:
    """Return the tables that are read from top to bottom, in their order."""
    found = [
        *evalrank(inputs),
        postprocessing(inputs),
        paralex(inputs),
        *downstream(inputs)[:1],
    ]
    return [table for table in found if table]


def short_differences(inputs: Inputs) -> list[Table]:
    """Return the tables of differences that are short enough to stand among the others."""
    return [
        table
        for table in (rank_differences(inputs), paradigm_differences(inputs))
        if table and len(table.rows) * (len(table.header) - table.texts) <= SHORT
    ]


def evalrank(inputs: Inputs) -> list[Table]:
    """Return how high the positives stand: how to read it, then a table for each dataset.

    Encoders stand in rows, MRR and hits by each similarity in columns. There is none without
    results.
    """
    datasets = _ranked(inputs)
    if not datasets:
        return []
    about = (
        "Wang, Kuo and Li (2022): of two texts that mean the same, each in turn is the query, and "
        "the other, its positive, is looked for among all texts of the dataset but the query and "
        "its other positives. MRR is the mean of 1 / rank over the pairs, Hits@1 and Hits@3 are "
        "the shares of pairs whose rank is not above 1 and 3, all in per cent; the median rank is "
        "that of the pairs. Texts with the positive's score count half as standing above it.",
        "By the cosine of two vectors, or by l2, 1 / (1 + their Euclidean distance); the vectors "
        f"are as the encoder gives them. In brackets the 95 % bootstrap interval ({RESAMPLES:,} "
        "resamples of the groups of texts that positives link).",
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
        alike = _alike({encoder: score.background for encoder, score in own.items()})
        for what in MEASURES:
            reached = {encoder: own[encoder].measures[what] for encoder in alike}
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
                detail = _interval(score.interval) if what == "MRR" else ""
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
            "MRR (mean reciprocal rank) and hits in per cent; in brackets the 95 % bootstrap "
            "interval.",
        ),
    )


def _about_ranks(scores: Mapping[tuple[str, str], RankScore]) -> str:
    """Return how many texts are ranked, and for which encoders something is otherwise."""
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
            "Pairs with a text that the encoder has no vector for, and that have the rank of "
            f"chance: {_counts(unknown)}."
        )
    if fewer:
        parts.append(
            f"With vectors of fewer texts: {_counts(fewer)}. Among fewer, ranks are higher."
        )
    if ties:
        parts.append(f"Pairs whose positive shares its score with another text: {', '.join(ties)}.")
    return " ".join(parts)


def _alike(counts: Mapping[str, int]) -> list[str]:
    """Return the encoders that are asked among about as many texts as any."""
    return [name for name, count in counts.items() if count >= ENOUGH * max(counts.values())]


def _counts(of_encoders: Mapping[str, int]) -> str:
    return ", ".join(f"{encoder} {count:,}" for encoder, count in of_encoders.items())


def rank_differences(inputs: Inputs) -> Table | None:
    """Return the differences of every two encoders' ranks; None if no two can be compared."""
    rows = {}
    for dataset, scores in _ranked(inputs).items():
        for score in {score.similarity: score for score in scores.values()}.values():
            for what in MEASURES:
                rows[score.key(what)] = (dataset, score.similarity, what)
    return _compared(
        inputs.neighbour_differences,
        RANKING,
        ("Dataset", "Similarity", "Measure"),
        rows,
        about_differences(
            f"the groups of texts that positives link, below {FEW_DOCUMENTS} groups of pairs too"
        ),
    )


def paradigm_differences(inputs: Inputs) -> Table | None:
    """Return the differences of every two encoders on clusters; None if no two can be compared."""
    rows = {}
    for (dataset, _, vocabulary, casing), scores in _clustered(inputs).items():
        score = next(iter(scores.values()))
        for what in ASKED:
            rows[score.key(what)] = (dataset, vocabulary, spaced(casing), what)
    return _compared(
        inputs.neighbour_differences,
        PARADIGMS,
        ("Dataset", "Vocabulary", "Casing", "Measure"),
        rows,
        about_differences("the clusters")
        + " In vocabularies of their own encoders look among different words.",
    )


def _compared(
    differences: Sequence[Difference],
    group: str,
    texts: Sequence[str],
    rows: Mapping[str, tuple[str, ...]],
    about: str,
) -> Table | None:
    """Return a table of differences; None if there are none.

    Args:
        differences: of every two encoders, these among others.
        group: what they are of.
        texts: headings of what names a row.
        rows: key of a measure to what names its row.
        about: what to know of them.
    """
    found = {(own.what, own.one, own.other): own for own in differences if own.what in rows}
    pairs = sorted({key[1:] for key in found})
    if not pairs:
        return None
    table = []
    for what, naming in rows.items():
        if not any((what, *pair) in found for pair in pairs):
            continue
        cells = [*map(Cell, naming), *(difference_cell(found.get((what, *pair))) for pair in pairs)]
        table.append(Row(tuple(cells)))
    return Table(
        f"differences-{group.lower()}",
        f"{group}: encoders compared",
        headings(*texts, *(f"{one} − {other}" for one, other in pairs)),
        tuple(table),
        (about,),
        texts=len(texts),
    )


def postprocessing(inputs: Inputs) -> Table | None:
    """Return what post-processing does to similarity and to ranks; None if none was done.

    Wang, Kuo and Li (2022) find that it lifts the one and not the other.
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
        return None
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
    return Table(
        "postprocessing",
        "EvalRank: post-processed vectors",
        headings(
            "Encoder",
            "Similarity",
            "Vectors",
            f"Similarity datasets ({len(compared)})",
            *datasets,
        ),
        tuple(rows),
        (
            "Does post-processing lift similarity, and ranks as well? Mean Spearman's correlation "
            f"× 100 over the datasets of similarity ({', '.join(compared) or 'none'}) and MRR in "
            "per cent; in brackets the difference from the vectors as they are. What is taken away "
            "is fitted on the texts that are ranked, and for similarity on those of all its "
            "datasets in one language. Fewer texts than dimensions are not whitened, as all of "
            "them would be equally far apart. Averaged over encoders, similarities and datasets, "
            f"{on_average}.",
        ),
        texts=3,
    )


def paralex(inputs: Inputs) -> Table | None:
    """Return ParaLex over languages, as Table 2 of Sumbler et al. (2018); None without results."""
    scores, not_scored = _clustered(inputs), _not_scored(inputs)
    if not scores and not not_scored:
        return None
    names = [own.name for own in inputs.paradigms if own.main]
    published = {name: PUBLISHED["paralex"].get(name, {}) for name in names}
    rows = []
    for (dataset, language, vocabulary, casing), own in scores.items():
        cells = [Cell(dataset), Cell(language), Cell(vocabulary), Cell(spaced(casing))]
        best = {}
        if vocabulary == "shared":
            key = next(iter(own.values())).key
            alike = _alike({name: score.words for name, score in own.items()})
            for what in ASKED:
                reached = {name: getattr(own[name], what) for name in alike}
                best[what] = best_of(reached, key(what), inputs.neighbour_differences)
        for name in names:
            cells += _paradigm(own.get(name), {what for what in best if name in best[what]})
            if published[name]:
                values = published[name].get(language, {}) if vocabulary == "own" else {}
                cells += [_reported(values.get(what)) for what in ASKED]
        rows.append(Row(tuple(cells)))
    columns = []
    for name in names:
        columns += [f"{name}: {what}" for what in (*ASKED, "words / skipped / left out")]
        if published[name]:
            columns += [f"{name}, by Sumbler et al.: {what}" for what in ASKED]
    bold = (
        f" In bold is the best encoder of a row, {BOLD}; {ALIKE.format('words')}, and not in "
        "vocabularies of their own, as those are different words. Among fewer words neighbours are "
        "found more easily."
    )
    return Table(
        "paralex",
        "ParaLex",
        headings("Dataset", "Language", "Vocabulary", "Casing", *columns),
        tuple(rows),
        (
            "Sumbler et al. (2018): are the words of a paradigm, such as the days of the week, "
            "each other's neighbours? Suggestion starts from two terms of a cluster and looks for "
            "its others among their 30 nearest words by cosine; three times at most, the terms "
            "found and the words that enough of those so far have as neighbours "
            f"({inputs.paradigms[0].coherence_threshold} or more) are taken in. It is the share of "
            "the others that is found, a mean over all pairs. Coherence is the share of ordered "
            "pairs of terms of which the second is among the first one's 30 nearest. Both are "
            "means over clusters in per cent, in brackets the 95 % bootstrap interval "
            f"({RESAMPLES:,} resamples of the clusters).",
            "Vocabulary: own, the words of the encoder's file; shared, the same words for all "
            "encoders, those of the language's word rankings and the terms. Casing: as is, or "
            "fold, terms and vocabulary in lower case. Words / skipped / left out: the words among "
            "which neighbours are looked for (and how many are not among them, and why), the "
            "clusters of which fewer than three terms are left, which score 0, and the terms that "
            "the vocabulary lacks or that have no vector." + (bold if len(names) > 1 else ""),
            *not_scored,
        ),
        texts=4,
    )


def clusters(inputs: Inputs) -> list[Table]:
    """Return a table for each dataset of ParaLex: its clusters, with the terms left out."""
    datasets: dict[str, dict[tuple[str, str], dict[str, ParadigmScore]]] = {}
    for (dataset, _, vocabulary, casing), own in _clustered(inputs).items():
        datasets.setdefault(dataset, {})[vocabulary, casing] = own
    found: list[Table] = []
    for dataset, ways in datasets.items():
        names = sorted(set().union(*ways.values()))
        rows = []
        for (vocabulary, casing), own in ways.items():
            by_name = {
                name: {cluster.cluster: cluster for cluster in score.clusters}
                for name, score in own.items()
            }
            for cluster in sorted(set().union(*by_name.values())):
                cells = [Cell(cluster), Cell(vocabulary), Cell(spaced(casing))]
                for name in names:
                    cells += _cluster(by_name.get(name, {}).get(cluster))
                rows.append(Row(tuple(cells)))
        columns = (
            f"{name}: {what}" for name in names for what in (*ASKED, "terms left, of how many")
        )
        used = {table.name for table in found}
        found.append(
            Table(
                unused_name(f"clusters-{dataset}", used),
                f"Clusters of {dataset}",
                headings("Cluster", "Vocabulary", "Casing", *columns),
                tuple(rows),
                texts=3,
            )
        )
    return found


def downstream(inputs: Inputs) -> list[Table]:
    """Return how scores without a probe go with probed ones: over groups of tasks, over datasets.

    As Tables 3 and 6 of Wang, Kuo and Li (2022). Of fewer than three encoders there is one table,
    without rows, that says so; without scores of either kind there is none.
    """
    intrinsic = intrinsic_scores(inputs.encoders, inputs.rankings, inputs.paradigms)
    datasets = downstream_scores(inputs.encoders)
    if not intrinsic or not datasets:
        return []
    title = "What tells about downstream tasks"
    if len(inputs.encoders) < LEAST:
        count = ("one", "two")[len(inputs.encoders) - 1]
        few = f"This takes three encoders or more that were probed; here it is {count}."
        return [Table("downstream", title, (), (), (few,))]
    means = downstream_means(inputs.encoders)
    members = {
        group: [dataset for dataset in own if dataset in datasets]
        for group, own in inputs.groups.items()
        if group in means
    }
    about = (
        "As Wang, Kuo and Li (2022), Tables 3 and 6: Spearman's correlation × 100, over encoders, "
        "of a score that needs no probe with the mean score of a group of tasks (the number of its "
        "datasets that a probe is trained for in brackets). n is the number of encoders that have "
        "both scores; in brackets the 95 % interval by Bonett and Wright (2000), which takes four "
        "of them, and two orders that are neither the same nor opposite. In bold is what such an "
        "interval tells from 0. The intervals are of single correlations: of twenty that mean "
        "nothing, one is expected to look as if it did.",
        "Of similarity Pearson's correlation counts"
        + (
            f" ({SIMILARITY_MEAN}: of its datasets' average)"
            if SIMILARITY_MEAN in intrinsic
            else ""
        )
        + "; of EvalRank the MRR by cosine; of ParaLex suggestion and coherence with the shared "
        "vocabulary, in lower case where that was measured.",
    )
    of_groups = [
        Row((Cell(what), *(_relation(relate(own, means[group])) for group in members)))
        for what, own in intrinsic.items()
    ]
    of_datasets = [
        Row(
            (
                Cell(dataset),
                *(_relation(relate(own, datasets[dataset])) for own in intrinsic.values()),
            ),
            group=group,
        )
        for group, own_datasets in members.items()
        for dataset in own_datasets
    ]
    return [
        Table(
            "downstream",
            title,
            headings("Score", *(f"{group} ({len(own)})" for group, own in members.items())),
            tuple(of_groups),
            about,
        ),
        Table(
            "downstream-datasets",
            "Downstream tasks by dataset",
            headings("Dataset", *intrinsic),
            tuple(of_datasets),
        ),
    ]


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


def _clustered(
    inputs: Inputs,
) -> dict[tuple[str, str, str, str], dict[str, ParadigmScore]]:
    """Return dataset, language, vocabulary and casing to encoder to score."""
    found: dict[tuple[str, str, str, str], dict[str, ParadigmScore]] = {}
    for own in inputs.paradigms:
        for score in own.main:
            key = (score.dataset, score.language, score.vocabulary, score.casing)
            found.setdefault(key, {})[own.name] = score
    return dict(sorted(found.items()))


def _not_scored(inputs: Inputs) -> list[str]:
    """Return which datasets of ParaLex an encoder has no scores for, and why, in a paragraph."""
    found: dict[tuple[str, str], list[str]] = {}
    for own in inputs.paradigms:
        for dataset, reason in own.left_out.items():
            found.setdefault((own.name, reason), []).append(dataset)
    parts = (
        f"{', '.join(datasets)} with {name}, {reason}" for (name, reason), datasets in found.items()
    )
    return [f"Not scored: {'; '.join(parts)}."] if found else []


def _paradigm(score: ParadigmScore | None, strong: set[str]) -> list[Cell]:
    if score is None:
        return [Cell(NONE)] * 3
    terms = sum(cluster.terms - cluster.left for cluster in score.clusters)
    return [
        percent_cell(
            score.suggestion, _interval(score.suggestion_interval), "suggestion" in strong
        ),
        percent_cell(score.coherence, _interval(score.coherence_interval), "coherence" in strong),
        Cell(
            f"{score.words:,} / {score.skipped} / {terms}",
            _reasons({why: f"{count:,}" for why, count in score.words_left_out.items() if count}),
            value=score.words,
        ),
    ]


def _cluster(cluster: ClusterScore | None) -> list[Cell]:
    if cluster is None:
        return [Cell(NONE)] * 3
    out = {reason: ", ".join(terms) for reason, terms in cluster.left_out.items() if terms}
    spread = f"{percent(cluster.suggestion)} ± {percent(cluster.deviation)}"
    return [
        Cell(spread, value=cluster.suggestion),
        percent_cell(cluster.coherence),
        Cell(f"{cluster.left} of {cluster.terms}", _reasons(out), value=cluster.left),
    ]


def _reasons(left_out: Mapping[str, str]) -> str:
    return "; ".join(f"{spaced(reason)}: {what}" for reason, what in left_out.items())


def _reported(value: float | None) -> Cell:
    return Cell(NONE) if value is None else Cell(str(value), value=value / 100)


def _relation(found: Relation | None) -> Cell:
    if found is None:
        return Cell(NONE)
    beside = f"n = {found.encoders}"
    strong = False
    if found.interval:
        low, high = found.interval
        beside = f"{_interval(found.interval)} {beside}"
        strong = not low <= 0 <= high
    return percent_cell(found.correlation, beside, strong)


def _interval(ends: tuple[float, float]) -> str:
    return f"[{', '.join(map(percent, ends))}]"


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean; None if a value is missing or there is none."""
    found = list(values)
    there = [value for value in found if value is not None]
    return fmean(there) if there and len(there) == len(found) else None
