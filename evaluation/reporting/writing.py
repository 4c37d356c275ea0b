"""From results to a folder of tables, figures and a page to look at."""

import json
from collections.abc import Sequence
from pathlib import Path

from corpora_recipes.outputs import whole_file, whole_folder
from evaluation.paradigms.results import MEASURES, ParadigmResults
from evaluation.ranking.results import RankingResults
from evaluation.report.figures import draw_layers, draw_scores, image
from evaluation.report.html import write_html
from evaluation.report.inputs import Inputs, read_inputs
from evaluation.report.instances import browsed
from evaluation.report.latex import write_latex
from evaluation.report.layers import profiles
from evaluation.report.markdown import write_markdown
from evaluation.results import Results


def write_report(
    results: Sequence[tuple[Results, Path]],
    instances: Path,
    audit: Path,
    out: Path,
    invariance: Path | None = None,
    rankings: Sequence[tuple[RankingResults, Path]] = (),
    paradigms: Sequence[ParadigmResults] = (),
) -> None:
    """Write index.html, report.md, tables.tex, metrics.json and figures/ into a folder.

    ``figures/`` has scores.svg and scores.png, and if an encoder was probed on several layers
    layers.svg and layers.png. The same results give the same bytes.

    Args:
        results: one an encoder, with the folder that it was read from.
        instances: the folder of the instances that were probed.
        audit: the audit.json of the package that was probed, for the trivial baselines.
        out: the folder; made if need be.
        invariance: what ``python -m evaluation invariance`` wrote of them, if it is to be shown.
        rankings: what ``python -m evaluation rank`` wrote, one an encoder, with the folder that it
            was read from, if it is to be shown.
        paradigms: what ``python -m evaluation paradigms`` wrote, one an encoder, if it is to be
            shown.

    Raises:
        InputError: there are no results, they must not be compared, or the instances, the audit,
            the invariance, the predictions or the ranks are of other rows.
    """
    inputs = read_inputs(results, audit, invariance, rankings, paradigms)
    by_layer = profiles(inputs)
    browser = browsed(inputs, instances)
    figures = {"scores": draw_scores(inputs)}
    if by_layer:
        figures["layers"] = draw_layers(by_layer)
    files = {
        "index.html": write_html(inputs, by_layer, browser, figures["scores"]),
        "report.md": write_markdown(inputs, by_layer),
        "tables.tex": write_latex(inputs, by_layer),
        "metrics.json": json.dumps(metrics(inputs), indent=2) + "\n",
    }
    images = {
        f"{name}.{kind}": image(figure, kind)
        for name, figure in figures.items()
        for kind in ("svg", "png")
    }
    with whole_folder(out / "figures") as temporary:
        for name, content in images.items():
            (temporary / name).write_bytes(content)
    for name, text in files.items():
        with whole_file(out / name) as temporary:
            temporary.write_text(text, "utf-8")


def metrics(inputs: Inputs) -> dict[str, dict[str, float]]:
    """Return what is measured to encoder to the score of its main layer, 0 … 1.

    Probed datasets by their names (correlations from -1); EvalRank's, of the vectors as they are,
    such as "evalrank_es mrr cosine"; ParaLex's such as "paralex_es suggestion shared fold".
    """
    found = {
        dataset: {name: score.value for name, score in scores.items()}
        for dataset, scores in inputs.datasets.items()
    }
    for ranked in inputs.rankings:
        for rank in ranked.plain:
            for what, value in rank.measures.items():
                found.setdefault(rank.key(what), {})[ranked.name] = value
    for clustered in inputs.paradigms:
        for score in clustered.main:
            for what in MEASURES:
                found.setdefault(score.key(what), {})[clustered.name] = getattr(score, what)
    return found
