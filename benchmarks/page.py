"""Measures the page of a report on many encoders: its size, its first paint, the sorting of tables.

    python benchmarks/page.py [encoders] [datasets] [folder of screenshots]

Run it where `dvc repro` has run. The encoders (20) are copies of the results in data/results whose
answers are changed at random, on so many datasets (60) as far as there are. Prints CPU time and
memory of the report, the size of the page, the first paint in Chromium, and the longest time that a
table takes to be sorted (the best of five, as other processes disturb; a folded table is opened
first, and is the only one). With a folder, the page is photographed too: 1440 and 420 pixels wide,
light and dark.
"""

import resource
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evaluation.measures import measure
from evaluation.results.scores import (
    Results,
    predictions_table,
    ranks_table,
    read_paradigms,
    read_predictions,
    read_rankings,
    read_ranks,
    read_results,
    write_rankings,
    write_results,
)
from evaluation.results.stored import write_stored
from probeta.report.writing import write_report

WIDTHS = (1440, 420)
SORT = """() => {
    const longest = [...document.querySelectorAll("table.sortable")].map((table) => {
        const part = table.closest("details");
        if (part) part.open = true;
        const [first, second] = table.tHead.rows[0].cells;
        const times = [0, 1, 2, 3, 4].map(() => {
            const begin = performance.now();
            (second ?? first).querySelector("button").click();
            table.getBoundingClientRect();
            return performance.now() - begin;
        });
        if (part) part.open = false;
        return [Math.min(...times), table.id];
    });
    return longest.sort((one, other) => other[0] - one[0])[0];
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def copies(count: int, most: int, folder: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Yield the results, the rankings and the paradigms of so many encoders."""
    generator = np.random.default_rng(1)
    names = sorted(path.name for path in Path("data/results").iterdir())
    for number in range(count):
        name = names[number % len(names)]
        yield copy_of(name, f"{name}_{number:03}", 0.8 * number / count, generator, most, folder)


def copy_of(
    name: str, new: str, noise: float, generator: np.random.Generator, most: int, folder: Path
) -> tuple[Path, Path, Path]:
    """Write the results of an encoder, with a share of its answers changed."""
    path = Path("data/results", name)
    probed = read_results(path)
    scores, tables = [], []
    datasets = sorted({score.dataset for score in probed.scores})[:most]
    for score in (score for score in probed.scores if score.dataset in datasets):
        answers = read_predictions(path, score.dataset, score.layer)
        changed = generator.random(answers.predicted.shape) < noise
        predicted = np.where(changed, generator.permutation(answers.gold), answers.predicted)
        value = float(np.mean([measure(score.metric, answers.gold, one) for one in predicted]))
        ends = [value + end - score.value for end in score.interval]
        interval = (min(max(ends[0], -1), 1), min(max(ends[1], -1), 1))
        scores.append(replace(score, value=value, interval=interval))
        tables.append(
            predictions_table(score.dataset, score.layer, replace(answers, predicted=predicted))
        )
    results: Results = replace(probed, name=new, scores=tuple(scores))
    write_results(results, tables, folder / "results" / new)
    path = Path("data/rankings", name)
    rankings = replace(read_rankings(path), name=new)
    pairs = []
    for rank in rankings.plain:
        ranks = read_ranks(path, rank.dataset, rank.similarity)
        worse = 1 + (generator.random(len(ranks.ranks)) < noise)
        pairs.append(ranks_table(replace(ranks, ranks=ranks.ranks * worse)))
    write_rankings(rankings, pairs, folder / "rankings" / new)
    paradigms = replace(read_paradigms(Path("data/paradigms", f"{name}.json")), name=new)
    write_stored(paradigms, folder / f"{new}.json")
    return folder / "results" / new, folder / "rankings" / new, folder / f"{new}.json"


def open_page(page: Path, pictures: Path | None) -> None:
    """Print what the browser measures, and photograph the page."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                shown = browser.new_page(
                    viewport={"width": width, "height": 900},
                    color_scheme=scheme,  # type: ignore[arg-type]
                )
                shown.goto(page.as_uri())
                paint = shown.wait_for_function(PAINT).json_value()
                if pictures:
                    shown.screenshot(path=pictures / f"{width}-{scheme}.png")
                longest, table = shown.evaluate(SORT)
                print(f"{width} {scheme}: first paint {paint:.0f} ms; {table} {longest:.0f} ms")
                shown.close()
        browser.close()


def main() -> None:
    """Write the report, and open it."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    pictures = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        probed, ranked, clustered = map(list, zip(*copies(count, most, folder), strict=True))
        begin = time.process_time()
        write_report(probed, Path("dist/hub"), folder / "report", ranked, clustered)
        page = folder / "report" / "index.html"
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"report: {time.process_time() - begin:.1f} CPU-s, {most:.2f} GB")
        print(f"page: {page.stat().st_size / 1e6:.2f} MB")
        open_page(page, pictures)


if __name__ == "__main__":
    main()
