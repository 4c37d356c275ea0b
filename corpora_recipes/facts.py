"""The types of a corpus.yaml, and the function that reads and checks it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Strict, StrictBool, StrictInt, model_validator

from corpora_recipes.checking import AS_WRITTEN, Checked, Number, checked, described
from corpora_recipes.records import Kind
from corpora_recipes.running.yaml_text import parse_yaml, read_yaml

# The value of the option ``treebank`` for the first one of the language that is there.
ANY_TREEBANK = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Checked):
    """What a file's bytes must be; what is None may be anything.

    Attributes:
        size: their number.
        sha256: their SHA-256, in hexadecimal.
        sha1: their SHA-1, which Wikimedia publishes.
        git_blob: their id in git, which GitHub publishes: the SHA-1 of ``blob``, a blank, the
            size, a zero byte, and the bytes.
    """

    size: StrictInt | None = None
    sha256: str | None = None
    sha1: str | None = None
    git_blob: str | None = None

    @property
    def has_digest(self) -> bool:
        """Whether it says what the bytes are, and not only how many."""
        return any((self.sha256, self.sha1, self.git_blob))


@dataclass(frozen=True, slots=True)
class Source(Pin):
    """A raw file, with its pin, or a group of raw files of a corpus.

    Attributes:
        file: upstream name, a path relative to the corpus's folder; a pattern with ``*`` for a
            group of files. In it and in the addresses, ``{language}`` and ``{option}`` are replaced
            by those of the corpus.
        urls: its addresses, which are tried in this order; none if it is only in mirrors. In
            corpus.yaml, ``url: X`` is the same as ``urls: [X]``.
        optional: whether a mirror may lack it if it has another source of the corpus.
        packed: a zip archive in which the file is a member of this name; it is tried first.
        instead: files that are taken in its place if it cannot be had, all of them.
    """

    file: str
    urls: tuple[str, ...] = ()
    optional: StrictBool = False
    packed: "Source | None" = None
    instead: "tuple[Source, ...]" = ()

    @model_validator(mode="before")
    @classmethod
    def _one_address(cls, given: Any) -> Any:
        if isinstance(given, dict) and "url" in given and "urls" not in given:
            given = {"urls": [given["url"]], **given}
            del given["url"]
        return given

    @property
    def is_pattern(self) -> bool:
        """Whether ``file`` is a pattern such as ``train/*.rs3``."""
        return "*" in self.file


@dataclass(frozen=True, slots=True)
class Cost(Checked):
    """What fetching a corpus costs, by experience, where the sizes of its files do not tell.

    Attributes:
        download: bytes.
        minutes: the least that servers let it take, however fast the network; 0 if they do not.
    """

    download: StrictInt
    minutes: StrictInt = 0


_Domain = Annotated[
    str,
    described(
        "a domain of mteb",
        pattern="^(Academic|Constructed|Encyclopaedic|Fiction|Government|Medical|News|Non-fiction|"
        "Reviews|Social|Spoken|Subtitles|Web|Written)$",
    ),
]
_Translated = Literal["human-translated", "human-translated and localized"]
_Subtype = Literal["Emotion classification", "Sentiment/Hate speech", "Textual Entailment"]


@dataclass(frozen=True, slots=True)
class Provenance(Checked):
    """How the texts of a corpus and their labels came about, in the words of mteb's metadata.

    Attributes:
        domains: what the texts are, in alphabetical order.
        years: the first and the last one in which they were collected, or, if nobody says when,
            published as a corpus; None if they are collected anew, when the corpus is fetched.
        annotations: who made the labels or scores that the corpus itself has.
        creation: how the texts came about; None if nobody says.
        dialects: BCP 47 codes, if the texts are of certain ones.
        subtypes: what is asked about them, as mteb names it.
        adapted_from: the tasks that mteb itself has with texts of the same source.
    """

    domains: tuple[_Domain, ...]
    annotations: Literal["expert-annotated", "human-annotated", "derived", "automatic"]
    creation: Literal["found", "created", "multiple"] | _Translated | None
    years: tuple[StrictInt, StrictInt] | None = None
    dialects: tuple[str, ...] = ()
    subtypes: tuple[_Subtype, ...] = ()
    adapted_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionFacts(Checked):
    """The facts on a collection of examples.

    Attributes:
        about: description of the examples.
        texts: the number of texts per example; None if it varies.
        unit: of the texts.
        sizes: part of the source (or "all", if it has no parts) to its official number of examples,
            None if unknown.
        published: differences between the published rows and ours.
        labels: the source's spelling of a class to its name; empty if both are the same, None (no
            such key) if the examples have no classes. Tasks with classes need it.
        scale: the lowest and the highest score, None if the examples have no scores.
        columns: name to meaning of the further columns of an example.
        file: upstream name, if each collection is a file.
        provenance: of its texts and labels, if not that of the corpus.
    """

    about: str
    texts: StrictInt | None
    unit: Literal["sentence", "word"] = "sentence"
    sizes: Mapping[str, StrictInt | None] = field(default_factory=dict)
    published: str = ""
    labels: Mapping[str, str] | None = None
    scale: tuple[Number, Number] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class TreebankFacts(Checked):
    """The facts on one of several treebanks that a recipe reads.

    Attributes:
        name: of the treebank, for readers.
        language: of its texts; None of a treebank of the user's own, in any language.
        licence: of its texts.
        citation: the paper to cite.
        homepage: of the treebank.
        sources: its raw files.
        licence_url: of the text of the licence.
        redistributable: whether its texts may be redistributed.
        tokenised: whether its texts are tokens with spaces between them.
        provenance: of its texts and labels, if not that of the corpus.
    """

    name: str
    language: str | None
    licence: str
    citation: str
    homepage: str
    sources: tuple[Source, ...]
    licence_url: str | None = None
    redistributable: StrictBool = False
    tokenised: StrictBool = False
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class People(Checked):
    """The people whose data a corpus holds.

    Attributes:
        texts: which personal data are in its texts, and what was done about them.
        removal: whom to ask for removal.
    """

    texts: str
    removal: str


_SHARE = described("a share of rows, above 0 and at most 1", gt=0, le=1)


@dataclass(frozen=True, slots=True)
class Declared(Checked):
    """A gate that a dataset is known to miss: in which share of its rows at most, and why."""

    at_most: Annotated[float, Strict(), _SHARE, AS_WRITTEN]
    because: Annotated[str, described("the reason", min_length=1)]


Gates = Annotated[
    dict[str, Declared],
    described(
        "gates",
        "write it as in {leakage: {at_most: 0.9, because: SICK makes many pairs of few sentences}}",
        min_length=1,
    ),
]
"""Gate of the audit to what is declared of it."""


_UnitAndReason = Annotated[
    str, described("a unit, a point and a reason, as in examples.empty_text", pattern=r"^\w+\.\w+$")
]


@dataclass(frozen=True, slots=True)
class CorpusFacts(Checked):
    """The facts in a recipe's corpus.yaml.

    Attributes:
        name: of the corpus, for readers.
        records: the kind of its records.
        language: of its texts, unless the entry in params.yaml names another.
        languages: codes of all languages that it has, if it has several (see ``spoken``).
        licence: of its texts.
        description: of the corpus.
        licence_url: of the text of the licence.
        redistributable: whether its texts may be redistributed.
        citation: the paper to cite.
        homepage: of the corpus.
        people: whose data it holds; None if only the users know, as of their own documents.
        provenance: of its texts and labels; None as there.
        sample_languages: of the sample, if the recipe reads several; with two or more, `sample/`
            has a folder for each.
        shipped: whether the sample is the corpus itself.
        options: the recipe's options in params.yaml, with their defaults.
        sources: its raw files; in `sample/` they have the same names. See also ``Recipe.sources``.
        costs: of fetching them, by language, as the shipped params.yaml asks for the corpus.
        manual: how to get them if they cannot be downloaded.
        drop_limits: ``<unit>.<reason>`` to the highest normal share of drops.
        collections: of a corpus of examples, by name.
        labels: the classes of the relations in a corpus of trees; empty if its rows name them.
        treebanks: of a recipe that reads several treebanks of one format, by the value of its
            option ``treebank``.
        inherited: datasets of the shipped benchmarks to the gates of the audit that they miss
            because the source does.
        special: facts that only this recipe reads.
    """

    name: str
    records: Kind
    language: str
    licence: str
    description: str
    licence_url: str | None = None
    redistributable: StrictBool = False
    citation: str = ""
    homepage: str | None = None
    people: People | None = None
    provenance: Provenance | None = None
    sample_languages: tuple[str, ...] = ()
    shipped: StrictBool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    costs: Mapping[str, Cost] = field(default_factory=dict)
    manual: str = ""
    drop_limits: Mapping[_UnitAndReason, Number] = field(default_factory=dict)
    collections: Mapping[str, CollectionFacts] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    treebanks: Mapping[str, TreebankFacts] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    inherited: Mapping[str, Gates] = field(default_factory=dict)
    special: Mapping[str, Any] = field(default_factory=dict)

    @property
    def spoken(self) -> tuple[str, ...]:
        """The languages that it has: those listed, those of its treebanks, or its only one."""
        treebanks = dict.fromkeys(t.language for t in self.treebanks.values() if t.language)
        return self.languages or tuple(treebanks) or (self.language,)

    def code_of(self, language: str) -> str | None:
        """Return the corpus's own code of a language ("pt" of "pt-BR"), None if it lacks it."""
        codes = (language, language.partition("-")[0])
        return next((code for code in codes if code in self.spoken), None)


def read_facts(path: Path) -> CorpusFacts:
    """Read a corpus.yaml."""
    return _facts(read_yaml(path), path)


# A stage asks for the facts of a recipe several times.
@cache
def _facts(text: str, path: Path) -> CorpusFacts:
    return checked(CorpusFacts, parse_yaml(text, path), path)
