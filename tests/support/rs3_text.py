"""Texts of .rs3 files for tests, and trees: as short texts, and made of any form."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from corpora_recipes.records import DiscourseNode

HEADER = (
    '<rel name="Elaboración" type="rst"/><rel name="Fondo" type="rst"/>'
    '<rel name="Preparación" type="rst"/><rel name="Causa" type="rst"/>'
    '<rel name="Lista" type="multinuc"/><rel name="Contraste" type="multinuc"/>'
)

# None is an EDU, a pair joins nuclei, a triple a nucleus and a satellite.
FORMS = st.recursive(
    st.just(None),
    lambda child: st.one_of(
        st.tuples(st.sampled_from(["Lista", "Contraste"]), st.lists(child, min_size=2, max_size=5)),
        st.tuples(
            st.sampled_from(["Elaboración", "Causa"]), st.tuples(child, child), st.booleans()
        ),
    ),
    max_leaves=25,
)


def grow(form: Any, edus: Iterator[int]) -> DiscourseNode:
    """Make a tree of a form; each EDU takes the next of the numbers."""
    if form is None:
        return DiscourseNode(edu=next(edus))
    relation, parts, *first = form
    nuclei = (first[0], not first[0]) if first else (True,) * len(parts)
    children = tuple(grow(part, edus) for part in parts)
    return DiscourseNode(relation=relation, children=children, nuclei=nuclei)


def shape(node: DiscourseNode) -> str:
    """Write a tree as "Relation(child child*)", nuclei starred, EDUs counted from 1."""
    if node.edu is not None:
        return str(node.edu + 1)
    pairs = zip(node.children, node.nuclei, strict=True)
    children = " ".join(shape(child) + "*" * nucleus for child, nucleus in pairs)
    return f"{node.relation}({children})"


def attributes(reference: str) -> str:
    parent, _, relation = reference.partition(":")
    return f' parent="{parent}" relname="{relation}"' if reference else ""


def segment(number: object, reference: str = "", text: str = "") -> str:
    return f'<segment id="{number}"{attributes(reference)}>{text or f"texto {number}"}</segment>\n'


def group(number: object, kind: str, reference: str = "") -> str:
    return f'<group id="{number}" type="{kind}"{attributes(reference)}/>\n'


def rs3(*body: str, header: str = HEADER) -> str:
    relations = f"<header>\n<relations>{header}</relations>\n</header>"
    return f"<rst>\n{relations}\n<body>\n{''.join(body)}</body>\n</rst>\n"
