"""`probeta init`: write a params.yaml for a language, documents or a paper.

In another language than the shipped one, the names of the datasets have its code at the end.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from builders.audit_report import DETECTABLE_AT_MOST, describe_detectable
from builders.building import build
from builders.packaging.hub import dataset_changes
from builders.sampling.passages import sentences_in
from builders.statistics import detectable_difference
from builders.store import read_records, shards_in
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS
from builders.tasks.connective import OPENINGS
from builders.tasks.task import PassageTask
from corpora_recipes.fetching.sources import fetch
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.languages import corpora_in, title_of
from corpora_recipes.params import Params, corpus_of
from corpora_recipes.reading import read
from corpora_recipes.recipe import Corpus, CorpusFacts, load_facts, load_recipe
from corpora_recipes.records import Document, Split, decide_split
from corpora_recipes.running import console
from corpora_recipes.running.console import PARAMS
from corpora_recipes.running.errors import InputError, ParamsError, check_packages
from corpora_recipes.running.outputs import whole_file
from corpora_recipes.text.language import identify, is_too_short, writing_of
from corpora_recipes.validation import validate
from corpora_recipes.yaml_files import load_yaml
from probeta.cli.listing import costs_listing

TEMPLATES = Path(__file__).with_name("templates")
OFFERS: Mapping[str, Any] = load_yaml(TEMPLATES / "offers.yaml")
"""The content of offers.yaml."""
PAPERS = sorted(path.name.partition(".")[0] for path in (TEMPLATES / "papers").iterdir())
ALL_PAPERS = "all"
PAPER_CHOICES = (*PAPERS, ALL_PAPERS)
# Bytes of CoNLL-U: a thousand sentences or so.
MIN_TREEBANK_BYTES = 1_500_000


@dataclass
class Offer:
    """A corpus that a language has, for an entry of params.yaml with the name of its recipe.

    ``note`` is a remark for the title; ``reason`` says why it cannot be used; ``checked`` what is
    known of its datasets in this language; ``left_out`` has those that it does not support.
    """

    recipe: str
    title: str
    note: str = ""
    reason: str = ""
    corpus: dict[str, Any] = field(default_factory=dict)
    datasets: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, Any] = field(default_factory=dict)
    checked: str = ""


def params_text(language: str) -> str:
    """Return a params.yaml with all that the recipes have in a language, a BCP 47 code."""
    codes = corpora_in(language)
    return render_in_language(
        "params.yaml.jinja",
        language,
        suffix=language.lower().replace("-", "_"),
        offers=offers_in(language, codes),
        rankings=rankings_in(language),
    )


def render_in_language(template: str, language: str, **values: Any) -> str:
    """Return a template with its values, and with what it says of the language."""
    code = language.partition("-")[0]
    return render_template(
        template,
        language=language,
        code=code,
        title=title_of(language) or language,
        known_to_use=code in OFFERS["use_multilingual"].split(),
        package=writing_of(language).package,
        **values,
    )


def render_template(template: str, **values: Any) -> str:
    """Return a template of this folder with its values."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["flow"] = _flow_yaml
    return environment.get_template(template).render(**values)


def _flow_yaml(value: object) -> str:
    """Return a value as YAML on one line."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10_000
    )
    return text.removesuffix("\n...\n").rstrip("\n")


def offers_in(language: str, codes: Mapping[str, str]) -> list[Offer]:
    """Return what there is in a language, in the order of the benchmarks.

    The recipes that have it are those in ``codes``, each with its own code of it.
    """
    recipes = dict.fromkeys(c["recipe"] for _, entry in _shipped() for c in entry["corpora"])
    return [_offer(recipe, codes[recipe], language) for recipe in recipes if recipe in codes]


def rankings_in(language: str) -> dict[str, Any]:
    """Return the shipped rankings in a language, as entries of params.yaml."""
    return {
        name: {
            "task": entry["task"],
            "language": language,
            **{key: value for key, value in entry["parts"].items() if key != "without_test"},
            **_version_of(name),
        }
        for name, entry in _shipped()
        if "parts" in entry and entry["language"] == language
    }


def paper_text(paper: str) -> str:
    """Return the params.yaml of a paper that papers/ has: its datasets, protocol and encoders."""
    return render_template(
        f"papers/{paper}.yaml.jinja",
        offers_of=_offers_of,
        rankings_in=rankings_in,
        facts_of=load_facts,
    )


def papers_listing() -> Iterator[str]:
    """Yield of each paper what it is, what its run takes, and what runs; no server is asked."""
    for paper in PAPERS:
        title, _, _ = (text := paper_text(paper)).replace("\n#", "").partition(" Written by")
        yield f"{paper}: {' '.join(title.split()[3:])}"
        with TemporaryDirectory() as folder:
            path = Path(folder, "params.yaml")
            path.write_text(text, "utf-8")
            yield from (f"  {line}" for line in costs_listing(path))
        n_off = len(re.findall(r"^  # \w+: \{encoder", text, re.MULTILINE))
        yield f"  {console.plural(n_off, 'encoders')} more, to be uncommented"


def _offers_of(language: str, *benchmarks: str) -> list[Offer]:
    """Return the corpora of benchmarks in a language, with their datasets in it."""
    entries = {name: e for of in benchmarks for name, e in BENCHMARKS.get(of, {}).items()}
    of_language = [e for e in entries.values() if e.get("language", "es") == language]
    offers = offers_in(language, {c["recipe"]: language for e in of_language for c in e["corpora"]})
    for offer in offers:
        offer.datasets = {k: v for k, v in offer.datasets.items() if k in entries}
    return offers


def _shipped() -> list[tuple[str, dict[str, Any]]]:
    """Return name and entry of all datasets of the shipped benchmarks."""
    return [
        (name, {"language": "es", **entry})
        for datasets in BENCHMARKS.values()
        for name, entry in datasets.items()
    ]


def _offer(recipe: str, code: str, language: str) -> Offer:
    """Return a corpus as it is shipped, or after the one that is shipped in another language."""
    facts = load_facts(recipe)
    shipped = [
        (name, entry, settings)
        for name, entry in _shipped()
        for settings in entry["corpora"]
        if settings["recipe"] == recipe
    ]
    languages = [entry["language"] for _, entry, _ in shipped]
    model = code if code in languages else languages[0]
    offer = Offer(recipe, facts.name, corpus={"recipe": recipe, "language": code})
    unsupported, offer.checked = _unsupported_tasks(facts, code)
    for name, entry, settings in shipped:
        if entry["language"] != model:
            continue
        # A treebank has one language.
        offer.corpus |= {k: v for k, v in settings.items() if k != "treebank" or code == model}
        if "parts" not in entry:
            dataset_name = name if code == model else _rename(name, model, language)
            entries = offer.left_out if entry["task"] in unsupported else offer.datasets
            entries[dataset_name] = _dataset_entry(name, entry, model, code)
    if code != model and code in OPENINGS:
        # A shipped corpus has none, as it would take documents from the others of the benchmark.
        passages = [n for n, e in offer.datasets.items() if e["task"] == "sentence_position"]
        names = [name.replace("sp_", "connective_", 1) for name in passages]
        offer.datasets |= {name: {"task": "connective"} for name in names}
    offer.reason = _why_unusable(facts, offer.corpus, code == model)
    if facts.manual and not facts.shipped:
        offer.note = ", to be asked for: see docs/real_corpora.md"
    elif recipe == "paralex" and not rankings_in(code):
        offer.note = ": scored with word vectors (`static`), or if there is a word ranking below"
    return offer


def _unsupported_tasks(facts: CorpusFacts, code: str) -> tuple[list[str], str]:
    """Return the tasks that a corpus does not support in a language, and how that is known."""
    language = code.partition("-")[0]
    if facts.records == "parsed_sentences":
        tasks = OFFERS["unsupported"].get(language)
        if tasks is None:
            return [], "Not checked: `build` leaves out what the treebanks lack, and says it."
        return tasks.split(), "Checked on treebanks; they do not support:" if tasks else ""
    if facts.name == "Wikipedia":
        for source, languages in OFFERS["documents"].items():
            if language in languages.split():
                return [], f"Checked on {source}."
        return [], "Not checked in this language."
    return [], ""


def _why_unusable(facts: CorpusFacts, corpus: dict[str, Any], is_shipped: bool) -> str:
    """Return why a corpus cannot be used in a language, "" if it can."""
    if facts.records == "documents" and not writing_of(corpus["language"]).split:
        return "No marks tell where its sentences end."
    if facts.records == "parsed_sentences" and _is_small(corpus):
        return "Its treebanks have too few sentences for most tasks."
    return "" if is_shipped else OFFERS["by_hand"].get(corpus["recipe"], "")


def _is_small(corpus: dict[str, Any]) -> bool:
    """Return whether the treebanks of an entry are known to have too few sentences."""
    params = {"seed": 1, "corpora": {"it": {"corpus": corpus}}}
    sources = load_recipe(corpus["recipe"]).sources(corpus_of(params, PARAMS, "it"))
    sizes = [source.size for source in sources if source.size is not None]
    return len(sizes) == len(sources) and sum(sizes) < MIN_TREEBANK_BYTES


def _rename(name: str, model: str, language: str) -> str:
    """Return the name of a dataset in another language, such as sp_wiki_ca."""
    parts = [part for part in name.split("_") if part != model]
    return "_".join([*parts, language.lower().replace("-", "_")])


def _dataset_entry(name: str, entry: Mapping[str, Any], model: str, code: str) -> dict[str, Any]:
    """Return a dataset's entry of params.yaml, with its version if it is a shipped one."""
    options = {k: v for k, v in entry.items() if k not in ("language", "corpora", "group")}
    if options.get("collection") == model:
        options["collection"] = code
    return options | (_version_of(name) if code == model else {})


def _version_of(name: str) -> dict[str, str]:
    """Return the version of a shipped dataset as its entry has it; the first one is not said."""
    version = next(iter(dataset_changes()[name]))
    return {"version": version} if version != "1.0.0" else {}


def documents_text(
    path: str, language: str | None, name: str, columns: Mapping[str, str]
) -> tuple[str, list[str]]:
    """Return a params.yaml for documents, which are read and built to see what they give.

    Args:
        path: the file, folder or dataset of the Hub, as the recipe `documents` takes it.
        language: of the documents, a BCP 47 code; None to guess it from them.
        name: of the corpus.
        columns: our keys to the columns of a table, as the option `columns` of the recipe.

    Returns:
        The text, and lines that say what the documents give and what they lack.
    """
    if language:
        corpora_in(language)
    entry = {"path": path, **({"columns": dict(columns)} if columns else {})}

    def corpus_in(code: str) -> Corpus:
        corpora = {name: {"corpus": {"recipe": "documents", "language": code, **entry}}}
        return corpus_of(vars(validate(Params, {"corpora": corpora}, PARAMS)), PARAMS, name)

    with TemporaryDirectory() as folder:
        raw, records, built = (Path(folder, part) for part in ("raw", "records.parquet", "built"))
        corpus = corpus_in(language or "es")
        fetch(corpus, "sample", raw)
        counts = read(corpus, raw, records, workers=None, executor="local")
        code = language or guess_language(path, records)
        if code != corpus.language:
            corpus = corpus_in(code)
            counts = read(corpus, raw, records, workers=None, executor="local")
        n_documents = counts.kept("documents")
        datasets = _datasets(corpus, records)
        report, faults = _build_rows(replace(corpus, datasets=datasets), records, built)
        detectable = {key: _detectable(built / key, report[key]) for key in report}
    if not report:
        raise [*faults.values()][-1]
    sizes = {key: _describe_size(report[key], detectable[key]) for key in report}
    needs = {key: TASKS[datasets[key]["task"]].needs for key in faults}
    text = render_in_language(
        "documents.yaml.jinja",
        code,
        path=path,
        name=name,
        entry={"recipe": "documents", "language": code} | entry,
        documents=n_documents,
        datasets=[(key, datasets[key], size) for key, size in sizes.items()],
        left_out=needs.items(),
    )
    guessed = "" if language else f" ({code}, guessed: name another with --language)"
    sizes |= {
        key: f"none beside the others, which share the documents: a row needs {material}"
        for key, material in needs.items()
    }
    width = max(map(len, sizes))
    return text, [
        f"{console.plural(len(report), 'datasets')} of {console.plural(n_documents, 'documents')}, "
        f"in {title_of(code) or code}{guessed}:",
        *(f"  {key:{width}}  {size}" for key, size in sizes.items()),
        *(
            f"Dropped: {console.plural(count, unit)} ({reason.replace('_', ' ')})"
            for (unit, reason), count in sorted(counts.dropped.items())
            if unit == "documents"
        ),
        *_what_helps([*detectable.values()], n_documents),
    ]


# Of how many documents the language is identified, and the share of them that must agree.
N_IDENTIFIED, MIN_AGREEMENT = 300, 0.8
# With fewer documents, a test of a fifth of them is too small: every row is tested in folds.
MIN_DOCUMENTS_TO_SPLIT = 2000
# Whose answers tell how much a test detects.
N_GUESSING_ENCODERS = 5


def guess_language(path: str, records: Path) -> str:
    """Return the language that most documents are in; ``path`` is their place, for messages."""
    check_packages("probeta init without --language", "py3langid")
    languages: Counter[str] = Counter()
    for record in islice(read_records(records, "documents"), N_IDENTIFIED):
        assert isinstance(record, Document)
        text = " ".join(chain.from_iterable(map(sentences_in, record.sections)))
        if not is_too_short(text):
            languages[identify(text)] += 1
    (code, count), *_ = languages.most_common(1) or [("", 0)]
    if count < max(1, MIN_AGREEMENT * languages.total()):
        shares = [f"{n} in {title_of(code) or code}" for code, n in languages.most_common(4)]
        found = ", ".join(shares) or "texts too short to tell"
        todo = "name it: --language CODE; documents in several languages are several corpora"
        raise InputError(path, "documents in one language", found, todo)
    return code


def _datasets(corpus: Corpus, records: Path) -> dict[str, dict[str, Any]]:
    """Return entries of all tasks on documents, that which needs most of them last."""
    rows = pq.read_table(records, columns=["id", "split", "topics"]).to_pylist()
    passage_tasks = [task for task in TASKS.values() if isinstance(task, PassageTask)]
    tasks = [task for task in passage_tasks if "documents" in task.records]
    # They have folds if the documents are few and none has a split of its source.
    dealt = all(r["split"] == decide_split(corpus.seed, corpus.name, r["id"]) for r in rows)
    options = {"folds": True} if dealt and len(rows) < MIN_DOCUMENTS_TO_SPLIT else {}
    prefixed: dict[str, PassageTask] = {}
    for task in tasks:
        prefix = task.group.abbreviation.lower()
        prefixed[task.name if prefix in prefixed else prefix] = task
    datasets = {
        f"{prefix}_{corpus.name}": {"task": task.name, **options}
        for prefix, task in sorted(
            prefixed.items(), key=lambda item: (item[1].documents_per_row, item[1].group)
        )
    }
    n_documents = Counter(topic for row in rows for topic in row["topics"])
    if sum(any(n_documents[t] > 1 for t in row["topics"]) for row in rows) > len(rows) / 2:
        datasets[f"dc_{corpus.name}"]["donors"] = "same_topic"
    return datasets


def _detectable(dataset: Path, report: Mapping[str, Any]) -> float:
    """Return the difference that a test detects between encoders that guess; cf. gate 4."""
    split: Split = "train" if report["folds"] else "test"
    rows = pq.read_table(shards_in(dataset)[split], columns=["id", "document_id"]).to_pydict()
    n_classes = len(report["labels"][split])
    guesses = [
        np.array([keyed_hash(encoder, row, "guess") % n_classes == 0 for row in rows["id"]], float)
        for encoder in range(N_GUESSING_ENCODERS)
    ]
    return detectable_difference(guesses, rows["document_id"])


def _describe_size(report: Mapping[str, Any], detectable: float) -> str:
    """Return in words how many rows are tested, and what they show."""
    rows = ", ".join(f"{split} {count:,}" for split, count in report["rows"].items()) + " rows"
    if report["folds"]:
        rows = f"{sum(report['rows'].values()):,} rows, each tested in a fold"
    return f"{rows}; {describe_detectable(detectable)}"


def _what_helps(detectable: Sequence[float], n_documents: int) -> list[str]:
    """Return lines on the datasets that are too small for an average; none without any."""
    small = sorted(value for value in detectable if value > DETECTABLE_AT_MOST)
    if not small:
        return []
    # What is detected falls with the square root of the rows; two digits count.
    needed = [f"{n_documents * (value / DETECTABLE_AT_MOST) ** 2:.2g}" for value in small]
    ends = dict.fromkeys(f"{float(needed[end]):,.0f}" for end in (0, -1))
    return [
        f"Too small for an average: {len(small)} of {console.plural(len(detectable), 'datasets')}; "
        f"it takes tests that detect differences of {100 * DETECTABLE_AT_MOST:.0f} points.",
        f"What helps: {' to '.join(ends)} such documents, longer ones, or fewer datasets.",
    ]


def _build_rows(
    corpus: Corpus, records: Path, out: Path
) -> tuple[dict[str, Mapping[str, Any]], dict[str, InputError]]:
    """Return build.json of the datasets that can be built, and why others cannot."""
    left_out: dict[str, InputError] = {}
    while True:
        faults: dict[str, InputError] = {}
        report = build(corpus, records, out, "sample", faults)
        if not faults:
            return report, left_out
        last = [dataset for dataset in corpus.datasets if dataset in faults][-1]
        left_out[last] = faults[last]
        datasets = {key: entry for key, entry in corpus.datasets.items() if key != last}
        corpus = replace(corpus, datasets=datasets)


def run_init(options: argparse.Namespace) -> None:
    """Write a params.yaml, and say what it asks for."""
    if options.paper == ALL_PAPERS:
        print(*papers_listing(), sep="\n")
        return
    out = Path(options.out)
    # The shell has made an empty file of `probeta init > params.yaml`.
    if options.out != "-" and not options.force and out.exists() and out.stat().st_size:
        todo = "name another file with -o, or replace it with --force"
        raise ParamsError(out, "no such file, or an empty one", "a file with content", todo)
    text, summary = _text_and_summary(options)
    if options.out == "-":
        print(text)
    else:
        with whole_file(out) as temporary:
            temporary.write_text(f"{text}\n", "utf-8")
        summary[0] = f"{out}: {summary[0]}"
    if not console.quiet:
        name = "" if options.out == "-" or out == PARAMS else f" --params {out}"
        # The shell has sent what is printed to the file that is replaced.
        print(*summary, f"Next: probeta repro{name}", sep="\n", file=sys.stderr)


def _text_and_summary(options: argparse.Namespace) -> tuple[str, list[str]]:
    """Return the params.yaml that is asked for, and lines that say what it has."""
    names = ("documents", "language", "paper", "columns")
    asked = {name for name in names if getattr(options, name)}
    if asked - {"language", "columns"} != {"documents"} and asked not in ({"language"}, {"paper"}):
        expected = "--documents, with --language and --columns or without; --language; or --paper"
        todo = "name your documents, as in `probeta init --documents FOLDER`, or a language"
        found = ", ".join(f"--{name}" for name in sorted(asked)) or "none of them"
        raise ParamsError("probeta init", expected, found, todo)
    if options.documents:
        columns = dict(text.partition("=")[::2] for text in options.columns)
        if not all((*columns, *columns.values())):
            todo = "write it as in --columns text=content id=number"
            raise ParamsError("--columns", "KEY=COLUMN", " ".join(options.columns), todo)
        return documents_text(options.documents, options.language, options.name, columns)
    text = paper_text(options.paper) if options.paper else params_text(options.language)
    corpora = yaml.safe_load(text)["corpora"]
    n_datasets = sum(len(entry.get("datasets") or ()) for entry in corpora.values())
    subject = options.paper or title_of(options.language) or options.language
    datasets = console.plural(n_datasets, "datasets")
    summary = f"{datasets} of {console.plural(len(corpora), 'corpora')}: {subject}"
    return text, [summary, "`probeta list` checks it, `probeta doctor` asks the servers."]
