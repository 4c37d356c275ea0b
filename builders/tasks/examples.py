"""Tasks whose rows are taken, not constructed: labelled and scored examples, paradigms, rankings.

Examples are a text or a pair of texts with a class or a score: Spanish SentEval (Araujo et al.
2022, section 2; after Conneau and Kiela 2018), the relations of the Penn Discourse Treebank in
DiscoEval (Chen, Chu and Gimpel 2019, section 3.1) and of the DISRPT shared task of 2025 (task 3).
A row of paradigms (ParaLex, by Sumbler et al.) is a cluster of terms, such as the days of the week;
one of analogies (Mikolov, Yih and Zweig 2013) the words of two pairs. A row of a ranking (EvalRank,
Wang, Kuo and Li 2022) is a text of the background with its paraphrases as positives, each of which
is ranked among all other texts. Nothing is trained for tasks of words and rankings.
"""

from builders.tasks.task import ExampleTask, Task, make_task

# Of a paradigm: two terms are seeds, at least one is looked for.
FEWEST_TERMS = 3

_NAMES = (
    *("sentence_classification", "pair_classification", "relatedness", "similarity"),
    *("linguistic_probing", "explicit_relations", "implicit_relations", "unit_relations"),
    *("paradigms", "analogies", "categories"),
)
TASKS = tuple(make_task(ExampleTask, name) for name in _NAMES)
RANKING_TASKS = tuple(make_task(Task, name) for name in ("sentence_ranking", "word_ranking"))
