"""What stands first: what was measured, warnings, which encoder is best, and the averages."""

import re

from corpora_recipes.running.folders import LEFT_OUT
from evaluation.results.comparison import ALL_PAIRS_LIMIT, tied_with
from probeta.report import layout
from probeta.report.averages import Average
from probeta.report.inputs import Inputs
from probeta.report.layout import Cell, Column, Row, Table, cell_of, columns_of, percent
from probeta.report.tables.marks import compared, mean_cell, people_mean, trivial_row
from probeta.report.tables.papers import published_means
from probeta.report.tables.scores import about_bold, about_scale, metric_of
from probeta.report.texts import phrase, translated

# Most names that a sentence lists, if there are two others or more.
LISTED = 3
# Most characters of a fault that the warning quotes.
LONGEST = 80


def facts(inputs: Inputs) -> dict[str, str]:
    """Return what was measured: what is counted or named, to its number or name."""
    rows = sum(inputs.any_score(name).asked for name in inputs.datasets)
    real = inputs.datasets.keys() - inputs.samples
    data = "both_data" if real and inputs.samples else "real_data" if real else "sample_data"
    return {
        phrase("fact_encoders"): f"{len(inputs.names):,}",
        phrase("fact_benchmarks"): f"{len(inputs.wholes):,}",
        phrase("fact_datasets"): f"{len(inputs.datasets):,}",
        phrase("fact_rows"): f"{rows:,}",
        phrase("fact_protocol"): inputs.protocol["name"],
        phrase("fact_data"): phrase(data),
    }


def warnings(inputs: Inputs) -> dict[str, str]:
    """Return what must be known before any score is read, in a line, to what more there is to say.

    Of samples, of datasets that are missing, and of what was left out for a fault.
    """
    found, missing = {}, inputs.report.get("missing", {})
    if inputs.samples:
        samples, total = len(inputs.samples), len(inputs.groups)
        which = phrase("some_of", count=samples, all=total)
        which = phrase("all_of", all=total) if samples == total else which
        found[phrase("samples", which=which)] = phrase("more_samples", mark=layout.SAMPLE)
    # An audit of instances, which is not that of a package, has none.
    if missing:
        how = " ".join(dict.fromkeys(missing.values()))
        more = phrase("more_incomplete", names=", ".join(missing), how=how)
        found[phrase("incomplete", names=_some([*missing]))] = more
    if inputs.left_out:
        faults = (f"{name} ({_in_short(why)})" for name, why in inputs.left_out.items())
        more = phrase("more_left_out", faults=", ".join(faults), folder=LEFT_OUT)
        found[phrase("left_out", names=_some([*inputs.left_out]))] = more
    return found


def _in_short(why: str) -> str:
    """Return what was found, of the message of an error; of another text its first line."""
    found = re.search(r"^ *found: *(.*)", why, re.MULTILINE)
    text = found[1] if found else why.partition("\n")[0]
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _some(names: list[str]) -> str:
    """Return some names in words: a few of them, and how many others there are."""
    others = len(names) - LISTED
    if others < 2:
        return ", ".join(names)
    return phrase("others", names=", ".join(names[:LISTED]), others=others)


def answers(inputs: Inputs) -> dict[str, str]:
    """Return benchmark to which encoder is best on it, and whether that is shown.

    Without those that have samples, which cannot bear an answer.
    """
    return {
        name: _answer(inputs, average)
        for name, average in inputs.wholes.items()
        if inputs.samples.isdisjoint(average.datasets)
    }


def _answer(inputs: Inputs, average: Average) -> str:
    means = inputs.means(average.datasets)
    if not means:
        return phrase("nobody" if average.datasets else "all_too_small")
    best, *others = means
    (low, high), trivial = means[best].interval, inputs.trivial(*average.datasets)
    beats = "it_beats" if low > trivial else "it_is_below" if high < trivial else "it_may_beat"
    words = {"best": best, "mean": percent(means[best].value)}
    words["beats"] = phrase(beats, best=best, trivial=percent(trivial))
    if not others:
        return phrase("only", **words)
    tied = others[0] in tied_with(best, average.name, inputs.differences)
    words |= {"next": others[0], "of_next": percent(means[others[0]].value)}
    return phrase("best_mean", test=phrase("tied" if tied else "distinct"), **words)


def averages(inputs: Inputs) -> list[Table]:
    """Return the averages of each benchmark, and those over the user's own datasets."""
    return [_averages(inputs, name) for name, whole in inputs.wholes.items() if whole.datasets]


def _averages(inputs: Inputs, benchmark: str) -> Table:
    of_benchmark = (each for each in inputs.averages if each.benchmark == benchmark)
    *groups, whole = (average for average in of_benchmark if average.datasets)
    averages = [whole, *groups]
    name = layout.unused_name(benchmark)

    def heading(average: Average) -> Cell:
        group = f"?scores-{name}.group={average.group.abbreviation}" if average.group else ""
        link = f"#scores-{name}-title{group}"
        if len(inputs.names) > ALL_PAIRS_LIMIT:
            link = f"#{layout.unused_name(average.name)}-title" if average.group else ""
        return Cell(average.heading, title=average.title, link=link)

    means = {average.name: _means(inputs, average) for average in averages}
    people = [people_mean(inputs, average.datasets) for average in averages]
    titles = [average.group for average in groups if average.group]
    values = columns_of(averages, lambda average, encoder: means[average.name][encoder], heading)
    return layout.lay_out(
        "averages",
        dict.fromkeys([*inputs.means(whole.datasets), *inputs.names]),
        [Column("encoder", Cell), *values],
        name=f"averages-{name}",
        more=_not_averaged(inputs, whole),
        kind="encoder",
        last=[
            *published_means(inputs, averages),
            trivial_row(inputs, (average.datasets for average in averages)),
            *([Row((Cell(phrase("people_row")), *map(cell_of, people)))] if any(people) else []),
        ],
        benchmark=translated(benchmark),
        groups=", ".join(
            f"{group.abbreviation} {translated(group.title).lower()}" for group in titles
        ),
        bold=about_bold(inputs.names, phrase("encoder_of_column")),
        missing=phrase("missing", names=", ".join(whole.missing)) if whole.missing else "",
        metric=metric_of(titles),
        protocol=inputs.protocol["name"],
        of_scale=about_scale(inputs),
    )


def _not_averaged(inputs: Inputs, whole: Average) -> list[str]:
    """Return paragraphs on datasets that are too small, withdrawn, or that encoders lack."""
    small = [phrase("too_small", names=", ".join(whole.too_small))] if whole.too_small else []
    withdrawn = [phrase("withdrawn", name=name, why=why) for name, why in whole.withdrawn.items()]
    lacking = {
        name: ", ".join(each for each in whole.datasets if name not in inputs.datasets[each])
        for name in inputs.names
    }
    return (
        small + withdrawn + [phrase("lacks", name=n, datasets=d) for n, d in lacking.items() if d]
    )


def _means(inputs: Inputs, average: Average) -> dict[str, Cell]:
    """Return encoder to the cell of its mean over the datasets of an average."""
    blind, trivial = inputs.blind(*average.datasets), inputs.trivial(*average.datasets)
    means = {name: inputs.mean(average.datasets, name) for name in inputs.names}
    cells = {name: mean_cell(mean, trivial) for name, mean in means.items()}
    beating = {name for name, mean in means.items() if mean and mean.interval[0] > blind}
    return compared(inputs, average.datasets, cells, average.name, beating)
