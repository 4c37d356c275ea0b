"""Reads params.yaml: its top level, and its corpora with the facts of their recipes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt

from corpora_recipes.recipe import (
    ANY_TREEBANK,
    COMMON_KEYS,
    RECIPES,
    Corpus,
    CorpusFacts,
    load_facts,
    recipe_names,
)
from corpora_recipes.records import record_unit
from corpora_recipes.running.errors import ParamsError
from corpora_recipes.validation import (
    EMPTY_AS_NONE,
    Checked,
    check_choice,
    described,
    merge_options,
    validate,
)
from corpora_recipes.yaml_files import load_yaml

_RENAME = "rename it: it is the name of a stage and of folders"
# Names of corpora, datasets and rankings; those of encoders are only folders, and never configs.
# DVC writes them into a shell.
_NAME = "a name of lower-case letters, digits and _, 100 at most"
_ENCODER_NAME = "a name of letters, digits, _ and -, 100 at most, the first a letter or a digit"
Name = Annotated[str, described(_NAME, _RENAME, pattern="^[a-z0-9_]{1,100}$")]
EncoderName = Annotated[
    str, described(_ENCODER_NAME, _RENAME, pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")
]
Section = Annotated[dict[Any, Any], described("keys with entries", "see params.yaml as shipped")]


@dataclass(kw_only=True)
class Params(Checked):
    """The top level of params.yaml, with its defaults; ``name`` is that of the package."""

    name: Annotated[str, described("what the datasets are called together, on their card")] = ""
    seed: Annotated[StrictInt, described("an integer, such as 1111")] = 1111
    sources: str = "sample"
    corpora: dict[Name, Any] = field(default_factory=dict)
    rankings: dict[Name, Any] = field(default_factory=dict)
    audit: Section = field(default_factory=dict)
    encoders: dict[EncoderName, Any] = field(
        default_factory=lambda: {"char_hash": {}, "use_multilingual": {}}
    )
    trained: dict[EncoderName, Any] = field(default_factory=dict)
    probing: Section = field(default_factory=dict)
    evalrank: Section = field(default_factory=dict)
    paralex: Section = field(default_factory=dict)


def load_params(path: Path) -> dict[str, Any]:
    """Read params.yaml; return its ``Params`` as a dict, its top level and all names checked."""
    try:
        content = load_yaml(path)
    except FileNotFoundError:
        todo = "run from the project's folder, name the file with --params, or write it with "
        todo += (
            "`probeta init`; `probeta report results/*` needs none, and shows what `score` wrote"
        )
        raise ParamsError(path, "the parameters of the run", "no such file", todo) from None
    if content is None:
        todo = "write it with `probeta init`, such as `probeta init --documents FOLDER`; "
        todo += "without the file, `probeta repro` runs the samples"
        raise ParamsError(path, "the parameters of the run", "an empty file", todo)
    params = vars(validate(Params, content, path))
    datasets: Counter[str] = Counter()
    for name, entry in params["corpora"].items():
        entries = entry.get("datasets") if isinstance(entry, dict) else None
        if isinstance(entries, dict):
            where = f"{path}: corpora.{name}.datasets"
            datasets.update([*validate(dict[Name, Any], entries, where)])
    if repeated := sorted(name for name, count in datasets.items() if count > 1):
        expected = "names of datasets that no other corpus uses"
        found, todo = f"{', '.join(repeated)} more than once", "rename one: the name is a folder"
        raise ParamsError(f"{path}: corpora", expected, found, todo)
    for name in params["trained"].keys() & params["encoders"].keys():
        expected = "a name that no entry of `encoders` has"
        todo = "rename one of the two: both are encoders of the run"
        raise ParamsError(f"{path}: trained.{name}", expected, f"encoders.{name}", todo)
    return params


def shipped_params() -> Path:
    """Return the params.yaml of the samples: that of the checkout, or its copy in the wheel."""
    copy = Path(__file__).with_name("params.yaml")
    return copy if copy.exists() else Path(__file__).parents[1] / "params.yaml"


def load_corpora(path: Path) -> list[Corpus]:
    """Return all entries of ``corpora`` in the params file, in its order; see ``corpus_of``."""
    params = load_params(path)
    return [corpus_of(params, path, name) for name in params["corpora"]]


Language = Annotated[
    str, described('a language code such as "es"', pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")
]


@dataclass
class CorpusEntry(Checked):
    """An entry of ``corpora``: for fetching and reading, and the datasets of the builders."""

    corpus: Annotated[dict[Any, Any], described("the recipe, and what to read with it")]
    datasets: Annotated[
        dict[str, Any] | None,
        described(
            "dataset names, each with its task",
            "write it as in {sp_mine: {task: sentence_position}}",
        ),
        EMPTY_AS_NONE,
    ] = None


@dataclass(kw_only=True)
class Common(Checked):
    """The keys of `corpus` in every entry, besides the options of its recipe."""

    recipe: Annotated[str, described("a recipe, see `probeta list`")]
    language: Language
    sources: str | None = None
    documents: Annotated[
        Annotated[StrictInt, Field(gt=0)] | Literal["all"] | None,
        described("a positive integer, or all"),
    ] = None


def corpus_of(params: Mapping[str, Any], path: Path, name: str) -> Corpus:
    """Return an entry of ``corpora``, checked and joined with the facts of its recipe.

    ``params`` is what ``load_params`` returned for the file ``path``.
    """
    check_choice(
        name, sorted(params["corpora"]), f"{path}: corpora", todo="correct it, or add an entry"
    )
    where = f"{path}: corpora.{name}"
    entry = validate(CorpusEntry, params["corpora"][name], where)
    where += ".corpus"
    recipe = check_choice(entry.corpus.get("recipe"), recipe_names(), f"{where}.recipe")
    facts = load_facts(recipe)
    options = {"language": facts.language} | entry.corpus
    common_values = {key: options.pop(key) for key in COMMON_KEYS if key in options}
    common = validate(Common, common_values, where)
    options = merge_options(facts.options, options, where)
    language, documents = common.language, common.documents
    if facts.languages and facts.code_of(language) is None:
        expected = f"a language of {facts.name}: {', '.join(facts.languages)}"
        todo = "correct the value: `probeta list --languages` shows the languages of all corpora"
        raise ParamsError(f"{where}.language", expected, repr(language), todo)
    if isinstance(documents, int) and (unit := record_unit(facts.records)) != "documents":
        # It would leave out parts of the source.
        expected = f"no quota: all {unit} of the source are taken"
        raise ParamsError(f"{where}.documents", expected, repr(documents), "leave the quota out")
    if "path" in options and options["path"] is None and not facts.shipped:
        todo = f"add `path:`; the sample is in {RECIPES / recipe / 'sample'}"
        raise ParamsError(f"{where}.path", "your file or folder of documents", "nothing", todo)
    if not (facts.shipped and options.get("path") is None):
        # Only the users know the facts on their own texts.
        defaults: dict[str, Any] = {"name": name, "licence": "not stated", "redistributable": False}
        keys = {"name", "licence", "citation", "homepage", "description", "redistributable"}
        changes = {key: options[key] or defaults.get(key, "") for key in keys & options.keys()}
        if "path" in options:
            changes["provenance"] = None
        facts = replace(facts, **changes)
    if facts.treebanks and options["treebank"] != ANY_TREEBANK:
        facts = _choose_treebank(facts, options["treebank"], language, where)
    return Corpus(
        name=name,
        recipe=recipe,
        language=language,
        documents=None if documents == "all" else documents,
        seed=params["seed"],
        options=options,
        datasets=entry.datasets or {},
        facts=facts,
        sources=common.sources,
        params=str(path),
    )


def _choose_treebank(facts: CorpusFacts, name: str, language: str, where: str) -> CorpusFacts:
    """Return the facts of a recipe for several treebanks, with those of one of them."""
    spoken = language.partition("-")[0]
    fitting = [key for key, t in facts.treebanks.items() if t.language in (spoken, None)]
    kind = f" (treebanks in {language})"
    check_choice(
        name, [ANY_TREEBANK, *fitting], f"{where}.treebank", kind, "correct it, or `language`"
    )
    treebank = facts.treebanks[name]
    keys = ["name", "licence", "licence_url", "citation", "homepage", "redistributable"]
    return replace(facts, **{key: getattr(treebank, key) for key in [*keys, "provenance"]})
