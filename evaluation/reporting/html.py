"""The report as one page that needs no network and no other file."""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.reporting.figures import FARTHEST, inline
from evaluation.reporting.inputs import Inputs
from evaluation.reporting.layout import percent
from evaluation.reporting.notes import TIED, notes_of
from evaluation.reporting.sections import sections_of
from evaluation.reporting.tables.audit import TONES
from evaluation.reporting.tables.averages import answers, warning
from evaluation.reporting.tables.compared import FEW_ENCODERS
from evaluation.reporting.tables.layers import Profile, about_layers, profiles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOLDER = Path(__file__).parent
# Colours of the heatmap on either side of the middle one.
_SHADES = 5


def write_html(inputs: Inputs, instances: Sequence[dict[str, Any]], figure: "Figure") -> str:
    """Return the page.

    Args:
        inputs: the results.
        instances: the content of the browser of instances.
        figure: the figure of the scores.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = (_FOLDER / "page.js").read_text("utf-8")
    sections = groupby(sections_of(inputs, "page"), lambda shown: shown[0].chapter)
    described = (
        f"Scores of {', '.join(inputs.names)} on {len(inputs.datasets)} datasets with intervals "
        "and baselines; the table of scores has the numbers."
    )
    return environment.get_template("page.html").render(
        inputs=inputs,
        chapters=[(chapter, list(shown)) for chapter, shown in sections],
        titles={group.abbreviation: group.title for group in inputs.audited},
        warning=warning(inputs),
        answers=answers(inputs),
        tied=TIED,
        many=FEW_ENCODERS,
        tones=TONES,
        notes_of=notes_of,
        heatmaps=[_heatmap(profile) for profile in profiles(inputs)],
        figure=Markup(inline(figure, described)),
        instances=Markup(_json(instances)),
        style=Markup((_FOLDER / "page.css").read_text("utf-8")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _json(content: object) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _heatmap(profile: Profile) -> dict[str, Any]:
    """Return a profile's content for the page: the highest layer on top, as in the figure."""
    count = len(profile.layers)
    order = [*reversed(range(count)), *range(count, len(profile.rows))]
    return {
        "name": profile.name,
        "encoder": profile.encoder,
        "about": about_layers(profile, "Framed"),
        "groups": [(group.abbreviation, len(list(of))) for group, of in groupby(profile.groups)],
        "datasets": profile.datasets,
        "rows": [
            {
                "layer": profile.rows[index],
                "apart": index >= count,
                "cells": [
                    {
                        "text": percent(float(value)),
                        "shade": _shade(float(z)),
                        "best": index in best,
                    }
                    for value, z, best in zip(
                        profile.values[index], profile.standard[index], profile.best, strict=True
                    )
                ],
            }
            for index in order
        ],
    }


def _shade(standard: float) -> str:
    number = round(max(-1.0, min(1.0, standard / FARTHEST)) * _SHADES)
    return f"low-{-number}" if number < 0 else f"high-{number}"
