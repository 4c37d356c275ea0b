"""What a run has left out, stage by stage, and why: ``data/left_out/STAGE.json``."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.folders import LEFT_OUT
from corpora_recipes.running.outputs import whole_file


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why something was left out; ``asked_for`` if people must ask for it, which is no fault."""

    why: str
    asked_for: bool = False

    @classmethod
    def because(cls, error: InputError) -> "LeftOut":
        """Return the reason that an error gives; corpora to be asked for have errors of a kind."""
        how_to_get = getattr(error, "how_to_get", "")
        return cls(how_to_get, True) if how_to_get else cls(str(error))


def write_left_out(stage: str, left_out: Mapping[str, LeftOut]) -> None:
    """Write what a stage has left out: name to reason."""
    reasons = {name: asdict(reason) for name, reason in left_out.items()}
    text = json.dumps(reasons, ensure_ascii=False, indent=2)
    with whole_file(LEFT_OUT / f"{stage}.json") as temporary:
        temporary.write_text(text + "\n", "utf-8")


def read_left_out(stage: str) -> dict[str, LeftOut]:
    """Return what a stage has left out; nothing if it has not run."""
    try:
        reasons = json.loads((LEFT_OUT / f"{stage}.json").read_bytes())
        return {name: LeftOut(**reason) for name, reason in reasons.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
