"""EvalRank: is the paraphrase of a text nearer than all other texts (Wang et al. 2022)?

Bin Wang, C.-C. Jay Kuo and Haizhou Li (2022), "Just Rank: Rethinking Evaluation with Word and
Sentence Similarities". A row is a text of the background; its positives are the rows with its
paraphrases. Nothing is trained: the evaluation ranks each positive among all other texts.
"""

from builders.tasks.groups import EVALRANK
from builders.tasks.task import Column, Task, Text, Unit

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


def _ranking_task(unit: Unit, question: str, about: str, example: str) -> Task:
    return Task(
        name=f"{unit}_ranking",
        group=EVALRANK,
        question=f"{question} Each positive of a {unit} is ranked among all {unit}s of the "
        "dataset; nothing is trained.",
        records=(),
        texts=(Text("text", "tokens", "string", about),),
        needs="one pair of paraphrases or more",
        constructed=False,
        provenance=_PROVENANCE,
        target="neighbours",
        unit=unit,
        trained=False,
        example=f"| text | positive |\n|---|---|\n{example}",
    )


TASKS = (
    _ranking_task(
        "sentence",
        "Is the paraphrase of a sentence nearer than all other sentences?",
        "natural text of the sentence",
        "| El faro se apagó al amanecer. | **La luz del faro dejó de verse al alba.** |",
    ),
    _ranking_task(
        "word",
        "Is the synonym of a word nearer than all other words?",
        "the word, in lower case",
        "| barca | **bote** |",
    ),
)
