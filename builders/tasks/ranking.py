"""EvalRank: is the paraphrase of a text nearer than all other texts (Wang et al. 2022)?

Bin Wang, C.-C. Jay Kuo and Haizhou Li (2022), "Just Rank: Rethinking Evaluation with Word and
Sentence Similarities". A row is a text of the background; its positives are the rows with its
paraphrases. Nothing is trained: the evaluation ranks each positive among all other texts.
"""

from builders.tasks.groups import EVALRANK
from builders.tasks.task import Column, Task, Text

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

TASKS = (
    Task(
        name="sentence_ranking",
        group=EVALRANK,
        question="Is the paraphrase of a sentence nearer than all other sentences? Each positive "
        "of a sentence is ranked among all sentences of the dataset; nothing is trained.",
        records=(),
        texts=(Text("text", "tokens", "string", "natural text of the sentence"),),
        needs="one pair of paraphrases or more",
        constructed=False,
        provenance=_PROVENANCE,
        target="neighbours",
        trained=False,
        example="""\
| text | positive |
|---|---|
| El faro se apagó al amanecer. | **La luz del faro dejó de verse al alba.** |""",
    ),
    Task(
        name="word_ranking",
        group=EVALRANK,
        question="Is the synonym of a word nearer than all other words? Each positive of a word "
        "is ranked among all words of the dataset; nothing is trained.",
        records=(),
        texts=(Text("text", "tokens", "string", "the word, in lower case"),),
        needs="one pair of paraphrases or more",
        constructed=False,
        provenance=_PROVENANCE,
        target="neighbours",
        unit="word",
        trained=False,
        example="""\
| text | positive |
|---|---|
| barca | **bote** |""",
    ),
)
