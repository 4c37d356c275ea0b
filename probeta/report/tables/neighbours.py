"""EvalRank and ParaLex: ranks of paraphrases, and words of a paradigm as neighbours."""

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import NamedTuple

from evaluation.results.scores import (
    PARADIGM_MEASURES,
    PLAIN,
    RANK_MEASURES,
    ParadigmScore,
    RankScore,
)
from probeta.report import layout
from probeta.report.layout import Number
from probeta.report.statistics import Mean, Report
from probeta.report.tables import PARALEX_SCORES, TABLE_1_SCORES, VECTORS, number, published_ranks
from probeta.report.texts import phrase
from probeta.scores import OWN

# As a share of the largest number of texts, or words, with vectors. An encoder with fewer has an
# easier task, so that its higher score is not better.
MIN_SHARE = 0.9
UNCLEAR_MEASURE = "suggestion_or_coherence"


def alike(counts: Mapping[str, int]) -> list[str]:
    """Return the encoders with almost as many texts as any, by their counts."""
    return [name for name, count in counts.items() if count >= MIN_SHARE * max(counts.values())]


def chance_mrr(score: RankScore) -> float:
    """Return the mean reciprocal rank of a positive at a random place."""
    return sum(1 / rank for rank in range(1, score.background + 1)) / score.background


def rank_marks(report: Report, scores: Mapping[str, RankScore], measure: str) -> dict[str, str]:
    """Return ``Report.marks`` by a measure of ranks, which has to be above that of chance."""
    chance = {name: chance_mrr(score) for name, score in scores.items()}
    beats = {
        name: (score.interval[0] > chance[name]) - (score.interval[1] < chance[name])
        for name, score in scores.items()
    }
    means = {name: Mean(score.measures[measure], score.interval) for name, score in scores.items()}
    among = alike({name: score.background for name, score in scores.items()})
    return report.marks(next(iter(scores.values())).key(measure), means, beats, among)


def ranks(report: Report) -> Iterator[Number]:
    """Yield the ranks of the positives by each similarity, with what is ranked; those of papers.

    By l2 only where it does not rank as cosine does, for all encoders.
    """
    for dataset, by_similarity in plain_ranks(report).items():
        for similarity, scores in by_similarity.items():
            about = {"dataset": dataset, "similarity": similarity}
            yield from _ranks(report, about, scores)
            if similarity == "cosine":
                published = published_ranks(report, next(iter(scores.values())))
                yield from (about | each for each in published)


def plain_ranks(report: Report) -> dict[str, dict[str, dict[str, RankScore]]]:
    """Return dataset to similarity to encoder to score; datasets of the user come last."""
    found: dict[str, dict[str, dict[str, RankScore]]] = {}
    tasks = {}
    for name in report.sort_names(ranked.name for ranked in report.inputs.rankings):
        (ranked,) = (each for each in report.inputs.rankings if each.name == name)
        for score in ranked.plain:
            found.setdefault(score.dataset, {}).setdefault(score.similarity, {})[name] = score
            tasks[score.dataset] = score.task
    for by_similarity in found.values():
        if _rank_alike(by_similarity):
            del by_similarity["l2"]
    of_user = {name: report.inputs.benchmark(name) == OWN for name in found}
    order = sorted(found, key=lambda name: (of_user[name], tasks[name], name))
    return {name: found[name] for name in order}


def _rank_alike(by_similarity: Mapping[str, Mapping[str, RankScore]]) -> bool:
    """Return whether l2 gives all encoders the ranks of cosine."""
    if not {"cosine", "l2"} <= by_similarity.keys():
        return False
    cosine, l2 = (
        {name: (score.measures, score.median_rank) for name, score in by_similarity[by].items()}
        for by in ("cosine", "l2")
    )
    return all(cosine.get(name) == measured for name, measured in l2.items())


def _ranks(report: Report, about: Number, scores: Mapping[str, RankScore]) -> Iterator[Number]:
    marks = {measure: rank_marks(report, scores, measure) for measure in RANK_MEASURES}
    for encoder, score in scores.items():
        about = about | {"encoder": encoder, "kind": "encoder"}
        for measure, value in score.measures.items():
            interval = score.interval if measure == "MRR" else None
            yield number(about, value, interval, measure=measure, mark=marks[measure][encoder])
        yield number(about, score.median_rank, measure="median_rank", unit="number")
        ranked = ["background", "queries", "pairs"] if score.similarity == "cosine" else []
        for count in (*ranked, "without_vector", "ties"):
            if value := getattr(score, count):
                yield number(about, value, measure=count, unit="count")


def rated_datasets(report: Report) -> list[str]:
    """Return the datasets of similarity that post-processing is measured on."""
    similarities = (each for ranked in report.inputs.rankings for each in ranked.similarities)
    return report.benchmark_datasets(sorted({each.dataset for each in similarities}))


def postprocessing(report: Report) -> Iterator[Number]:
    """Yield the effect of post-processing on similarity and on ranks, if any was done.

    ``change``: from the vectors as they are; the mean changes come last. Wang, Kuo and Li (2022)
    find that it improves similarity and not ranks.
    """
    values = dict(_processed(report))
    similar = ", ".join(rated_datasets(report)) or phrase("none")
    changes: dict[tuple[str, str], list[float]] = {}
    if all(vectors == PLAIN for _, _, vectors, _ in values):
        return
    for (encoder, similarity, vectors, heading), value in values.items():
        about = {"encoder": encoder, "similarity": similarity, "vectors": vectors}
        about |= {"similar": similar}
        plain = values.get((encoder, similarity, PLAIN, heading))
        if vectors == PLAIN or plain is None:
            yield number(about, value, heading=heading)
        else:
            change = value - plain
            changes.setdefault((vectors, heading), []).append(change)
            note = f"({layout.signed(change)})"
            yield number(about, value, heading=heading, change=change, note=note)
    for (vectors, heading), found in changes.items():
        about = {"encoder": "mean_change", "similarity": "", "vectors": vectors}
        about |= {"kind": "baseline", "unit": "points"}
        yield number(about, fmean(found), heading=heading)


def _processed(report: Report) -> Iterator[tuple[tuple[str, str, str, str], float]]:
    """Yield encoder, similarity, post-processing and what is measured, and the value."""
    rated = rated_datasets(report)
    for ranked in report.inputs.rankings:
        similar: dict[tuple[str, str], list[float]] = {}
        for each in ranked.similarities:
            if each.dataset in rated:
                setting = (each.similarity, each.postprocessing)
                similar.setdefault(setting, []).append(each.spearman)
        for setting, values in similar.items():
            if len(values) == len(rated):
                heading = phrase("similarity_datasets", count=len(rated))
                yield (ranked.name, *setting, heading), fmean(values)
        for score in ranked.main:
            key = (ranked.name, score.similarity, score.postprocessing, score.dataset)
            yield key, score.mrr


def word_marks(report: Report, scores: Mapping[str, ParadigmScore], measure: str) -> dict[str, str]:
    """Return ``Report.marks`` by a measure of words; by chance, almost nothing is found.

    With vocabularies of their own, encoders search among different words: none leads.
    """
    first = next(iter(scores.values()))
    counts = {name: score.words for name, score in scores.items()}
    among = alike(counts) if first.vocabulary == "shared" else ()
    means = {
        name: Mean(getattr(score, measure), getattr(score, f"{measure}_interval"))
        for name, score in scores.items()
    }
    beats = {name: int(mean.interval[0] > 0) for name, mean in means.items()}
    return report.marks(first.key(measure), means, beats, among)


class Setting(NamedTuple):
    """In what words of ParaLex are scored."""

    dataset: str
    language: str
    vocabulary: str
    casing: str


def scores_by_setting(report: Report) -> dict[Setting, dict[str, ParadigmScore]]:
    """Return setting to encoder to score; datasets of the user come last."""
    found: dict[Setting, dict[str, ParadigmScore]] = {}
    for results in report.inputs.paradigms:
        for score in results.main:
            setting = Setting(score.dataset, score.language, score.vocabulary, score.casing)
            found.setdefault(setting, {})[results.name] = score
    order = sorted(found, key=lambda s: (report.inputs.benchmark(s.dataset) == OWN, s))
    return {setting: found[setting] for setting in order}


def words(report: Report) -> Iterator[Number]:
    """Yield ParaLex over languages, as Table 2 of Sumbler et al. (2018), and counts of words."""
    threshold = next((each.coherence_threshold for each in report.inputs.paradigms), None)
    found = scores_by_setting(report)
    for setting, scores in found.items():
        marks = {measure: word_marks(report, scores, measure) for measure in PARADIGM_MEASURES}
        for encoder, score in scores.items():
            about = {**setting._asdict(), "encoder": encoder, "threshold": threshold}
            for measure in PARADIGM_MEASURES:
                value, interval = getattr(score, measure), getattr(score, f"{measure}_interval")
                facts = {"measure": measure, "mark": marks[measure][encoder]}
                yield number(about, value, interval, **facts)
            yield from _word_counts(about | {"unit": "count"}, score)
    for setting in dict.fromkeys(each._replace(vocabulary="own", casing="as_is") for each in found):
        if setting.dataset not in report.inputs.samples:
            yield from _published(setting._asdict())


def _word_counts(about: Number, score: ParadigmScore) -> Iterator[Number]:
    reasons = {layout.spaced(why): count for why, count in score.words_left_out.items() if count}
    note = "; ".join(f"{why}: {count:,}" for why, count in reasons.items())
    yield number(about, score.words, measure="words", note=note)
    yield number(about, score.skipped, measure="clusters_skipped")
    terms = sum(cluster.terms - cluster.left for cluster in score.clusters)
    yield number(about, terms, measure="terms_skipped")


def not_scored(report: Report) -> Iterator[Number]:
    """Yield which datasets of ParaLex an encoder has no scores for, and why."""
    for results in report.inputs.paradigms:
        for dataset, reason in results.left_out.items():
            yield {"dataset": dataset, "encoder": results.name, "reason": reason}


def _published(about: Number) -> Iterator[Number]:
    """Yield the scores of Sumbler et al. (2018), who do not say of which of the two measures."""
    language = about["language"]
    scores = zip(VECTORS, PARALEX_SCORES.get(language, ()), strict=False)
    found = [(vectors, UNCLEAR_MEASURE, score) for vectors, score in scores if score is not None]
    if language == "en":
        found += [(m, "suggestion", cells["ParaLex"]) for m, cells in TABLE_1_SCORES.items()]
    for vectors, measure, score in found:
        facts = {"encoder": f"{vectors}, Sumbler et al. (2018)", "kind": "reported"}
        yield number(about | facts, score / 100, measure=measure)
