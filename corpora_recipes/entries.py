"""The entries of `corpora` in params.yaml, checked and joined with the facts of their recipes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, StrictInt

from corpora_recipes.checking import NOTHING, Checked, checked, described, one_of, options_like
from corpora_recipes.facts import ANY_TREEBANK, CorpusFacts
from corpora_recipes.params import load_params
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
        NOTHING,
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

    Args:
        params: what ``load_params`` returned.
        path: of the params file, for messages.
        name: key of the entry.

    Raises:
        InputError: the entry does not exist, has an unknown recipe or key, or a value of another
            type, or lacks the path of the user's own files.
    """
    one_of(name, sorted(params["corpora"]), f"{path}: corpora", todo="correct it, or add an entry")
    where = f"{path}: corpora.{name}"
    if isinstance(written := params["corpora"][name], dict) and "recipe" in written:
        raise _old_form(name, written, where)
    entry = checked(CorpusEntry, written, where)
    where += ".corpus"
    recipe = one_of(entry.corpus.get("recipe"), recipe_names(), f"{where}.recipe")
    facts = load_facts(recipe)
    given = {"language": facts.language} | entry.corpus
    common = checked(Common, {key: given.pop(key) for key in COMMON_KEYS if key in given}, where)
    options = options_like(facts.options, given, where)
    language, documents = common.language, common.documents
    if facts.languages and facts.code_of(language) is None:
        raise InputError(
            f"{where}.language",
            expected=f"a language of {facts.name}: {', '.join(facts.languages)}",
            found=repr(language),
            todo="correct the value: `probeta list --languages` shows the languages of all corpora",
        )
    if isinstance(documents, int) and (unit := record_unit(facts.records)) != "documents":
        # It would leave out parts of the source.
        raise InputError(
            f"{where}.documents",
            expected=f"no quota: all {unit} of the source are taken",
            found=repr(documents),
            todo="leave the quota out",
        )
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
        documents=None if documents == "all" else documents,
        seed=params["seed"],
        options=options,
        datasets=entry.datasets or {},
        facts=facts,
        sources=common.sources,
        params=str(path),
    )


def _of_treebank(facts: CorpusFacts, name: str, language: str, where: str) -> CorpusFacts:
    """Return the facts of a recipe for several treebanks, with those of one of them."""
    spoken = language.partition("-")[0]
    fitting = [key for key, own in facts.treebanks.items() if own.language == spoken]
    what = f" (treebanks in {language})"
    one_of(name, [ANY_TREEBANK, *fitting], f"{where}.treebank", what, "correct it, or `language`")
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
