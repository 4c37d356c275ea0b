"""The stage `paradigms`: ParaLex for one encoder.

The two tests of ParaLex on clusters of words, suggestion and neighbourhood coherence, after Sumbler
et al. 2018, on the 30 nearest words by cosine. Shares are of counts: nothing is rounded before the
last division. In both, terms out of the vocabulary are removed first, and a cluster with fewer than
three terms left scores 0; the script published with ParaLex does so only in the suggestion test,
and counts such terms as missed in neighbourhood coherence.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import chain, combinations, permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from builders.tasks.examples import FEWEST_TERMS
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.console import progress
from corpora_recipes.running.errors import OutputError
from corpora_recipes.text.tokens import lower_case
from evaluation.arrays import Doubles, Floats, Rows
from evaluation.datasets import Dataset
from evaluation.embedding.embedding import Fitting, encode_when_needed
from evaluation.embedding.store import (
    EmbeddingStore,
    EncodedDataset,
    Vocabulary,
    open_vocabulary,
    read_described,
    vector_facts,
)
from evaluation.encoders.encoder import Description, Encoder, Form, HasWords, describe
from evaluation.features import DEFAULT_PROMPT, text_columns
from evaluation.measures import leave_out_means, norms_of, one_thread, score_interval
from evaluation.results.scores import (
    PARADIGM_MEASURES,
    PARADIGMS_FORMAT,
    Casing,
    ClusterScore,
    ParadigmResults,
    ParadigmScore,
    cluster_values,
)
from evaluation.results.stored import Part, encoder_facts, library_versions, score_parts

if TYPE_CHECKING:
    from corpora_recipes.running.cache import Cache

N_NEIGHBOURS = 30
"""Number of a word's neighbours (Sumbler et al. 2018)."""
# Of products, and of the numbers that are multiplied, so many are in memory at a time.
_BLOCK_NUMBERS = 4_000_000
_BLOCK_WORDS = 8192
_BLOCK_QUERIES = 4096
# Unit roundoff of float32.
_ROUNDOFF = 2.0**-24


@dataclass(frozen=True, slots=True)
class Forms:
    """The words of a vocabulary in one casing.

    Attributes:
        rows: form to the row of the first word that has it, in ascending order.
        without: the forms of words that have no vector.
    """

    rows: dict[str, int]
    without: set[str]

    @property
    def words(self) -> Rows:
        """The rows of the words, ascending."""
        return np.fromiter(self.rows.values(), np.int64, len(self.rows))


def apply_casing(word: str, casing: Casing) -> str:
    """Return a word in a casing: as it is, or in lower case."""
    return lower_case(word) if casing == "lower" else word


def forms_of(vocabulary: Vocabulary, casing: Casing) -> Forms:
    """Return the words of a vocabulary in one casing."""
    rows: dict[str, int] = {}
    without = set()
    for row, word in enumerate(vocabulary.words):
        form = apply_casing(word, casing)
        if vocabulary.norms[row] > 0:
            rows.setdefault(form, row)
        else:
            without.add(form)
    return Forms(rows, without - rows.keys())


class Neighbours(dict[int, list[int]]):
    """The nearest words of words that were looked up, see ``find_nearest``: rows by row."""

    def __init__(self, vectors: Floats, norms: Doubles, words: Rows) -> None:
        """Look for neighbours among ``words``, as ``find_nearest``; nothing is computed yet."""
        self._vectors, self._norms, self._words = vectors, norms, words

    def look_up(self, rows: Iterable[int]) -> None:
        """Find the neighbours of words, unless they were found before."""
        new = np.array(sorted(set(rows) - self.keys()), np.int64)
        for first in range(0, len(new), _BLOCK_QUERIES):
            block = new[first : first + _BLOCK_QUERIES]
            near = find_nearest(self._vectors, self._norms, self._words, block)
            self.update(zip(block.tolist(), near.tolist(), strict=True))


def find_nearest(
    vectors: Floats, norms: Doubles, words: Rows, queries: Rows, count: int = N_NEIGHBOURS
) -> Rows:
    """Return the nearest words of words by cosine, themselves left out, the nearest first.

    The cosine is that of float64, and of two words with the same, to the bit, the first row counts
    as nearer.
    Products in float32 only sort out words that are certainly too far off: the error of one is
    bounded whatever the order of its sum (Higham 2002, "Accuracy and stability of numerical
    algorithms", section 3.1), and words that may be as near as the last of the nearest, given that
    error, are computed in float64.

    Args:
        vectors: float32 [n, dimension]; may be memory-mapped, and is read once.
        norms: their lengths, float64 [n].
        words: numbers of the rows to look among, ascending.
        queries: numbers of the rows to look for, some of ``words``.
        count: how many are wanted.

    Returns:
        Row numbers, int64 [len(queries), count], or fewer columns if there are fewer other words.
    """
    count = max(0, min(count, len(words) - 1))
    best = _Best(len(queries), count)
    if not best.rows.size:
        return best.rows
    raw = vectors[queries].astype(np.float64)
    units = (raw / norms[queries, None]).astype(np.float32)
    # Beyond the sum: the two roundings of the units, and what float64 itself rounds.
    error = (vectors.shape[1] + 4) * _ROUNDOFF
    error /= 1 - error
    positions = np.searchsorted(words, queries)
    # The first block has to hold `count` other words.
    size = max(count + 1, min(_BLOCK_WORDS, _BLOCK_NUMBERS // max(len(queries), vectors.shape[1])))
    with progress(len(words), "neighbours", "word") as bar:
        for first in range(0, len(words), size):
            rows = words[first : first + size]
            block = vectors[rows].astype(np.float64)
            near = units @ (block / norms[rows, None]).astype(np.float32).T
            inside = np.flatnonzero((positions >= first) & (positions < first + len(rows)))
            near[inside, positions[inside] - first] = -np.inf
            if first:
                least = best.scores[:, -1] - error
            else:
                least = np.partition(near, -count, axis=1)[:, -count] - 2 * error
            # Downwards, so that what is rounded is not sorted out.
            floor = np.nextafter(least.astype(np.float32), np.float32(-np.inf))
            query, column = np.nonzero(near >= floor[:, None])
            scores = _products(raw, block, query, column)
            scores /= norms[queries[query]] * norms[rows[column]]
            best.add(query, scores, rows[column])
            bar.update(len(rows))
    return best.rows


def _products(left: Doubles, right: Doubles, of_left: Rows, of_right: Rows) -> Doubles:
    """Return the products of pairs of rows; those of equal rows are equal to the bit."""
    products = np.empty(len(of_left))
    size = max(1, _BLOCK_NUMBERS // left.shape[1])
    for first in range(0, len(products), size):
        pairs = slice(first, first + size)
        products[pairs] = (left[of_left[pairs]] * right[of_right[pairs]]).sum(axis=1)
    return products


class _Best:
    """The best words so far of each query, the best first: [queries, count]."""

    def __init__(self, queries: int, count: int) -> None:
        self.scores = np.full((queries, count), -np.inf)
        self.rows = np.full((queries, count), np.iinfo(np.int64).max)

    def add(self, query: Rows, scores: Doubles, rows: Rows) -> None:
        """Take words in: for which query, with which score, in which row."""
        touched, index = np.unique(query, return_inverse=True)
        count = self.rows.shape[1]
        index = np.concatenate([np.repeat(np.arange(len(touched)), count), index])
        scores = np.concatenate([self.scores[touched].ravel(), scores])
        rows = np.concatenate([self.rows[touched].ravel(), rows])
        order = np.lexsort((rows, -scores, index))
        starts = np.searchsorted(index[order], np.arange(len(touched)))
        best = order[starts[:, None] + np.arange(count)]
        self.scores[touched], self.rows[touched] = scores[best], rows[best]


ITERATIONS = 3
"""Number of times that seeds are added after the first suggestions."""
MAX_SUGGESTIONS = 200
"""With more suggestions than these the search has lost its cluster and ends."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The scores of a cluster, all 0 if it has fewer than three terms.

    Attributes:
        suggestion: the mean over all pairs of seeds of the share of targets found.
        deviation: the standard deviation of that share over all pairs (of the population).
        coherence: the share of ordered pairs of terms whose second term is among the neighbours of
            the first.
    """

    suggestion: float
    deviation: float
    coherence: float


def run_tests(
    clusters: Sequence[Sequence[int]], neighbours: Neighbours, threshold: int
) -> list[Outcome]:
    """Run both tests on clusters.

    Args:
        clusters: rows of the terms of each, all different.
        neighbours: of all words.
        threshold: number of seeds that must suggest a word for it to become a seed.
    """
    testable = [terms if len(terms) >= FEWEST_TERMS else [] for terms in clusters]
    coherent = count_coherent_pairs(testable, neighbours)
    targets = count_found_targets(testable, neighbours, threshold)
    outcomes = []
    for terms, n_coherent, n_found in zip(testable, coherent, targets, strict=True):
        n_terms, outcome = len(terms), Outcome(0.0, 0.0, 0.0)
        if terms:
            suggestion = sum(n_found) / (len(n_found) * (n_terms - 2))
            deviation = float(np.std(n_found)) / (n_terms - 2)
            outcome = Outcome(suggestion, deviation, n_coherent / (n_terms * (n_terms - 1)))
        outcomes.append(outcome)
    return outcomes


def count_found_targets(
    clusters: Sequence[Sequence[int]], neighbours: Neighbours, threshold: int
) -> list[list[int]]:
    """Return how many targets each pair of seeds finds.

    Every pair of a cluster's terms are seeds once, and the others are the targets. Suggestions are
    the neighbours of seeds, without the seeds. Then, three times at most, the suggestions that are
    neighbours of ``threshold`` seeds or more, and the targets among them, join the seeds, and there
    are new suggestions. A target that was suggested once is found. The searches of all pairs run
    side by side, so that neighbours are looked up few times, for many words each.

    Returns:
        For each cluster, one number per pair, in the order of ``itertools.combinations``.
    """
    n_found: list[list[int]] = []
    searches: list[tuple[int, int, _Search]] = []
    for number, terms in enumerate(clusters):
        pairs = list(combinations(terms, 2))
        n_found.append([0] * len(pairs))
        searches += [
            (number, index, _search(set(pair), set(terms).difference(pair), neighbours, threshold))
            for index, pair in enumerate(pairs)
        ]
    while searches:
        unfinished = []
        needed: set[int] = set()
        for number, index, search in searches:
            try:
                needed |= next(search)
                unfinished.append((number, index, search))
            except StopIteration as end:
                n_found[number][index] = end.value
        neighbours.look_up(needed)
        searches = unfinished
    return n_found


_Search = Generator[set[int], None, int]


def _search(pair: set[int], targets: set[int], neighbours: Neighbours, threshold: int) -> _Search:
    """Yield the words whose neighbours it needs next; return the number of targets found."""
    seeds: set[int] = set()
    support: Counter[int] = Counter()
    found_targets: set[int] = set()
    joining = pair
    for _ in range(1 + ITERATIONS):
        seeds |= joining
        unknown = {seed for seed in joining if seed not in neighbours}
        for seed in joining - unknown:
            support.update(neighbours[seed])
        # The neighbours found_targets before are often enough to see that there are too many.
        if unknown and len(support.keys() - seeds) <= MAX_SUGGESTIONS:
            yield unknown
            for seed in unknown:
                support.update(neighbours[seed])
        suggestions = support.keys() - seeds
        if len(suggestions) > MAX_SUGGESTIONS:
            break
        found_targets |= suggestions & targets
        joining = {word for word in suggestions if support[word] >= threshold or word in targets}
        if found_targets == targets or not joining:
            break
    return len(found_targets)


def count_coherent_pairs(clusters: Sequence[Sequence[int]], neighbours: Neighbours) -> list[int]:
    """Return how many ordered pairs of each cluster's terms are a term and a neighbour of it."""
    neighbours.look_up(row for terms in clusters for row in terms)
    return [sum(b in neighbours[a] for a, b in permutations(terms, 2)) for terms in clusters]


VOCABULARIES: tuple[Literal["own", "shared"], ...] = ("own", "shared")


def evaluate_paradigms(
    name: str,
    encoder: Encoder,
    datasets: Sequence[Dataset],
    store: Path,
    *,
    seed: int,
    coherence_threshold: int,
    casings: Sequence[Casing],
    cache: "Cache | None" = None,
) -> tuple[ParadigmResults, int]:
    """Score every dataset of paradigms.

    Neighbours are looked for among the words of all word rankings of the dataset's language and
    its own terms ("shared"), and, where the encoder has its own vocabulary, also among its words
    ("own"). Layers besides the main one get the shared vocabulary in the first casing alone.

    Args:
        name: key of the encoder's entry in params.yaml.
        encoder: whose vectors the store holds, or does not keep.
        datasets: in any order; besides those of paradigms, the word rankings are looked at.
        store: folder of the embedding store.
        seed: the run's seed.
        coherence_threshold: how many seeds must suggest a term for it to become a seed.
        casings: in which words are compared.
        cache: of the scores of each dataset, vocabulary and casing; None to compute all.

    Returns:
        The results, with the datasets that were skipped for lack of a vocabulary; and the number of
        datasets that were scored now.
    """
    described = describe(encoder)
    # All words have one prompt, see ``prompt_of``.
    prompt = described.prompts.get(DEFAULT_PROMPT)
    opened = EmbeddingStore(store, described)
    in_order = sorted(datasets, key=lambda dataset: dataset.name)
    wanted = {dataset.name: dataset for dataset in in_order if dataset.task == "paradigms"}
    rankings: dict[str, list[Dataset]] = {}
    for dataset in in_order:
        if dataset.task == "word_ranking":
            rankings.setdefault(dataset.language, []).append(dataset)
    results = ParadigmResults(
        format=PARADIGMS_FORMAT,
        name=name,
        encoder=encoder_facts(described, opened.dimension),
        coherence_threshold=coherence_threshold,
        casings=[*casings],
        seed=seed,
        versions=library_versions("paradigms", opened.made_by),
        code=code_digest(__name__),
        scores=(),
        left_out={},
    )
    skipped = {
        dataset.name: f"no word ranking is in {dataset.language} (there are some in: "
        f"{', '.join(sorted(rankings)) or 'none'}), and the encoder has no vocabulary of its "
        "own"
        for dataset in wanted.values()
        if dataset.language not in rankings and not isinstance(encoder, HasWords)
    }
    jobs = {
        f"{dataset.name} {vocabulary} {casing}": _Job(dataset, vocabulary, casing)
        for vocabulary, casing, dataset in product(VOCABULARIES, casings, wanted.values())
        if (isinstance(encoder, HasWords) if vocabulary == "own" else dataset.language in rankings)
    }
    # Other casings do not decide a part, except whether it has layers besides the main one.
    results_of_part = replace(results, casings=[])
    needed = {
        part: [job.dataset, *rankings.get(job.dataset.language, ())] for part, job in jobs.items()
    }
    used = {each.name: each for each in chain.from_iterable(needed.values())}
    facts = {each.name: vector_facts(store, described, each) for each in used.values()}
    inputs = {
        part: [job.casing == casings[0], [facts[each.name] for each in needed[part]]]
        for part, job in jobs.items()
    }

    # They may be many: they are in memory in one casing at a time.
    @lru_cache(maxsize=1)
    def own_space(casing: Casing) -> _Space:
        words = open_vocabulary(store, encoder)
        assert words is not None
        return _make_space("own", "", words, described, described.layer, casing)

    def spaces_of(job: _Job, clusters: _Clusters) -> Iterator[_Space]:
        if job.vocabulary == "own":
            yield own_space(job.casing)
            return
        ranked = rankings[job.dataset.language]
        words = _words_of(ranked, described.form)
        for term, of_term in chain.from_iterable(terms.items() for terms in clusters.values()):
            words.setdefault(apply_casing(term, job.casing), apply_casing(of_term, job.casing))
        digest = vocabulary_digest(ranked)
        for layer in described.layers if job.casing == casings[0] else [described.layer]:
            vectors = EmbeddingStore(store, described, prompt).lookup(list(words.values()), layer)
            shared = Vocabulary(list(words), vectors, norms_of(vectors))
            yield _make_space("shared", digest, shared, described, layer, job.casing)

    def compute(new: list[str]) -> Iterator[tuple[str, Part]]:
        with one_thread(), progress(len(new), f"paradigms {name}", "part") as bar:
            for part in new:
                dataset = jobs[part].dataset
                clusters = _read_clusters(dataset, described.form)
                encoded = [read_described(store, each) for each in needed[part]]
                scores = [
                    _score(dataset, clusters, encoded, space, coherence_threshold)
                    for space in spaces_of(jobs[part], clusters)
                ]
                yield part, Part(scores)
                bar.update()

    def order(score: ParadigmScore) -> tuple[Any, ...]:
        casing, layer = casings.index(score.casing), described.layers.index(score.layer)
        return score.dataset, score.vocabulary, casing, layer

    compute_encoded = encode_when_needed(encoder, store, needed, compute)
    parts, new = score_parts(results_of_part, inputs, ParadigmScore, compute_encoded, cache)
    scores = sorted((score for part in parts.values() for score in part.scores), key=order)
    results = replace(results, scores=tuple(scores), left_out=skipped)
    return results, len({jobs[part].dataset.name for part in new})


class _Job(NamedTuple):
    """A part: a dataset with a vocabulary in a casing, in all layers."""

    dataset: Dataset
    vocabulary: Literal["own", "shared"]
    casing: Casing


_Clusters = Mapping[str, Mapping[str, str]]
"""Name of a cluster to its terms as they are, each to what of it is encoded."""


@dataclass(frozen=True, slots=True)
class _Space:
    """Words, in a layer and casing, and the neighbours that they have."""

    vocabulary: Literal["own", "shared"]
    digest: str
    layer: str
    casing: Casing
    forms: Forms
    skipped: dict[str, int]
    neighbours: Neighbours


def _read_clusters(dataset: Dataset, form: Form) -> _Clusters:
    """Read the clusters of a dataset, by name."""
    ((terms,), (encoded,)) = (text_columns(dataset.task, of) for of in ("natural", form))
    rows = dataset.read("test", list(dict.fromkeys(("cluster", terms, encoded)))).to_pylist()
    clusters: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows):
        where = f"{dataset.folder}, row {number} {row['cluster']}"
        if row["cluster"] in clusters:
            raise OutputError(where, "each cluster once", "the second one")
        if len(row[terms]) != len(row[encoded]):
            expected = f"as many {encoded} as {terms}, {len(row[terms])}"
            raise OutputError(where, expected, str(len(row[encoded])))
        clusters[row["cluster"]] = dict(zip(row[terms], row[encoded], strict=True))
    if not clusters:
        raise OutputError(dataset.folder, "clusters", "none")
    return dict(sorted(clusters.items()))


def vocabulary_digest(rankings: Sequence[Dataset]) -> str:
    """Return the SHA-256 of the files of a language's word rankings."""
    digests = "".join(dataset.digest() for dataset in rankings)
    return sha256(digests.encode()).hexdigest()


def _words_of(rankings: Sequence[Dataset], form: Form) -> dict[str, str]:
    """Return the words of a language's word rankings, each to what of it is encoded."""
    words: dict[str, str] = {}
    for dataset in rankings:
        columns = [text_columns(dataset.task, of)[0] for of in ("natural", form)]
        table = dataset.read("test", list(dict.fromkeys(columns)))
        pairs = zip(*(table[column].to_pylist() for column in columns), strict=True)
        for word, encoded in pairs:
            words.setdefault(word, encoded)
    return words


def _make_space(
    name: Literal["own", "shared"],
    digest: str,
    vocabulary: Vocabulary,
    encoder: Description,
    layer: str,
    casing: Casing,
) -> _Space:
    """Return words as a space; a post-processing of the encoder is fitted on all of them."""
    vectors, norms = vocabulary.vectors, vocabulary.norms
    if encoder.postprocessing != "none":
        vectors = Fitting(vectors).postprocess(encoder.postprocessing)
        norms = norms_of(vectors)
        vocabulary = replace(vocabulary, vectors=vectors, norms=norms)
    forms = forms_of(vocabulary, casing)
    skipped = vocabulary.skipped | {"same_form": vocabulary.n_directed - len(forms.rows)}
    neighbours = Neighbours(vectors, norms, forms.words)
    return _Space(name, digest, layer, casing, forms, skipped, neighbours)


def _score(
    dataset: Dataset,
    clusters: _Clusters,
    encoded: Sequence[EncodedDataset],
    space: _Space,
    threshold: int,
) -> ParadigmScore:
    """Return the scores of a dataset in a space.

    ``encoded`` has the store's facts on the dataset, then on the word rankings of its language.
    """
    rows = space.forms.rows
    # Terms that fall together count once.
    terms_of = {
        name: list(dict.fromkeys(apply_casing(term, space.casing) for term in terms))
        for name, terms in clusters.items()
    }
    known_rows = [[rows[term] for term in terms if term in rows] for terms in terms_of.values()]
    outcomes = run_tests(known_rows, space.neighbours, threshold)
    scores = tuple(
        ClusterScore(name, len(terms), _exclude(terms, space.forms), **asdict(outcome))
        for (name, terms), outcome in zip(terms_of.items(), outcomes, strict=True)
    )
    return ParadigmScore(
        **dataset.facts("language", "version"),
        digest=encoded[0].digest,
        layer=space.layer,
        vocabulary=space.vocabulary,
        vocabulary_digest=space.digest,
        words=len(rows),
        words_left_out=space.skipped,
        casing=space.casing,
        **measure_clusters(scores),
        clusters=scores,
        vectors=[facts.vectors[space.layer] for facts in encoded],
    )


def measure_clusters(clusters: Sequence[ClusterScore]) -> dict[str, Any]:
    """Return the means over clusters and their intervals, fields of ``ParadigmScore``."""
    names = np.array([cluster.cluster for cluster in clusters])
    values = cluster_values(clusters)
    replicates = leave_out_means(values, names)
    fields: dict[str, Any] = {}
    for measure, row, row_replicates in zip(PARADIGM_MEASURES, values, replicates, strict=True):
        mean = float(row.mean())
        interval = score_interval("accuracy", mean, row_replicates, names)
        fields |= {measure: mean, f"{measure}_interval": interval}
    return fields


def _exclude(terms: Sequence[str], forms: Forms) -> dict[str, list[str]]:
    """Return by reason the terms that are not in the vocabulary."""
    excluded: dict[str, list[str]] = {}
    for term in terms:
        if term not in forms.rows:
            reason = "no_vector" if term in forms.without else "out_of_vocabulary"
            excluded.setdefault(reason, []).append(term)
    return excluded
