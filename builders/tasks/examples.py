"""Tasks whose rows are taken, not constructed: labelled and scored examples, paradigms, rankings.

Examples are a text or a pair of texts with a class or a score: Spanish SentEval (Araujo et al.
2022, section 2; after Conneau and Kiela 2018), the relations of the Penn Discourse Treebank in
DiscoEval (Chen, Chu and Gimpel 2019, section 3.1) and of the DISRPT shared task of 2025 (task 3).
A row of paradigms (ParaLex, by Sumbler et al.) is a cluster of terms, such as the days of the week.
A row of a ranking (EvalRank, Wang, Kuo and Li 2022) is a text of the background with its
paraphrases as positives, each of which is ranked among all other texts. Nothing is trained for
paradigms and rankings.
"""

from dataclasses import replace

from builders.tasks.benchmarks import DR, EVALRANK, LPT, PARALEX, PDTB_E, PDTB_I, SC, SPC, SS, Group
from builders.tasks.task import Column, ExampleTask, Task, Text, Unit, about

# Of a paradigm: two terms are seeds, at least one is looked for.
FEWEST_TERMS = 3

_ONE = (Text("sentence", "tokens", "string", "natural text"),)
_TWO = (
    Text("sentence1", "tokens1", "string", "natural text of the first sentence"),
    Text("sentence2", "tokens2", "string", "natural text of the second"),
)
_ARGUMENTS = (
    Text("sentence1", "tokens1", "string", "natural text of the first argument"),
    Text("sentence2", "tokens2", "string", "natural text of the second"),
)
_TERMS = Text("terms", "tokens", "strings", "the terms of the cluster, as in the source", None)


_UNITS = (
    Text("sentence1", "tokens1", "string", "natural text of the unit that comes first in the text"),
    Text("sentence2", "tokens2", "string", "natural text of the other"),
)


def _relation_task(name: str, group: Group) -> ExampleTask:
    """Return a task on the arguments of discourse relations; rare classes are left out."""
    # Chen, Chu and Gimpel 2019, section 3.1.
    return ExampleTask(
        **about(name), group=group, texts=_ARGUMENTS, deduplicate=True, min_class_size=10
    )


TASKS = (
    ExampleTask(**about("sentence_classification"), group=SC, texts=_ONE),
    ExampleTask(**about("pair_classification"), group=SPC, texts=_TWO),
    ExampleTask(**about("relatedness"), group=SS, texts=_TWO, target="score"),
    ExampleTask(**about("similarity"), group=SS, texts=_TWO, target="score", trained=False),
    ExampleTask(**about("linguistic_probing"), group=LPT, texts=_ONE),
    _relation_task("explicit_relations", PDTB_E),
    _relation_task("implicit_relations", PDTB_I),
    # A probe of 17 classes is costly, and with ten folds there are four times as many.
    replace(_relation_task("unit_relations", DR), texts=_UNITS, folds=5),
    ExampleTask(
        **about("paradigms"),
        group=PARALEX,
        texts=(_TERMS,),
        target="neighbours",
        unit="word",
        trained=False,
        named_by_language=True,
    ),
)


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


RANKING_TASKS = (
    _ranking_task("sentence", "natural text of the sentence"),
    _ranking_task("word", "the word, in lower case"),
)
