"""The encoder `transformers`; and how models are found in folders and on the Hub."""

import inspect
import json
import logging
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from hashlib import blake2b, file_digest
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from corpora_recipes.running.errors import InputError, ParamsError, check_packages, load_packages
from evaluation.encoders.encoder import (
    Form,
    Postprocessed,
    Prompts,
    check_templates,
    fill_prompt,
    option_field,
)

if TYPE_CHECKING:
    import torch

    from evaluation.arrays import Floats


@dataclass(frozen=True)
class Source:
    """A model on this machine: an id of the Hub with its commit, or a local folder without one.

    ``folder`` holds its files, for an id in the Hub's cache; ``config`` is its JSON file.
    """

    model: str
    commit: str | None
    folder: Path
    config: Any = field(compare=False)

    @property
    def revision(self) -> str:
        """The commit, or a digest of the folder's files."""
        return self.commit or _folder_digest(self.folder)

    @property
    def hint(self) -> str:
        """Advice to add to that of saving the model again."""
        return f"; or download it again: hf download {self.model}" if self.commit else ""

    def error(self, expected: str, found: str, todo: str) -> InputError:
        """Return an error at this model."""
        return InputError(f"model {self.model}", expected, found, todo)

    def load(self, loader: Any, **options: Any) -> Any:
        """Return the model loaded by ``loader``, a class with ``from_pretrained`` or a callable."""
        load = getattr(loader, "from_pretrained", loader)
        # A model with weights is read as a folder: by its name, the Hub would be asked for each
        # optional file that it does not have.
        model = str(self.folder)
        if self.commit and not _has_weights(self.folder):
            model, options = self.model, options | {"revision": self.commit}
        try:
            return load(model, **options)
        # Many classes, of several libraries: the Hub, JSON, safetensors, pickle, torch.
        except Exception as error:
            expected = "all files of a model and its tokeniser, of a type transformers supports"
            todo = f"save the model again, with its tokeniser{self.hint}"
            if {"device_map", "quantization_config"} & {*options, *options.get("model_kwargs", ())}:
                expected = "a model that the library can load with `device_map` and `quantisation`"
                todo = "install what it names, or correct these, such as {load_in_4bit: true}"
            found = describe_error(error)
            cache = self.folder.parents[1] / "blobs" if self.commit else self.folder
            if unfinished := next(cache.rglob("*.incomplete"), None):
                found = f"a download that was not finished, {unfinished.name}; {found}"
            raise self.error(expected, found, todo) from error

    def check_architecture(self, config: Any, transformers: Any = None) -> None:
        """Check that a config.json is of a model that transformers has, and that gives vectors.

        Without this, transformers would make a model of the same type, which is another one. The
        library is not imported for this: with it, names are looked up there.
        """
        if (self.folder / "adapter_config.json").is_file():
            expected, found = "a model with all its weights", "an adapter, adapter_config.json"
            # Without peft, transformers would load the model alone.
            todo = "merge it into its model (`merge_and_unload` of peft), and save that model"
            raise self.error(expected, found, todo)
        as_body = "load it with `AutoModel`, and save that and its tokeniser with `save_pretrained`"
        same = f"if transformers' {config.get('model_type')} is the same, {as_body}"
        if code := (config.get("auto_map") or {}).get("AutoModel"):
            expected = "a model whose code is that of transformers"
            todo = f"write a function that calls it (`encoder: callable`), or, {same}"
            raise self.error(expected, f"code of its own, {code}", todo)
        for name in config.get("architectures") or ():
            if name.endswith("ForSequenceClassification"):
                expected = "a model that gives a text a vector"
                found = f"{name}, a classifier or cross-encoder"
                todo = f"score a sentence encoder; for the layers of its body, {as_body}"
                raise self.error(expected, found, todo)
            if transformers and not hasattr(transformers, name):
                todo = f"update transformers, or, {same}"
                raise self.error("an architecture of transformers", name, todo)

    def check_missing(self, weights: Collection[str]) -> None:
        """Refuse weights that a model has and its files lack: the library would draw them."""
        # The pooler is not used, and some models have no weights for it.
        if missing := sorted(name for name in weights if "pooler" not in name):
            todo = f"save the model again; its config.json may be another model's{self.hint}"
            raise self.error("weights for the whole model", f"none for {_some(missing)}", todo)

    def check_vocabulary(self, tokenizer: Any) -> None:
        """Check that a tokeniser has words: without its files transformers makes one without."""
        # Some of those have a space.
        if len(tokenizer.get_vocab().keys() - set(tokenizer.all_special_tokens)) <= 1:
            expected = "a tokeniser with its vocabulary (tokenizer.json, vocab.txt or similar)"
            todo = f"save the tokeniser with `save_pretrained` in the model's folder{self.hint}"
            raise self.error(expected, "no vocabulary", todo)


@dataclass(frozen=True, eq=False, repr=False)  # __eq__ and __repr__ would look for the model
class Pretrained(Postprocessed):
    """Base of encoders that are models in this layout."""

    model: str
    revision_option: str = option_field("revision", "main")
    prompts: Prompts = field(default_factory=dict)
    batch: int = 32
    weights: str = "trained"
    seed: int = 1
    dtype: str = "float32"
    device_map: str | None = None
    quantisation: dict[str, Any] = field(default_factory=dict)
    form: ClassVar[Form] = "natural"
    parallel: ClassVar[bool] = False
    choices: ClassVar[dict[str, tuple[Any, ...]]] = {
        "weights": ("trained", "random"),
        "dtype": ("auto", "float32", "bfloat16", "float16"),
        "device_map": (None, "auto"),
    }
    file: ClassVar[str]
    """The JSON file that every such model has in its top folder."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError("batch >= 1")
        for option, values in self.choices.items():
            if getattr(self, option) not in values:
                raise ValueError(f"{option}: one of {', '.join(filter(None, values))}")
        if not isinstance(self.quantisation, dict):
            raise ValueError("quantisation: keys with values, such as {load_in_4bit: true}")
        if self.draw is not None and (self.device_map or self.quantisation):
            raise ValueError("weights: trained, with device_map or quantisation")
        check_templates(self.prompts)

    @property
    def source(self) -> Source:
        """The model on this machine."""
        return find_model(self.model, self.revision_option, self.file)

    @property
    def source_is_here(self) -> bool:
        """Whether the model's configuration is on this machine."""
        from huggingface_hub import try_to_load_from_cache

        cached = partial(try_to_load_from_cache, self.model, self.file)
        return is_local(self.model) or isinstance(cached(revision=self.revision_option), str)

    @property
    def revision(self) -> str:
        """The commit of the Hub, or a digest of the folder's files."""
        return self.source.revision

    @property
    def draw(self) -> int | None:
        """The seed of random weights, None for trained ones."""
        return self.seed if self.weights == "random" else None

    @property
    def loading(self) -> str:
        """The arguments of ``from_pretrained`` that differ from the library's, as JSON."""
        keywords: dict[str, Any] = {"quantization_config": self.quantisation}
        keywords |= {"dtype": self.dtype.replace("auto", ""), "device_map": self.device_map}
        return json.dumps({key: value for key, value in keywords.items() if value}, default=str)

    @property
    def options(self) -> dict[str, Any]:
        """All options that the vectors depend on."""
        drawn = {} if self.draw is None else {"weights": self.weights, "seed": self.seed}
        quantised = {"quantisation": self.quantisation} if self.quantisation else {}
        return {"model": model_label(self.model), "batch": self.batch} | drawn | quantised


@cache
def find_model(model: str, revision: str, file: str) -> Source:
    """Find a model, in a folder, in the Hub's cache on this machine, or on the Hub, in that order.

    The cache is before the Hub, so that a model stays the same until it is downloaded again. Every
    such model has the JSON ``file`` in its top folder.
    """
    where = f"model {model}"
    if Path(model).is_dir():
        path = Path(model, file)
        if not path.is_file():
            todo = "save the model there with `save_pretrained`, or correct `model:`"
            raise ParamsError(path, "a model folder, which has this file", "no such file", todo)
        return Source(model, None, Path(model), _read_json(path))
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", model):
        expected = "a folder, or an id of the Hugging Face Hub, such as organisation/name"
        raise ParamsError(where, expected, "no such folder", "correct `model:`")
    # Only for a model of the Hub.
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        try:
            path = Path(hf_hub_download(model, file, revision=revision, local_files_only=True))
        except LocalEntryNotFoundError:
            path = Path(hf_hub_download(model, file, revision=revision))
    except (OSError, ValueError) as error:
        expected = "a folder, or a model of the Hugging Face Hub that has "
        expected += f"{file}, revision {revision}"
        todo = "correct `model:` and `revision:`; for a model that is not downloaded yet, go "
        todo += "online, and for one that is private or gated, run `hf auth login`"
        found = f"no such folder; {describe_error(error)}"
        raise ParamsError(where, expected, found, todo) from error
    # .../snapshots/<commit>/<file>
    return Source(model, path.parent.name, path.parent, _read_json(path))


def model_label(model: str) -> str:
    """Return an id of the Hub, or a folder's name; folders of one name differ in their revision."""
    return Path(model).resolve().name if Path(model).is_dir() else model


def is_local(model: str) -> bool:
    """Return whether a model is, or is meant to be, a folder and not an id of the Hub."""
    return Path(model).is_dir() or model.startswith((".", "/", "~"))


def prepare_torch(torch: Any) -> "torch.device":
    """Make torch deterministic; return the device to use, the GPU if there is one."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # Only a warning: some models count positions with an operation that torch refuses, although
    # it is deterministic for integers.
    torch.use_deterministic_algorithms(True, warn_only=True)
    device: torch.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return device


@contextmanager
def seeded(torch: Any, seed: int) -> Iterator[None]:
    """Draw what is drawn within from a seed, and leave torch's own state as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed % 2**63)
        yield


def describe_error(error: Exception) -> str:
    """Return the type of a library's error, and its message on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _read_json(path: Path) -> Any:
    is_list, todo = path.name == "modules.json", "save or download the model again"
    expected = f"JSON, {'a list of objects' if is_list else 'an object'}"
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(path, expected, str(error), todo) from None
    objects = content if is_list and isinstance(content, list) else [content]
    if is_list != isinstance(content, list) or not all(isinstance(one, dict) for one in objects):
        raise InputError(path, expected, str(content)[:50], todo)
    return content


def _has_weights(folder: Path) -> bool:
    return any(path.suffix in (".safetensors", ".bin") for path in folder.rglob("*"))


@cache
def _folder_digest(folder: Path) -> str:
    """Return the digest of names and contents of a folder's files, but not hidden or Markdown."""
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not is_hidden and path.suffix.lower() != ".md":
            with path.open("rb") as stream:
                content = file_digest(stream, lambda: blake2b(digest_size=16))
            digest.update(f"{name.as_posix()}\n{content.hexdigest()}\n".encode())
    return digest.hexdigest()


MEANS = ("avg", "first_last")
# Text that a model is tried with, when it is loaded.
_TRIAL = "a text"
# In tokens; a batch of longer texts has as many tokens as a full batch of this length. On a GPU all
# hidden states of BERT-base then take 0.2 GB.
_LENGTH, _LENGTH_ON_CPU = 128, 16
# Names of these numbers in the configurations of transformers; for a model with encoder and
# decoder, the encoder's come first.
_LAYER_COUNTS = ("encoder_layers", "num_hidden_layers", "num_layers", "n_layer", "n_layers")
_DIMENSIONS = ("hidden_size", "d_model", "n_embd", "dim", "emb_dim")


@dataclass(frozen=True, eq=False, repr=False)
class Transformer(Pretrained):
    """The hidden states of a transformer, pooled over the tokens of a text.

    Layer "0" is the input of the first layer (the token embeddings), "1" its output, and the last
    layer the output of the model (in many decoders after a further normalisation). Two names are of
    means; with `pooling: max`, these are the means of the layers' maxima:

        avg         of all layers, "0" included, as in Chen et al. (2019, "Evaluation benchmarks and
                    learning criteria for discourse-aware sentence representations") and Araujo et
                    al. (2022, "Evaluation benchmarks for Spanish sentence representations"), who
                    pool by `cls`
        first_last  of layer "1" and the last one, as Wang, Kuo and Li (2022, "Just rank: rethinking
                    evaluation with word and sentence similarities") compute "first-last avg" in
                    their code, and SimCSE in its own: the first layer, not the embeddings

    The tokeniser is the model's, with its special tokens, which are pooled like the others (as in
    sentence-transformers), unless `special_tokens: false`. Too long texts are truncated at the end,
    and their number is logged. A text without any token to pool gets zeros. Of a model with encoder
    and decoder the encoder is used. A GPU is used if there is one.

    Rounding varies with the numbers of texts and tokens that are encoded together. On a CPU both
    depend on the text's own length: a text has the same vector, to the bit, in any company
    (measured on x86). On a GPU, vectors vary by rounding with their company; also with the device,
    the number of threads and the versions of libraries, none of which is part of ``options``.

    Attributes:
        model: id on the Hugging Face Hub, downloaded if it is not in the Hub's cache, or folder
            with config.json, weights and tokeniser.
        revision_option: the option `revision`: branch, tag or commit of the Hub.
        prompts: for models trained with them, see ``Prompts`` and ``fill_prompt``. The tokens of a
            prompt are pooled like the others.
        batch: number of texts of 16 tokens that are encoded together (on a GPU, of 128), and fewer
            of texts that are longer.
        weights: `trained`, or `random`: drawn as the library does for a new model, from the seed.
        dtype: of weights and computations: `float32`, `bfloat16` or `float16`.
        device_map: `auto` to spread a model over all GPUs and the memory; without, it is on one.
        quantisation: the library's `quantization_config`, such as {load_in_4bit: true}.
        pooling: `mean`, `cls` (the first token), `max`, `last` or `weighted_mean` over the tokens
            of a text; the last one weights a token by its position, 1, 2 …, as Muennighoff (2022,
            "SGPT: GPT sentence embeddings for semantic search").
        layer_option: the option `layer`: the number of a layer (-1 is the last), "avg",
            "first_last", or a list of these, the last of which is the main layer; or "all": every
            layer and "avg", from one pass, with "avg" as the main layer.
        special_tokens: whether the tokens that the tokeniser adds are pooled.
        max_length: in tokens; less if the model can only take less.
    """

    pooling: str = "mean"
    layer_option: str | Sequence[str] = option_field("layer", ("avg",))
    special_tokens: bool = True
    max_length: int = 512
    name: ClassVar[str] = "transformers"
    choices: ClassVar[dict[str, tuple[Any, ...]]] = Pretrained.choices | {
        "pooling": ("mean", "cls", "max", "last", "weighted_mean"),
        "dtype": Pretrained.choices["dtype"][1:],
    }
    file: ClassVar[str] = "config.json"
    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling == "cls" and not self.special_tokens:
            raise ValueError("pooling: another than cls, with special_tokens: false")
        if self.max_length < 3:
            raise ValueError("max_length >= 3")
        if self._asked != ("all",) and not all(
            re.fullmatch(r"avg|first_last|0|-?[1-9][0-9]*", layer) for layer in self._asked
        ):
            raise ValueError("layer: avg, first_last, a number or a list of these, or all")

    @property
    def dimension(self) -> int:
        """Length of a vector, from the model's configuration."""
        return self._config_value(_DIMENSIONS)

    @property
    def layer(self) -> str:
        """The main layer: the last one; of all layers, "avg"."""
        last = "avg" if self._asked == ("all",) else self._asked[-1]
        return self.layers[-1] if last.startswith("-") else last

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of the option by their numbers or names, or all layers and "avg"."""
        count = self._config_value(_LAYER_COUNTS)
        if self._asked == ("all",):
            return (*map(str, range(count + 1)), "avg")
        names = []
        for layer in self._asked:
            if layer not in MEANS and not -count - 1 <= int(layer) <= count:
                expected = f"layer: avg, first_last, all or a number from 0 (embeddings) to {count}"
                found = f"layer {layer}"
                raise self.source.error(expected, found, "correct `layer:`")
            names.append(layer if layer in MEANS else str(int(layer) % (count + 1)))
        if len({*names}) < len(names):
            expected = f"layer: each layer once; -1 is {count}"
            raise self.source.error(expected, ", ".join(self._asked), "correct `layer:`")
        return tuple(names)

    @property
    def options(self) -> dict[str, Any]:
        """All options that a layer's vectors depend on."""
        return {
            **super().options,
            "pooling": self.pooling,
            "batches": "of fixed shape",
            "max_length": self.max_length,
            "dtype": self.dtype,
        } | ({} if self.special_tokens else {"special_tokens": False})

    def check(self) -> None:
        """See ``Encoder.check``."""
        check_packages("encoder transformers", "torch", "transformers")
        if is_local(self.model):
            self.source.check_architecture(self.source.config)
            _ = self.layers

    def encode(self, texts: Sequence[str], prompt: str | None = None) -> "Floats":
        """Return float32 [len(texts), len(layers), dimension], of the texts with a prompt."""
        if prompt:
            texts = [fill_prompt(prompt, text) for text in texts]
        layers = self.layers
        vectors = np.zeros((len(texts), len(layers), self.dimension), np.float32)
        if not texts:
            return vectors
        # A single layer needs the layers below it, and one more: the input of a layer is the raw
        # hidden state, while the output of the last layer may be normalised.
        n_layers = self._config_value(_LAYER_COUNTS)
        numbers = [n_layers if layer in MEANS else int(layer) + 1 for layer in layers]
        n_needed = min(max(numbers), n_layers)
        options = self.dimension, self.loading, self.draw
        loaded = load_model(self.source, n_layers, n_needed, *options)
        max_tokens = min(self.max_length, loaded.max_tokens)
        lengths = [len(ids) for ids in loaded.tokenizer(list(texts), verbose=False)["input_ids"]]
        if n_cut := sum(length > max_tokens for length in lengths):
            message = "%s: %d of %d texts have more than %d tokens and were cut"
            logging.getLogger(__name__).warning(message, self.model, n_cut, len(texts), max_tokens)
        for rows, n_texts, n_tokens in _batches(
            lengths, max_tokens, self.batch, fixed=loaded.on_cpu
        ):
            padding = [rows[-1]] * (n_texts - len(rows))
            batch_texts = [texts[row] for row in rows + padding]
            states, mask = loaded.hidden_states(batch_texts, n_tokens, self.special_tokens)
            pooled = _pool(states, mask, self.pooling, layers)
            vectors[rows] = pooled[: len(rows)].cpu().numpy()
        return vectors

    @property
    def _asked(self) -> tuple[str, ...]:
        layer = self.layer_option
        return (layer,) if isinstance(layer, str) else tuple(layer)

    def _config_value(self, names: Sequence[str]) -> int:
        config = self.source.config
        # The library is slow to import, and knows the parts of a model and their defaults.
        look_up = (
            partial(getattr, _text_config(self.source)) if "text_config" in config else config.get
        )
        found = (look_up(name, None) for name in names)
        value = next((number for number in found if isinstance(number, int)), None)
        if value is None:
            todo = "use a text model; of a multimodal model, save the text part"
            expected = f"one of {', '.join(names)} in config.json"
            raise self.source.error(expected, ", ".join(sorted(config)), todo)
        return int(value)


def _load_config(source: Source) -> Any:
    (transformers,) = load_packages("encoder transformers", "transformers")
    # The folder has it, also where the weights are not downloaded yet.
    load = partial(transformers.AutoConfig.from_pretrained, trust_remote_code=False)
    return source.load(lambda *_, **__: load(source.folder))


@lru_cache(maxsize=16)
def _text_config(source: Source) -> Any:
    """Return the configuration of the text part of a model that has several parts."""
    return _load_config(source).get_text_config()


@dataclass(frozen=True)
class _LoadedModel:
    """A model in memory, with a tokeniser that pads on the right, and the names of its inputs."""

    tokenizer: Any
    model: Any
    input_names: frozenset[str]
    max_tokens: int
    n_layers: int

    @property
    def on_cpu(self) -> bool:
        """Whether it runs on the CPU."""
        return bool(self.model.device.type == "cpu")

    def hidden_states(
        self, texts: list[str], n_tokens: int, special_tokens: bool = True
    ) -> "tuple[tuple[torch.Tensor, ...], torch.Tensor]":
        """Return the hidden states, [texts, tokens, dimension] each, and the mask of the tokens.

        The mask is of those to pool, with or without special ones.
        """
        import torch

        inputs = self.tokenizer(
            texts,
            padding="max_length",
            truncation=True,
            max_length=n_tokens,
            return_attention_mask=True,
            return_special_tokens_mask=not special_tokens,
            return_tensors="pt",
        ).to(self.model.device)
        accepted = {name: value for name, value in inputs.items() if name in self.input_names}
        with torch.inference_mode():
            output = self.model(**accepted, output_hidden_states=True)
        mask = inputs["attention_mask"].bool()
        if not special_tokens:
            mask &= ~inputs["special_tokens_mask"].bool()
        return output.hidden_states, mask

    def try_padding(self, source: Source, dimension: int) -> None:
        """Check that it returns its hidden states, and that padding after a text changes none."""
        n_tokens = len(self.tokenizer(_TRIAL)["input_ids"])
        expected = f"embeddings and {self.n_layers} layers of dimension {dimension}"
        todo = "use a text model that returns them; of a multimodal model, save the text part"
        try:
            alone, padded = (
                [state[0, :n_tokens].float() for state in self.hidden_states([_TRIAL], n)[0]]
                for n in (n_tokens, min(n_tokens + 7, self.max_tokens))
            )
        # A model that needs images, or has no hidden states.
        except Exception as error:
            raise source.error(expected, describe_error(error), todo) from error
        dimensions = [state.shape[-1] for state in alone]
        if dimensions != [dimension] * (self.n_layers + 1):
            found = f"hidden states of the dimensions {', '.join(map(str, dimensions))}"
            raise source.error(expected, found, todo)
        is_exact = alone[0].dtype == self.model.dtype and not getattr(self.model, "hf_quantizer", 0)
        share = 1e-3 if is_exact else 0.1
        for layer, (one, other) in enumerate(zip(alone, padded, strict=True)):
            if (one - other).abs().max() > share * one.abs().max():
                expected = "hidden states of a text that padding after it does not change"
                found = f"layer {layer}, which changes"
                raise source.error(expected, found, "write a function (`encoder: callable`)")


def _batches(
    lengths: Sequence[int], max_tokens: int, batch: int, *, fixed: bool
) -> Iterator[tuple[list[int], int, int]]:
    """Yield the rows of a batch, and the numbers of texts and tokens that it is padded to."""
    sizes = {row: min(length, max_tokens) for row, length in enumerate(lengths) if length}
    if fixed:
        sizes = {row: _padded_length(length, max_tokens) for row, length in sizes.items()}
    order = sorted(sizes, key=lambda row: -sizes[row])
    while order:
        size = sizes[order[0]]
        if fixed:
            count = max(1, batch * _LENGTH_ON_CPU // size)
            rows = [row for row in order[:count] if sizes[row] == size]
        else:
            rows = order[: max(1, min(batch, batch * _LENGTH // size))]
            count = len(rows)
        order = order[len(rows) :]
        yield rows, count, size


def _padded_length(length: int, max_tokens: int) -> int:
    """Return one of few lengths, up to an eighth or eight tokens longer than a text."""
    step = 8 << max(0, (length - 1).bit_length() - 6)
    return min(-(-length // step) * step, max_tokens)


@lru_cache(maxsize=1)
def load_model(
    source: Source, n_layers: int, n_needed: int, dimension: int, loading: str, draw: int | None
) -> _LoadedModel:
    """Load a model and its tokeniser, with the first ``n_needed`` of its ``n_layers``, and try it.

    ``dimension`` is that of its layers; ``loading``: see ``Pretrained``; ``draw``: the seed of
    random weights, or None.
    """
    torch, transformers = load_packages("encoder transformers", "torch", "transformers")
    transformers.utils.logging.disable_progress_bar()
    source.check_architecture(source.config, transformers)
    # Without this option, the library asks at the terminal whether to run a model's own code.
    no_code = {"trust_remote_code": False}
    tokenizer = source.load(transformers.AutoTokenizer, padding_side="right", **no_code)
    source.check_vocabulary(tokenizer)
    if tokenizer.pad_token is None:
        if tokenizer.eos_token is None:
            expected = "a tokeniser with a token for padding, or one for the end of a text"
            todo = "set `tokenizer.pad_token` to any token and save the tokeniser again"
            raise source.error(expected, "neither of them", todo)
        tokenizer.pad_token = tokenizer.eos_token
    keywords = json.loads(loading)
    if draw is None:
        load_options = keywords | {"output_loading_info": True}
        load_options["ignore_mismatched_sizes"] = True  # to tell them here
        model, info = source.load(transformers.AutoModel, **load_options, **no_code)
        source.check_missing(info["missing_keys"])
        for name, stored, wanted in sorted(info["mismatched_keys"]):
            expected = f"weights of the shape of config.json, {tuple(wanted)} for {name}"
            todo = "correct config.json, or save the model again"
            raise source.error(expected, f"{tuple(stored)}", todo)
        _check_layers(source, model, info["unexpected_keys"])
    else:
        config = _load_config(source)
        with seeded(torch, draw):
            model = source.load(lambda *_, **__: transformers.AutoModel.from_config(config))
        model = model.to(getattr(torch, keywords["dtype"]))
    model.config.use_cache = False
    max_tokens = tokenizer.model_max_length
    text_config = model.config.get_text_config()
    if (positions := getattr(text_config, "max_position_embeddings", 0) or 0) > 0:
        max_tokens = min(max_tokens, positions)
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    # RoBERTa and similar models count positions from the id of the padding token on.
    embeddings: Any = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if (padding := getattr(embeddings, "padding_idx", None)) is not None:
        max_tokens = min(max_tokens, embeddings.num_embeddings - padding - 1)
    lists = (part for part in model.modules() if isinstance(part, torch.nn.ModuleList))
    stacks = [part for part in lists if len(part) == n_layers]
    if n_needed < n_layers and len(stacks) == 1:
        del stacks[0][n_needed:]
        n_layers = n_needed
    device = prepare_torch(torch)
    if not ("device_map" in keywords or getattr(model, "hf_quantizer", None)):
        model = model.to(device)
    model = model.eval()
    input_names = frozenset(inspect.signature(model.forward).parameters)
    loaded = _LoadedModel(tokenizer, model, input_names, max_tokens, n_layers)
    loaded.try_padding(source, dimension)
    return loaded


def _check_layers(source: Source, model: Any, unexpected: Collection[str]) -> None:
    """Refuse weights, in a model's files, of layers that it does not have."""
    layered = {re.sub(r"\d+", "#", key) for key in model.state_dict() if re.search(r"\d", key)}
    prefix = f"{model.base_model_prefix}."
    keys = {key: re.sub(r"\d+", "#", key.removeprefix(prefix)) for key in sorted(unexpected)}
    if further := [key for key, pattern in keys.items() if pattern in layered]:
        todo = "correct the number of layers in config.json, or save the model again"
        raise source.error("weights for the layers of config.json", _some(further), todo)


def _some(names: Sequence[str]) -> str:
    return f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"


def _pool(
    states: "Sequence[torch.Tensor]", mask: "torch.Tensor", pooling: str, layers: Sequence[str]
) -> "torch.Tensor":
    """Return float32 [texts, layers, dimension] of hidden states [texts, tokens, dimension]."""
    import torch

    means = {"avg": range(len(states)), "first_last": (1, len(states) - 1)}
    numbers = [means[layer] if layer in means else [int(layer)] for layer in layers]
    pooled = {
        # The layers of a model may be on several devices.
        n: _pool_tokens(states[n], mask.to(states[n].device), pooling).to(mask.device)
        for n in sorted({*chain(*numbers)})
    }
    of_layers = [torch.stack([pooled[n] for n in of_layer]).mean(0) for of_layer in numbers]
    return torch.stack(of_layers, 1)


def _pool_tokens(state: "torch.Tensor", mask: "torch.Tensor", pooling: str) -> "torch.Tensor":
    """Return float32 [texts, dimension], zeros for a text without tokens."""
    import torch

    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    if pooling == "cls":
        vectors = state[:, 0].float()
    elif pooling == "last":
        last = (mask * positions).amax(1) - 1
        vectors = state[torch.arange(len(mask), device=mask.device), last].float()
    elif pooling == "max":
        vectors = state.masked_fill(~mask[:, :, None], -torch.inf).amax(1).float()
    else:
        weights = (mask * positions if pooling == "weighted_mean" else mask).float()
        sums = torch.einsum("btd,bt->bd", state.float(), weights)
        vectors = sums / weights.sum(1, keepdim=True)
    return vectors.masked_fill(~mask.any(1, keepdim=True), 0)
