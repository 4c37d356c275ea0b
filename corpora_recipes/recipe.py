"""The interface of recipes: the facts of corpus.yaml, the functions of recipe.py, a ``Corpus``.

A recipe is a folder of ``corpora/`` with ``corpus.yaml`` (facts), ``recipe.py`` (code) and
``sample/`` (a small corpus in the raw format). To add a corpus format, add such a folder.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, Strict, StrictBool, StrictInt, model_validator

from corpora_recipes.records import Drops, Kind, Place, Record, Window
from corpora_recipes.running.errors import InputError, RawError
from corpora_recipes.validation import AS_WRITTEN, Checked, Number, described, validate
from corpora_recipes.yaml_files import parse_yaml, read_yaml

# The value of the option ``treebank`` for the first one of the language that is there.
ANY_TREEBANK = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin(Checked):
    """Size and digests that a file must have; None allows any.

    Attributes:
        size: in bytes.
        sha256: SHA-256, in hexadecimal.
        sha1: SHA-1, which Wikimedia publishes.
        git_blob: id in git, which GitHub publishes: the SHA-1 of ``blob``, a blank, the
            size, a zero byte, and the bytes.
    """

    size: StrictInt | None = None
    sha256: str | None = None
    sha1: str | None = None
    git_blob: str | None = None

    @property
    def has_digest(self) -> bool:
        """Whether it has a digest of the bytes, and not only their number."""
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
    def _list_url(cls, value: Any) -> Any:
        if isinstance(value, dict) and "url" in value and "urls" not in value:
            value = {"urls": [value["url"]], **value}
            del value["url"]
        return value

    @property
    def is_pattern(self) -> bool:
        """Whether ``file`` is a pattern such as ``train/*.rs3``."""
        return "*" in self.file


@dataclass(frozen=True, slots=True)
class Cost(Checked):
    """Measured cost of fetching a corpus, where the sizes of its files are not known.

    Attributes:
        download: bytes.
        minutes: the least that servers let it take, however fast the network; 0 if they do not.
    """

    download: StrictInt
    minutes: StrictInt = 0


# As mteb has them in `TaskDomain`.
DOMAINS = (
    "Academic|Activity|Animation|AudioScene|Bioacoustics|Blog|Chemistry|Constructed|E-commerce|"
    "Egocentric|Encyclopaedic|Engineering|Entertainment|Fiction|Financial|Government|Instructional|"
    "Legal|Medical|Music|Nature|News|Non-fiction|Poetry|Programming|Religious|Reviews|Robotics|"
    "Scene|Social|Speech|Spoken|Sport|Subtitles|Web|Written"
)
_Domain = Annotated[
    str,
    Field(
        description="a domain of mteb",
        pattern=f"^({DOMAINS})$",
        json_schema_extra={"enum": DOMAINS.split("|")},
    ),
]
_Translated = Literal["human-translated", "human-translated and localized"]
_Subtype = Literal["Emotion classification", "Sentiment/Hate speech", "Textual Entailment"]


@dataclass(frozen=True, slots=True)
class Provenance(Checked):
    """Provenance of the texts of a corpus and of their labels, in the words of mteb's metadata.

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
        label: what a dataset of them is called in the report, such as "Film reviews"; "" for that
            of the corpus.
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
    label: str = ""
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


# Gate of the audit to what is declared of it.
Gates = Annotated[
    dict[str, Declared],
    described(
        "gates",
        "write it as in {leakage: {at_most: 0.9, because: SICK makes many pairs of few sentences}}",
        min_length=1,
    ),
]


_UnitAndReason = Annotated[
    str, described("a unit, a point and a reason, as in examples.empty_text", pattern=r"^\w+\.\w+$")
]


@dataclass(frozen=True, slots=True)
class CorpusFacts(Checked):
    """The facts in a recipe's corpus.yaml.

    Attributes:
        name: of the corpus, for readers.
        label: what its datasets are called in the report, under their group of tasks; "" for the
            name, up to a comma or a bracket.
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
    label: str = ""
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
    return validate(CorpusFacts, parse_yaml(text, path), path)


RECIPES = Path(__file__).with_name("corpora")
# The keys of `corpus` in every entry of params.yaml, besides the options of its recipe.
COMMON_KEYS = ("recipe", "language", "sources", "documents")


@dataclass(frozen=True, slots=True)
class Corpus:
    """One entry of ``corpora`` in params.yaml, checked, joined with its recipe's facts.

    Attributes:
        name: the key of the entry.
        recipe: name of the recipe's folder.
        language: BCP 47 code of the texts, e.g. "es".
        documents: the number of accepted documents to take; None for all.
        seed: the run's seed.
        options: the recipe's options, with defaults.
        datasets: dataset name to its parameters, for the builders.
        facts: the recipe's corpus.yaml.
        sources: the origin of this corpus's raw files; None for `sources` of params.yaml.
        params: the file that has the entry, for messages.
        words: how often the corpus has words, as far as ``text.pdf.mend`` asks for them; set when
            it is read.
    """

    name: str
    recipe: str
    language: str
    documents: int | None
    seed: int
    options: Mapping[str, Any]
    datasets: dict[str, dict[str, Any]]
    facts: CorpusFacts
    sources: str | None = None
    params: str = "params.yaml"
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of params.yaml that decide the records of the corpus; JSON."""
        keys = ("name", "recipe", "language", "documents", "seed", "options", "sources")
        return {key: getattr(self, key) for key in keys}

    @property
    def where(self) -> str:
        """The place of the entry, for messages."""
        return f"{self.params}: corpora.{self.name}"

    def is_sample(self, sources: str) -> bool:
        """Return whether its texts are only a sample, if params.yaml has these ``sources``."""
        if self.options.get("path") is not None or self.is_shipped:
            return False
        return (self.sources or sources) == "sample"

    @property
    def is_shipped(self) -> bool:
        """Whether the project contains the corpus itself, not a sample."""
        return self.facts.shipped and self.options.get("path") is None


class Block(Protocol):
    """A part of a corpus that a worker can read independently; small and picklable."""

    @property
    def key(self) -> str:
        """A stable name, unique in the corpus, and the same on every machine and in every run."""


@dataclass(slots=True)
class BlockResult:
    """The result of reading one block.

    Attributes:
        records: in any order.
        drops: counts of the documents (or examples) of the block, and of what documents hold
            (``records.contents``): each once as seen, and once as dropped if it is not in a record
            for a reason of its own. What a dropped document holds need not be dropped as well:
            ``read`` does that, and refuses counts that contradict the records.
    """

    records: list[Record] = field(default_factory=list)
    drops: Drops = field(default_factory=Drops)

    @contextmanager
    def counting(self, unit: str, place: Place | str = "") -> Iterator[None]:
        """Count one item of a unit as seen; and as dropped if Dropped or RawError is raised within.

        So one item that cannot be read never stops a corpus. ``place`` is that of the item.
        """
        self.drops.seen[unit] += 1
        try:
            yield
        except Dropped as dropped:
            self.drops.drop(unit, dropped.reason, place)
        except RawError as fault:
            self.drops.drop(unit, fault.reason, fault)


class Dropped(Exception):
    """Raised and caught by a recipe if a document cannot be used, with the ``reason``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Finding:
    """A result of `probeta doctor`, about a file or a server."""

    what: str
    fault: str = ""  # why nothing can be fetched
    note: str = ""  # what else is good to know
    to_download: int | None = None  # bytes that are not there yet; None if unknown


@dataclass(frozen=True, slots=True)
class Recipe:
    """The functions of a ``recipe.py``; only the first two are required.

    Attributes:
        blocks: ``blocks(raw, corpus)`` lists the blocks of the corpus in the folder ``raw``, and
            raises InputError if the recipe can read nothing in it.
        read_block: ``read_block(block, corpus)`` reads one block. It runs in a worker, depends
            only on its arguments, counts and drops an item that it cannot read, and raises
            RawError if the file is another one, or damaged as a whole.
        texts: ``texts(block, corpus)`` yields the texts of a block whose words decide how others,
            cut at line ends in a PDF, are joined (``Corpus.words``). Default, None: none is.
        sources: ``sources(corpus)`` lists the raw files, if ``{option}`` in corpus.yaml cannot
            express how they depend on the options. Default: those of corpus.yaml.
        settled: ``settled(corpus)`` asks the servers what the options leave open, such as the date
            of the latest dump, and returns the corpus with it. Default: as it is.
        fetch_upstream: ``fetch_upstream(corpus, out)`` downloads the raw files into a folder.
            Default, None: each source is downloaded from its URL.
        verify: ``verify(raw, corpus)`` compares raw files from a mirror with checksums that lie
            among them. Default: no check.
        window: ``window(blocks, corpus)`` says between which days the documents were made, if the
            options ask for certain ones. Default: None.
        examine: ``examine(corpus)`` asks the servers for more than the files of ``sources``, for
            `probeta doctor`, and yields what they say. Default, None: nothing more is asked.
        boilerplate: ``boilerplate(corpus)`` returns the patterns that the recipe removes, and that
            must not occur in a text of the corpus. Default: no patterns.
    """

    blocks: Callable[[Path, Corpus], Sequence[Block]]
    read_block: Callable[[Any, Corpus], BlockResult]
    texts: Callable[[Any, Corpus], Iterable[str]] | None = None
    sources: Callable[[Corpus], Sequence[Source]] = lambda corpus: corpus.facts.sources
    settled: Callable[[Corpus], Corpus] = lambda corpus: corpus
    fetch_upstream: Callable[[Corpus, Path], None] | None = None
    verify: Callable[[Path, Corpus], None] = lambda raw, corpus: None
    window: Callable[[Sequence[Any], Corpus], Window | None] = lambda blocks, corpus: None
    examine: Callable[[Corpus], Iterable[Finding]] | None = None
    boilerplate: Callable[[Corpus], list[re.Pattern[str]]] = lambda corpus: []


def recipe_names() -> list[str]:
    """Return the names of all recipes, sorted."""
    return sorted(path.parent.name for path in RECIPES.glob("*/corpus.yaml"))


def load_recipe(name: str) -> Recipe:
    """Return the recipe's code; the name is one of ``recipe_names()``."""
    path, module = RECIPES / name / "recipe.py", {}
    if path.is_file():
        module = vars(importlib.import_module(f"corpora_recipes.corpora.{name}.recipe"))
    if missing := [needed for needed in ("blocks", "read_block") if needed not in module]:
        expected = "the functions blocks(raw, corpus) and read_block(block, corpus)"
        found = f"no {' and no '.join(missing)}" if module else "no such file"
        raise InputError(path, expected, found, "write them as in corpora_recipes/recipe.py")
    return Recipe(**{f.name: module[f.name] for f in fields(Recipe) if f.name in module})


def load_facts(name: str) -> CorpusFacts:
    """Return the recipe's corpus.yaml; the name is one of ``recipe_names()``."""
    return read_facts(RECIPES / name / "corpus.yaml")


class MissingCorpus(InputError):
    """The files of a corpus that only people can get are not there; ``how_to_get`` says how."""

    how_to_get: str = ""


def missing_corpus(corpus: Corpus, names: Sequence[str], out: Path) -> MissingCorpus:
    """Return the error that says how to get a corpus whose corpus.yaml has ``manual``.

    ``names`` are those of its files, or patterns; ``out`` the folder where they may be put.
    """
    missing = MissingCorpus(
        f"{corpus.where}: {corpus.facts.name}",
        f"its files, as {out}/{f', {out}/'.join(names)}",
        f"none or not all; {how_to_get(corpus)}",
        f"put the files into {out}, and run Probeta again; or, to try it out, write "
        f"`sources: sample` in `corpus` of the entry {corpus.name}",
    )
    missing.how_to_get = how_to_get(corpus)
    return missing


def how_to_get(corpus: Corpus) -> str:
    """Return how people get a corpus, on one line."""
    return " ".join(corpus.facts.manual.split())


def no_files(corpus: Corpus, raw: Path, expected: str, found: str = "none") -> RawError:
    """Return the error of a recipe that finds none of the files it reads.

    Args:
        corpus: the entry in params.yaml.
        raw: the folder, or the file, that was looked for.
        expected: the files, by name or pattern.
        found: what there is instead.
    """
    todo = how_to_get(corpus) or f"run `probeta fetch --only {corpus.name}`"
    return RawError(raw, expected, found, todo)
