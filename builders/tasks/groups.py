"""The groups of tasks that scores are averaged over, in the order of the tables."""

from typing import NamedTuple


class Group(NamedTuple):
    """Tasks that ask for the same kind of knowledge.

    Attributes:
        abbreviation: the papers', e.g. "SP".
        title: for readers, e.g. "Sentence position".
        suite: "SentEval" or "DiscoEval"; "" if the group belongs to neither.
    """

    abbreviation: str
    title: str
    suite: str


# Araujo et al. (2022), Table 2, after Conneau and Kiela (2018) and Chen, Chu and Gimpel (2019).
SC = Group("SC", "Sentence classification", "SentEval")
SPC = Group("SPC", "Sentence pair classification", "SentEval")
SS = Group("SS", "Semantic similarity", "SentEval")
LPT = Group("LPT", "Linguistic probing", "SentEval")
SP = Group("SP", "Sentence position", "DiscoEval")
BSO = Group("BSO", "Binary sentence ordering", "DiscoEval")
DC = Group("DC", "Discourse coherence", "DiscoEval")
SSP = Group("SSP", "Section prediction", "DiscoEval")
DR = Group("DR", "Discourse relations", "DiscoEval")
# Nothing is trained for these.
EVALRANK = Group("EvalRank", "Ranks of paraphrases", "")
PARALEX = Group("ParaLex", "Paradigms of words", "")

GROUPS = (SC, SPC, SS, LPT, SP, BSO, DC, SSP, DR, EVALRANK, PARALEX)
