"""`probeta schema`: write the JSON Schema of params.yaml, with which editors complete and check."""

import argparse
import json
from collections.abc import Mapping
from dataclasses import make_dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from types import GenericAlias
from typing import Any, Literal

from pydantic import Field, TypeAdapter

from builders.plan.datasets import entry_of
from builders.plan.inherited import Audit
from builders.plan.rankings import RankingEntry, WordRankingEntry
from builders.tasks import TASKS
from corpora_recipes.checking import Checked, like
from corpora_recipes.params import Common, CorpusEntry, EncoderName, Language, Name, Params
from corpora_recipes.recipe import load_facts, recipe_names
from corpora_recipes.running.outputs import whole_file
from evaluation.encoders import ENCODERS, options_of
from evaluation.paradigms.params import ParaLex
from evaluation.probing.params import Probing
from evaluation.ranking.params import EvalRank
from evaluation.training.params import Training


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta schema`."""
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: standard output)"
    )


def run(options: argparse.Namespace) -> None:
    """Write the schema."""
    text = json.dumps(params_schema(), indent=1, ensure_ascii=False)
    if options.out is None:
        print(text)
        return
    with whole_file(options.out) as temporary:
        temporary.write_text(text + "\n", "utf-8")


def params_schema() -> dict[str, Any]:
    """Return the JSON Schema of params.yaml."""
    schema = _plain(TypeAdapter(params_type()).json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def params_type() -> type[Any]:
    """Return the type of params.yaml: ``Params``, with the types of all entries."""
    corpora, datasets, encoders = [], [], []
    for name in recipe_names():
        facts = load_facts(name)
        of_recipe = {"recipe": (Literal[name], ...), "language": (Language, facts.language)}
        corpora.append(_type(f"corpus_{name}", Common, of_recipe | _options(facts.options)))
    for name, task in TASKS.items():
        for records in task.records:
            entry = entry_of(task, records)
            datasets.append(_type(f"{name}_of_{records}", entry, {"task": (Literal[name], ...)}))
    for name, encoder in ENCODERS.items():
        options = {"encoder": (Literal[name], name)} | _options(options_of(encoder))
        encoders.append(_type(f"encoder_{name}", Checked, options))
    of_datasets = GenericAlias(dict, (Name, reduce(or_, datasets))) | None
    of_corpus = {"corpus": (reduce(or_, corpora), ...), "datasets": (of_datasets, None)}
    corpus = _type("corpus", CorpusEntry, of_corpus)
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
    return _type("params", Params, {name: (kind, None) for name, kind in sections.items()})


def _options(defaults: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (like(default), default) for name, default in defaults.items()}


def _type(name: str, base: type[Any], fields: Mapping[str, tuple[Any, Any]]) -> type[Any]:
    """Return a subclass with more fields: name to type and default, ``...`` for none."""
    made: list[Any] = []
    for key, (kind, default) in fields.items():
        made.append((key, kind) if default is ... else (key, kind, Field(default=default)))
    return make_dataclass(name, made, bases=(base,), namespace={"__doc__": None}, kw_only=True)


def _plain(schema: Any) -> Any:
    """Return a schema without titles, and with the first line of what its types say."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    of_type = schema.keys() & {"type", "anyOf", "enum", "const", "$ref", "todo"}
    plain = {
        key: _plain(value)
        for key, value in schema.items()
        if not (of_type and key in ("title", "todo"))
    }
    if of_type and isinstance(about := plain.get("description"), str):
        plain["description"] = about.partition("\n")[0]
    return plain
