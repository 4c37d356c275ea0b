"""The report as one page that needs nothing else: no network, no other file."""

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.report import neighbours, tables
from evaluation.report.figures import FARTHEST, inline
from evaluation.report.inputs import GROUPS, NEIGHBOURS, Inputs
from evaluation.report.instances import FAR, LIMIT, LONGEST
from evaluation.report.layers import Profile
from evaluation.report.layout import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FOLDER = Path(__file__).parent
# Colours of the heatmap on either side of the middle one.
_SHADES = 5


def write_html(
    inputs: Inputs,
    profiles: Sequence[Profile],
    browser: Sequence[dict[str, Any]],
    figure: "Figure",
) -> str:
    """Return the page.

    Args:
        inputs: what the report is made of.
        profiles: the encoders with several layers.
        browser: what the browser of instances shows.
        figure: of the scores.
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
    shown = [tables.averages(inputs), tables.scores(inputs)]
    described = (
        f"Scores of {', '.join(inputs.names)} on {len(inputs.datasets)} datasets with intervals "
        "and baselines; the table of scores has the numbers."
    )
    return environment.get_template("page.html").render(
        inputs=inputs,
        titles=GROUPS | NEIGHBOURS,
        introduction=tables.introduction(inputs),
        averages=shown[0],
        scores=shown[1],
        notes=tables.notes(shown),
        correlations=tables.correlations(inputs),
        baselines=tables.baselines(inputs),
        pairs=tables.pairs(inputs),
        differences=tables.differences(inputs),
        heatmaps=[_heatmap(profile) for profile in profiles],
        evalrank=neighbours.evalrank(inputs),
        rank_differences=neighbours.rank_differences(inputs),
        postprocessing=neighbours.postprocessing(inputs),
        paralex=neighbours.paralex(inputs),
        paradigm_differences=neighbours.paradigm_differences(inputs),
        clusters=neighbours.clusters(inputs),
        downstream=neighbours.downstream(inputs),
        vocabulary=tables.vocabulary(inputs),
        invariance=tables.invariance(inputs),
        verdicts=tables.verdicts(inputs),
        measurements=tables.measurements(inputs),
        inherited=_inherited(inputs),
        encoders=tables.encoders(inputs),
        figure=Markup(inline(figure, described)),
        limit=LIMIT,
        longest=LONGEST,
        far=FAR,
        instances=Markup(_json(browser)),
        style=Markup((_FOLDER / "page.css").read_text("utf-8")),
        script=Markup(script),
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )


def _json(content: object) -> str:
    """Return JSON that may stand in a script element: without what could end it."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _heatmap(profile: Profile) -> dict[str, Any]:
    """Return what the page draws of a profile: the highest layer on top, as in the figure."""
    count = len(profile.layers)
    order = [*reversed(range(count)), *range(count, len(profile.rows))]
    return {
        "name": profile.name,
        "encoder": profile.encoder,
        "about": tables.about_layers(profile, "Framed"),
        "groups": [(group, len(list(own))) for group, own in groupby(profile.groups)],
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


def _inherited(inputs: Inputs) -> list[tuple[str, str, str]]:
    """Return dataset, gate and reason of the misses that a dataset has from its source."""
    found = []
    for dataset, facts in inputs.audit.items():
        occurring = {c["gate"] for c in facts["checks"] if c["verdict"] == "inherited"}
        for gate, declared in facts.get("inherited", {}).items():
            if gate in occurring:
                found.append((dataset, gate, declared["because"]))
    return found
