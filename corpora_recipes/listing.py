"""The corpora, by language and for `probeta list`."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import shorten

from corpora_recipes.fetching.downloads import read_fetched, sizes_in_words
from corpora_recipes.fetching.sources import check_files, list_sources, origin_of
from corpora_recipes.params import corpus_of, load_params
from corpora_recipes.recipe import Corpus, Cost, MissingCorpus, load_facts, recipe_names
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.outputs import RAW
from corpora_recipes.yaml_files import load_yaml

# Wikipedia has several times as many languages as all others: those it has alone share a line.
_WIKIPEDIA = ["wikipedia"]


def corpora_by_language() -> dict[str, list[str]]:
    """Return language code to the recipes that have it, both sorted; no files of users."""
    recipes: dict[str, list[str]] = {}
    for name in recipe_names():
        facts = load_facts(name)
        if "path" not in facts.options or facts.shipped:
            for language in facts.spoken:
                recipes.setdefault(language, []).append(name)
    return dict(sorted(recipes.items()))


def corpora_in(language: str) -> dict[str, str]:
    """Return the recipes that have a language, each with its own code of it, sorted."""
    names = {name for some in corpora_by_language().values() for name in some}
    codes = {name: load_facts(name).code_of(language) for name in sorted(names)}
    corpora = {name: code for name, code in codes.items() if code is not None}
    if not corpora:
        near = ", ".join(f"{code} ({title})" if title else code for code, title in _near(language))
        expected = "the code of a language that a corpus has" + (
            f", such as {near}" if near else ""
        )
        todo = "`probeta list --languages` shows all of them"
        raise ParamsError(f"language {language!r}", expected, repr(language), todo)
    return corpora


def title_of(language: str) -> str:
    """Return the English name of a language, "" if it is not known."""
    names = _names()
    return names.get(language) or names.get(language.partition("-")[0], "")


def languages_listing() -> Iterator[str]:
    """Yield a line for each language, with its corpora; languages of Wikipedia alone share one."""
    by_language = corpora_by_language()
    alone = [language for language, names in by_language.items() if names == _WIKIPEDIA]
    for language, names in by_language.items():
        if language not in alone:
            yield f"{language:6}{title_of(language):24}{', '.join(names)}"
    yield f"Wikipedia alone: {' '.join(alone)}"


def _near(language: str) -> list[tuple[str, str]]:
    """Return the languages whose code or name is like a text: code and name."""
    from difflib import get_close_matches

    known = {code: title_of(code) for code in corpora_by_language()}
    lower = language.lower()
    by_name = {title.lower(): code for code, title in known.items() if title}
    begun = [name for name in by_name if name.startswith(lower)]
    names = get_close_matches(lower, by_name, n=3, cutoff=0.8)
    codes = get_close_matches(lower, known, n=4, cutoff=0.6)
    near = dict.fromkeys([*(by_name[name] for name in (*begun, *names)), *codes])
    return [(code, known[code]) for code in near][:4]


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = load_yaml(Path(__file__).with_name("languages.yaml"))
    return names


def listing(path: Path) -> Iterator[str]:
    """Yield the lines of the listing; a fault in one entry does not hide the others.

    Args:
        path: of params.yaml.
    """
    faults = []
    sizes: list[int | None] = []
    params = load_params(path)
    yield f"Corpora of {path}:"
    for name in params["corpora"]:
        try:
            corpus = corpus_of(params, path, name)
            datasets = ", ".join(corpus.datasets) or "no datasets"
            check_files(corpus, params["sources"], RAW / name)
        except MissingCorpus as missing:
            yield f"  {name} (recipe {corpus.recipe}): missing, must be asked for: {datasets}"
            yield f"    {missing.found}"
        except InputError as error:
            faults.append(error)
            yield f"  {name}: wrong, see below"
        else:
            yield f"  {name} (recipe {corpus.recipe}): {datasets}"
            if left := _to_download(corpus, params["sources"]):
                sizes += left
                cost = _estimate(corpus)
                about, minutes = ("about ", cost.minutes) if cost else ("", 0)
                time = f", {minutes} minutes or more" if minutes else ""
                yield f"    to download: {about}{sizes_in_words(left)}{time}"
    if sizes:
        yield f"To download in all: {sizes_in_words(sizes)}"
    yield "Recipes:"
    for name in recipe_names():
        try:
            facts = load_facts(name)
        except InputError as error:
            text = f"wrong: {error.where}: expected {error.expected}, found {error.found}"
        else:
            text = shorten(facts.description, 92 - len(name), placeholder=" …")
        yield f"  {name}: {text}"
    for fault in faults:
        raise fault


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
