"""The verbs on scores: `probeta score`, `compare`, `verify`, `cite`, `sheet` and `export`."""

import argparse
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.console import announce, plural
from corpora_recipes.running.errors import InputError, check_names, load_packages, printable
from corpora_recipes.running.outputs import COMPLETED, PEOPLE, PROBED, RANKED
from probeta.data import data_of_results, locate_data

if TYPE_CHECKING:
    from evaluation.results.scores import Results
    from probeta.scores import Scores


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
    "probes": "what was chosen on validation, ablations, selectivity, code length, known words; "
    "the scores of transfers",
    "rankings": "other layers, post-processed vectors, correlations, ties, unknown words",
    "paradigms": "the scores of single clusters",
}
_OF_VECTORS = "not proved: the digests of vectors (--encode compares them with data/embeddings)"
# Characters of a line: what results say may be of any length.
_MAX_LINE_LENGTH = 1000


def run_verify(options: argparse.Namespace) -> None:
    """Verify results: print the verdict, what differs, and what is proved."""
    from evaluation.datasets import find_datasets
    from probeta.scores import find_results
    from probeta.verifying import read_any_results, verify_results, verify_vectors

    name = options.reference or "*"
    of_run = [*PROBED.glob(name), *RANKED.glob(name), *COMPLETED.glob(f"{name}.json")]
    paths = [*map(find_results, options.results or of_run or [name])]
    # Before samples are built for what is no results.
    read = [(path, read_any_results(path)) for path in paths]
    folder = data_of_results(options.data, paths, options.datasets)
    datasets = {dataset.name: dataset for dataset in find_datasets(folder)}
    check_names(f"datasets of {folder}", options.datasets, datasets)
    lines, kinds, n_differing, n_recomputed = [], set(), 0, 0
    for path, results in read:
        verification = verify_results(results, path, folder, datasets, options.datasets)
        kinds.add(verification.kind)
        what = f"{verification.kind} of {verification.results.name}"
        lines.append(f"{path}: {what}: {plural(verification.recomputed, 'scores')} recomputed")
        if options.reference:
            # It needs pandas, which `verify` does not.
            from probeta.report.reference import compare_with_reference

            compare_with_reference(verification, options.reference)
        if options.encode and not verification.differences:
            verify_vectors(verification, options.params, options.encode)
        lines += [f"  differs: {difference}" for difference in verification.differences]
        lines += [f"  {note}" for note in dict.fromkeys(verification.notes)]
        n_differing += len(verification.differences)
        n_recomputed += verification.recomputed
    verdict = f"{n_differing:,} differ" if n_differing else "nothing differs"
    for line in [f"{verdict}: {plural(n_recomputed, 'scores')} recomputed", *lines]:
        print(printable(line, _MAX_LINE_LENGTH).replace("\n", "\\n"))
    proved = [] if n_differing else [_PROVED]
    of_kinds = [f"not proved: {k}: {what}" for k, what in _NOT_PROVED_OF.items() if k in kinds]
    print(*proved, _NOT_PROVED, *of_kinds, *([] if options.encode else [_OF_VECTORS]), sep="\n")
    if n_differing:
        expected = "scores that the stored answers give on this data"
        todo = "score the encoder again, or name the data that it was scored on with --data"
        if options.reference:
            expected += ", and the reference has"
            todo += "; other rows: compare your raw files with those of docs/reference_scores.md"
        raise InputError("verify", expected, f"{n_differing:,} that differ, named above", todo)


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
