"""Facts of a package for other harnesses: leaderboards of the Hub, mteb, lm-evaluation-harness.

For mteb, the origin and rights of each dataset's texts (mteb.json, from which
``probeta.exchange`` makes tasks). For lm-evaluation-harness, a folder of YAML without any code.
There, a language model answers with the likeliest of some texts. Of sentence ordering and sentence
position, these are the sentences in every order that is possible: no question is needed, all
choices have the same words, and models without instructions can do it, in any language. All else
is a question with an answer for each class, from the file of the language beside this module:

    TASK, TASK/RECORDS or TASK/RECIPE/COLLECTION:   the more precise one applies
      text       a Jinja template of the columns of a row
      answers    class to answer; {A} and {B} are A and B in classes of relations. A class SN-… that
                 is not listed is NS-… with A and B exchanged: the second part is the nucleus
      by_length  whether the answers are of very different lengths, so that log-likelihoods are
                 divided by the number of characters
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from builders.audit_report import MAJORITY, baselines_of, best_baseline
from builders.plan.datasets import Dataset, ExampleDataset, Origin, RankingDataset, missing_parts
from builders.tasks.benchmarks import (
    BSO,
    CONN,
    DC,
    DR,
    NUC,
    PDTB_E,
    PDTB_I,
    SP,
    SSP,
    differences_of,
)
from builders.tasks.task import Column, Task
from corpora_recipes.escaping import one_line, render
from corpora_recipes.recipe import CollectionFacts, Provenance
from corpora_recipes.records import SPLITS, Split
from corpora_recipes.running.errors import InputError
from corpora_recipes.text.language import writing_of
from corpora_recipes.yaml_files import load_yaml

# Descriptions list up to so many classes; of more they state only the number.
LISTED_CLASSES = 40


@dataclass(frozen=True, slots=True)
class Config:
    """A dataset of the package, with the facts for its card.

    Attributes:
        sources: for a examples, collection to its part of the report of `compose`.
        window: between which days its documents were made, the fields of a ``Window``; None if it
            is not limited.
        folds: number of folds; 0 if it has splits.
        labels: names of the classes; empty if rows have no label.
        first_row: of its first split, column to value.
        counts: the numbers of documents and passages by outcome, from `build`.
        changes: version to its changes, the latest first.
    """

    dataset: Dataset
    origins: Sequence[Origin]
    sources: Mapping[str, Mapping[str, Any]]
    window: Mapping[str, Any] | None
    folds: int
    columns: Mapping[str, Column]
    labels: list[str]
    first_row: Mapping[str, Any]
    rows: dict[str, int]
    content: dict[str, str]
    counts: dict[str, dict[str, int]]
    audit: dict[str, Any]
    changes: Mapping[str, str]

    @property
    def task(self) -> Task:
        """Its task."""
        return self.dataset.task

    @property
    def is_ranking(self) -> bool:
        """Whether it was composed of pairs and a background."""
        return isinstance(self.dataset, RankingDataset)

    @property
    def is_restricted(self) -> bool:
        """Whether some of its texts may not be redistributed without permission."""
        return any(
            not origin.corpus.facts.redistributable and not origin.sample for origin in self.origins
        )

    @property
    def facts(self) -> CollectionFacts | None:
        """Facts of its collection from corpus.yaml; None if it is not made of examples."""
        return self.dataset.facts if isinstance(self.dataset, ExampleDataset) else None

    @property
    def majority(self) -> float:
        """The test accuracy of the most frequent class, 0 … 1; 0 without classes."""
        return baselines_of(self.audit).get(MAJORITY, 0.0)

    @property
    def best_baseline(self) -> tuple[str, float] | None:
        """The baseline to beat, see ``builders.audit_report.best_baseline``."""
        return best_baseline(self.audit)

    @property
    def asked(self) -> int:
        """The number of rows an encoder is scored on: those of test, or of all folds.

        For a examples, the number of groups of paraphrases.
        """
        if self.is_ranking:
            return self.counts["texts"]["groups_of_positives"]
        return self.rows["train" if self.folds else "test"]

    @property
    def title(self) -> str:
        """The name of its corpus, or the names of its corpora, for readers."""
        return " + ".join(origin.title for origin in self.origins)

    @property
    def summary(self) -> str:
        """Its group of tasks and its title, on one line."""
        return one_line(f"{self.task.group.title}: {self.title}")

    @property
    def answers(self) -> str:
        """The number of classes, pairs or clusters, or the range of the scores."""
        if self.is_ranking:
            return f"{self.counts['pairs']['used']:,} pairs"
        if self.task.target in ("neighbours", "word"):
            return f"{self.rows['test']:,} {'clusters' if self.task.label else 'questions'}"
        if self.task.target == "label":
            return f"{len(self.labels):,} classes"
        assert self.facts is not None
        assert self.facts.scale is not None
        lowest, highest = self.facts.scale
        return f"score {lowest} … {highest}"

    @property
    def spellings(self) -> dict[str, list[str]]:
        """Class to its spellings in the source; empty if corpus.yaml does not list them."""
        spelt: dict[str, list[str]] = {name: [] for name in self.labels}
        labels = self.facts.labels if self.facts else None
        for spelling, name in (labels or {}).items():
            spelt[name].append(spelling)
        return spelt if labels else {}

    @property
    def source_parts(self) -> list[Split]:
        """The parts that the source has."""
        return [part for part in SPLITS if part in self.counts["source_parts"]]

    @property
    def parts(self) -> dict[str, Any]:
        """The corpora and collections that a ranking is made of; empty for other datasets."""
        return self.dataset.parts if isinstance(self.dataset, RankingDataset) else {}

    @property
    def is_scored(self) -> bool:
        """Whether some pairs of a ranking have scores."""
        return any(self.sources[name]["lowest_score"] is not None for name in self.parts["pairs"])

    @property
    def missing(self) -> list[str]:
        """The parts of its sources with far too few examples; empty for samples."""
        if self.dataset.sample:
            return []
        if self.is_ranking:
            return [
                f"{name} ({part})"
                for name, source in self.sources.items()
                for part in source["missing_parts"]
            ]
        return missing_parts(self.facts, self.counts["source_parts"]) if self.facts else []

    @property
    def differences(self) -> list[str]:
        """How it departs from the dataset of a paper, and why."""
        return differences_of(self.dataset.name, self.task.name, self.audit["benchmark"])

    @property
    def citations(self) -> list[str]:
        """What to cite: its corpora, and for a ranking also the method."""
        texts = [" ".join(origin.corpus.facts.citation.split()) for origin in self.origins]
        texts.append(self.task.citation)
        return [text for text in dict.fromkeys(texts) if text]


NAME = "Probeta"
DESCRIPTION = (
    "Discourse, similarity, classification and linguistic probing: benchmarks for sentence "
    "encoders, rebuilt from raw corpora."
)
FRAMEWORK = "mteb"


def mteb_task_name(dataset: str) -> str:
    """Return the name of a dataset as a task of mteb, where names of all benchmarks meet."""
    return f"{NAME.lower()}_{dataset}"


def eval_yaml(asked: Mapping[str, Split], name: str) -> str:
    """Return eval.yaml, as the Hub's documentation describes it ("Evaluation results").

    ``asked`` has the datasets with a label or a score, and the split that encoders are scored on;
    ``name`` is that of the package.
    """
    content = {
        "name": name,
        "description": DESCRIPTION,
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {"id": mteb_task_name(dataset), "config": dataset, "split": split}
            for dataset, split in asked.items()
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, width=1000)


CODES: dict[str, str] = {
    short: f"{long}-{script}"
    for script, codes in load_yaml(Path(__file__).with_name("languages.yaml")).items()
    for short, long in codes.items()
}
# mteb also names two languages by their standard variety.
_SHORT = {"arb": "ar", "cmn": "zh"} | {
    long.partition("-")[0]: short for short, long in CODES.items()
}


def mteb_language(code: str) -> str:
    """Return a language, a BCP 47 code, as mteb writes it; of es-MX only the language counts."""
    language = code.partition("-")[0]
    if language not in CODES:
        expected = f"one of {', '.join(sorted(CODES))}"
        todo = "add it to builders/packaging/languages.yaml"
        raise InputError(f"language {code}", expected, "another one", todo)
    return CODES[language]


def short_code(mteb: str) -> str:
    """Return the code, of ISO 639-1 if it has one, of a language as mteb writes it (spa-Latn)."""
    language = mteb.partition("-")[0]
    return _SHORT.get(language, language)


_DISCOURSE = (SP, BSO, DC, SSP, DR, PDTB_E, PDTB_I, NUC, CONN)
# An article in a citation of corpus.yaml; it matches nothing else, such as a web page.
_ARTICLE = re.compile(
    r"^(?:.*First used for evaluation by |.*for ordering sentences by )?(?P<author>\w.+?) "
    r"\((?P<year>\d{4})\)\. (?P<title>.+?)[.?] (?P<note>.+?\.?)(?: (?P<url>https?://\S+?))?"
    r"\.?(?: (?:—|The) .+)?$"
)


def mteb_facts(configs: Sequence[Config], built: str) -> dict[str, dict[str, Any]]:
    """Return dataset to fields of ``mteb.TaskMetadata``; what is not known is None.

    Args:
        built: when texts were collected of which corpus.yaml names no years, as in 2026-01-31.

    Returns:
        reference, date, domains, task_subtypes, annotations_creators, dialect, adapted_from,
        sample_creation, bibtex_citation and is_public as there; license_url, if the texts are of
        one corpus; scale, the lowest and the highest score.
    """
    return {config.dataset.name: _facts(config, built) for config in configs}


def _facts(config: Config, built: str) -> dict[str, Any]:
    corpora = [origin.corpus.facts for origin in config.origins]
    cited = [text for facts in corpora for text in facts.citation.splitlines()]
    cited += [config.task.citation] if config.task.citation else []
    constructed = config.task.constructed
    discourse = ["Discourse coherence"] if config.task.group in _DISCOURSE else []
    fields: dict[str, Any] = {
        "reference": next((facts.homepage for facts in corpora if facts.homepage), None),
        "license_url": corpora[0].licence_url if len(corpora) == 1 else None,
        "bibtex_citation": "\n".join(filter(None, map(_bibtex, dict.fromkeys(cited)))),
        "is_public": not config.is_restricted,
        "scale": config.facts.scale if config.facts else None,
    }
    provenances = [*_provenances(config)]
    stated = [each for each in provenances if each]
    if len(stated) < len(provenances):
        return fields
    spans = [(f"{s.years[0]}-01-01", f"{s.years[1]}-12-31") for s in stated if s.years]
    spans += [(built, built)] if len(spans) < len(stated) else []
    creations = {each.creation for each in stated}
    return fields | {
        "date": [min(first for first, _ in spans), max(last for _, last in spans)],
        "domains": sorted({name for each in stated for name in each.domains}),
        "task_subtypes": discourse or sorted({name for each in stated for name in each.subtypes}),
        "annotations_creators": "derived" if constructed else stated[0].annotations,
        "dialect": sorted({code for each in stated for code in each.dialects}),
        "adapted_from": sorted({name for each in stated for name in each.adapted_from}) or None,
        "sample_creation": "multiple" if len(creations) > 1 else creations.pop(),
    }


def _provenances(config: Config) -> Iterator[Provenance | None]:
    """Yield what is known of each corpus or collection that the texts are from."""
    corpora = {origin.corpus.name: origin.corpus.facts for origin in config.origins}
    if not config.is_ranking:
        for facts in corpora.values():
            yield (config.facts and config.facts.provenance) or facts.provenance
    parts = [*config.parts.get("pairs", ()), *config.parts.get("background", ())]
    for name in dict.fromkeys(parts):
        corpus, _, collection = name.partition("/")
        collection_provenance = (
            corpora[corpus].collections[collection].provenance if collection else None
        )
        yield collection_provenance or corpora[corpus].provenance


def _bibtex(citation: str) -> str:
    """Return an article as an entry of BibTeX; "" for what is no article."""
    if not (match := _ARTICLE.match(citation)):
        return ""
    fields = {name: text for name, text in match.groupdict().items() if text}
    authors = re.split(r", | and ", fields["author"].replace(" and others", ", others"))
    citation_key = unicodedata.normalize("NFKD", f"{authors[0].split()[-1]}{fields['year']}")
    fields["author"] = " and ".join(authors)
    lines = (f"  {name} = {{{text}}},\n" for name, text in sorted(fields.items()))
    return f"@misc{{{re.sub(r'[^a-z0-9]', '', citation_key.lower())},\n{''.join(lines)}}}\n"


LANGUAGES = {"es": "lm_eval_es.yaml", "en": "lm_eval_en.yaml"}
# The harness's metrics: the share of rows whose right choice has the highest log-likelihood, and
# that with log-likelihoods divided by the number of characters.
BY_SUM, BY_LENGTH = METRICS = ("acc", "acc_norm")

_SWAPPED = 'sentences[::-1] | join(" ")'
_PLACES = ", ".join(
    f'(sentences[1:{place + 1}] + sentences[:1] + sentences[{place + 1}:]) | join(" ")'
    for place in range(5)
)
# Of each class the text as it would have been; the right one is that of the row's class.
ORDERS = {
    "sentence_ordering": f'{{{{ [{_SWAPPED}, sentences | join(" ")] }}}}',
    "sentence_position": f"{{{{ [{_PLACES}] }}}}",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What a language model is asked.

    Attributes:
        text: a Jinja template of the columns of a row; "" where the choices say all.
        choices: the answers, in the order of the classes; or a template that gives their list.
        metric: one of ``METRICS``, that of the score.
    """

    text: str
    choices: list[str] | str
    metric: str = BY_SUM


def question_of(dataset: Dataset, origin: Origin, labels: Sequence[str]) -> Question | str:
    """Return what a language model is asked about a dataset, or why it is not asked, in words."""
    task = dataset.task.name
    if dataset.task.target != "label":
        return "the answer is not a class"
    if task in ORDERS:
        between = writing_of(dataset.language).separator
        return Question("", ORDERS[task].replace('join(" ")', f'join("{between}")'))
    if dataset.language not in LANGUAGES:
        return f"no questions in the language {dataset.language}"
    questions = load_yaml(Path(__file__).with_name(LANGUAGES[dataset.language]))
    keys = [f"{task}/{dataset.about()['records']}", task]
    if isinstance(dataset, ExampleDataset):
        keys[0] = f"{task}/{origin.corpus.recipe}/{dataset.collection}"
    question = next((questions[key] for key in keys if key in questions), None)
    if question is None:
        return f"no question for {keys[0]}"
    answers, choices = question["answers"], []
    for label in labels:
        if label in answers:
            choices.append(answers[label].format(A="A", B="B"))
        elif label.startswith("SN-") and (swapped := f"NS-{label[3:]}") in answers:
            choices.append(answers[swapped].format(A="B", B="A"))
        else:
            return f"no answer for the class {label}"
    return Question(question["text"], choices, BY_LENGTH if question.get("by_length") else BY_SUM)


FOLDER = "lm_eval"
PAGE = Path(__file__).with_name("lm_eval.md.jinja")
# The prefix of all names, and the group of all tasks.
PREFIX = "probeta"
# Without the ending .yaml, so that lm-eval does not take it for a task.
COMMON = "common"
_FACTS = load_yaml(Path(__file__).with_name("lm_eval.yaml"))


def write_tasks(configs: Sequence[Config], folder: Path, hub: tuple[str, str] | None = None) -> int:
    """Write ``lm_eval/`` to a package: a task for each dataset that can be asked, and groups.

    The group ``probeta`` has all tasks, and a group for each benchmark; a tag such as
    ``probeta_sp`` has those of a group of tasks. README.md lists them, and the datasets that have
    no task, with the reason. Nothing is written if no dataset has one. The tasks read the data
    from the repository and the tag ``hub``, or else from the package if lm-eval runs in it.

    Returns:
        The number of tasks.
    """
    tasks: dict[str, dict[str, Any]] = {}
    groups: dict[str, list[str]] = {PREFIX: []}
    reasons: dict[str, str] = {}
    for config in configs:
        name = task_name(config.dataset.name)
        question = question_of(config.dataset, config.origins[0], config.labels)
        if isinstance(question, str):
            reasons[config.dataset.name] = question
            continue
        tasks[name] = _task(name, config, question) | _data(config, hub)
        if benchmark := config.audit["benchmark"]:
            groups.setdefault(task_name(benchmark), []).append(name)
        else:
            groups[PREFIX].append(name)
    if not tasks:
        return 0
    groups[PREFIX] += [group for group in groups if group != PREFIX]
    # The name of a dataset has no dot.
    group_files = {f"group.{name}.yaml": _group(name, groups[name]) for name in groups}
    files = {
        COMMON: _FACTS["common"],
        **{f"{name}.yaml": task for name, task in tasks.items()},
        **group_files,
    }
    # A dataset may have that name.
    (folder / FOLDER).mkdir(exist_ok=True)
    for file, content in files.items():
        text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1000)
        (folder / FOLDER / file).write_text(text, "utf-8")
    citations = {text for c in configs if c.dataset.name not in reasons for text in c.citations}
    page = {"tasks": tasks, "groups": groups, "left_out": reasons, "hub": hub}
    page["citations"] = sorted(citations)
    (folder / FOLDER / "README.md").write_text(render(PAGE, page), "utf-8")
    return len(tasks)


def task_name(name: str) -> str:
    """Return the name that a dataset, benchmark or group of tasks has among the harness's."""
    return f"{PREFIX}_{name}"


def _data(config: Config, hub: tuple[str, str] | None) -> dict[str, Any]:
    """Return where a task reads its data."""
    name = config.dataset.name
    if hub:
        repository, tag = hub
        source = {"dataset_path": repository, "dataset_name": name}
        return source | {"dataset_kwargs": {"revision": tag}}
    # Not ".", which `datasets` refuses.
    files = {split: f"{name}/{split}-*.parquet" for split in config.rows}
    return {"dataset_path": "parquet", "dataset_kwargs": {"data_files": files}}


def _task(name: str, config: Config, question: Question) -> dict[str, Any]:
    if config.folds:
        # Every row is tested: none is left for examples in the prompt.
        test_split = "train"
        splits: Mapping[str, Any] = {"test_split": "train", "num_fewshot": 0}
    else:
        test_split, splits = "test", _FACTS["splits"]
    return {
        "include": COMMON,
        "task": name,
        "tag": task_name(config.task.group.abbreviation.lower().replace("-", "_")),
        **splits,
        "doc_to_text": question.text,
        "doc_to_choice": question.choices,
        # Without a question a choice is a whole text, which begins without a blank.
        "target_delimiter": " " if question.text else "",
        "metadata": {
            "version": config.dataset.version,
            "dataset": config.dataset.name,
            "content": config.content[test_split],
            "answer": question.metric,
        },
    }


def _group(name: str, members: Sequence[str]) -> dict[str, Any]:
    group = {"group": name, "task": list(members), "aggregate_metric_list": _FACTS["means"]}
    return group | {"metadata": {"version": 1}}
