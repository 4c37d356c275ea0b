"""The encoders that are trained: new ones of words and a GRU, or a pretrained transformer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor, nn

from corpora_recipes.hashing import keyed_hash
from corpora_recipes.running.errors import InputError
from evaluation.encoders.pretrained import Source, find_model, prepare_torch
from evaluation.encoders.word_gru import UNKNOWN, WordGru
from evaluation.training.material import Material, Tokens
from evaluation.training.objectives import BagsOfWords, Contrasts
from evaluation.training.params import SETTINGS, Training

LONGEST = 200
"""Words of a sentence that are read (Chen et al., released code)."""
LONGEST_PRETRAINED = 128
# Sentences from which the vocabulary is taken: more have the same frequent words.
_COUNTED = 2_000_000


@dataclass(frozen=True)
class Learner:
    """An encoder that learns, the heads that tell something from its vectors, and how.

    ``pad`` is the token that fills up shorter texts, ``rate`` that of learning at its highest. It
    rises in the share ``warmed`` of the steps and then falls to 0 (0: one rate). ``largest``: norm
    of the gradients beyond which they are scaled down.
    """

    model: SentenceTransformer
    heads: nn.Module
    pad: int
    rate: float
    warmed: float
    largest: float

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
        """Return the rate of learning when a share of the steps is done."""
        if not self.warmed:
            return self.rate
        return self.rate * min(progress / self.warmed, (1 - progress) / (1 - self.warmed), 1)

    def parameters(self) -> list[tuple[str, nn.Parameter]]:
        """Return all that is learnt, by name."""
        parts = nn.ModuleDict({"model": self.model, "heads": self.heads})
        return [(name, value) for name, value in parts.named_parameters() if value.requires_grad]


def word_learner(training: Training, tokenizer: Tokenizer, material: Material) -> Learner:
    """Return a new encoder of words and a GRU, with random weights that the seed decides."""
    # Small products, which more threads do not make faster; and the same bits on any machine size.
    torch.set_num_threads(1)
    device = prepare_torch(torch)
    # It would fill all memory before it is used, to show errors, and take a third of the time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    sizes = SETTINGS[training.setting]
    seed_torch(training.seed, "encoder")
    words = WordGru(tokenizer, sizes.embedding, sizes.hidden, LONGEST)
    pooling = Pooling(words.get_embedding_dimension(), "mean")
    model = SentenceTransformer(modules=[words, pooling], device=str(device))
    seed_torch(training.seed, "heads")
    counts = material.word_counts(tokenizer.get_vocab_size())
    dimension = words.get_embedding_dimension()
    heads = BagsOfWords(training.objectives, dimension, sizes, words.words, counts)
    # Adam's usual rate, as in the released code of Chen et al.
    return Learner(model, heads.to(device), UNKNOWN, rate=1e-3, warmed=0, largest=5)


def word_tokenizer(texts: Iterable[str], vocabulary: int) -> Tokenizer:
    """Return a tokeniser of the most frequent lower-case words, marks and Chinese characters."""
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(
        vocab_size=vocabulary, special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(islice(texts, _COUNTED), trainer)
    if tokenizer.get_vocab_size() < 2:
        expected = "words in the sentences of train that are in no test"
        todo = "read more documents, or name another corpus"
        raise InputError("the vocabulary", expected, "none", todo)
    return tokenizer


def pretrained_learner(training: Training) -> Learner:
    """Return a pretrained model, with new heads that the seed decides."""
    device = prepare_torch(torch)
    model = find_pretrained(training.model).load(SentenceTransformer, device=str(device))
    seed_torch(training.seed, "heads")
    heads = Contrasts(training.objectives, model.get_embedding_dimension())
    # As sentence-transformers and BERT are usually trained further.
    pad = model.tokenizer.pad_token_id or 0
    return Learner(model, heads.to(device), pad, rate=2e-5, warmed=0.1, largest=1)


def find_pretrained(model: str) -> Source:
    """Find a model of sentence-transformers, or of transformers, whose states get averaged."""
    try:
        return find_model(model, "main", "modules.json")
    except InputError:
        return find_model(model, "main", "config.json")


def encode_by(model: SentenceTransformer) -> Callable[[list[str]], list[list[int]]]:
    """Return the function from texts to the numbers of their tokens, of a pretrained model."""
    longest = min(model.max_seq_length or LONGEST_PRETRAINED, LONGEST_PRETRAINED)

    def encode(texts: list[str]) -> list[list[int]]:
        if not texts:
            return []
        encoded = model.tokenizer(texts, truncation=True, max_length=longest)
        numbers: list[list[int]] = encoded["input_ids"]
        return numbers

    return encode


def encode_words(tokenizer: Tokenizer) -> Callable[[list[str]], list[list[int]]]:
    """Return the function from texts to the numbers of their words, ``LONGEST`` at most."""

    def encode(texts: list[str]) -> list[list[int]]:
        return [encoded.ids[:LONGEST] for encoded in tokenizer.encode_batch_fast(texts)]

    return encode


def seed_torch(seed: int, *about: str) -> None:
    """Let all that torch draws from now on depend on a seed and on what it is for."""
    torch.manual_seed(keyed_hash(seed, "training", *about) >> 1)
