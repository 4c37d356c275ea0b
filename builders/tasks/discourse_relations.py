"""Discourse relations (DR) and nuclearity (NUC) of two neighbouring parts of a text.

The task Discourse Relations of Chen et al. (2019): an instance is an inner node of a text's
discourse tree, made binary with right branching (Sagae and Lavie 2005); its two texts are the EDUs
of the node's two children. What the class names is the option ``label``: in Spanish DiscoEval the
nuclearity, nucleus first, and the relation; in DiscoEval the nuclearity in the order of the text,
and the relation (41 classes in the RST Discourse Treebank); or the relation alone (18). Nuclearity
is asked for alone, in the order of the text, by the task of that name (Koto, Lau and Baldwin 2021,
"Discourse probing of pretrained language models", one of its seven tasks).
"""

from collections.abc import Iterator
from typing import Any

from builders.tasks.task import Task, make_task
from corpora_recipes.records import DiscourseNode, DiscourseTree

# Whether each of the two children is a nucleus, in text order, to the column `order`.
_ORDERS = {(True, True): "NN", (True, False): "NS", (False, True): "SN"}
NUCLEUS_FIRST, RELATION, NUCLEARITY = "nucleus_first", "relation", "nuclearity"


def binarise(tree: DiscourseTree) -> DiscourseNode:
    """Return the root of the tree with right-branching binary nodes.

    A node of n nuclei c1 … cn becomes the n - 1 nested nodes (c1 (c2 (… cn))), all of the same
    multinuclear relation; a node of a nucleus and a satellite stays as it is.
    """
    binary: dict[int, DiscourseNode] = {}
    for node in reversed(list(_preorder(tree.root))):
        children = [binary[id(child)] for child in node.children]
        joined = children.pop() if children else node
        # From the right: the first step joins the last two children.
        for place in reversed(range(len(children))):
            nuclei = (node.nuclei[place], node.nuclei[-1])
            joined = DiscourseNode(
                relation=node.relation, children=(children[place], joined), nuclei=nuclei
            )
        binary[id(node)] = joined
    return binary[id(tree.root)]


def instances(tree: DiscourseTree, label: str = NUCLEUS_FIRST) -> list[dict[str, Any]]:
    """Return the relations of a text, as the columns of their rows.

    If classes name the nucleus first, it is on the left wherever it is in the text; otherwise, and
    if both are nuclei, the sides are in text order.

    Args:
        tree: of n EDUs.
        label: what classes name, a choice of the option, or ``NUCLEARITY``.

    Returns:
        The n - 1 inner nodes of the binary tree in pre-order: a node before its children, the
        child that comes first in the text before the other.
    """
    return [_instance(node, tree, label) for node in _preorder(binarise(tree)) if node.children]


def _instance(node: DiscourseNode, tree: DiscourseTree, label: str) -> dict[str, Any]:
    order = nuclearity = _ORDERS[node.nuclei[0], node.nuclei[1]]
    left, right = (child.edus() for child in node.children)
    if label == NUCLEUS_FIRST and order == "SN":
        left, right, nuclearity = right, left, "NS"
    labels = {RELATION: node.relation, NUCLEARITY: order}
    return {
        "label": labels.get(label, f"{nuclearity}-{node.relation}"),
        "relation": node.relation,
        "order": order,
        "left": [tree.edus[edu] for edu in left],
        "right": [tree.edus[edu] for edu in right],
        "left_first": left[0],
        "left_last": left[-1],
        "right_first": right[0],
        "right_last": right[-1],
    }


def _preorder(root: DiscourseNode) -> Iterator[DiscourseNode]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


TASKS = tuple(make_task(Task, name) for name in ("discourse_relations", NUCLEARITY))
