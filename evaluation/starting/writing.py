"""Writes a params.yaml from what the recipes offer in a language."""

from pathlib import Path

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from corpora_recipes.languages import corpora_in, title_of
from evaluation.starting.offers import TABLE, offers_in, rankings_in


def params_text(language: str) -> str:
    """Return a params.yaml with all that the recipes have in a language.

    Args:
        language: BCP 47 code, such as "ca".

    Raises:
        InputError: no corpus has it.
    """
    codes = corpora_in(language)
    code = language.partition("-")[0]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["flow"] = flow
    return environment.get_template("params.yaml.jinja").render(
        language=language,
        code=code,
        suffix=language.lower().replace("-", "_"),
        title=title_of(language) or language,
        offers=offers_in(language, codes),
        rankings=rankings_in(language),
        known_to_use=code in TABLE["use_multilingual"].split(),
    )


def flow(value: object) -> str:
    """Return a value as YAML on one line."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10_000
    )
    return text.removesuffix("\n...\n").rstrip("\n")
