"""The corpora by language, and the names of languages."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from corpora_recipes.recipe import load_facts, recipe_names
from corpora_recipes.running.errors import ParamsError
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
        expected = "a known code of a language" + (f", such as {near}" if near else "")
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

    titles = {code: title_of(code) for code in corpora_by_language()}
    lower = language.lower()
    by_name = {title.lower(): code for code, title in titles.items() if title}
    begun = [name for name in by_name if name.startswith(lower)]
    names = get_close_matches(lower, by_name, n=3, cutoff=0.8)
    codes = get_close_matches(lower, titles, n=4, cutoff=0.6)
    near = dict.fromkeys([*(by_name[name] for name in (*begun, *names)), *codes])
    return [(code, titles[code]) for code in near][:4]


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = load_yaml(Path(__file__).with_name("languages.yaml"))
    return names
