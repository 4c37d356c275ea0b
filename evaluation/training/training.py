"""The stage `train`: from the records of a corpus to a model of sentence-transformers."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.memo import Cache
from corpora_recipes.running.outputs import load_json, locked_folder, whole_file, whole_folder
from evaluation.encoders import word_gru
from evaluation.encoders.sentence_transformer import WORD_GRU
from evaluation.training.loop import learn
from evaluation.training.material import (
    HeldOut,
    Material,
    sentences_of,
    training_documents,
    write_material,
)
from evaluation.training.models import (
    Learner,
    encode_by,
    encode_words,
    find_pretrained,
    pretrained_learner,
    word_learner,
    word_tokenizer,
)
from evaluation.training.params import SETTINGS, Training

UNFINISHED = ".unfinished"
"""At the end of the name of the hidden folder that a killed training is resumed from."""
CARD, FILE = "README.md", "training.json"
_LIBRARIES = ("torch", "transformers", "sentence-transformers", "tokenizers")


@dataclass(frozen=True)
class Trained:
    """All that the weights depend on, as JSON; ``Material.counts``; and what ``learn`` returns."""

    setting: dict[str, Any]
    counts: dict[str, int]
    curve: list[dict[str, Any]]


def train(
    name: str,
    training: Training,
    records: Path,
    held_out: HeldOut,
    out: Path,
    card: Callable[[Trained], str],
    memo: Cache | None = None,
) -> tuple[Trained, bool]:
    """Train an encoder, and write it as a model of sentence-transformers.

    A model that ``memo`` remembers is kept if it depends on the same; only its card is written
    again. What a killed run goes on from is beside the folder ``out``.

    Returns:
        What it did, and whether a model was kept.

    Raises:
        InputError: the records are missing, are no documents, or have nothing to learn for an
            objective; or a killed run was of another setting.
    """
    unfinished = out.with_name(f".{out.name}{UNFINISHED}")
    with locked_folder(unfinished, "train"):
        learner, material = _prepare(training, records, held_out, unfinished)
        setting = {
            "training": asdict(training),
            "model": find_pretrained(training.model).revision if training.model else None,
            "material": material.digest(),
            "words": _words_digest(learner),
            "code": code_digest(__name__),
            "versions": {library: version(library) for library in _LIBRARIES},
        }
        kept = memo.get(name, setting) if memo else None
        if kept is None:
            _begin_or_resume(unfinished, setting)
            curve = learn(name, training, learner, material, unfinished / "checkpoint.safetensors")
            trained = Trained(setting, material.counts, curve)
            _write(learner, trained, out, card(trained))
        else:
            trained = replace(Trained(**kept), counts=material.counts)
            with whole_file(out / CARD) as temporary:
                temporary.write_text(card(trained), "utf-8")
        if memo:
            memo.put(name, setting, [out], asdict(trained))
        shutil.rmtree(unfinished, ignore_errors=True)  # Windows keeps the lock
    return trained, kept is not None


def _words_digest(learner: Learner) -> str | None:
    """Return the digest of the vocabulary; of a pretrained model it is in the revision."""
    module = learner.model[0]
    if not isinstance(module, word_gru.WordGru):
        return None
    return sha256(module.tokenizer.to_str().encode()).hexdigest()[:16]


def _begin_or_resume(unfinished: Path, setting: dict[str, Any]) -> None:
    """Write what a training depends on, or check that a killed one depended on the same."""
    path = unfinished / "setting.json"
    if not path.exists():
        with whole_file(path) as temporary:
            temporary.write_text(json.dumps(setting, indent=2) + "\n", "utf-8")
    try:
        before = dict(load_json(path))
    except (ValueError, TypeError, RecursionError):
        before = {}
    if differing := [key for key, value in setting.items() if before.get(key) != value]:
        found = f"one with another {', '.join(differing)} (see {path.name} there)"
        todo = "remove the folder to begin again, or change back what has changed"
        raise InputError(unfinished, "a training that depends on the same", found, todo)


def _prepare(
    training: Training, records: Path, held_out: HeldOut, unfinished: Path
) -> tuple[Learner, Material]:
    """Return what learns, and what it learns from, which is written to a folder."""
    folder = unfinished / "material"
    is_held_out = held_out.__contains__
    if training.model:
        learner = pretrained_learner(training)
        write_material(folder, records, training, is_held_out, encode_by(learner.model))
        return learner, Material(folder)
    tokenizer = word_tokenizer(_texts(records, held_out), SETTINGS[training.setting].vocabulary)
    write_material(folder, records, training, is_held_out, encode_words(tokenizer))
    material = Material(folder)
    return word_learner(training, tokenizer, material), material


def _texts(records: Path, held_out: HeldOut) -> Iterator[str]:
    """Yield every text that is learnt from: sentences and titles."""
    for document in training_documents(records):
        yield document.title
        heading = ""
        for sentence in sentences_of(document, held_out.__contains__):
            if sentence.heading != heading:
                yield (heading := sentence.heading)
            yield sentence.text


def _write(learner: Learner, trained: Trained, out: Path, card: str) -> None:
    with whole_folder(out) as folder:
        learner.model.save_pretrained(str(folder), create_model_card=False)
        if isinstance(learner.model[0], word_gru.WordGru):
            # With its code beside it, it can be loaded where this project is not installed.
            source = Path(word_gru.__file__)
            shutil.copyfile(source, folder / source.name)
            modules = json.loads((folder / "modules.json").read_bytes())
            modules[0]["type"] = WORD_GRU
            (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n", "utf-8")
        (folder / CARD).write_text(card, "utf-8")
        (folder / FILE).write_text(json.dumps(asdict(trained), indent=2) + "\n", "utf-8")
