"""params.yaml, the face of the project: read, checked, and joined with each recipe's facts."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from corpora_recipes.errors import InputError
from corpora_recipes.recipes import COMMON_KEYS, Corpus, load_facts, recipe_names

DICTS = ("corpora", "rankings", "audit", "encoders", "probing", "evalrank", "paralex")
TOP_KEYS = ("seed", "sources", *DICTS)
# The values that each key of `probing` can have; the first is the default.
PROBING = {
    "protocol": ("standard", "senteval"),
    "engine": ("numpy", "torch"),
    "pair_features": ("difference_product", "four_part"),
}
# What the values of each key of `evalrank` can be among, and those that it has by default.
SIMILARITIES = ("cosine", "l2")
POSTPROCESSINGS = ("none", "centre", "abtt", "component_removal", "whitening")
EVALRANK = {
    "similarities": (SIMILARITIES, SIMILARITIES),
    "postprocessings": (POSTPROCESSINGS, ("none", "centre", "abtt", "whitening")),
}
# The same of `paralex`, which has a number besides: Sumbler et al. (2018) take 2.
CASINGS = ("as_is", "fold")
PARALEX = {"casings": (CASINGS, CASINGS)}
COHERENCE_THRESHOLD = 2


def load_params(path: Path) -> dict[str, Any]:
    """Read params.yaml and check its top level.

    Returns:
        ``seed`` (int), ``sources`` (str, "sample" if the file has none), ``corpora``, ``rankings``
        (name to an entry, a dict), ``audit`` (with ``inherited``: dataset to gate to ``at_most``
        and ``because``) and ``encoders`` (dicts, empty if it has none), ``probing`` (a value for
        each of ``PROBING``), ``evalrank`` (a list for each of ``EVALRANK``) and ``paralex`` (a list
        for each of ``PARALEX``, and ``coherence_threshold``, an int).

    Raises:
        InputError: the file is missing or no YAML, it has no seed, or a key is unknown or of
            another type.
    """
    try:
        params = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(
            path,
            expected="the parameters of the run",
            found="no such file",
            todo="run from the project's folder, or name the file with --params",
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(
            path, expected="YAML in UTF-8", found=str(error), todo="correct the file"
        ) from None
    given = _mapping(params, str(path), TOP_KEYS)
    params = {"sources": "sample"} | {key: {} for key in DICTS} | given
    types = {"seed": int, "sources": str} | dict.fromkeys(DICTS, dict)
    for key, kind in types.items():
        if not isinstance(params.get(key), kind) or isinstance(params[key], bool):
            raise InputError(
                f"{path}: {key}",
                expected=f"a value of type {kind.__name__}",
                found=repr(params.get(key)) if key in params else "nothing",
                todo="see params.yaml in the repository for an example",
            )
    audit = _mapping(params["audit"], f"{path}: audit", ("inherited",))
    params["audit"] = {"inherited": audit.get("inherited") or {}}
    _check_declared(params["audit"]["inherited"], f"{path}: audit.inherited")
    for name in params["encoders"]:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", str(name)):
            raise InputError(
                f"{path}: encoders.{name}",
                expected="a name of letters, digits, _ and -, which begins with one of the former",
                found=repr(name),
                todo="rename it: it is the name of a stage and of folders",
            )
    params["probing"] = _probing(params["probing"], f"{path}: probing")
    params["evalrank"] = _lists(params["evalrank"], EVALRANK, f"{path}: evalrank")
    params["paralex"] = _paralex(params["paralex"], f"{path}: paralex")
    for name, entry in params["rankings"].items():
        if not re.fullmatch(r"[a-z0-9_]+", str(name)) or not isinstance(entry, dict):
            raise InputError(
                f"{path}: rankings.{name}",
                expected="a name of lower-case letters, digits and _, with an entry such as "
                "{task: sentence_ranking, language: es, pairs: [sts]}",
                found=f"{name!r}: {entry!r}",
                todo="correct it",
            )
    names = Counter(
        name
        for entry in params["corpora"].values()
        if isinstance(entry, dict) and isinstance(entry.get("datasets"), dict)
        for name in entry["datasets"]
    )
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise InputError(
            f"{path}: corpora",
            expected="names of datasets that no other corpus uses",
            found=f"{', '.join(twice)} more than once",
            todo="rename one: it is a folder and a config of the package",
        )
    return params


def _probing(given: dict[str, Any], where: str) -> dict[str, str]:
    chosen = {key: values[0] for key, values in PROBING.items()}
    chosen |= _mapping(given, where, tuple(PROBING))
    for key, value in chosen.items():
        if value not in PROBING[key]:
            raise InputError(
                f"{where}.{key}",
                expected=f"one of {', '.join(PROBING[key])}",
                found=repr(value),
                todo="correct it",
            )
    return chosen


def _paralex(given: dict[str, Any], where: str) -> dict[str, Any]:
    own = _mapping(given, where, (*PARALEX, "coherence_threshold"))
    threshold = own.get("coherence_threshold", COHERENCE_THRESHOLD)
    if type(threshold) is not int or threshold < 1:
        raise InputError(
            f"{where}.coherence_threshold",
            expected="how many seeds must suggest a term, an integer from 1",
            found=repr(threshold),
            todo=f"correct it; Sumbler et al. (2018) take {COHERENCE_THRESHOLD}",
        )
    lists = {key: own[key] for key in PARALEX if key in own}
    return _lists(lists, PARALEX, where) | {"coherence_threshold": threshold}


def _lists(
    given: dict[str, Any], known: Mapping[str, tuple[Sequence[str], Sequence[str]]], where: str
) -> dict[str, Any]:
    """Return a list for each known key: what is given, checked, or the default."""
    chosen: dict[str, Any] = {key: list(default) for key, (_, default) in known.items()}
    chosen |= _mapping(given, where, tuple(known))
    for key, values in chosen.items():
        choices = known[key][0]
        right = isinstance(values, list) and values and all(value in choices for value in values)
        if not right or len(set(values)) < len(values):
            raise InputError(
                f"{where}.{key}",
                expected=f"a list of one or more of {', '.join(choices)}, none twice",
                found=repr(values),
                todo="correct it",
            )
    return chosen


def _check_declared(inherited: object, where: str) -> None:
    def is_declared(entry: object) -> bool:
        return (
            isinstance(entry, dict)
            and entry.keys() == {"at_most", "because"}
            and isinstance(entry["at_most"], int | float)
            and 0 < entry["at_most"] <= 1
            and isinstance(entry["because"], str)
            and bool(entry["because"])
        )

    well_formed = isinstance(inherited, dict) and all(
        isinstance(gates, dict) and gates and all(map(is_declared, gates.values()))
        for gates in inherited.values()
    )
    if not well_formed:
        raise InputError(
            where,
            expected="dataset names, each with gates, the share of rows that miss it at most, and "
            "the reason, as in {sick_es_e: {leakage: {at_most: 0.9, because: SICK makes many pairs "
            "of few sentences}}}",
            found=repr(inherited),
            todo="correct the entry",
        )


def load_corpus(path: Path, name: str) -> Corpus:
    """Return the entry ``name`` of ``corpora`` in the params file.

    Raises:
        InputError: no such entry, an unknown recipe or key, or a value of another type.
    """
    return _corpus(load_params(path), path, name)


def load_corpora(path: Path) -> list[Corpus]:
    """Return all entries of ``corpora`` in the params file, in its order; see ``load_corpus``."""
    params = load_params(path)
    return [_corpus(params, path, name) for name in params["corpora"]]


def _corpus(params: dict[str, Any], path: Path, name: str) -> Corpus:
    if name not in params["corpora"]:
        raise InputError(
            f"{path}: corpora",
            expected=f"one of {', '.join(sorted(params['corpora'])) or '(there are none)'}",
            found=repr(name),
            todo="correct the name, or add an entry",
        )
    where = f"{path}: corpora.{name}"
    entry = params["corpora"][name]
    recipe = entry.get("recipe") if isinstance(entry, dict) else None
    if recipe not in recipe_names():
        raise InputError(
            f"{where}.recipe",
            expected=f"one of {', '.join(recipe_names())}",
            found=repr(recipe),
            todo="correct it (or add a recipe: a folder under corpora_recipes/)",
        )
    facts = load_facts(recipe)
    entry = _mapping(entry, where, (*COMMON_KEYS, *facts["options"]))
    documents = entry.get("documents")
    documents = None if documents == "all" else documents
    language = entry.get("language", facts["language"])
    datasets = entry.get("datasets") or {}
    sources = entry.get("sources")
    for key, value, fits, expected in (
        ("documents", documents, _is_quota(documents), "a positive integer, or all"),
        ("language", language, _is_language(language), 'a language code such as "es"'),
        ("datasets", datasets, isinstance(datasets, dict), "dataset names, each with its task"),
        ("sources", sources, sources is None or isinstance(sources, str), "a text, or nothing"),
    ):
        if not fits:
            todo = f"correct corpora.{name}.{key}"
            raise InputError(f"{where}.{key}", expected=expected, found=repr(value), todo=todo)
    if documents is not None:
        _check_divisible(facts, f"{where}.documents", documents)
    options = _options(entry, facts["options"], where)
    if not (facts.get("shipped") and options.get("path") is None):
        # Of texts of their own only the users know what a dataset card says.
        for key in ("name", "licence", "citation", "homepage", "description"):
            if key in options:
                facts[key] = options[key] or {"name": name, "licence": "not stated"}.get(key, "")
        if "redistributable" in options:
            facts["redistributable"] = options["redistributable"]
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
    )


def with_documents(corpus: Corpus, quota: str | None) -> Corpus:
    """Return the corpus with the quota of the command line: a number, "all", or None to keep it.

    Raises:
        InputError: the quota is neither.
    """
    if quota is None:
        return corpus
    if quota == "all":
        return replace(corpus, documents=None)
    if not quota.isdecimal() or int(quota) < 1:
        raise InputError(
            f"--documents {quota}",
            expected="a positive integer, or all",
            found=repr(quota),
            todo="correct it",
        )
    _check_divisible(corpus.facts, f"--documents {quota}", quota)
    return replace(corpus, documents=int(quota))


def _check_divisible(facts: dict[str, Any], where: str, quota: object) -> None:
    """Refuse a quota of examples: whole parts and classes of the source would be left out."""
    if facts["records"] == "examples":
        raise InputError(
            where,
            expected="all: examples of a benchmark are taken whole",
            found=repr(quota),
            todo="leave it out",
        )


def _options(entry: dict[str, Any], defaults: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the recipe's own options, checked against their defaults, which fill the gaps."""
    options = {}
    for key, default in defaults.items():
        value = entry.get(key, default)
        # A default without a value is a text that may be left out.
        kind = str if default is None else type(default)
        if kind is str and type(value) is int:
            value = str(value)  # such as a date: 20260101
        if not isinstance(value, kind) and not (value is None and default is None):
            raise InputError(
                f"{where}.{key}",
                expected={str: "a text", bool: "true or false"}.get(kind, kind.__name__),
                found=repr(value),
                todo=f"correct it; the default is {default!r}",
            )
        options[key] = value
    return options


def _is_quota(value: object) -> bool:
    # bool is an int for Python, and `documents: yes` is surely a mistake.
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


def _is_language(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", value) is not None


def _mapping(value: object, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(
            where, expected=f"keys among {', '.join(known)}", found=repr(value), todo="correct it"
        )
    unknown = [str(key) for key in value if key not in known]
    if unknown:
        raise InputError(
            where,
            expected=f"keys among {', '.join(known)}",
            found=", ".join(unknown),
            todo="correct or remove what is not known",
        )
    return value
