"""The loop: batch after batch, from a checkpoint if there is one.

A checkpoint is what a killed training goes on from: one file, written whole, without pickle.
"""

import json
import math
import time
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_file
from evaluation.training.material import Material
from evaluation.training.models import Learner, seed_torch
from evaluation.training.objectives import by_objective
from evaluation.training.params import Training

POINTS = 20
"""Of the curve of losses."""
CHECKPOINT_SECONDS = 60.0
"""Between two checkpoints, at least."""
CHECKPOINT_TIMES = 20
"""How many times as long as to write a checkpoint it is until the next, at least."""
_STATES = ("step", "exp_avg", "exp_avg_sq")


def learn(
    name: str, training: Training, learner: Learner, material: Material, checkpoint: Path
) -> list[dict[str, Any]]:
    """Train the encoder of a learner.

    The weights depend on the training, the material and the machine's arithmetic; not on when a run
    was killed and resumed, as each step draws what it needs from the seed and its own number.

    Returns:
        The curve: of each of ``POINTS`` parts of the training, or fewer, its last step and the mean
        of each loss.
    """
    from tqdm import tqdm

    total = training.epochs * -(-len(material) // training.batch)
    parameters = [parameter for _, parameter in learner.parameters()]
    optimizer = torch.optim.AdamW(parameters, weight_decay=0, fused=True)
    state = load_checkpoint(checkpoint, learner, optimizer)
    state = state or {"step": 0, "curve": [], "sums": {}}
    epochs = (material.batches(training.batch, training.seed, n) for n in range(training.epochs))
    batches = chain.from_iterable(epochs)
    saved, pause = time.monotonic(), CHECKPOINT_SECONDS
    learner.model.train()
    with tqdm(
        total=total, initial=state["step"], desc=f"train {name}", unit="batch", disable=None
    ) as bar:
        for step, numbers in islice(enumerate(batches), state["step"], None):
            losses = _step(training, learner, optimizer, material, numbers, step, total)
            for key, loss in losses.items():
                mean = state["sums"].setdefault(key, [0.0, 0])
                mean[0] += loss
                mean[1] += 1
            state["step"] = step + 1
            if (step + 1) * POINTS // total > step * POINTS // total:
                point = {key: value / count for key, (value, count) in state["sums"].items()}
                if not all(map(math.isfinite, point.values())):
                    found, todo = f"{point} up to step {step}", "lower the weights in `objectives`"
                    raise InputError(f"training {name}", "losses that are finite", found, todo)
                state["curve"].append({"step": step + 1, **point})
                state["sums"] = {}
                bar.set_postfix({key: f"{value:.2f}" for key, value in point.items()})
            bar.update()
            if time.monotonic() - saved >= pause and step + 1 < total:
                begun = time.monotonic()
                save_checkpoint(checkpoint, learner, optimizer, state)
                saved = time.monotonic()
                pause = max(CHECKPOINT_SECONDS, CHECKPOINT_TIMES * (saved - begun))
    learner.model.eval()
    curve: list[dict[str, Any]] = state["curve"]
    return curve


def _step(
    training: Training,
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    material: Material,
    numbers: Any,
    step: int,
    total: int,
) -> dict[str, float]:
    """Learn from one batch; return the loss of each objective that it has."""
    seed_torch(training.seed, f"step {step}")
    for group in optimizer.param_groups:
        group["lr"] = learner.rate_at((step + 1) / (total + 1))
    losses = by_objective(
        learner.heads(learner.embed, material.batch(numbers)), training.objectives
    )
    optimizer.zero_grad()
    if losses:
        sum(training.objectives[key] * loss for key, loss in losses.items()).backward()
        parameters = [parameter for _, parameter in learner.parameters()]
        torch.nn.utils.clip_grad_norm_(parameters, learner.largest)
        optimizer.step()
    return {key: float(loss.detach()) for key, loss in losses.items()}


def save_checkpoint(
    path: Path, learner: Learner, optimizer: torch.optim.Optimizer, state: Any
) -> None:
    """Write all weights, the moments of Adam, and where the training is, as JSON."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in learner.parameters():
        tensors[name] = parameter.detach()
        for key, value in optimizer.state[parameter].items():
            tensors[f"{key}/{name}"] = value
    tensors = {name: value.cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps(state)
    with whole_file(path) as temporary:
        save_file(tensors, temporary, {"state": text, "digest": _digest(tensors, text)})


def _digest(tensors: dict[str, Tensor], state: str) -> str:
    """Return the SHA-256 of all weights and moments, and of where the training is."""
    digest = sha256(state.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def load_checkpoint(path: Path, learner: Learner, optimizer: torch.optim.Optimizer) -> Any:
    """Take over what ``save_checkpoint`` wrote; return the state, None if there is no file."""
    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            facts = file.metadata()
        if facts["digest"] != _digest(tensors, facts["state"]):
            raise ValueError("other content than was written")
        with torch.no_grad():
            for name, parameter in learner.parameters():
                parameter.copy_(tensors[name])
                # What had no gradient yet, as no batch had its target, has no moments.
                if f"step/{name}" in tensors:
                    moments = {key: tensors[f"{key}/{name}"] for key in _STATES}
                    moved = {key: value.to(parameter.device) for key, value in moments.items()}
                    optimizer.state[parameter] = moved
        return json.loads(facts["state"])
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
        found, todo = f"{type(error).__name__}: {error}", f"remove {path.parent}, to begin again"
        raise InputError(path, "the checkpoint of this training", found, todo) from None
