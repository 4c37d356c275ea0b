"""The section `evalrank` of params.yaml, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from corpora_recipes.checking import Checked, Some, checked
from evaluation.encoders.encoder import Postprocess
from evaluation.ranking.ranks import Similarity


@dataclass
class EvalRank(Checked):
    """The section `evalrank`."""

    similarities: Some[Similarity] = field(default_factory=lambda: [*get_args(Similarity)])
    postprocessings: Some[Postprocess] = field(
        default_factory=lambda: ["none", "centre", "abtt", "whitening"]
    )


def evalrank_params(params: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return `evalrank` of what ``load_params`` returned for a path: an ``EvalRank`` as a dict."""
    return vars(checked(EvalRank, params["evalrank"], f"{path}: evalrank"))
