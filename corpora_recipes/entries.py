"""The entries of `corpora` in params.yaml, checked and joined with the facts of their recipes."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from corpora_recipes.facts import ANY_TREEBANK, CorpusFacts
from corpora_recipes.params import known_keys, load_params
from corpora_recipes.recipe import COMMON_KEYS, RECIPES, Corpus, load_facts, recipe_names
from corpora_recipes.records import record_unit
from corpora_recipes.running.errors import InputError


def load_corpus(path: Path, name: str) -> Corpus:
    """Return the entry ``name`` of ``corpora`` in the params file; see ``corpus_of``."""
    return corpus_of(load_params(path), path, name)


def load_corpora(path: Path) -> list[Corpus]:
    """Return all entries of ``corpora`` in the params file, in its order; see ``corpus_of``."""
    params = load_params(path)
    return [corpus_of(params, path, name) for name in params["corpora"]]


def corpus_of(params: Mapping[str, Any], path: Path, name: str) -> Corpus:
    """Return an entry of ``corpora``, checked and joined with the facts of its recipe.

    Args:
        params: what ``load_params`` returned.
        path: of the params file, for messages.
        name: key of the entry.

    Raises:
        InputError: the entry does not exist, has an unknown recipe or key, or a value of another
            type, or lacks the path of the user's own files.
    """
    if name not in params["corpora"]:
        raise InputError(
            f"{path}: corpora",
            expected=f"one of {', '.join(sorted(params['corpora'])) or '(no entry)'}",
            found=repr(name),
            todo="correct the name, or add an entry",
        )
    where = f"{path}: corpora.{name}"
    entry = params["corpora"][name]
    if isinstance(entry, dict) and "recipe" in entry:
        raise _old_form(name, entry, where)
    entry = known_keys(entry, where, ("corpus", "datasets"))
    datasets = entry.get("datasets") or {}
    if not isinstance(datasets, dict):
        raise InputError(
            f"{where}.datasets",
            expected="dataset names, each with its task",
            found=repr(datasets),
            todo="write it as in {sp_mine: {task: sentence_position}}",
        )
    where += ".corpus"
    entry = entry.get("corpus")
    recipe = entry.get("recipe") if isinstance(entry, dict) else None
    if recipe not in recipe_names():
        raise InputError(
            f"{where}.recipe",
            expected=f"one of {', '.join(recipe_names())}",
            found=repr(recipe),
            todo="choose one, or add a recipe: a folder in corpora_recipes/corpora/",
        )
    facts = load_facts(recipe)
    entry = known_keys(entry, where, (*COMMON_KEYS, *facts.options))
    documents = entry.get("documents")
    documents = None if documents == "all" else documents
    language = entry.get("language", facts.language)
    sources = entry.get("sources")
    for key, value, fits, expected in (
        ("documents", documents, _is_quota(documents), "a positive integer, or all"),
        ("language", language, _is_language(language), 'a language code such as "es"'),
        ("sources", sources, sources is None or isinstance(sources, str), "a text, or nothing"),
    ):
        if not fits:
            raise InputError(
                f"{where}.{key}", expected=expected, found=repr(value), todo="correct the value"
            )
    if facts.languages and facts.code_of(language) is None:
        raise InputError(
            f"{where}.language",
            expected=f"a language of {facts.name}: {', '.join(facts.languages)}",
            found=repr(language),
            todo="correct the value: `probeta list --languages` shows the languages of all corpora",
        )
    if documents is not None:
        _check_divisible(facts, f"{where}.documents", documents)
    options = _options(entry, facts.options, where)
    if "path" in options and options["path"] is None and not facts.shipped:
        raise InputError(
            f"{where}.path",
            expected="the file or folder with your documents",
            found="nothing",
            todo=f"add `path:`; the sample is in {RECIPES / recipe / 'sample'}",
        )
    if not (facts.shipped and options.get("path") is None):
        # Only the users know the facts on their own texts.
        defaults: dict[str, Any] = {"name": name, "licence": "not stated", "redistributable": False}
        keys = {"name", "licence", "citation", "homepage", "description", "redistributable"}
        given = {key: options[key] or defaults.get(key, "") for key in keys & options.keys()}
        facts = replace(facts, **given)
    if facts.treebanks and options["treebank"] != ANY_TREEBANK:
        facts = _of_treebank(facts, options["treebank"], language, where)
    return Corpus(
        name=name,
        recipe=recipe,
        language=language,
        documents=documents,
        seed=params["seed"],
        options=options,
        datasets=datasets,
        facts=facts,
        sources=sources,
        params=str(path),
    )


def _of_treebank(facts: CorpusFacts, name: str, language: str, where: str) -> CorpusFacts:
    """Return the facts of a recipe for several treebanks, with those of one of them."""
    spoken = language.partition("-")[0]
    fitting = [key for key, own in facts.treebanks.items() if own.language == spoken]
    if name not in fitting:
        raise InputError(
            f"{where}.treebank",
            expected=f"one of {', '.join([ANY_TREEBANK, *fitting])} (treebanks in {language})",
            found=repr(name),
            todo="correct the name, or `language`",
        )
    own = facts.treebanks[name]
    keys = ("name", "licence", "licence_url", "citation", "homepage", "redistributable")
    return replace(facts, **{key: getattr(own, key) for key in keys})


def _old_form(name: str, entry: dict[str, Any], where: str) -> InputError:
    corpus = {key: value for key, value in entry.items() if key != "datasets"}
    datasets = {"datasets": entry["datasets"]} if "datasets" in entry else {}
    new = yaml.safe_dump(
        {name: {"corpus": corpus} | datasets},
        default_flow_style=None,
        allow_unicode=True,
        sort_keys=False,
        width=1000,
    )
    return InputError(
        where,
        expected="an entry with `corpus` (for fetching and reading) and `datasets`",
        found="the recipe and its options at the top of the entry",
        todo=f"write it as\n{new.rstrip()}",
    )


def _check_divisible(facts: CorpusFacts, where: str, quota: object) -> None:
    """Refuse a quota of examples or of parsed sentences: it would leave out parts of the source."""
    unit = record_unit(facts.records)
    if unit != "documents":
        raise InputError(
            where,
            expected=f"no quota: all {unit} of the source are taken",
            found=repr(quota),
            todo="leave the quota out",
        )


def _options(entry: dict[str, Any], defaults: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the recipe's options, checked by type and completed by their defaults."""
    options = {}
    for key, default in defaults.items():
        value = entry.get(key, default)
        # A default of None is a text that may be left out.
        kind = str if default is None else type(default)
        if kind is str and type(value) is int:
            value = str(value)  # such as a date: 20260101
        if kind is str and isinstance(value, date):
            raise InputError(
                f"{where}.{key}",
                expected="a text",
                found=f"{value}, which YAML takes for a date; DVC refuses those",
                todo=f'write it in quotes: {key}: "{value}"',
            )
        if not isinstance(value, kind) and not (value is None and default is None):
            raise InputError(
                f"{where}.{key}",
                expected={str: "a text", bool: "true or false"}.get(kind, kind.__name__),
                found=repr(value),
                todo=f"correct the value; the default is {default!r}",
            )
        options[key] = value
    return options


def _is_quota(value: object) -> bool:
    # bool is an int in Python, but `documents: yes` is a mistake.
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


def _is_language(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", value) is not None
