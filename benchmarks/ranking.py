"""Measures EvalRank's ranks on a set of the original's size, and compares them to brute force."""

from functools import partial
from pathlib import Path

import numpy as np
from measuring import main_of, make_parser, peak_memory, time_call
from scipy.spatial.distance import cdist

from evaluation.arrays import Doubles, Floats, Rows
from evaluation.encoders import make_encoder
from evaluation.measures import one_thread
from evaluation.ranking import rank_positives

N_TEXTS, N_GROUPS = 24_957, 6_784 // 2
N_CHECKED = 1000
ROUNDING = 1e-12
DIMENSIONS = (384, 512, 768)
SIMILARITIES = ("cosine", "l2")
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


def draw_vectors(dimension: int) -> tuple[Floats, Rows]:
    """Return random vectors and, [pairs, 2], the pairs of the original's number, both ways."""
    generator = np.random.default_rng(1)
    groups = generator.permutation(N_TEXTS)[: 2 * N_GROUPS].reshape(N_GROUPS, 2)
    # Some texts have two positives: 6,989 - 13 pairs, as in the original, are 96 both ways more.
    pairs = np.concatenate([groups, np.stack([groups[0:192:2, 0], groups[1:193:2, 0]], axis=1)])
    meaning, topics, noise = (
        generator.standard_normal((count, dimension), np.float32)
        for count in (N_TEXTS, 200, N_TEXTS)
    )
    meaning[groups[:, 0]] = meaning[groups[:, 1]]
    vectors = 0.5 + 0.7 * topics[np.arange(N_TEXTS) % 200]
    vectors += 0.5 * meaning + 0.5 * noise
    return vectors, np.concatenate([pairs, pairs[:, ::-1]])


def read_vectors(folder: Path, dimension: int) -> tuple[Floats, Rows]:
    """Return vectors of the original's texts and its pairs."""
    texts = (folder / "background_sent.txt").read_text("utf-8").splitlines()
    rows = {text: row for row, text in enumerate(texts)}
    lines = (folder / "pos_pair.txt").read_text("utf-8").splitlines()
    pairs = np.array([[rows[text] for text in line.split("\t")] for line in lines])
    vectors = make_encoder("char_hash", {"dimension": dimension}).encode(texts)[:, 0]
    return vectors, pairs[pairs[:, 0] != pairs[:, 1]]


def brute_force(
    vectors: Floats, pairs: Rows, checked: Rows, similarity: str, batch: int
) -> Doubles:
    """Return the ranks of the pairs in the rows ``checked``, from all scores in float64.

    ``batch`` is the number of pairs whose scores are in memory at a time.
    """
    wide = vectors.astype(np.float64)
    if similarity == "cosine":
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    ranks = []
    for start in range(0, len(checked), batch):
        queries, positives = pairs[checked[start : start + batch]].T
        if similarity == "cosine":
            scores = wide[queries] @ wide.T
        else:
            scores = -cdist(wide[queries], wide, "sqeuclidean")
        target = scores[np.arange(len(queries)), positives]
        for row, query in zip(scores, queries, strict=True):
            row[[query, *pairs[pairs[:, 0] == query, 1]]] = np.nan
        rounding = ROUNDING * np.nanmax(np.abs(scores), axis=1)
        scores -= target[:, None]
        above = (scores > rounding[:, None]).sum(axis=1)
        ranks.append(1 + above + (np.abs(scores) <= rounding[:, None]).sum(axis=1) / 2)
    return np.concatenate(ranks)


def benchmark() -> None:
    """Run the benchmark as the arguments say."""
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("--evalrank", type=Path, metavar="FOLDER", help="the original's sentences")
    args = parser.parse_args()
    print(
        f"{'':16}{'CPU s':>9}{'MB':>7}{'times as fast as':>20}\n"
        f"{'':32}{'blocks':>10}{'singly':>10}{'equal':>14}{'MRR':>8}{'ties':>7}"
    )
    for dimension in DIMENSIONS:
        if args.evalrank:
            vectors, pairs = read_vectors(args.evalrank, dimension)
        else:
            vectors, pairs = draw_vectors(dimension)
        queries, positives = pairs.T.copy()
        n_checked = min(N_CHECKED, len(pairs))
        checked = np.random.default_rng(2).choice(len(pairs), n_checked, replace=False)
        cpu = {}
        for similarity in SIMILARITIES:
            rank = partial(rank_positives, vectors, queries, positives, similarity)
            (ranked, cpu[similarity]), memory = peak_memory(partial(time_call, rank))
            brute = partial(brute_force, vectors, pairs, checked, similarity)
            runs = [time_call(partial(brute, batch)) for batch in (N_CHECKED, 1)]
            blocks, singly = (s * len(pairs) / n_checked / cpu[similarity] for _, s in runs)
            equal = (ranked.ranks[checked] == runs[-1][0]).sum()
            print(
                f"{dimension:7} {similarity:8}{cpu[similarity]:9.2f}{memory:7.0f}"
                f"{blocks:10.1f}{singly:10.1f}{equal:8} of {n_checked}"
                f"{np.mean(1 / ranked.ranks):8.3f}{ranked.tied.sum():7}",
                flush=True,
            )
        print(f"{'':8}l2 takes {cpu['l2'] / cpu['cosine']:.2f} times as long as cosine")
    print(f"{len(vectors):,} texts, {len(pairs):,} pairs; wanted: l2 twice as long at most")


if __name__ == "__main__":
    with one_thread():
        main_of(benchmark)
