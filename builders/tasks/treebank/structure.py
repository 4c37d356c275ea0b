"""Tree depth, top constituents and the order of subject and verb: what the tree looks like."""

from builders.sampling.candidates import Candidate
from builders.sampling.draw import Draw
from builders.sampling.tree import Tree, is_finite
from builders.tasks.treebank_task import (
    ORIGIN,
    WORD,
    TreebankTask,
    of_worthwhile_classes,
    offered,
    told_by,
)

# Three neighbouring depths: with more, few sentences of one length have all of them.
DEPTHS = range(4, 7)


def _depth(tree: Tree, draw: Draw) -> Candidate | str:
    del draw
    depth = tree.depth()
    return offered(tree, label=str(depth)) if depth in DEPTHS else "of_another_depth"


def _constituents(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with what its main verb has: a subject, an object, other complements."""
    del draw
    if tree.main.upos != "VERB":
        return "without_main_verb"
    subjects = tree.related(tree.root, "nsubj", "csubj")
    order = "V"
    if subjects:
        order = "SV" if subjects[0] < tree.root else "VS"
    parts = [order]
    parts += ["O"] * bool(tree.related(tree.root, "obj"))
    parts += ["X"] * bool(tree.related(tree.root, "obl", "ccomp", "xcomp"))
    return offered(tree, label="+".join(parts))


def _order(tree: Tree, draw: Draw) -> Candidate | str:
    """Return the sentence with whether its subject, a noun or a name, precedes its main verb."""
    del draw
    if tree.main.upos != "VERB" or not is_finite(tree.main):
        return "without_finite_main_verb"
    subjects = tree.related(tree.root, "nsubj")
    if len(subjects) != 1 or tree.words[subjects[0]].upos not in ("NOUN", "PROPN"):
        return "without_one_noun_as_subject"
    return told_by(tree, tree.root, "SV" if subjects[0] < tree.root else "VS")


DEPTH = TreebankTask(
    name="tree_depth",
    question="How many words are on the longest way from the root of the dependency tree to a "
    "leaf?",
    labels=tuple(map(str, DEPTHS)),
    needs="a sentence whose tree has a depth of 4, 5 or 6, as long as one of each other class",
    example="""\
| sentence | class |
|---|---|
| Decían que la laguna del pueblo no tenía fondo. | **4** |""",
    provenance=ORIGIN,
    find=_depth,
)

CONSTITUENTS = TreebankTask(
    name="top_constituents",
    question="What does the main verb (V) have: a subject (S) before or after it, an object (O), "
    "an oblique or a clause as a complement (X)?",
    needs="a sentence with a verb as its root",
    example="""\
| sentence | class |
|---|---|
| La draga tocó fondo a los cuatro metros. | **SV+O+X** |""",
    provenance=ORIGIN,
    find=_constituents,
    settle=of_worthwhile_classes,
)

ORDER = TreebankTask(
    name="subject_order",
    question="Does the subject of the main verb stand before it (SV) or after it (VS)?",
    labels=("SV", "VS"),
    needs="a sentence with a finite main verb and one noun or name as its subject",
    example="""\
| sentence | class |
|---|---|
| Un verano llegó una draga. | **VS** |""",
    provenance=WORD,
    find=_order,
)
