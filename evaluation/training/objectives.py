"""The losses: what is told from a sentence's vector, and how wrong it is.

The heads live here, not in the encoder, which is saved without them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluation.arrays import Counts
from evaluation.training.material import BINS, LEVELS, Batch, Texts, Tokens
from evaluation.training.params import Objective, Sizes

Embed = Callable[[Sequence[Tokens]], Tensor]
"""Texts to their vectors, float32 [texts, dimension]."""
TERMS: dict[Objective, tuple[str, ...]] = {
    "nsp": ("previous", "following"),
    "nl": ("level",),
    "spp": ("in_paragraph", "of_paragraph"),
    "sdt": ("heading", "title"),
}
"""The targets of each objective: fields of ``Batch``. Its loss is the sum of theirs."""
SCALE = 20.0
"""Of cosines in a softmax, as in sentence-transformers' MultipleNegativesRankingLoss."""


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
        given: dict[str, Texts] = {
            target: texts
            for target in self.decoders
            if (texts := _with_words(getattr(batch, target))).rows
        }
        if not given:
            return losses
        if self._drawn:
            columns, corrections = self._columns(given.values())
            weight = functional.embedding(columns, self._words[0].weight)
            bias = self.bias[columns]
        for target, texts in given.items():
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

    def _columns(self, given: Any) -> tuple[Tensor, Tensor]:
        """Return the words among which those of a batch are told, and the logs of their chances."""
        present = np.concatenate([text for texts in given for text in texts.texts])
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
                # A title of several sentences is there once, so that it is no negative of its own.
                numbers: dict[bytes, int] = {}
                places = [numbers.setdefault(text.tobytes(), len(numbers)) for text in texts.texts]
                unique = [np.frombuffer(text, np.int32) for text in numbers]
                logits = _cosines(vectors[texts.rows], embed(unique))
                right = torch.tensor(places, device=logits.device)
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
    return nn.Sequential(
        nn.Linear(dimension, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, out),
    )


def _with_words(texts: Texts) -> Texts:
    kept = [(row, text) for row, text in zip(*texts, strict=True) if len(text)]
    return Texts([row for row, _ in kept], [text for _, text in kept])


def _cosines(one: Tensor, other: Tensor) -> Tensor:
    """Return the cosines of all pairs, scaled: [len(one), len(other)]."""
    return SCALE * functional.normalize(one) @ functional.normalize(other).T
