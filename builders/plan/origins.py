"""The corpora whose texts a dataset holds, and the licences of these texts."""

from collections.abc import Iterable
from typing import NamedTuple

from corpora_recipes.recipe import Corpus

SAMPLE_LICENCE = "Apache-2.0"


class Origin(NamedTuple):
    """A corpus whose texts a dataset holds.

    Attributes:
        corpus: its entry in params.yaml.
        licence: of its texts.
        sample: whether they are those of the small sample in the project.
    """

    corpus: Corpus
    licence: str
    sample: bool

    @property
    def title(self) -> str:
        """The corpus's name, for readers."""
        return f"{self.corpus.facts.name}{' (sample)' if self.sample else ''}"


def origins_of(corpora: Iterable[Corpus], sources: str) -> list[Origin]:
    """Return the origins of the texts of some corpora; ``sources`` is that of params.yaml."""
    return [Origin(c, licence_of(c, sources), c.is_sample(sources)) for c in corpora]


def licence_of(corpus: Corpus, sources: str) -> str:
    """Return the licence of a corpus's texts; samples have their own licence."""
    return SAMPLE_LICENCE if corpus.is_sample(sources) else corpus.facts.licence


def licence_id(licence: str) -> str:
    """Return a licence's name in the form of the identifiers of the Hub: cc-by-4.0."""
    return licence.lower().replace(" ", "-")
