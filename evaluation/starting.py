"""`probeta init`: writes a params.yaml with all datasets that the recipes have in a language.

The datasets are those of the shipped benchmarks. In another language they have its code at the end
of their names.
"""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import yaml

HELP = """\
examples:
  probeta init --language ca > params.yaml
  probeta list --languages

Writes to the standard output: what there is in the language (`probeta list --languages` shows all
languages), with the corpora to download, and multilingual encoders. Nothing is downloaded before
`probeta repro`.
"""
# The languages of multilingual USE (Yang et al. 2020, Multilingual Universal Sentence Encoder for
# Semantic Retrieval, section 2).
_USE = "ar de en es fr it ja ko nl pl pt ru th tr zh"
# Why a corpus is commented out in languages of which no benchmark has been shipped.
_BY_HAND = {
    "gutenberg": "Our rules for speech are for Spanish books. Put the dialogues that the dataset's "
    "own code extracts (train.txt, dev.txt, test.txt) in FOLDER/gutenberg.",
    "xprobe": "Three of its nine tasks are faulty in Spanish; nobody has checked them here.",
}
# Tasks on treebanks that need features or sentences which not every language has, and the ones of
# them that a language does not support: `build` refused them on the parts for development and test
# of bosque, ctg, treegal, bdt, gsd (fr, de), isdt and ewt, and on the Spanish PUD, as the feature
# is lacking; or such sentences are rare, as a subject after its verb in English. Catalan has the
# annotation of the Spanish AnCora.
_NEEDING = (
    "coordination_inversion dropped_subject object_gender object_number subject_gender "
    "subject_number subject_order subjunctive tense voice"
)
_UNSUPPORTED = {
    "ca": "",
    "de": "dropped_subject",
    "en": "dropped_subject object_gender subject_gender subject_order subjunctive",
    "es": "",
    "eu": "dropped_subject object_gender subject_gender tense voice",
    "fr": "dropped_subject subject_order",
    "gl": "coordination_inversion object_gender object_number subject_gender subject_number voice",
    "it": "",
    "pt": "",
}
# Bytes of CoNLL-U: a thousand sentences or so.
_SMALLEST_TREEBANK = 1_500_000
# Languages that are written without spaces between sentences.
_UNSPACED = "bo dz gan ja km lo my th wuu yue zh"
_HEAD = """\
# A benchmark in {title}: all that the recipes have in this language, written by
# `probeta init --language {language}`. `probeta list` checks it, `probeta doctor` asks the servers,
# `probeta repro` runs it.

seed: 1111

# upstream (the servers that publish the corpora), or a folder with their files:
# FOLDER/<recipe>/<upstream file name>.
sources: upstream

corpora:"""
_OWN_TEXTS = """\
  # Texts of your own, see docs/own_domain.md:
  # mine:
  #   corpus: {{recipe: jsonl, language: {code}, path: mine.jsonl}}
  #   datasets:
  #     sp_mine: {{task: sentence_position}}
  #     bso_mine: {{task: sentence_ordering}}
  #     dc_mine: {{task: discourse_coherence}}"""
_OWN_RANKING = """\
rankings: {{}}
  # EvalRank needs pairs of synonyms or paraphrases. With your own, under `corpora`:
  # word_pairs:
  #   corpus: {{recipe: word_pairs, language: {code}, path: my_words.tsv}}
  # and here, instead of the braces:
  # evalrank_words_{suffix}:
  #   task: word_ranking
  #   language: {code}
  #   pairs: [word_pairs]
  #   vocabulary: wikipedia"""
# `dvc repro` needs every section.
_SETTINGS = """\
audit:
  inherited: {}  # faults of the sources that you know of, see docs/audit.md

probing: {protocol: standard, pair_features: difference_product, ablations: false}
evalrank: {similarities: [cosine, l2], postprocessings: [none, centre, abtt, whitening]}
paralex: {coherence_threshold: 2, casings: [as_is, lower]}
"""
_ENCODERS = """\
encoders:
  char_hash: {{}}  # the floor
  use_multilingual: {{}}{use}
  # fasttext: {{encoder: static, path: cc.{code}.300.vec.gz}}  # word vectors, from fasttext.cc
  # Switched off, as they need `uv sync --locked --extra torch` and download their model:"""
_SWITCHED_OFF: Mapping[str, dict[str, Any]] = {
    "e5": {
        "encoder": "sentence_transformers",
        "model": "intfloat/multilingual-e5-small",
        "prompts": {"default": "query: "},
    },
    "labse": {"encoder": "sentence_transformers", "model": "sentence-transformers/LaBSE"},
    "mbert_cased": {
        "encoder": "transformers",
        "model": "google-bert/bert-base-multilingual-cased",
    },
    "xlm_roberta": {"encoder": "transformers", "model": "FacebookAI/xlm-roberta-base"},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta init`."""
    parser.add_argument(
        "--language", required=True, metavar="CODE", help="of the benchmark, such as ca or pt-BR"
    )


def run(options: argparse.Namespace) -> None:
    """Print a params.yaml.

    Raises:
        InputError: no corpus has the language.
    """
    print(params_text(options.language))


def params_text(language: str) -> str:
    """Return a params.yaml with all that the recipes have in a language.

    Args:
        language: BCP 47 code, such as "ca".

    Raises:
        InputError: no corpus has it.
    """
    from corpora_recipes.languages import corpora_in, title_of

    codes = corpora_in(language)
    code = language.partition("-")[0]
    title = title_of(language) or language
    suffix = language.lower().replace("-", "_")
    corpora = [
        line for recipe in _in_order(codes) for line in _entry(recipe, codes[recipe], suffix)
    ]
    # Without a corpus that can be used, the section is there all the same.
    none = "" if any(not line.startswith("  #") for line in corpora) else " {}"
    lines = [_HEAD.format(title=title, language=language) + none, *corpora]
    lines.append(_OWN_TEXTS.format(code=code))
    rankings = _rankings(language)
    if rankings:
        lines += ["", "rankings:", *rankings]
    else:
        lines += ["", _OWN_RANKING.format(code=code, suffix=suffix)]
    lines += ["", _SETTINGS]
    use = "" if code in _USE.split() else f"  # trained on 16 languages, {title} is not among them"
    lines.append(_ENCODERS.format(use=use, code=code))
    lines += [f"  # {name}: {_flow(entry)}" for name, entry in _SWITCHED_OFF.items()]
    return "\n".join(lines)


def _in_order(codes: Mapping[str, str]) -> list[str]:
    """Return the recipes of the benchmarks in their order."""
    order = dict.fromkeys(
        corpus["recipe"] for _, entry in _shipped() for corpus in entry["corpora"]
    )
    return [recipe for recipe in order if recipe in codes]


def _shipped() -> list[tuple[str, dict[str, Any]]]:
    """Return name and entry of all datasets of the shipped benchmarks."""
    from builders.tasks.benchmarks import BENCHMARKS

    return [
        (name, {"language": "es", **entry})
        for datasets in BENCHMARKS.values()
        for name, entry in datasets.items()
    ]


def _entry(recipe: str, code: str, suffix: str) -> Iterator[str]:
    """Yield the lines of a corpus: as it is shipped, or made from the one in another language."""
    from corpora_recipes.recipe import load_facts

    facts = load_facts(recipe)
    offered = [
        (name, entry, settings)
        for name, entry in _shipped()
        for settings in entry["corpora"]
        if settings["recipe"] == recipe
    ]
    languages = [entry["language"] for _, entry, _ in offered]
    model = code if code in languages else languages[0]
    corpus: dict[str, Any] = {"recipe": recipe, "language": code}
    datasets: dict[str, Any] = {}
    for name, entry, settings in offered:
        if entry["language"] == model:
            # A treebank has one language.
            corpus |= {k: v for k, v in settings.items() if k != "treebank" or code == model}
            if "parts" not in entry:
                chosen = name if code == model else _renamed(name, model, suffix)
                datasets[chosen] = _dataset(name, entry, model, code)
    lines = [f"  {recipe}:", f"    corpus: {_flow(corpus)}"]
    if datasets:
        lines += ["    datasets:", *_lines_of(datasets, facts.records, code)]
    reason = _BY_HAND.get(recipe, "") if code != model else ""
    if facts.records == "documents" and code.partition("-")[0] in _UNSPACED.split():
        reason = "Texts are split into sentences at spaces, which this language does without."
    elif facts.records == "parsed_sentences" and _is_small(corpus):
        reason = "Its treebanks have too few sentences for most tasks."
    note = ""
    if facts.manual and not facts.shipped:
        note = ", to be asked for: see docs/real_corpora.md"
    elif recipe == "paralex" and not _rankings(code):
        note = ": scored with word vectors (`static`), or if there is a word ranking below"
    if reason:
        yield fill(
            f"{facts.name}, not used. {reason}",
            100,
            initial_indent="  # ",
            subsequent_indent="  # ",
        )
        yield from (f"  # {line[2:]}" for line in lines)
    else:
        yield f"  # {facts.name}{note}"
        yield from lines


def _lines_of(datasets: Mapping[str, Any], records: str, code: str) -> Iterator[str]:
    """Yield the lines of the datasets of a corpus, and as comments those that it cannot give."""
    language = code.partition("-")[0]
    lacking = _UNSUPPORTED.get(language, _NEEDING).split() if records == "parsed_sentences" else []
    for name, dataset in datasets.items():
        if dataset["task"] not in lacking:
            yield f"      {name}: {_flow(dataset)}"
    if any(dataset["task"] in lacking for dataset in datasets.values()):
        known = language in _UNSUPPORTED
        yield (
            "      # Not supported by its treebanks:"
            if known
            else "      # Not tried in this language: they need features that some treebanks lack."
        )
    for name, dataset in datasets.items():
        if dataset["task"] in lacking:
            yield f"      # {name}: {_flow(dataset)}"


def _is_small(corpus: dict[str, Any]) -> bool:
    """Return whether the treebanks of an entry are known to have too few sentences."""
    from corpora_recipes.entries import corpus_of
    from corpora_recipes.recipe import load_recipe

    params = {"seed": 1, "corpora": {"it": {"corpus": corpus}}}
    sources = load_recipe(corpus["recipe"]).sources(corpus_of(params, Path("params.yaml"), "it"))
    sizes = [source.size for source in sources if source.size is not None]
    return len(sizes) == len(sources) and sum(sizes) < _SMALLEST_TREEBANK


def _renamed(name: str, model: str, suffix: str) -> str:
    """Return the name of a dataset in another language: sp_wiki_ca, sick_ca_e."""
    parts = [part for part in name.split("_") if part != model]
    return "_".join([*parts, suffix])


def _dataset(name: str, entry: Mapping[str, Any], model: str, code: str) -> dict[str, Any]:
    """Return a dataset's entry of params.yaml."""
    kept = {k: v for k, v in entry.items() if k not in ("language", "corpora", "parts")}
    if kept.get("collection") == model:
        kept["collection"] = code
    if code == model:
        version = _version(name)
        kept |= {"version": version} if version != "1.0.0" else {}
    return kept


def _version(name: str) -> str:
    """Return the latest version of a shipped dataset."""
    from builders.packaging.hub import CHANGES
    from corpora_recipes.running.yaml_text import load_yaml

    return str(next(iter(load_yaml(Path(CHANGES)).get(name, ["1.0.0"]))))


def _rankings(language: str) -> list[str]:
    """Return the lines of the rankings that are shipped in a language."""
    lines = []
    for name, entry in _shipped():
        if "parts" in entry and entry["language"] == language:
            own = {key: value for key, value in entry["parts"].items() if key != "without_test"}
            ranking = {"task": entry["task"], "language": language, **own}
            lines += [f"  {name}:", *(f"    {key}: {_flow(v)}" for key, v in ranking.items())]
    return lines


def _flow(value: object) -> str:
    """Return a value as YAML on one line."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=10_000
    )
    return text.removesuffix("\n...\n").rstrip("\n")
