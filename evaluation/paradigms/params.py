"""The section `paralex` of params.yaml, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import StrictInt

from corpora_recipes.checking import Checked, Some, checked, described
from evaluation.paradigms.neighbours import Casing


@dataclass
class ParaLex(Checked):
    """The section `paralex`; the threshold is that of Sumbler et al. (2018)."""

    casings: Some[Casing] = field(default_factory=lambda: [*get_args(Casing)])
    coherence_threshold: Annotated[
        StrictInt, described("how many seeds must suggest a term, an integer from 1", ge=1)
    ] = 2


def paralex_params(params: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return `paralex` of what ``load_params`` returned for a path: a ``ParaLex`` as a dict."""
    return vars(checked(ParaLex, params["paralex"], f"{path}: paralex"))
