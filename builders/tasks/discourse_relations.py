"""Discourse relations (DR): which relation holds between two neighbouring parts of a text?

The task Discourse Relations of Chen et al. (2019): an instance is an inner node of a text's
discourse tree, made binary with right branching (Sagae and Lavie 2005); its two texts are the EDUs
of the node's two children. What the class names is the option ``label``: in Spanish DiscoEval the
nuclearity, nucleus first, and the relation; in DiscoEval the nuclearity in the order of the text,
and the relation (41 classes in the RST Discourse Treebank); or the relation alone (18).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from builders.tasks.groups import DR
from builders.tasks.task import Column, Option, Task, Text
from corpora_recipes.records import DiscourseNode, DiscourseTree

# Whether each of the two children is a nucleus, in text order, to the column `order`.
_ORDERS = {(True, True): "NN", (True, False): "NS", (False, True): "SN"}
NUCLEUS_FIRST, TEXT_ORDER, RELATION = LABELS = ("nucleus_first", "text_order", "relation")


@dataclass(frozen=True, slots=True)
class RelationInstance:
    """An inner node of a binary discourse tree.

    Where the label is "nucleus_first", the nucleus is on the left wherever it is in the text.
    Otherwise, and if both are nuclei, the sides are in text order.

    Attributes:
        label: nuclearity and relation, such as "NS-Elaboración", or the relation alone.
        relation: the relation alone.
        order: nuclearity in text order: "NS", "SN" or "NN".
        left: the EDUs of the left side.
        right: the EDUs of the right side.
        left_first: index of the left side's first EDU in the text, from 0.
        left_last: index of its last EDU.
        right_first: as ``left_first``.
        right_last: as ``left_last``.
    """

    label: str
    relation: str
    order: str
    left: list[str]
    right: list[str]
    left_first: int
    left_last: int
    right_first: int
    right_last: int


def binarise(tree: DiscourseTree) -> DiscourseNode:
    """Return the root of the tree with right-branching binary nodes.

    A node of n nuclei c1 … cn becomes the n - 1 nested nodes (c1 (c2 (… cn))), all of the same
    multinuclear relation; a node of a nucleus and a satellite stays as it is.
    """
    made: dict[int, DiscourseNode] = {}
    for node in reversed(list(_preorder(tree.root))):
        children = [made[id(child)] for child in node.children]
        joined = children.pop() if children else node
        # From the right: the first step joins the last two children.
        for place in reversed(range(len(children))):
            nuclei = (node.nuclei[place], node.nuclei[-1])
            joined = DiscourseNode(
                relation=node.relation, children=(children[place], joined), nuclei=nuclei
            )
        made[id(node)] = joined
    return made[id(tree.root)]


def instances(tree: DiscourseTree, label: str = NUCLEUS_FIRST) -> list[RelationInstance]:
    """Return the relations of a text.

    Args:
        tree: of n EDUs.
        label: what classes name, one of ``LABELS``.

    Returns:
        The n - 1 inner nodes of the binary tree in pre-order: a node before its children, the
        child that comes first in the text before the other.
    """
    return [_instance(node, tree, label) for node in _preorder(binarise(tree)) if node.children]


def _instance(node: DiscourseNode, tree: DiscourseTree, label: str) -> RelationInstance:
    order = nuclearity = _ORDERS[node.nuclei[0], node.nuclei[1]]
    left, right = (child.edus() for child in node.children)
    if label == NUCLEUS_FIRST and order == "SN":
        left, right, nuclearity = right, left, "NS"
    return RelationInstance(
        label=node.relation if label == RELATION else f"{nuclearity}-{node.relation}",
        relation=node.relation,
        order=order,
        left=[tree.edus[edu] for edu in left],
        right=[tree.edus[edu] for edu in right],
        left_first=left[0],
        left_last=left[-1],
        right_first=right[0],
        right_last=right[-1],
    )


def _preorder(root: DiscourseNode) -> Iterator[DiscourseNode]:
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo.extend(reversed(node.children))


TASK = Task(
    name="discourse_relations",
    group=DR,
    question="Which discourse relation joins the two spans of a rhetorical structure tree, and "
    "which of them is the nucleus?",
    records=("trees",),
    labels=(),
    texts=(
        Text(
            "left",
            "left_tokens",
            "strings",
            "elementary discourse units of the nucleus if label is nucleus_first; otherwise, or of "
            "two nuclei, those of the span that comes first in the text",
            count=None,
        ),
        Text(
            "right",
            "right_tokens",
            "strings",
            "elementary discourse units of the other span",
            count=None,
        ),
    ),
    needs="a relation",
    constructed=False,
    example="""\
| left | right | class |
|---|---|---|
| Se dragó la bocana | para que entraran los barcos. | **NS-Propósito** |""",
    options={
        "label": Option(LABELS, "trees", "What a class names (with nuclearity, or the relation)")
    },
    provenance={
        "relation": Column("string", "the relation, or its class in the treebank"),
        "order": Column(
            "string", "NS, SN or NN: nucleus (N) and satellite (S) in the order of the text"
        ),
        "left_first": Column("integer", "index of the first unit of `left` in its text"),
        "left_last": Column("integer", "index of the last one"),
        "right_first": Column("integer", "index of the first unit of `right` in its text"),
        "right_last": Column("integer", "index of the last one"),
    },
)
