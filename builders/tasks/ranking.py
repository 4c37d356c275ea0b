"""EvalRank: is the paraphrase of a text nearer than all other texts (Wang et al. 2022)?

Bin Wang, C.-C. Jay Kuo and Haizhou Li (2022), "Just Rank: Rethinking Evaluation with Word and
Sentence Similarities". A row is a text of the background; its positives are the rows with its
paraphrases. Nothing is trained: the evaluation ranks each positive among all other texts.
"""

from builders.tasks.groups import EVALRANK
from builders.tasks.task import Column, Task, Text, Unit, about

CITATION = (
    "Bin Wang, C.-C. Jay Kuo and Haizhou Li (2022). Just Rank: Rethinking Evaluation with Word and "
    "Sentence Similarities. In Proceedings of the 60th Annual Meeting of the Association for "
    "Computational Linguistics (Volume 1: Long Papers), pages 6060–6077, Dublin, Ireland. "
    "https://aclanthology.org/2022.acl-long.419"
)

_PROVENANCE = {
    "positives": Column("strings", "ids of the rows with its paraphrases; may be empty"),
    "source": Column("string", "corpus, or corpus/collection, where the text occurs first"),
}


def _ranking_task(unit: Unit, text: str) -> Task:
    return Task(
        **about(f"{unit}_ranking"),
        group=EVALRANK,
        records=(),
        texts=(Text("text", "tokens", "string", text),),
        constructed=False,
        provenance=_PROVENANCE,
        target="neighbours",
        unit=unit,
        trained=False,
    )


TASKS = (
    _ranking_task("sentence", "natural text of the sentence"),
    _ranking_task("word", "the word, in lower case"),
)
