"""The files of a report: page, tables, figures and data; verifies third-party results before."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_outputs
from evaluation.datasets import Dataset, find_datasets
from evaluation.results.scores import ParadigmResults, RankingResults, Results
from evaluation.results.stored import SCORES
from probeta.report.figures import draw_groups, draw_ranks, draw_scores, image
from probeta.report.formats import write_html, write_json, write_latex
from probeta.report.inputs import AnyResults, Facts, find_sources, merge_facts, read_inputs
from probeta.report.markdown import write_markdown
from probeta.report.page import page_data
from probeta.report.statistics import Report, order_report
from probeta.report.summary import summarise
from probeta.report.tables.encoders import profiles
from probeta.report.tables.study import scattered, study_of
from probeta.verifying import verify_results

# Most characters of a reason.
MAX_REASON_LENGTH = 300


class Submissions(NamedTuple):
    """Where the verified results of each kind are; the refused ones, and why."""

    results: list[Path]
    rankings: list[Path]
    paradigms: list[Path]
    refused: dict[str, str]


def verify_submissions(paths: Sequence[Path], instances: Path) -> Submissions:
    """Verify results, as ``probeta verify`` does, and that they can be reported together.

    Where two have another seed or protocol, those that most of their kind have count. Results are
    folders of ``score``, ``probe`` or ``rank``, files of ``paradigms``, or in folders of these.
    """
    datasets = {dataset.name: dataset for dataset in find_datasets(instances)}
    verified: dict[Path, AnyResults] = {}
    refused: dict[str, str] = {}
    for path in dict.fromkeys(chain.from_iterable(map(results_in, paths))):
        try:
            check = verify_results(path, instances, datasets)
            if check.differences:
                raise InputError(path, "what the answers give", check.differences[0])
            verified[path] = check.results
        except InputError as error:
            refused[str(path)] = _shorten(error)
    usual = Counter(map(_run_key, verified.values()))
    kinds: dict[type, list[Path]] = {Results: [], RankingResults: [], ParadigmResults: []}
    facts: Facts = {}
    for path, results in sorted(verified.items(), key=lambda item: -usual[_run_key(item[1])]):
        try:
            facts = merge_facts(facts, results)
            kinds[type(results)].append(path)
        except InputError as error:
            refused[str(path)] = _shorten(error)
    if not kinds[Results]:
        reasons = "; ".join(f"{path}: {why}" for path, why in refused.items())
        expected = "results of an encoder or a language model that can be verified"
        raise InputError(paths[0], expected, reasons or "none", "read `probeta verify --help`")
    return Submissions(kinds[Results], kinds[RankingResults], kinds[ParadigmResults], refused)


def results_in(path: Path) -> Iterator[Path]:
    """Yield the results in a folder; or the path, if it has none inside and may be one itself."""
    inside = [] if not path.is_dir() or (path / SCORES).exists() else sorted(path.iterdir())
    inside = [p for p in inside if (p.is_dir() or p.suffix == ".json") and p.name[0] != "."]
    for entry in inside:
        yield from results_in(entry)
    if not inside:
        yield path


def _run_key(results: AnyResults) -> tuple[str, int, str]:
    protocol = results.protocol if isinstance(results, Results) and results.probed else ""
    return type(results).__name__, results.seed, repr(protocol)


def _shorten(error: InputError) -> str:
    return f"expected {error.expected}; found {error.found}"[:MAX_REASON_LENGTH]


def write_report(
    results: Sequence[Path],
    instances: Path,
    out: Path,
    rankings: Sequence[Path] = (),
    paradigms: Sequence[Path] = (),
    skipped: Mapping[str, str] | None = None,
    people: Sequence[Path] = (),
    refused: Mapping[str, str] | None = None,
) -> None:
    """Write index.html, report.md, tables.tex, summary.txt, further data, and two folders.

    tables.json has all tables, see ``write_json``, ``metrics/`` a file with the means of
    each benchmark, for DVC, scores.json every score; ``figures/`` scores and, if an encoder
    was probed on several layers, layers and layers_by_group, and with three encoders and scores of
    both kinds, ranks, as SVG and PNG. All appear together. The same results give the same bytes.

    Args:
        results: the folders that ``probe`` wrote, one per encoder.
        instances: the folder of the instances that were probed, with their audit.json.
        out: the folder; made if it does not exist.
        rankings: the folders that ``rank`` wrote, one per encoder, if they are to be shown.
        paradigms: the files that ``paradigms`` wrote, one per encoder, likewise.
        skipped: what stages have skipped because it failed, and the error.
        people: the files that ``sheet --score`` wrote, one per dataset, if they are to be shown.
        refused: see ``Inputs``.

    Raises:
        InputError: there are no results, they are not comparable, or the instances, the audit,
            the predictions or the ranks are of other rows.
    """
    report, datasets = open_report(
        results, instances, rankings, paradigms, skipped, people, refused
    )
    figures = {}
    if by_layer := profiles(report):
        figures["layers_by_group"] = draw_groups(by_layer, sample=bool(report.inputs.samples))
    study = study_of(report)
    if ranks := scattered(study):
        figures["ranks"] = draw_ranks(ranks, study.encoders, sample=bool(report.inputs.samples))
    data = page_data(report, datasets, instances.as_posix())
    drawn = ["scores"] if any(average.datasets for average in report.averages) else []
    files = {
        "index.html": write_html(data),
        "report.md": write_markdown(data, [*drawn, *figures]),
        "tables.tex": write_latex(report, data),
        "tables.json": write_json(report),
        "summary.txt": summarise(report),
        "scores.json": json.dumps(list_scores(report), indent=2) + "\n",
    }
    folders = [out / "figures", out / "metrics"]
    with whole_outputs([out / name for name in files], folders) as (*pages, folder, metrics):
        for benchmark, means in benchmark_means(report).items():
            text = json.dumps(means, indent=2) + "\n"
            (metrics / f"{benchmark.replace(' ', '_')}.json").write_text(text, "utf-8")
        for name, figure in figures.items():
            for kind in ("svg", "png"):
                (folder / f"{name}.{kind}").write_bytes(image(figure, kind))
        if drawn:
            (folder / "scores.svg").write_text(draw_scores(report), "utf-8")
        for page, text in zip(pages, files.values(), strict=True):
            page.write_text(text, "utf-8")


def open_report(
    results: Sequence[Path],
    instances: Path,
    rankings: Sequence[Path] = (),
    paradigms: Sequence[Path] = (),
    skipped: Mapping[str, str] | None = None,
    people: Sequence[Path] = (),
    refused: Mapping[str, str] | None = None,
) -> tuple[Report, list[Dataset]]:
    """Return the results of a report, and the datasets of its instances; see ``write_report``."""
    datasets = find_datasets(instances)
    samples = {dataset.name for dataset in datasets if dataset.sample}
    audit, sources = instances / "audit.json", find_sources(datasets) if rankings else {}
    optional = rankings, paradigms, samples, skipped, people, sources, refused
    return order_report(read_inputs(results, audit, *optional)), datasets


def benchmark_means(report: Report) -> dict[str, dict[str, float]]:
    """Return benchmark to encoder to the mean of its scores, -1 … 1, if it has all of them.

    Benchmarks without any such encoder are left away.
    """
    means = {name: report.means(of.datasets) for name, of in report.benchmark_averages.items()}
    return {
        benchmark: {name: mean.value for name, mean in of.items()}
        for benchmark, of in means.items()
        if of
    }


def list_scores(report: Report) -> list[dict[str, str | float]]:
    """Return the scores of the main layers: of each, encoder, name, score, -1 … 1, and citation.

    The name of a probed dataset's score is that of the dataset; others are, for EvalRank (vectors
    as they are), such as "evalrank_es mrr cosine", and for ParaLex such as "paralex_es suggestion
    shared lower".
    """
    scores = report.inputs.score_table[["encoder", "key", "value", "citation"]]
    return [
        {"encoder": encoder, "dataset": key, "score": value, "citation": citation}
        for encoder, key, value, citation in scores.itertuples(index=False)
    ]
