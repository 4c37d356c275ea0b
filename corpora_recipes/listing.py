"""The `list` command: the corpora of params.yaml and the recipes there are."""

from pathlib import Path
from textwrap import fill

from corpora_recipes.params import load_corpora
from corpora_recipes.recipes import load_facts, recipe_names


def listing(path: Path) -> str:
    """Return the listing as text.

    Args:
        path: of params.yaml.

    Raises:
        InputError: an entry of params.yaml is wrong.
    """
    lines = ["Corpora of params.yaml:"]
    for corpus in load_corpora(path):
        datasets = ", ".join(corpus.datasets) or "no datasets"
        lines.append(f"  {corpus.name} (recipe {corpus.recipe}): {datasets}")
    lines.append("Recipes:")
    for name in recipe_names():
        facts = load_facts(name)
        text = f"{facts['description']} Licence: {facts['licence']}. {facts['homepage'] or ''}"
        lines += [f"  {name}", fill(text, 96, initial_indent="    ", subsequent_indent="    ")]
    return "\n".join(lines)
