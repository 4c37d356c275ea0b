"""Writes tiny transformers with random weights, with tokenisers of a few words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = "el la un una perro gato casa puente río come duerme cruza ve y de en que no muy bien"


def word_tokenizer(padding_side: str = "right", **special: str) -> Any:
    """Return a tokeniser of whole words, with no special tokens but these."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    names = dict.fromkeys([*special.values(), "<unk>", *WORDS.split()])
    model = models.WordLevel({word: number for number, word in enumerate(names)}, "<unk>")
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, padding_side=padding_side, **{"unk_token": "<unk>"} | special
    )


def write_bert(folder: Path, lower: bool = True, **config: Any) -> str:
    from transformers import BertConfig, BertModel, BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS.split(), "El", "##s", "##ón"]
    vocabulary = {word: number for number, word in enumerate(words)}
    sizes = {"num_hidden_layers": 2, "hidden_size": 16, "intermediate_size": 24}
    model = BertModel(BertConfig(vocab_size=len(words), num_attention_heads=2, **sizes | config))
    return _save(folder, model, BertTokenizer(vocab=vocabulary, do_lower_case=lower))


def write_roberta(folder: Path) -> str:
    """Write a model that takes 17 tokens: 20 positions, counted from the padding token's on."""
    from transformers import RobertaConfig, RobertaModel

    tokenizer = word_tokenizer(bos_token="<s>", unk_token="<unk>", pad_token="<pad>")
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 2, "max_position_embeddings": 20}
    sizes |= {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    return _save(folder, RobertaModel(RobertaConfig(**sizes)), tokenizer)


def write_gpt2(folder: Path) -> str:
    """Write a decoder: no token for padding, which its tokeniser puts on the left."""
    from transformers import GPT2Config, GPT2Model

    tokenizer = word_tokenizer("left", eos_token="</s>")
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=16, n_layer=3, n_head=2, n_positions=64)
    return _save(folder, GPT2Model(config), tokenizer)


def write_t5(folder: Path) -> str:
    """Write a model of an encoder with three layers and a decoder with two."""
    from transformers import T5Config, T5Model

    tokenizer = word_tokenizer(pad_token="<pad>", eos_token="</s>")
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 24}
    sizes |= {"num_layers": 3, "num_decoder_layers": 2, "num_heads": 2}
    return _save(folder, T5Model(T5Config(vocab_size=len(tokenizer), **sizes)), tokenizer)


WRITERS: dict[str, Callable[[Path], str]] = {"bert": write_bert, "roberta": write_roberta}
WRITERS |= {"gpt2": write_gpt2, "t5": write_t5}


def _save(folder: Path, model: Any, tokenizer: Any) -> str:
    """Save them with weights that make layers and tokens differ; new ones are nearly nothing."""
    import torch

    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
