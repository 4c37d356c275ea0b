"""The stage `train`: encoders trained on the structure of documents (Chen et al. 2019, section 4).

Heads predict each sentence's targets from its vector; the encoder is saved without them. The loop
starts from the checkpoint of a killed training, if there is one: a single file without pickle.
"""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor, nn
from torch.nn import functional

from corpora_recipes.escaping import render
from corpora_recipes.hashing import keyed_hash, sha256_of
from corpora_recipes.running.cache import Cache
from corpora_recipes.running.code import code_digest
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import (
    load_json,
    locked_folder,
    whole_file,
    whole_folder,
    write_whole,
)
from evaluation.arrays import Counts
from evaluation.encoders import word_gru
from evaluation.encoders.sentence_transformer import WORD_GRU
from evaluation.encoders.transformer import Source, find_model, prepare_torch
from evaluation.encoders.word_gru import UNKNOWN, WordGru
from evaluation.params import OBJECTIVES, SETTINGS, Objective, Sizes, Training
from evaluation.training.material import (
    BINS,
    LEVELS,
    Batch,
    HeldOut,
    Material,
    Texts,
    Tokens,
    sentences_of,
    training_documents,
    write_material,
)

# Words of a sentence that are read (Chen et al., released code).
MAX_WORDS = 200
MAX_TOKENS = 128
# Texts from which the vocabulary is taken: more have the same frequent words.
_VOCABULARY_TEXTS = 2_000_000


@dataclass(frozen=True)
class Learner:
    """An encoder in training, the heads that predict targets from its vectors, and the optimiser's
    settings.

    ``pad`` is the padding token, ``rate`` the highest learning rate. The rate rises in the share
    ``warmup`` of the steps and then falls to 0 (0: it is constant). ``max_norm``: of the gradients,
    which are clipped to it.
    """

    model: SentenceTransformer
    heads: nn.Module
    pad: int
    rate: float
    warmup: float
    max_norm: float

    def embed(self, texts: Sequence[Tokens]) -> Tensor:
        """Return the vectors of texts, float32 [texts, dimension]."""
        longest = max(1, *map(len, texts)) if texts else 1
        ids = np.full((len(texts), longest), self.pad, np.int64)
        mask = np.zeros_like(ids)
        for number, text in enumerate(texts):
            ids[number, : len(text)] = text
            mask[number, : len(text)] = 1
        device = self.model.device
        features = {
            "input_ids": torch.from_numpy(ids).to(device),
            "attention_mask": torch.from_numpy(mask).to(device),
        }
        vectors: Tensor = self.model(features)["sentence_embedding"]
        return vectors

    def rate_at(self, progress: float) -> float:
        """Return the learning rate after a share of the steps."""
        if not self.warmup:
            return self.rate
        return self.rate * min(progress / self.warmup, (1 - progress) / (1 - self.warmup), 1)

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        """Return the trained parameters, by name."""
        modules = nn.ModuleDict({"model": self.model, "heads": self.heads})
        return [(name, value) for name, value in modules.named_parameters() if value.requires_grad]


def word_learner(training: Training, tokenizer: Tokenizer, material: Material) -> Learner:
    """Return a new encoder of words and a GRU, with random weights by the seed."""
    # Small products, which more threads do not make faster; and the same bits on any machine size.
    torch.set_num_threads(1)
    device = prepare_torch(torch)
    # It would fill all memory before it is used, to show errors, and take a third of the time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    sizes = SETTINGS[training.setting]
    seed_torch(training.seed, "encoder")
    words = WordGru(tokenizer, sizes.embedding, sizes.hidden, MAX_WORDS)
    pooling = Pooling(words.get_embedding_dimension(), "mean")
    model = SentenceTransformer(modules=[words, pooling], device=str(device))
    seed_torch(training.seed, "heads")
    counts = material.word_counts(tokenizer.get_vocab_size())
    dimension = words.get_embedding_dimension()
    heads = BagsOfWords(training.objectives, dimension, sizes, words.words, counts)
    # Adam's usual rate, as in the released code of Chen et al.
    return Learner(model, heads.to(device), UNKNOWN, rate=1e-3, warmup=0, max_norm=5)


def word_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Return a tokeniser of the most frequent lower-case words, marks and Chinese characters."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary, special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(islice(texts, _VOCABULARY_TEXTS), trainer)
    if tokenizer.get_vocab_size() < 2:
        expected = "words in the sentences of train that are in no test"
        todo = "read more documents, or name another corpus"
        raise InputError("the vocabulary", expected, "none", todo)
    return tokenizer


def pretrained_learner(training: Training) -> Learner:
    """Return a pretrained model, with new heads by the seed."""
    device = prepare_torch(torch)
    model = find_pretrained(training.model).load(SentenceTransformer, device=str(device))
    seed_torch(training.seed, "heads")
    heads = Contrasts(training.objectives, model.get_embedding_dimension())
    # As sentence-transformers and BERT are usually trained further.
    pad = model.tokenizer.pad_token_id or 0
    return Learner(model, heads.to(device), pad, rate=2e-5, warmup=0.1, max_norm=1)


def find_pretrained(model: str) -> Source:
    """Find a model of sentence-transformers, or of transformers, whose states get averaged."""
    try:
        return find_model(model, "main", "modules.json")
    except InputError:
        return find_model(model, "main", "config.json")


def encode_by(model: SentenceTransformer) -> Callable[[list[str]], list[list[int]]]:
    """Return the function from texts to the numbers of their tokens, of a pretrained model."""
    longest = min(model.max_seq_length or MAX_TOKENS, MAX_TOKENS)

    def encode(texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = model.tokenizer(texts, truncation=True, max_length=longest)
        numbers: list[list[int]] = encoded["input_ids"]
        return numbers

    return encode


def encode_words(tokenizer: Tokenizer) -> Callable[[list[str]], list[list[int]]]:
    """Return the function from texts to the numbers of their words, ``MAX_WORDS`` at most."""

    def encode(texts: list[str]) -> list[list[int]]:
        return [encoded.ids[:MAX_WORDS] for encoded in tokenizer.encode_batch_fast(texts)]

    return encode


def seed_torch(seed: int, *purpose: str) -> None:
    """Seed torch's generator by a seed and the purpose of the draws."""
    torch.manual_seed(keyed_hash(seed, "training", *purpose) >> 1)


# Of the curve of losses.
POINTS = 20
# Between two checkpoints, at least.
CHECKPOINT_SECONDS = 60.0
# Times the duration of writing a checkpoint between two of them, at least.
CHECKPOINT_TIMES = 20
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
        torch.nn.utils.clip_grad_norm_(parameters, learner.max_norm)
        optimizer.step()
    return {key: float(loss.detach()) for key, loss in losses.items()}


def save_checkpoint(
    path: Path, learner: Learner, optimizer: torch.optim.Optimizer, state: Any
) -> None:
    """Write all weights, the moments of Adam, and the state of the loop as JSON."""
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
    """Return the SHA-256 of all weights and moments, and of the state of the loop."""
    digest = sha256(state.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode() + tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def load_checkpoint(path: Path, learner: Learner, optimizer: torch.optim.Optimizer) -> Any:
    """Load what ``save_checkpoint`` wrote; return the state of the loop, None without a file."""
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
                # A parameter without a gradient yet, as no batch had its target, has no moments.
                if f"step/{name}" in tensors:
                    moments = {key: tensors[f"{key}/{name}"] for key in _STATES}
                    moved = {key: value.to(parameter.device) for key, value in moments.items()}
                    optimizer.state[parameter] = moved
        return json.loads(facts["state"])
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
        found, todo = f"{type(error).__name__}: {error}", f"remove {path.parent}, to begin again"
        raise InputError(path, "the checkpoint of this training", found, todo) from None


# At the end of the name of the hidden folder that a killed training is resumed from.
UNFINISHED = ".unfinished"
CARD, FILE = "README.md", "training.json"
_LIBRARIES = ("torch", "transformers", "sentence-transformers", "tokenizers")


@dataclass(frozen=True)
class Trained:
    """What the weights depend on, as JSON; ``Material.counts``; and the curve of ``learn``."""

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
    cache: Cache | None = None,
) -> tuple[Trained, bool]:
    """Train an encoder, and write it as a model of sentence-transformers.

    A model in ``cache`` is reused if it depends on the same; only its card is written again. A
    killed run is resumed from a hidden folder beside ``out``.

    Returns:
        How it was trained, and whether a model was reused.
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
        cached = cache.get(name, setting) if cache else None
        if cached is None:
            _begin_or_resume(unfinished, setting)
            curve = learn(name, training, learner, material, unfinished / "checkpoint.safetensors")
            trained = Trained(setting, material.counts, curve)
            _write(learner, trained, out, card(trained))
        else:
            trained = replace(Trained(**cached), counts=material.counts)
            write_whole(out / CARD, card(trained))
        if cache:
            cache.put(name, setting, [out], asdict(trained))
        shutil.rmtree(unfinished, ignore_errors=True)  # Windows keeps the lock
    return trained, cached is not None


def model_card(
    name: str, corpora: Mapping[str, Any], records: Path, held_out: HeldOut, trained: Trained
) -> str:
    """Return the model card, README.md: what an encoder has learnt from, and how."""
    training = trained.setting["training"]
    objectives = training["objectives"]
    points = [
        [point["step"], *(f"{point[key]:.3f}" if key in point else "–" for key in objectives)]
        for point in trained.curve
    ]
    return render(
        Path(__file__).with_name("card.md.jinja"),
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


def _words_digest(learner: Learner) -> str | None:
    """Return the digest of the vocabulary; of a pretrained model it is in the revision."""
    module = learner.model[0]
    if not isinstance(module, word_gru.WordGru):
        return None
    return sha256(module.tokenizer.to_str().encode()).hexdigest()[:16]


def _begin_or_resume(unfinished: Path, setting: dict[str, Any]) -> None:
    """Write the setting of a training, or check that a killed one had the same."""
    path = unfinished / "setting.json"
    if not path.exists():
        write_whole(path, json.dumps(setting, indent=2) + "\n")
    try:
        stored = dict(load_json(path))
    except (ValueError, TypeError, RecursionError):
        stored = {}
    if differing := [key for key, value in setting.items() if stored.get(key) != value]:
        found = f"one with another {', '.join(differing)} (see {path.name} there)"
        todo = "remove the folder to begin again, or change back what has changed"
        raise InputError(unfinished, "a training that depends on the same", found, todo)


def _prepare(
    training: Training, records: Path, held_out: HeldOut, unfinished: Path
) -> tuple[Learner, Material]:
    """Return the learner and its material, which is written to a folder."""
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
    """Yield every training text: sentences and titles."""
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


# Texts to their vectors, float32 [texts, dimension].
Embed = Callable[[Sequence[Tokens]], Tensor]
# The targets of each objective: fields of ``Batch``. Its loss is the sum of theirs.
TERMS: dict[Objective, tuple[str, ...]] = {
    "nsp": ("previous", "following"),
    "nl": ("level",),
    "spp": ("in_paragraph", "of_paragraph"),
    "sdt": ("heading", "title"),
}
# Of cosines in a softmax, as in sentence-transformers' MultipleNegativesRankingLoss.
SCALE = 20.0


class Places(nn.Module):  # type: ignore[misc]
    """NL and SPP: classes, by cross-entropy."""

    def __init__(self, objectives: Mapping[Objective, float], dimension: int) -> None:
        """Make a head for each target of the objectives, from vectors of a dimension."""
        super().__init__()
        classes = {"level": LEVELS, "in_paragraph": BINS, "of_paragraph": BINS}
        self.heads = nn.ModuleDict(
            {
                target: _decoder(dimension, dimension, classes[target])
                for target in targets_of(objectives)
                if target in classes
            }
        )

    def forward(self, vectors: Tensor, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of each target, a scalar."""
        return {
            target: functional.cross_entropy(
                head(vectors), torch.from_numpy(getattr(batch, target)).to(vectors.device)
            )
            for target, head in self.heads.items()
        }


class BagsOfWords(nn.Module):  # type: ignore[misc]
    """NSP and SDT as bags of words, for encoders with a vocabulary of words; and places.

    The loss of a sentence is -sum(count(w) log p(w)) / sum(count(w)) over the words w of its
    neighbour or title (Chen et al. 2019, section 4). As published, p is a softmax over the
    vocabulary. With ``sizes.drawn``, words are decoded by the encoder's own word vectors, and the
    sum in the softmax is estimated from the words of the batch and some that are drawn, each
    divided by the probability that it is among these (Horvitz and Thompson 1952).
    """

    def __init__(
        self,
        objectives: Mapping[Objective, float],
        dimension: int,
        sizes: Sizes,
        words: nn.Embedding,
        counts: Counts,
    ) -> None:
        """Make a decoder for each target, given the encoder's words and how often each occurs."""
        super().__init__()
        self.places = Places(objectives, dimension)
        # In a list, so that they are no parameters of this module: they are the encoder's.
        self._words = [words]
        self._drawn = sizes.drawn
        size = sizes.embedding if sizes.drawn else len(counts)
        self.decoders = nn.ModuleDict(
            {
                target: _decoder(dimension, sizes.embedding, size)
                for target in targets_of(objectives)
                if target not in self.places.heads
            }
        )
        if sizes.drawn and self.decoders:
            self.bias = nn.Parameter(torch.zeros(len(counts)))
        self._log_absent = torch.from_numpy(np.log1p(-counts / (counts.sum() + 1)))

    def forward(self, embed: Embed, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of each target that the batch has, a scalar."""
        vectors = embed(batch.sentences)
        losses: dict[str, Tensor] = self.places(vectors, batch)
        present: dict[str, Texts] = {
            target: texts
            for target in self.decoders
            if (texts := _with_words(getattr(batch, target))).rows
        }
        if not present:
            return losses
        if self._drawn:
            columns, corrections = self._columns(present.values())
            weight = functional.embedding(columns, self._words[0].weight)
            bias = self.bias[columns]
        for target, texts in present.items():
            decoded = self.decoders[target](vectors[texts.rows])
            words = torch.from_numpy(np.concatenate(texts.texts).astype(np.int64))
            if self._drawn:
                logits = functional.linear(decoded, weight, bias)
                sums = (logits - corrections).logsumexp(1)
                words = torch.searchsorted(columns, words.to(columns.device))
            else:
                logits = decoded
                sums = logits.logsumexp(1)
            lengths = torch.tensor([len(text) for text in texts.texts])
            rows = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
            shares = (1 / lengths)[rows].to(logits.device) / len(lengths)
            losses[target] = sums.mean() - (logits[rows, words] * shares).sum()
        return losses

    def _columns(self, targets: Any) -> tuple[Tensor, Tensor]:
        """Return the words sampled for a batch, and the logs of their probabilities."""
        present = np.concatenate([text for texts in targets for text in texts.texts])
        size = len(self._log_absent)
        drawn = torch.randint(size, (self._drawn,))
        columns = torch.cat([torch.from_numpy(present.astype(np.int64)), drawn]).unique()
        absent = len(present) * self._log_absent[columns] + self._drawn * np.log1p(-1 / (size + 1))
        device = self.bias.device
        return columns.to(device), torch.log(-torch.expm1(absent)).float().to(device)


class Contrasts(nn.Module):  # type: ignore[misc]
    """NSP and SDT by contrast, for pretrained transformers; and places.

    Which of the sentences of the batch follows, which goes before, and which of its titles is above
    the sentence: a softmax over cosines, as in sentence-transformers' MultipleNegativesRankingLoss.
    """

    def __init__(self, objectives: Mapping[Objective, float], dimension: int) -> None:
        """Make the heads; see ``Places``."""
        super().__init__()
        self.places = Places(objectives, dimension)
        self._objectives = set(objectives)

    def forward(self, embed: Embed, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of each target that the batch has, a scalar."""
        vectors = embed(batch.sentences)
        losses: dict[str, Tensor] = self.places(vectors, batch)
        if "nsp" in self._objectives and batch.following.rows:
            logits = _cosines(vectors[batch.following.rows], embed(batch.following.texts))
            right = torch.arange(len(logits), device=logits.device)
            losses["following"] = functional.cross_entropy(logits, right)
            losses["previous"] = functional.cross_entropy(logits.T, right)
        for target in TERMS["sdt"] if "sdt" in self._objectives else ():
            texts: Texts = getattr(batch, target)
            if texts.rows:
                # A title of several sentences occurs once, so that it is no negative of its own.
                numbers: dict[bytes, int] = {}
                classes = [numbers.setdefault(text.tobytes(), len(numbers)) for text in texts.texts]
                unique = [np.frombuffer(text, np.int32) for text in numbers]
                logits = _cosines(vectors[texts.rows], embed(unique))
                right = torch.tensor(classes, device=logits.device)
                losses[target] = functional.cross_entropy(logits, right)
        return losses


def targets_of(objectives: Mapping[Objective, float]) -> list[str]:
    """Return the targets of some objectives, see ``TERMS``."""
    return [target for name in objectives for target in TERMS[name]]


def by_objective(
    losses: Mapping[str, Tensor], objectives: Mapping[Objective, float]
) -> dict[Objective, Tensor]:
    """Return the loss of each objective that has one in a batch, unweighted."""
    return {
        name: sum(terms)
        for name in objectives
        if (terms := [losses[target] for target in TERMS[name] if target in losses])
    }


def _decoder(dimension: int, hidden: int, out: int) -> nn.Module:
    """Return a network of two hidden layers, as in the released code of Chen et al."""
    first, second = nn.Linear(dimension, hidden), nn.Linear(hidden, hidden)
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.Linear(hidden, out))


def _with_words(texts: Texts) -> Texts:
    pairs = [(row, text) for row, text in zip(*texts, strict=True) if len(text)]
    return Texts([row for row, _ in pairs], [text for _, text in pairs])


def _cosines(first: Tensor, second: Tensor) -> Tensor:
    """Return the cosines of all pairs, scaled: [len(first), len(second)]."""
    return SCALE * functional.normalize(first) @ functional.normalize(second).T
