"""`probeta list` and `probeta schema`: the entries of params.yaml."""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, make_dataclass, replace
from functools import reduce
from operator import or_
from pathlib import Path
from textwrap import shorten
from types import GenericAlias
from typing import Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter

from builders.audit_report import DETECTABLE_AT_MOST, describe_detectable, detectable_of, read_audit
from builders.plan.datasets import Dataset, ExampleDataset, RankingEntry, WordRankingEntry, entry_of
from builders.plan.groups import Audit, datasets_listing, load_groups
from builders.tasks import TASKS
from corpora_recipes.fetching.downloads import format_sizes, read_fetched
from corpora_recipes.fetching.sources import check_files, list_sources, origin_of
from corpora_recipes.languages import languages_listing
from corpora_recipes.params import (
    Common,
    CorpusEntry,
    EncoderName,
    Language,
    Name,
    Params,
    corpus_of,
    load_params,
)
from corpora_recipes.recipe import Corpus, Cost, MissingCorpus, load_facts, recipe_names
from corpora_recipes.running.console import plural
from corpora_recipes.running.errors import InputError, SmallSample, check_packages
from corpora_recipes.running.outputs import (
    AUDIT,
    EMBEDDINGS,
    PACKAGE,
    RAW,
    format_size,
    free_at,
    whole_file,
)
from corpora_recipes.validation import Checked, option_type
from evaluation.datasets import find_datasets
from evaluation.encoders import ENCODERS, options_of
from evaluation.encoders.callable import FunctionEncoder
from evaluation.encoders.encoder import Encoder
from evaluation.encoders.transformer import Transformer
from evaluation.features import check_prompt_names
from evaluation.params import (
    EvalRank,
    ParaLex,
    Training,
    encoder_factories,
    encoders_params,
    evalrank_params,
    paralex_params,
    store_names,
    trained_params,
)
from evaluation.probing.protocols import PROTOCOLS, Probing, effort, probing_params


class _Entry(NamedTuple):
    """A corpus of params.yaml: why it cannot be read, and the bytes of each file to download.

    Of a size that nobody has stated there is None.
    """

    corpus: Corpus | None
    error: InputError | None
    to_download: list[int | None]


def _examine_corpora(path: Path) -> Iterator[tuple[str, _Entry]]:
    """Yield name and entry of each corpus."""
    params = load_params(path)
    for name in params["corpora"]:
        corpus = None
        try:
            corpus = corpus_of(params, path, name)
            check_files(corpus, params["sources"], RAW / name)
        except InputError as error:
            yield name, _Entry(corpus, error, [])
        else:
            yield name, _Entry(corpus, None, _to_download(corpus, params["sources"]))


def corpora_listing(path: Path) -> Iterator[str]:
    """Yield the lines of the listing; a fault in one entry does not hide the others.

    Args:
        path: of params.yaml.
    """
    faults = []
    sizes: list[int | None] = []
    yield f"Corpora of {path}:"
    for name, (corpus, error, left) in _examine_corpora(path):
        if corpus is None or not isinstance(error, MissingCorpus | SmallSample | None):
            assert error is not None
            faults.append(error)
            yield f"  {name}: wrong, see below"
            continue
        recipe, datasets = f"recipe {corpus.recipe}", ", ".join(corpus.datasets) or "no datasets"
        if isinstance(error, MissingCorpus):
            yield f"  {name} ({recipe}): missing, must be asked for: {datasets}"
            yield f"    {error.found}"
        elif error:
            yield f"  {name} ({recipe}): {error.expected} are not there: {datasets}"
            yield f"    found: {error.found}"
        else:
            yield f"  {name} ({recipe}): {datasets}"
        if left:
            sizes += left
            cost = _estimate(corpus)
            about, minutes = ("about ", cost.minutes) if cost else ("", 0)
            time = f", {minutes} minutes or more" if minutes else ""
            yield f"    to download: {about}{format_sizes(left)}{time}"
    if sizes:
        yield f"To download in all: {format_sizes(sizes)}"
    for fault in faults:
        raise fault


def costs_listing(path: Path) -> Iterator[str]:
    """Yield lines on what a run of a file takes: rows, downloads, vectors and probes."""
    entries = dict(_examine_corpora(path))
    datasets = [dataset for group in load_groups(path) for dataset in group.datasets]
    rows = [_count_rows(dataset) for dataset in datasets]
    n_known = len(rows) - rows.count(0)
    words = [f"at most {sum(rows):,} rows of {n_known}"] if n_known else []
    words += ["rows that only `read` can count"] if n_known < len(rows) else []
    yield f"{plural(len(rows), 'datasets')}: {', '.join(words)}"
    sizes = [size for entry in entries.values() for size in entry.to_download]
    yield f"to download: {format_sizes(sizes)}"
    if names := [n for n, entry in entries.items() if isinstance(entry.error, MissingCorpus)]:
        yield f"must be asked for: {', '.join(names)}"
    for name, (_, size, costs) in vector_costs(path).items():
        yield f"{name}: {costs}" if size else f"{name}: its vectors depend on the rows"


def recipes_listing() -> Iterator[str]:
    """Yield a line for each recipe, on what it reads."""
    for name in recipe_names():
        try:
            facts = load_facts(name)
        except InputError as error:
            text = f"wrong: {error.where}: expected {error.expected}, found {error.found}"
        else:
            text = shorten(facts.description, 92 - len(name), placeholder=" …")
        yield f"  {name}: {text}"


def _to_download(corpus: Corpus, sources: str) -> list[int | None]:
    """Return the bytes of each file that a fetch would download; None where nobody has said."""
    folder = RAW / corpus.name
    if origin_of(corpus, sources) != "upstream" or "path" in corpus.options:
        return []
    fetched = read_fetched(folder)
    if fetched is not None and fetched.complete and fetched.source == "upstream":
        return []
    if cost := _estimate(corpus):
        return [cost.download]
    files = [source for source in list_sources(corpus) if source.urls]
    sizes = [(file.packed or file).size for file in files if not (folder / file.file).exists()]
    # The files of some are known only to their servers.
    return sizes if files or corpus.facts.manual else [None]


def _estimate(corpus: Corpus) -> Cost | None:
    facts = corpus.facts
    usual = all(corpus.options[name] == value for name, value in facts.options.items())
    return facts.costs.get(corpus.language) if usual else None


def _count_rows(dataset: Dataset) -> int:
    sizes = dataset.facts.sizes.values() if isinstance(dataset, ExampleDataset) else dataset.rows
    return sum(filter(None, sizes))


def _seconds(dataset: Dataset, probing: Probing, dimension: int) -> float:
    rows, classes, folds = _count_rows(dataset), len(dataset.task.labels), False
    if isinstance(dataset, ExampleDataset):
        folds = "train" not in dataset.facts.sizes
        classes = len(dataset.facts.labels or ())
    return effort(dataset.task.name, rows, classes, dimension, probing, folds) / 1e9


def vector_costs(path: Path) -> dict[str, tuple[bool, int, str]]:
    """Return of each encoder: are its vectors kept, their bytes at most, and all costs in words.

    Counted are the texts of datasets that are built, or of the rows that params.yaml asks for.
    Encoders whose dimension only their model tells are not there.
    """
    params = load_params(path)
    probing, stores = probing_params(params, path), store_names(encoders_params(params, path))
    planned = [dataset for group in load_groups(path) for dataset in group.datasets]
    built = {each.name: each for each in (find_datasets(PACKAGE) if PACKAGE.is_dir() else ())}
    n_texts = {
        each.name: built[each.name].n_texts
        if each.name in built
        else _count_rows(each) * sum(text.count or 1 for text in each.task.texts)
        for each in planned
    }
    trained = [dataset for dataset in planned if dataset.task.trained]
    largest = max(n_texts, key=n_texts.__getitem__, default="")
    costs = {}
    for name, make in encoder_factories(path).items() if largest else ():
        try:
            encoder = make()
            layers, dimension = _shape_of(encoder, EMBEDDINGS / name)
        except InputError:
            continue  # its own check says why
        if not dimension or stores[name] != name:
            continue
        n_stored, of_what = sum(n_texts.values()), ""
        if not encoder.vectors.keep:
            of_what = f" of {largest}, the largest dataset ({n_stored:,} in all, those that "
            n_stored, of_what = n_texts[largest], f"{of_what}datasets share several times)"
        size = n_stored * layers * encoder.vectors.bytes_of(dimension)
        probes = [
            (layers * sum(_seconds(each, by_name, dimension) for each in trained), by_name.protocol)
            for by_name in (replace(probing, protocol=protocol) for protocol in PROTOCOLS)
        ]
        text = f"at most {format_size(size)}: {n_stored:,} texts{of_what}, "
        text += f"{plural(layers, 'layers')} of {dimension} dimensions, {encoder.vectors.dtype}; "
        text += "one CPU probes them in roughly "
        text += ", ".join(f"{_in_words(seconds)} by {protocol}" for seconds, protocol in probes)
        costs[name] = encoder.vectors.keep, size, text
    return costs


def _shape_of(encoder: Encoder, store: Path) -> tuple[int, int]:
    """Return the numbers of layers and dimensions; 0 dimensions if only a model tells them."""
    is_property = isinstance(type(encoder).dimension, property)
    if encoder.source_is_here if isinstance(encoder, Transformer) else not is_property:
        return len(encoder.layers), encoder.dimension
    from evaluation.embedding.store import read_header  # slow, and for few encoders

    has_one_layer = not isinstance(encoder, FunctionEncoder | Transformer)
    return 1, int(read_header(store).get("dimension", 0)) if has_one_layer else 0


def check_disk(path: Path) -> None:
    """Refuse a run whose vectors certainly do not fit the disk, before it starts.

    A text may be in several datasets: half of what ``vector_costs`` says is certain.
    """
    costs, free = vector_costs(path), free_at(EMBEDDINGS)
    most = max(costs, key=lambda name: costs[name][1], default="")
    at_a_time = max((size for keep, size, _ in costs.values() if not keep), default=0)
    needed = sum(size for keep, size, _ in costs.values() if keep) + at_a_time
    there = sum(file.stat().st_size for file in EMBEDDINGS.glob("*/*.npy"))
    if (needed := needed // 2 - there) > free:
        expected = f"a disk with room for {format_size(needed)} of vectors"
        todo = f"make room, or ask {most} for less: fewer layers, or `vectors` (docs/encoders.md)"
        raise InputError(f"the disk of {EMBEDDINGS}", expected, f"{format_size(free)} free", todo)


def _in_words(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{max(1, seconds / 60):.0f} min"


def run_schema(options: argparse.Namespace) -> None:
    """Write the schema."""
    text = json.dumps(params_schema(), indent=1, ensure_ascii=False)
    if options.out is None:
        print(text)
        return
    with whole_file(options.out) as temporary:
        temporary.write_text(text + "\n", "utf-8")


def params_schema() -> dict[str, Any]:
    """Return the JSON Schema of params.yaml."""
    schema = _simplify(TypeAdapter(params_type()).json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def params_type() -> type[Any]:
    """Return the type of params.yaml: ``Params``, with the types of all entries."""
    corpora, datasets, encoders = [], [], []
    for name in recipe_names():
        facts = load_facts(name)
        recipe_fields = {"recipe": (Literal[name], ...), "language": (Language, facts.language)}
        corpora.append(
            _make_type(f"corpus_{name}", Common, recipe_fields | _option_fields(facts.options))
        )
    for name, task in TASKS.items():
        for records in task.records:
            entry = entry_of(task, records)
            datasets.append(
                _make_type(f"{name}_of_{records}", entry, {"task": (Literal[name], ...)})
            )
    for name, encoder in ENCODERS.items():
        options = {"encoder": (Literal[name], name)} | _option_fields(options_of(encoder))
        encoders.append(_make_type(f"encoder_{name}", Checked, options))
    datasets_type = GenericAlias(dict, (Name, reduce(or_, datasets))) | None
    corpus_fields = {"corpus": (reduce(or_, corpora), ...), "datasets": (datasets_type, None)}
    corpus = _make_type("corpus", CorpusEntry, corpus_fields)
    sections: dict[str, Any] = {
        "corpora": GenericAlias(dict, (Name, corpus)),
        "rankings": dict[Name, RankingEntry | WordRankingEntry],
        "audit": Audit,
        "encoders": GenericAlias(dict, (EncoderName, reduce(or_, encoders) | None)),
        "trained": dict[EncoderName, Training],
        "probing": Probing,
        "evalrank": EvalRank,
        "paralex": ParaLex,
    }
    return _make_type("params", Params, {name: (kind, None) for name, kind in sections.items()})


def _option_fields(defaults: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (option_type(default), default) for name, default in defaults.items()}


def _make_type(name: str, base: type[Any], fields: Mapping[str, tuple[Any, Any]]) -> type[Any]:
    """Return a subclass with more fields: name to type and default, ``...`` for none."""
    fields_of_class: list[Any] = []
    for key, (kind, default) in fields.items():
        fields_of_class.append(
            (key, kind) if default is ... else (key, kind, Field(default=default))
        )
    return make_dataclass(
        name, fields_of_class, bases=(base,), namespace={"__doc__": None}, kw_only=True
    )


def _simplify(schema: Any) -> Any:
    """Return a schema without titles, and with the first line of what its types say."""
    if isinstance(schema, list):
        return [_simplify(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    is_type = schema.keys() & {"type", "anyOf", "enum", "const", "$ref", "todo"}
    simple = {
        key: _simplify(value)
        for key, value in schema.items()
        if not (is_type and key in ("title", "todo"))
    }
    if is_type and isinstance(description := simple.get("description"), str):
        simple["description"] = description.partition("\n")[0]
    return simple


def run_list(options: argparse.Namespace) -> None:
    """Print what params.yaml asks for, or the languages of all recipes."""
    if options.languages:
        print(*languages_listing(), sep="\n")
    else:
        print_entries(options.params)


def validate_params(path: Path) -> list[str]:
    """Check a file of parameters, but not that files and packages are there.

    Returns:
        The names of its corpora, rankings and encoders.
    """
    datasets_listing(path)
    return _validate_sections(load_params(path), path)


def _validate_sections(params: dict[str, Any], path: Path) -> list[str]:
    for section in (trained_params, probing_params, evalrank_params, paralex_params):
        section(params, path)
    return [*params["corpora"], *params["rankings"], *encoders_params(params, path)]


def print_entries(path: Path) -> None:
    """Print what a file of parameters asks for."""
    for line in corpora_listing(path):
        print(line)
    print(f"Datasets of {path}:")
    print(datasets_listing(path, _detectable_words()))
    print(f"Encoders of {path}:")
    params = load_params(path)
    datasets = [*params["rankings"]]
    for corpus in params["corpora"].values():
        datasets += corpus.get("datasets") or ()
    trained = trained_params(params, path)
    entries, costs = encoders_params(params, path), vector_costs(path)
    for name, make in encoder_factories(path).items():
        if name in trained:
            continue
        encoder = make()
        encoder.check()
        check_prompt_names(encoder, datasets)
        entry = entries[name]
        options = ", ".join(f"{key} {value}" for key, value in entry.items() if key != "encoder")
        print(f"  {name}: {encoder.name}" + (f" ({options})" if options else ""))
        if name in costs:
            print(f"    vectors: {costs[name][2]}")
    for name, training in trained.items():
        options = ", ".join(f"{key} {weight:g}" for key, weight in training.objectives.items())
        print(f"  {name}: trained on {training.corpus} ({options})")
    if trained:
        check_packages("train", "torch", "sentence_transformers")
    _validate_sections(params, path)
    probing = probing_params(params, path)
    settings = asdict(probing) | {"transfer": " ".join(probing.transfer) or "none"}
    print("Probing: " + ", ".join(f"{key} {value}" for key, value in settings.items()))
    print("Recipes:", *recipes_listing(), sep="\n")


def _detectable_words() -> dict[str, str]:
    """Return dataset to the difference that its test detects, in words, by the audit if any."""
    try:
        audited = read_audit(AUDIT / "audit.json")["datasets"]
    except InputError:
        return {}
    detectable = {name: detectable_of(facts) for name, facts in audited.items()}
    return {
        name: f", {describe_detectable(value)}"
        + (" (too small for an average)" if value > DETECTABLE_AT_MOST else "")
        for name, value in detectable.items()
        if value is not None
    }
