"""The groups of tasks that scores are averaged over, in the order of the tables."""

from typing import NamedTuple


class Group(NamedTuple):
    """Tasks that ask for the same kind of knowledge: "SP" in the papers, "Sentence position"."""

    abbreviation: str
    title: str


# Araujo et al. (2022), Table 2, after Conneau and Kiela (2018) and Chen, Chu and Gimpel (2019); the
# last two of those with a probe after Koto, Lau and Baldwin (2021).
GROUPS = (
    SC := Group("SC", "Sentence classification"),
    SPC := Group("SPC", "Sentence pair classification"),
    SS := Group("SS", "Semantic similarity"),
    LPT := Group("LPT", "Linguistic probing"),
    SP := Group("SP", "Sentence position"),
    BSO := Group("BSO", "Binary sentence ordering"),
    DC := Group("DC", "Discourse coherence"),
    SSP := Group("SSP", "Section prediction"),
    DR := Group("DR", "Discourse relations"),
    PDTB_E := Group("PDTB-E", "Explicit discourse relations"),
    PDTB_I := Group("PDTB-I", "Implicit discourse relations"),
    NUC := Group("NUC", "Nuclearity"),
    CONN := Group("CONN", "Connectives"),
    # Nothing is trained for these.
    EVALRANK := Group("EvalRank", "Ranks of paraphrases"),
    PARALEX := Group("ParaLex", "Paradigms of words"),
)

# Of benchmarks that average some datasets in other groups than those of their tasks: Chen, Chu and
# Gimpel (2019), Table 2, and Wang, Kuo and Li (2022), Table 3.
OF_BENCHMARKS = (
    CI := Group("CI", "Citation intent"),
    USS := Group("USS", "Unsupervised semantic similarity"),
    SSS := Group("SSS", "Supervised semantic similarity"),
    PROBING := Group("Probing", "Linguistic probing"),
    WS := Group("WS", "Word similarity"),
)

SIMILARITIES = (SS, USS, SSS, WS)
"""Those whose scores are correlations; of the others, they are accuracies."""
