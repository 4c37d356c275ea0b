"""A sentence-transformers module: words to vectors to a bidirectional GRU.

A copy of this file is saved with each model that has one, so that others can load it without this
project: `SentenceTransformer(folder, trust_remote_code=True)`. It imports nothing of ours.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers.base.modules import InputModule
from tokenizers import Tokenizer
from torch import nn

UNKNOWN = 0
"""The number of all words that are not in the vocabulary; also fills up shorter sentences."""


class WordGru(InputModule):  # type: ignore[misc]
    """Word embeddings and one layer of a bidirectional GRU; a pooling module comes after it.

    Attributes:
        tokenizer: gives numbers of words, ``UNKNOWN`` for those not in its vocabulary.
        embedding_dimension: length of a word's vector.
        hidden_dimension: of the GRU, in each direction.
        max_seq_length: words of a sentence that are read.
    """

    config_keys = ("embedding_dimension", "hidden_dimension", "max_seq_length")
    save_in_root = True

    def __init__(
        self,
        tokenizer: Tokenizer,
        embedding_dimension: int,
        hidden_dimension: int,
        max_seq_length: int,
    ) -> None:
        """Make one with random weights."""
        super().__init__()
        self.tokenizer = tokenizer
        self.embedding_dimension = embedding_dimension
        self.hidden_dimension = hidden_dimension
        self.max_seq_length = max_seq_length
        self.words = nn.Embedding(tokenizer.get_vocab_size(), embedding_dimension)
        self.forwards = nn.GRU(embedding_dimension, hidden_dimension, batch_first=True)
        self.backwards = nn.GRU(embedding_dimension, hidden_dimension, batch_first=True)

    def preprocess(
        self, inputs: Sequence[str], prompt: str | None = None, **_: Any
    ) -> dict[str, torch.Tensor]:
        """Return `input_ids` and `attention_mask`, int64 [texts, words of the longest]."""
        texts = [f"{prompt or ''}{text}" for text in inputs]
        rows = [
            torch.tensor(encoding.ids[: self.max_seq_length], dtype=torch.long)
            for encoding in self.tokenizer.encode_batch(texts, add_special_tokens=False)
        ]
        longest = max(1, *map(len, rows))
        ids = torch.full((len(rows), longest), UNKNOWN)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        return {"input_ids": ids, "attention_mask": mask}

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add `token_embeddings`, float32 [texts, words, 2 * hidden_dimension]."""
        words = self.words(features["input_ids"])
        # Each sentence is turned round within its own length. Packed sequences would do so, too,
        # but the time of their gradient grows with the square of the length.
        lengths = features["attention_mask"].sum(1, keepdim=True)
        places = torch.arange(words.shape[1], device=words.device).expand(words.shape[:2])
        turned = torch.where(places < lengths, lengths - 1 - places, places)
        rows = torch.arange(len(words), device=words.device)[:, None]
        backwards = self.backwards(words[rows, turned])[0][rows, turned]
        states = torch.cat([self.forwards(words)[0], backwards], dim=2)
        return features | {"token_embeddings": states}

    def get_embedding_dimension(self) -> int:
        """Return the length of a vector."""
        return 2 * self.hidden_dimension

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write config.json, tokenizer.json and model.safetensors."""
        folder = Path(output_path)
        config = {key: getattr(self, key) for key in self.config_keys}
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
        self.tokenizer.save(str(folder / "tokenizer.json"))
        weights = {name: value.cpu().contiguous() for name, value in self.state_dict().items()}
        save_file(weights, folder / "model.safetensors")

    @classmethod
    def load(cls, model_name_or_path: str, **where: Any) -> "WordGru":
        """Return the module of a folder, or of the Hub; see ``InputModule.load``."""
        keys = ("subfolder", "token", "cache_folder", "revision", "local_files_only")
        arguments = {key: where[key] for key in keys if key in where}

        def path(name: str) -> str:
            return str(cls.load_file_path(model_name_or_path, name, **arguments))

        config = json.loads(Path(path("config.json")).read_bytes())
        module = cls(Tokenizer.from_file(path("tokenizer.json")), **config)
        module.load_state_dict(load_file(path("model.safetensors")))
        return module
