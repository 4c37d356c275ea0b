"""The `list` command: the corpora of params.yaml and the recipes there are."""

from textwrap import fill
from typing import Any

from corpora_recipes.recipes import load_facts, recipe_names


def listing(params: dict[str, Any]) -> str:
    """Return the listing as text.

    Args:
        params: what ``load_params`` returns.
    """
    lines = ["Corpora of params.yaml:"]
    for name, entry in params["corpora"].items():
        datasets = ", ".join(entry.get("datasets") or {}) or "no datasets"
        lines.append(f"  {name} (recipe {entry.get('recipe')}): {datasets}")
    lines.append("Recipes:")
    for name in recipe_names():
        facts = load_facts(name)
        text = f"{facts['description']} Licence: {facts['licence']}. {facts['homepage'] or ''}"
        lines += [f"  {name}", fill(text, 96, initial_indent="    ", subsequent_indent="    ")]
    return "\n".join(lines)
