"""The model card of a trained encoder: what it has learnt from, and how."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpora_recipes.escaping import render
from corpora_recipes.hashing import sha256_of
from evaluation.training.held_out import HeldOut
from evaluation.training.params import OBJECTIVES, SETTINGS
from evaluation.training.training import Trained

PAGE = Path(__file__).with_name("card.md.jinja")


def model_card(
    name: str, corpora: Mapping[str, Any], records: Path, held_out: HeldOut, trained: Trained
) -> str:
    """Return the text of README.md of a model.

    Args:
        name: of the encoder.
        corpora: `corpora` of params.yaml.
        records: of the corpus that it was trained on.
        held_out: the sentences that it must not see.
        trained: what the training did.
    """
    training = trained.setting["training"]
    objectives = training["objectives"]
    points = [
        [point["step"], *(f"{point[key]:.3f}" if key in point else "–" for key in objectives)]
        for point in trained.curve
    ]
    return render(
        PAGE,
        {
            "name": name,
            "training": training,
            "sizes": None if training["model"] else SETTINGS[training["setting"]],
            "corpus": corpora[training["corpus"]]["corpus"],
            "records": sha256_of(records),
            "held_out": held_out,
            "digest": held_out.digest(),
            "trained": trained,
            "objectives": [(key, OBJECTIVES[key], f"{objectives[key]:g}") for key in objectives],
            "curve": points,
        },
    )
