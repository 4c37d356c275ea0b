"""What a package states for mteb: BibTeX of the citations, and the origins of the texts."""

import pytest

from builders.packaging.harnesses import _bibtex
from corpora_recipes.recipe import RECIPES, read_facts

AT = "In Proceedings of X (X 2020), pages 1–2, Lima"


@pytest.mark.parametrize(
    ("citation", "entry"),
    [
        (
            f"Ana Ñu, B. C. Li and Eva de la O (2020). Title: what? {AT}. https://x.org/1.2",
            "@misc{nu2020,\n  author = {Ana Ñu and B. C. Li and Eva de la O},\n"
            f"  note = {{{AT}.}},\n  title = {{Title: what}},\n"
            "  url = {https://x.org/1.2},\n  year = {2020},\n}\n",
        ),
        ("Wikipedia contributors. Wikipedia. Dumps, https://dumps.wikimedia.org/", ""),
        ("", ""),
    ],
)
def test_articles_as_bibtex(citation: str, entry: str) -> None:
    assert _bibtex(citation) == entry


def test_provenance_of_what_is_shipped() -> None:
    """Only users know that of their documents and words; parts have their own, or none."""
    unknown = set()
    for file in RECIPES.glob("*/corpus.yaml"):
        facts = read_facts(file)
        parts = [*facts.collections.values(), *facts.treebanks.values()]
        if not facts.provenance and not any(part.provenance for part in parts):
            unknown.add(file.parent.name)
    assert unknown == {"documents", "word_pairs"}
