"""Texts of .rs3 files for tests, and trees as short texts."""

from corpora_recipes.records import DiscourseNode

HEADER = (
    '<rel name="Elaboración" type="rst"/><rel name="Fondo" type="rst"/>'
    '<rel name="Preparación" type="rst"/><rel name="Causa" type="rst"/>'
    '<rel name="Lista" type="multinuc"/><rel name="Contraste" type="multinuc"/>'
)


def shape(node: DiscourseNode) -> str:
    """Write a tree as "Relation(child child*)", nuclei starred, EDUs counted from 1."""
    if node.edu is not None:
        return str(node.edu + 1)
    pairs = zip(node.children, node.nuclei, strict=True)
    children = " ".join(shape(child) + "*" * nucleus for child, nucleus in pairs)
    return f"{node.relation}({children})"


def segment(number: object, reference: str = "", text: str = "") -> str:
    parent, _, relation = reference.partition(":")
    attributes = f' parent="{parent}" relname="{relation}"' if reference else ""
    return f'<segment id="{number}"{attributes}>{text or f"texto {number}"}</segment>\n'


def group(number: object, kind: str, reference: str = "") -> str:
    parent, _, relation = reference.partition(":")
    attributes = f' parent="{parent}" relname="{relation}"' if reference else ""
    return f'<group id="{number}" type="{kind}"{attributes}/>\n'


def rs3(*body: str, header: str = HEADER) -> str:
    relations = f"<header>\n<relations>{header}</relations>\n</header>"
    return f"<rst>\n{relations}\n<body>\n{''.join(body)}</body>\n</rst>\n"
