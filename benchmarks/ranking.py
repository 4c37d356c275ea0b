"""Measures EvalRank's ranks on a set of the original's size, and compares them to brute force."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from measuring import parser_of, peak_of
from scipy.spatial.distance import cdist

from corpora_recipes.running.console import run
from evaluation.arrays import Doubles, Floats, Rows
from evaluation.encoders import make_encoder
from evaluation.measures import one_thread
from evaluation.ranking import Ranks, Similarity, rank_positives

TEXTS, GROUPS = 24_957, 6_784 // 2
SECONDS, MEGABYTES, RATIO = 3, 1000, 2
SAMPLE = 1000
ROUNDING = 1e-12
DIMENSIONS = (384, 512, 768)
SIMILARITIES: tuple[Similarity, ...] = ("cosine", "l2")
EXAMPLES = """\
examples:
  python benchmarks/ranking.py
  python benchmarks/ranking.py --evalrank data/raw/evalrank/sent_evalrank

Random vectors have 200 topics, and pairs are nearer than a topic; with --evalrank they are those of
char_hash for the original's texts. `blocks` and `singly` are brute force in float64, all scores
(of a matrix product; scipy's cdist) of a thousand queries at a time, and of one query after the
other; the seconds of both are those of 1,000 pairs, times as many as there are. `equal` are those
of the 1,000 that have the same rank as by brute force.
"""


def made(dimension: int) -> tuple[Floats, Rows]:
    """Return random vectors and, [pairs, 2], the pairs of the original's number, both ways."""
    generator = np.random.default_rng(1)
    normal = partial(generator.standard_normal, dtype=np.float32)
    rows = generator.permutation(TEXTS)
    groups = np.array_split(rows[: 2 * GROUPS], GROUPS)
    # Some texts have two positives: 6,989 - 13 pairs, as in the original, are 96 both ways more.
    pairs = [(one, other) for one, other in groups]
    pairs += [(groups[i][0], groups[i + 1][0]) for i in range(0, 2 * 96, 2)]
    meaning = normal((TEXTS, dimension))
    for one, other in groups:
        meaning[one] = meaning[other]
    vectors = 0.5 + 0.7 * normal((200, dimension))[np.arange(TEXTS) % 200]
    vectors += 0.5 * meaning + 0.5 * normal((TEXTS, dimension))
    both = np.array(pairs)
    return vectors, np.concatenate([both, both[:, ::-1]])


def read(folder: Path, dimension: int) -> tuple[Floats, Rows]:
    """Return vectors of the original's texts and its pairs."""
    texts = (folder / "background_sent.txt").read_text("utf-8").splitlines()
    rows = {text: row for row, text in enumerate(texts)}
    lines = (folder / "pos_pair.txt").read_text("utf-8").splitlines()
    pairs = [(rows[one], rows[other]) for one, other in (line.split("\t") for line in lines)]
    encoder = make_encoder("char_hash", {"dimension": dimension})
    vectors = encoder.encode(texts)[:, 0]
    return vectors, np.array([pair for pair in pairs if pair[0] != pair[1]])


def brute_force(
    vectors: Floats, pairs: Rows, asked: Rows, similarity: Similarity, at_once: int
) -> Doubles:
    """Return ranks of those pairs that are ``asked`` for, from all scores in float64.

    ``at_once`` is the number of pairs whose scores are in memory at a time.
    """
    wide = vectors.astype(np.float64)
    if similarity == "cosine":
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    ranks = []
    for start in range(0, len(asked), at_once):
        some = pairs[asked[start : start + at_once]]
        if similarity == "cosine":
            scores = wide[some[:, 0]] @ wide.T
        else:
            scores = -cdist(wide[some[:, 0]], wide, "sqeuclidean")
        target = scores[np.arange(len(some)), some[:, 1]]
        for i, (query, _) in enumerate(some):
            scores[i, [query, *pairs[pairs[:, 0] == query, 1]]] = np.nan
        rounding = ROUNDING * np.nanmax(np.abs(scores), axis=1)
        scores -= target[:, None]
        above = (scores > rounding[:, None]).sum(axis=1)
        ranks.append(1 + above + (np.abs(scores) <= rounding[:, None]).sum(axis=1) / 2)
    return np.concatenate(ranks)


def timed(compute: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return a function's result, its seconds of wall time and of CPU."""
    begin, used = perf_counter(), process_time()
    result = compute()
    return result, perf_counter() - begin, process_time() - used


def rank(vectors: Floats, pairs: Rows, similarity: Similarity) -> Ranks:
    """Rank all pairs."""
    return rank_positives(vectors, pairs[:, 0].copy(), pairs[:, 1].copy(), similarity)


def main() -> int:
    """Run the benchmark as the arguments say."""
    parser = parser_of(__doc__, EXAMPLES)
    parser.add_argument("--evalrank", type=Path, metavar="FOLDER", help="the original's sentences")
    args = parser.parse_args()

    def command() -> None:
        print(
            f"{'':16}{'seconds':>9}{'of CPU':>9}{'MB':>7}{'times as fast as':>20}\n"
            f"{'':41}{'blocks':>10}{'singly':>10}{'equal':>14}{'MRR':>8}{'ties':>7}"
        )
        for dimension in DIMENSIONS:
            vectors, pairs = read(args.evalrank, dimension) if args.evalrank else made(dimension)
            asked = np.random.default_rng(2).choice(len(pairs), SAMPLE, replace=False)
            cpu = {}
            for similarity in SIMILARITIES:
                measured = partial(rank, vectors, pairs, similarity)
                ((found, wall, cpu[similarity]), memory) = peak_of(partial(timed, measured))
                times = []
                brute = partial(brute_force, vectors, pairs, asked, similarity)
                for at_once in (SAMPLE, 1):
                    expected, _, seconds = timed(partial(brute, at_once))
                    times.append(seconds * len(pairs) / SAMPLE / cpu[similarity])
                equal = (found.ranks[asked] == expected).sum()
                print(
                    f"{dimension:7} {similarity:8}{wall:9.2f}{cpu[similarity]:9.2f}{memory:7.0f}"
                    f"{times[0]:10.1f}{times[1]:10.1f}{equal:8} of {SAMPLE}"
                    f"{np.mean(1 / found.ranks):8.3f}{found.tied.sum():7}",
                    flush=True,
                )
            print(f"{'':8}l2 takes {cpu['l2'] / cpu['cosine']:.2f} times as long as cosine")
        constant = np.ones_like(vectors)
        for similarity in SIMILARITIES:
            measured = partial(rank, constant, pairs, similarity)
            ((found, wall, used), memory) = peak_of(partial(timed, measured))
            print(f"{'':8}{similarity}, one vector for all: {used:.2f} s of CPU, {memory:.0f} MB")
        print(
            f"{len(vectors):,} texts, {len(pairs):,} pairs; wanted: {SECONDS} s and {MEGABYTES:,} "
            f"MB by cosine, l2 {RATIO} times that or less, all of {SAMPLE:,} ranks equal"
        )

    with one_thread():
        return run(command)


if __name__ == "__main__":
    sys.exit(main())
