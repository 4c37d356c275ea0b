"""The files of a report: page, tables, figures and data."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from corpora_recipes.running.outputs import whole_outputs
from evaluation.datasets import Dataset, find_datasets
from probeta.report.figures import draw_groups, draw_ranks, draw_scores, image
from probeta.report.formats import write_html, write_json, write_latex
from probeta.report.inputs import find_sources, read_inputs
from probeta.report.markdown import write_markdown
from probeta.report.page import page_data
from probeta.report.statistics import Report, order_report
from probeta.report.summary import summarise
from probeta.report.tables.encoders import profiles
from probeta.report.tables.study import scattered, study_of


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
