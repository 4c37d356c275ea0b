"""The verbs on scores: `probeta score`, `compare`, `verify`, `cite`, `sheet` and `export`."""

import argparse
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.console import (
    add_data,
    add_params,
    add_workers,
    announce,
    names,
    plural,
    positive,
)
from corpora_recipes.running.errors import InputError, check_names, load_packages
from corpora_recipes.running.outputs import PEOPLE
from probeta.data import data_of_results, locate_data

if TYPE_CHECKING:
    from evaluation.results.scores import Results
    from probeta.scores import Scores


def add_score_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta score`."""
    add = parser.add_argument
    add("encoder", nargs="?", metavar="ENCODER", help="what to score: see below")
    help_text = "instead of ENCODER: the answers of a language model, that lm-eval wrote to DIR"
    add("--from-lm-eval", type=Path, metavar="DIR", help=help_text)
    add_data(parser)
    add("--datasets", type=names, metavar="A,B", help="names of datasets (default: all)")
    add("--groups", type=names, metavar="SP,DR", help="groups, or benchmarks")
    add("--protocol", metavar="NAME", help="standard or senteval (default: that of params.yaml)")
    help_text = "what probes add: selectivity, code length, information; full: also the code length"
    help_text += " of control labels"
    add("--controls", nargs="?", const=True, choices=["full"], help=help_text)
    add("--name", metavar="NAME", help="name of the results (default: from ENCODER)")
    help_text = (
        "of a function: a version of its vectors, which are then kept; of a model on the Hub: "
    )
    add("--revision", metavar="R", help=f"{help_text}branch, tag or commit")
    help_text = """prompts of the texts, such as 'default: "query: "' or '{SP: "a: ", SS: "b: "}'"""
    add("--prompts", metavar="YAML", help=help_text)
    add("--out", type=Path, metavar="DIR", help="folder for the results (default: results/NAME)")
    help_text = "folder for vectors and samples (default: the user's, such as ~/.cache/probeta)"
    add("--cache", type=Path, metavar="DIR", help=help_text)
    add_params(parser)
    add_workers(parser)


def run_score(options: argparse.Namespace) -> None:
    """Score the encoder, print a table, and write the results."""
    subjects = options.encoder, options.from_lm_eval
    _check_one("probeta score", "ENCODER, or --from-lm-eval DIR", subjects)
    scores = _score_language_model(options) if options.encoder is None else _score_encoder(options)
    out = options.out or Path("results", scores.results.name)
    replaced = _lost_by(out, scores)
    scores.save(out)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(scores.format(width))
    for name, line in scores.citations().items():
        print(f"cite {name}: {line}")
    if scores.store:
        announce(f"vectors: {scores.store}")
    announce(f"results: {out}{replaced}")
    announce(_next_command(out, scores.results))


def _check_one(verb: str, expected: str, arguments: Iterable[object]) -> None:
    """Refuse arguments of a verb unless exactly one of them is there."""
    if (count := sum(map(bool, arguments))) != 1:
        todo = f"name one of the two, see `{verb} --help`"
        raise InputError(verb, expected, "both" if count else "neither", todo)


def _lost_by(out: Path, scores: "Scores") -> str:
    """Return what to say of the scores of other datasets that are replaced, "" without any."""
    from evaluation.results.scores import read_results

    with suppress(InputError):
        before = {score.dataset for score in read_results(out).main}
        if before - {score.dataset for score in scores.results.main}:
            return f", in place of those of {plural(len(before), 'datasets')} (--out keeps both)"
    return ""


def _next_command(out: Path, results: "Results") -> str:
    """Return what to do with results: compare them with others beside them, if they fit."""
    from evaluation.results.scores import read_results
    from probeta.scores import validate_comparable

    in_results = out.parent == Path("results")
    others = sorted({path.parent for path in out.parent.glob("*/scores.json")} - {out})
    name, *names = (path.name if in_results else str(path) for path in (out, *others))
    for other, path in zip(names, others, strict=True):
        with suppress(InputError):
            validate_comparable(results, read_results(path))
            return f"next: probeta compare {name} {other}"
    return f"next: score another encoder, OTHER, and `probeta compare {name} OTHER`"


def _score_encoder(options: argparse.Namespace) -> "Scores":
    from corpora_recipes.yaml_files import parse_yaml
    from probeta.scoring import score

    return score(
        options.encoder,
        options.data,
        datasets=options.datasets,
        groups=options.groups,
        name=options.name,
        revision=options.revision,
        prompts=parse_yaml(options.prompts, "--prompts") if options.prompts else None,
        protocol=options.protocol,
        controls=options.controls,
        params=options.params,
        cache=options.cache,
        workers=options.workers,
    )


def _score_language_model(options: argparse.Namespace) -> "Scores":
    from probeta.exchange.lm_eval import score_language_model

    for name in ("revision", "prompts", "protocol", "controls"):
        if getattr(options, name) is not None:
            expected = "an encoder to score, which this option is about"
            raise InputError(f"--{name}", expected, "--from-lm-eval", "leave the option out")
    return score_language_model(
        options.from_lm_eval,
        options.data,
        datasets=options.datasets,
        groups=options.groups,
        name=options.name,
    )


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta compare`."""
    parser.add_argument("one", metavar="A", help="results of an encoder: a folder or a name")
    parser.add_argument("other", metavar="B", help="results of another one, to be subtracted")


def run_compare(options: argparse.Namespace) -> None:
    """Print the differences."""
    from probeta.scores import compare

    print(compare(options.one, options.other))


_PROVED = """\
proved: these are the data; scores recomputed, and their intervals, follow from the stored answers
proved: of the datasets with a score, no layer, row or answer is missing or there twice"""
_NOT_PROVED = """\
not proved: that this encoder, or any, gave these answers: who has the data can write right ones
not proved: its name, revision, options; protocol, seed, versions, code: the results only say so"""
_NOT_PROVED_OF = {
    "probes": "what was chosen on validation, ablations, the share of known words",
    "rankings": "other layers, post-processed vectors, correlations, ties, unknown words",
    "paradigms": "the scores of single clusters",
}
_OF_VECTORS = "not proved: the digests of vectors (--encode compares them with data/embeddings)"
# Characters of a line: what results say may be of any length.
_MAX_LINE_LENGTH = 1000


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta verify`."""
    add, help_text = (
        parser.add_argument,
        "folders that score, probe or rank wrote, or files of paradigms",
    )
    add("results", nargs="+", metavar="RESULTS", help=help_text)
    add_data(parser)
    help_text = "verify these only (default: all of the results)"
    add("--datasets", type=names, metavar="A,B", help=help_text)
    help_text = "encode N texts of each dataset again (default: none; without a number: 16)"
    add("--encode", type=positive, nargs="?", const=16, metavar="N", help=help_text)
    add_params(parser)


def run_verify(options: argparse.Namespace) -> None:
    """Verify results: print the verdict, what differs, and what is proved."""
    from evaluation.datasets import find_datasets
    from probeta.scores import find_results
    from probeta.verifying import verify_results, verify_vectors

    paths = [*map(find_results, options.results)]
    folder = data_of_results(options.data, paths, options.datasets)
    datasets = {dataset.name: dataset for dataset in find_datasets(folder)}
    check_names(f"datasets of {folder}", options.datasets, datasets)
    lines, kinds, n_differing, n_recomputed = [], set(), 0, 0
    for path in paths:
        verification = verify_results(path, folder, datasets, options.datasets)
        kinds.add(verification.kind)
        what = f"{verification.kind} of {verification.results.name}"
        lines.append(f"{path}: {what}: {plural(verification.recomputed, 'scores')} recomputed")
        if options.encode and not verification.differences:
            verify_vectors(verification, options.params, options.encode)
        lines += [f"  differs: {difference}" for difference in verification.differences]
        lines += [f"  {note}" for note in dict.fromkeys(verification.notes)]
        n_differing += len(verification.differences)
        n_recomputed += verification.recomputed
    verdict = f"{n_differing:,} differ" if n_differing else "nothing differs"
    for line in [f"{verdict}: {plural(n_recomputed, 'scores')} recomputed", *lines]:
        _print_safely(line)
    proved = [] if n_differing else [_PROVED]
    of_kinds = [f"not proved: {k}: {what}" for k, what in _NOT_PROVED_OF.items() if k in kinds]
    print(*proved, _NOT_PROVED, *of_kinds, *([] if options.encode else [_OF_VECTORS]), sep="\n")
    if n_differing:
        expected = "scores that the stored answers give on this data"
        todo = "score the encoder again, or name the data that it was scored on with --data"
        raise InputError("verify", expected, f"{n_differing:,} that differ, named above", todo)


def _print_safely(line: str) -> None:
    """Print a line, which cannot become two, nor change a terminal."""
    print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line[:_MAX_LINE_LENGTH]))


def add_cite_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta cite`."""
    add, help_text = parser.add_argument, "folders of results, or of such folders, or their names"
    add("line", metavar="LINE", help="as `probeta score` prints it, in quotes")
    add("results", nargs="+", metavar="RESULTS", help=help_text)
    add_data(parser)


def run_cite(options: argparse.Namespace) -> None:
    """Print what the line names, once it is verified."""
    from probeta.report.citing import find_cited
    from probeta.scores import format_interval, format_percent

    citation, cited = find_cited(options.line, options.results, options.data)
    count = plural(len(cited.scores), "datasets")
    what = f"mean of {count}, " if cited.scores[1:] else ""
    for measure, value, interval in cited.numbers():
        ends = f" {format_interval(interval)}" if interval else ""
        print(f"{citation.name}, {what}{measure}: {format_percent(value)}{ends}")
    for name, part in citation._asdict().items():
        print(f"  {name}: {part}")
    print(f"verified: the stored answers give these numbers on this data\n{_NOT_PROVED}")


def add_sheet_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta sheet`."""
    add, help_text = parser.add_argument, "number of rows (default: 50)"
    add("dataset", nargs="?", metavar="DATASET", help="a dataset with classes")
    add("--rows", type=positive, default=50, metavar="N", help=help_text)
    add_data(parser)
    help_text = "instead of DATASET: sheets that were filled in, one for each person"
    add("--score", type=Path, nargs="+", metavar="FILE", help=help_text)


def run_sheet(options: argparse.Namespace) -> None:
    """Write a sheet, or score those that were filled in."""
    from evaluation.datasets import find_data
    from evaluation.results.stored import write_stored
    from probeta.annotation import read_form, score_forms, write_form
    from probeta.scores import format_interval, format_percent

    _check_one("probeta sheet", "DATASET, or --score FILE", (options.dataset, options.score))
    forms = [read_form(path) for path in options.score or ()]
    name = options.dataset or forms[0].dataset
    data = find_data(locate_data(options.data, name), name, None)
    if options.dataset:
        count = write_form(data.datasets[0], data.seed, options.rows, PEOPLE)
        print(f"{PEOPLE / options.dataset}.html, .csv: {count} rows")
        return
    people = score_forms(forms, data.datasets[0])
    write_stored(people, out := PEOPLE / f"{people.dataset}.json")
    mean = f"{format_percent(people.value)} {format_interval(people.interval)}"
    print(f"{people.dataset}: {mean} on {people.rows} rows")
    for path, accuracy in zip(options.score, people.accuracies, strict=True):
        print(f"  {path}: {format_percent(accuracy)}")
    if people.kappa is not None:
        print(f"  Cohen's kappa: {people.kappa:.2f}")
    print(f"{out}: `probeta report` shows it")


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta export`."""
    add = parser.add_argument
    add("results", nargs="*", metavar="RESULTS", help="folders that probe or score wrote, or names")
    add("--mteb-tasks", metavar="DATA", help="a package, whose datasets become tasks of mteb")
    add("--models", nargs="+", default=[], metavar="MODEL", help="run these on the tasks of mteb")
    add("--repo", required=True, metavar="ORG/NAME", help="the datasets on the Hugging Face Hub")
    add("--revision", metavar="R", help="tag or commit of the datasets there (default: none)")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write to")


def run_export(options: argparse.Namespace) -> None:
    """Export the results, or the datasets."""
    expected = "folders of results, or --mteb-tasks DATA"
    _check_one("probeta export", expected, (options.results, options.mteb_tasks))
    if options.mteb_tasks:
        load_packages("export --mteb-tasks", "mteb")
        # Only with mteb, from whose classes it makes others.
        from probeta.exchange.mteb_tasks import export_tasks

        tasks, unknown_fields = export_tasks(
            options.mteb_tasks, options.repo, options.revision, options.models, options.out
        )
        for dataset, fields in unknown_fields.items():
            print(f"left out: {dataset}: nobody states its {', '.join(fields)}")
        print(f"{len(tasks)} tasks")
    else:
        from probeta.exchange.export import export
        from probeta.scores import find_results

        models = export(
            map(find_results, options.results), options.repo, options.revision, options.out
        )
        for model in models:
            note = "" if model.on_hub else ": only for mteb"
            print(f"{model.name} ({model.revision}){note}")
    print(f"exported: {options.out}")
