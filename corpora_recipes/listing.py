"""The `list` command: the corpora of params.yaml and the recipes there are."""

from typing import Any

from corpora_recipes.recipes import load_facts, recipe_names


def listing(params: dict[str, Any]) -> str:
    """Return the listing as text.

    Args:
        params: what ``load_params`` returns.
    """
    lines = ["corpora of params.yaml:"]
    for name, entry in params["corpora"].items():
        datasets = ", ".join(entry.get("datasets") or {}) or "no datasets"
        lines.append(f"  {name:24} recipe {entry.get('recipe')}: {datasets}")
    lines.append("recipes:")
    for name in recipe_names():
        facts = load_facts(name)
        description = " ".join(facts["description"].split())
        lines.append(f"  {name:24} {facts['licence']}: {description}")
    return "\n".join(lines)
