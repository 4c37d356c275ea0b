"""Renders Markdown pages that show audits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from builders.audit_report import GATES, SURFACE_FORM, inherited_of, shown_number, verdict_of
from corpora_recipes import escaping

_FACTS: Mapping[str, Any] = {
    "titles": {gate: Markup(title) for gate, title in GATES.items()},
    "marks": {
        "not applicable": "–",
        "within chance": "pass (within chance)",
        SURFACE_FORM: Markup(f"**{SURFACE_FORM}**"),
        "undeclared": Markup("**undeclared**"),
        "miss": Markup("**miss**"),
    },
    "inherited_of": inherited_of,
    "shown_number": shown_number,
    "verdict_of": verdict_of,
}


def render(template: Path, facts: Mapping[str, Any]) -> str:
    """Render like ``escaping.render``; templates may import ``gates.md.jinja`` "with context"."""
    return escaping.render(template, {**_FACTS, **facts}, Path(__file__).parent)
