"""What a killed training goes on from: one file, written whole, without pickle."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from evaluation.training.models import Learner

_STATES = ("step", "exp_avg", "exp_avg_sq")


def save(path: Path, learner: Learner, optimizer: torch.optim.Optimizer, state: Any) -> None:
    """Write all weights, the optimiser's moments, and where the training is.

    Args:
        path: of the file.
        learner: with the weights.
        optimizer: Adam, or one of its kind.
        state: JSON.
    """
    tensors: dict[str, Tensor] = {}
    for name, parameter in learner.parameters():
        tensors[name] = parameter.detach()
        for key, value in optimizer.state[parameter].items():
            tensors[f"{key}/{name}"] = value
    with whole_file(path) as temporary:
        save_file(
            {name: value.cpu().contiguous() for name, value in tensors.items()},
            temporary,
            {"state": json.dumps(state)},
        )


def load(path: Path, learner: Learner, optimizer: torch.optim.Optimizer) -> Any:
    """Take over what ``save`` wrote.

    Returns:
        The state; None if there is no file.

    Raises:
        InputError: it is damaged, or not of this encoder.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file, torch.no_grad():
            names = set(file.keys())
            for name, parameter in learner.parameters():
                parameter.copy_(file.get_tensor(name))
                # What had no gradient yet, as no batch had its target, has no moments.
                if f"step/{name}" in names:
                    optimizer.state[parameter] = {
                        key: file.get_tensor(f"{key}/{name}").to(parameter.device)
                        for key in _STATES
                    }
            return json.loads(file.metadata()["state"])
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            path,
            expected="the checkpoint of this training",
            found=f"{type(error).__name__}: {error}",
            todo=f"remove {path.parent}, to begin again",
        ) from None
