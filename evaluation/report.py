"""From results to what is read: Markdown tables, a figure and DVC's metrics.

The tables are laid out as Tables 1 and 3 to 5 of Araujo et al. (2022): encoders in rows, first the
averages over groups of tasks, then the datasets of each group.
"""

import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

import yaml

from builders.audit import baselines_of, read_audit
from builders.audit_gates import SMALL_TEST
from builders.tasks import TASKS
from corpora_recipes.errors import InputError
from corpora_recipes.outputs import whole_file
from corpora_recipes.records import SPLITS
from evaluation.figure import draw, image
from evaluation.invariance import read_invariance
from evaluation.results import FEW_DOCUMENTS, Results, Score

Datasets = Mapping[str, Mapping[str, Score]]
"""Dataset to encoder to score, ordered by group, then by name."""
Baselines = Mapping[str, Mapping[str, float]]
"""Dataset to trivial baseline to its score on test, 0 … 1."""

# The papers' abbreviations of the groups of tasks, in the order of the tables.
GROUPS = {
    "SC": "Sentence classification",
    "SPC": "Sentence pair classification",
    "SS": "Semantic similarity",
    "LPT": "Linguistic probing",
    "SP": "Sentence position",
    "BSO": "Binary sentence ordering",
    "DC": "Discourse coherence",
    "SSP": "Section prediction",
    "DR": "Discourse relations",
}
PUBLISHED: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("published_scores.yaml").read_text("utf-8")
)
# The name of a baseline that the tables have a row for.
MAJORITY = "majority"
SMALL, NOT_SHOWN, FEW, OTHERS, LEAKS = "\\*", "†", "‡", "§", "¶"
NOTES = {
    SMALL: f"The test has fewer than {SMALL_TEST:,} rows: differences of a few points may be "
    "chance.",
    NOT_SHOWN: "Not shown to beat a trivial baseline: the interval does not lie above both "
    "Majority and Best trivial.",
    FEW: f"The test is of fewer than {FEW_DOCUMENTS} documents: rows were resampled as well as "
    "documents, and each end of the interval is the wider one. It may still be too narrow where "
    "documents differ, and of a single document it says nothing about others.",
    OTHERS: "As Araujo et al. (2022) report it, on the files published then, some of whose rows "
    "differ from these, and with another probe. " + PUBLISHED["errata"],
    LEAKS: "The source has texts of the test in train or validation too; the audit says how many.",
}
"""Mark in the tables of scores to its explanation."""


def write_report(
    results: Sequence[Results], audit: Path, out: Path, invariance: Path | None = None
) -> None:
    """Write ``report.md``, ``scores.svg``, ``scores.png`` and ``metrics.json`` into a folder.

    Args:
        results: one an encoder.
        audit: the audit.json of the package that was probed, for the trivial baselines. Whether
            it is of the same contents is for ``python -m builders package`` to check; here only
            the numbers of rows are compared.
        out: the folder; made if need be.
        invariance: what ``python -m evaluation invariance`` wrote of them, if it is to be shown.

    Raises:
        InputError: there are no results, two are of one encoder, two are of different rows, seeds
            or protocols, or the audit or the invariance is not of the same rows.
    """
    if not results:
        raise InputError(
            out,
            expected="results of one encoder or more",
            found="none",
            todo="probe an encoder of params.yaml: `dvc repro`",
        )
    encoders = sorted(results, key=lambda r: r.name)
    _check_comparable(encoders)
    datasets = _by_dataset(encoders)
    audited = _read_audited(audit, datasets)
    baselines = {name: baselines_of(audited, name) for name in datasets}
    leaking = {name for name in datasets if _leaks(audited["datasets"][name])}
    scores = [
        *averages_section(encoders, datasets),
        *(
            line
            for group, names in _groups(datasets).items()
            for line in group_section(group, encoders, _only(datasets, names), baselines, leaking)
        ),
    ]
    lines = [
        *_introduction(encoders[0]),
        *scores,
        *_notes(scores),
        "![Scores](scores.svg)",
        "",
        *baselines_section(baselines),
        *(_invariance_section(invariance, datasets) if invariance else ()),
        *_encoders_section(encoders),
    ]
    trivial = {dataset: best_trivial(own)[1] for dataset, own in baselines.items()}
    figure = draw([results.name for results in encoders], datasets, trivial)
    files = {
        "report.md": ("\n".join(lines) + "\n").encode(),
        "scores.svg": image(figure, "svg"),
        "scores.png": image(figure, "png"),
        "metrics.json": (json.dumps(metrics(encoders), indent=2) + "\n").encode(),
    }
    for name, content in files.items():
        with whole_file(out / name) as temporary:
            temporary.write_bytes(content)


def metrics(encoders: Sequence[Results]) -> dict[str, dict[str, float]]:
    """Return dataset to encoder to score, 0 … 1 (correlations from -1)."""
    return {
        dataset: {name: score.value for name, score in scores.items()}
        for dataset, scores in _by_dataset(encoders).items()
    }


def best_trivial(baselines: Mapping[str, float]) -> tuple[str, float]:
    """Return name and accuracy of the best trivial baseline other than majority."""
    others = {name: accuracy for name, accuracy in baselines.items() if name != MAJORITY}
    name = max(others, key=lambda name: others[name])
    return name, others[name]


def _introduction(first: Results) -> list[str]:
    coverage = f"{100 * first.bootstrap['coverage']:.0f} %"
    options = "".join(
        f", {_spaced(str(key))} {_spaced(str(value))}"
        for key, value in first.protocol.items()
        if key not in ("name", "version")
    )
    return [
        "# Scores",
        "",
        "Accuracy on test in per cent, for semantic similarity Pearson's correlation × 100, with "
        f"the {coverage} bootstrap interval in brackets ({first.bootstrap['resamples']:,} "
        "resamples of the test's documents). Majority is the accuracy of always answering with "
        "train's most frequent class; Best trivial is the best of the other baselines below. Probe "
        f"protocol `{first.protocol['name']}`, version {first.protocol['version']}{options}; seed "
        f"{first.seed}.",
        "",
        "Where a dataset has folds, each is test once and all rows are scored together; Majority "
        "and the baselines are fitted fold by fold too. Similarity is the cosine of two embeddings "
        "and needs no probe; all other tasks are probed.",
        "",
    ]


def averages_section(encoders: Sequence[Results], datasets: Datasets) -> list[str]:
    """Return the table of the averages over groups of tasks, as lines of Markdown.

    Args:
        encoders: the results, sorted by name.
        datasets: their scores.
    """
    groups = _groups(datasets)
    rows = []
    for results in encoders:
        cells = []
        for names in groups.values():
            own = [datasets[name].get(results.name) for name in names]
            found = [score.value for score in own if score is not None]
            cells.append(_percent(fmean(found)) if len(found) == len(names) else "–")
        rows.append([results.name, *cells])
        rows += _published(results.name, groups)
    header = [f"{group} ({len(names)})" for group, names in groups.items()]
    legend = ", ".join(f"{group} {GROUPS[group].lower()}" for group in groups)
    return [
        "## Averages",
        "",
        f"Over the datasets of a group (their number in brackets): {legend}.",
        "",
        *_table(["Encoder", *header], rows),
        "",
    ]


def group_section(
    group: str,
    encoders: Sequence[Results],
    datasets: Datasets,
    baselines: Baselines,
    leaking: Container[str] = (),
) -> list[str]:
    """Return the table of a group of tasks, as lines of Markdown.

    Args:
        group: a key of ``GROUPS``.
        encoders: the results, sorted by name.
        datasets: the scores on the group's datasets.
        baselines: the trivial baselines of each of the datasets.
        leaking: the datasets whose source leaks between its parts.
    """
    any_score = {name: next(iter(scores.values())) for name, scores in datasets.items()}
    trivial = {name: best_trivial(baselines[name]) for name in datasets}
    rows = [
        ["Train / validation / test", *map(_sizes, any_score.values())],
        ["Chance", *(_percent(score.chance) for score in any_score.values())],
        ["Majority", *(_percent(score.majority) for score in any_score.values())],
        ["Best trivial", *(f"{_percent(v)} ({_spaced(name)})" for name, v in trivial.values())],
    ]
    for results in encoders:
        cells = (_cell(own.get(results.name), baselines[name]) for name, own in datasets.items())
        rows.append([f"**{results.name}**", *cells])
        rows += _published(results.name, datasets)
    if any(name in PUBLISHED["ranges"] for name in datasets):
        ranges = (PUBLISHED["ranges"].get(name) for name in datasets)
        cells = (f"{own[0]:.1f} … {own[1]:.1f}" if own else "–" for own in ranges)
        rows.append([f"the paper's encoders {OTHERS}", *cells])
    header = (
        " ".join([name, *_marks(score), *([LEAKS] if name in leaking else [])])
        for name, score in any_score.items()
    )
    lines = [f"## {GROUPS[group]} ({group})", "", *_table(["", *header], rows), ""]
    return lines + _correlations(encoders, datasets)


def _correlations(encoders: Sequence[Results], datasets: Datasets) -> list[str]:
    """Return the table of all correlations, pooled and by subset; nothing if there are none."""
    rows = []
    for dataset, scores in datasets.items():
        names = [n for n in next(iter(scores.values())).measures if n.startswith("pearson")]
        # A single subset is the same as all rows.
        for name in names if len(names) > 2 else names[:1]:
            both = (name, name.replace("pearson", "spearman"))
            cells = (
                " / ".join(_percent(own.measures[one]) for one in both) if own else "–"
                for own in (scores.get(results.name) for results in encoders)
            )
            rows.append([dataset, name.partition(", ")[2] or "all", *cells])
    if not rows:
        return []
    names = [results.name for results in encoders]
    return [
        "Pearson's / Spearman's correlation × 100, over all rows and by the subsets of the source:",
        "",
        *_table(["Dataset", "Rows", *names], rows, texts=2),
        "",
    ]


def _published(encoder: str, columns: Iterable[str]) -> list[list[str]]:
    """Return a row of what the paper reports of the encoder; none if that is nothing."""
    own: dict[str, float] = PUBLISHED["encoders"].get(encoder, {})
    cells = [str(own.get(column, "–")) for column in columns]
    return [[f"{encoder}, the paper's {OTHERS}", *cells]] if set(cells) != {"–"} else []


def _notes(lines: Sequence[str]) -> list[str]:
    used = "\n".join(lines)
    return list(chain.from_iterable((f"{m} {note}", "") for m, note in NOTES.items() if m in used))


def _groups(datasets: Datasets) -> dict[str, list[str]]:
    """Return group to the names of its datasets, in the order of ``GROUPS``."""
    groups: dict[str, list[str]] = {}
    for name, scores in datasets.items():
        groups.setdefault(_group(next(iter(scores.values()))), []).append(name)
    return groups


def _group(score: Score) -> str:
    return TASKS[score.task].abbreviation


def _only(datasets: Datasets, names: Sequence[str]) -> Datasets:
    return {name: datasets[name] for name in names}


def _sizes(score: Score) -> str:
    if score.folds:
        return f"{score.asked:,} in {score.folds} folds"
    counts = (score.rows.get(split) for split in SPLITS)
    return " / ".join("–" if count is None else f"{count:,}" for count in counts)


def _marks(score: Score) -> list[str]:
    small = score.asked < SMALL_TEST
    return [SMALL] * small + [FEW] * (score.test_documents < FEW_DOCUMENTS)


def baselines_section(baselines: Baselines) -> list[str]:
    """Return the table of all trivial baselines, as lines of Markdown."""
    names = list(dict.fromkeys(chain.from_iterable(baselines.values())))
    rows = [
        [dataset, *(_percent(own[name]) if name in own else "–" for name in names)]
        for dataset, own in baselines.items()
    ]
    return [
        "## Trivial baselines",
        "",
        "Accuracy in per cent (for semantic similarity, Pearson's correlation × 100) on test of "
        "what needs no sentence encoder, as the audit measured it (gate 4); – where a baseline "
        "does not apply.",
        "",
        *_table(["Dataset", *map(_title, names)], rows),
        "",
    ]


def _invariance_section(path: Path, datasets: Datasets) -> list[str]:
    report = read_invariance(path)
    rows = []
    for dataset, scores in datasets.items():
        digest = next(iter(scores.values())).digest
        own = report["datasets"].get(dataset, {"digest": "no such dataset"})
        if own["digest"] != digest:
            raise InputError(
                f"{path}: {dataset}",
                expected=f"the rows that were probed, SHA-256 {digest}",
                found=own["digest"],
                todo="measure the invariance again: `dvc repro`",
            )
        shares = (_percent(own[what]) for what in report["limits"])
        rows.append([dataset, f"{own['test_rows']:,}", *shares, own["verdict"]])
    limits, of_correlations = (
        ", ".join(f"{_spaced(k)} {_percent(v)}" for k, v in report[which].items())
        for which in ("limits", "correlation_limits")
    )
    return [
        "## Invariance (gate 10)",
        "",
        "Per cent of test predictions that change when the embeddings are scaled by 0.1 or 10, "
        "when the datasets are probed in reverse order, and when Python hashes with another seed; "
        f"encoder `{report['encoder']['encoder']}`, on a part of the rows. Limits: {limits}; "
        "for scale, one prediction if that is more. For semantic similarity, by how much Pearson's "
        f"correlation × 100 changes; limits: {of_correlations}.",
        "",
        *_table(["Dataset", "Test rows", *map(_title, report["limits"]), "Verdict"], rows),
        "",
    ]


def _encoders_section(encoders: Sequence[Results]) -> list[str]:
    lines = ["## Encoders", ""]
    for results in encoders:
        encoder = results.encoder
        options = ", ".join(f"{key} {value}" for key, value in encoder["options"].items())
        lines.append(
            f"- `{results.name}`: {encoder['encoder']}, revision {encoder['revision']}, "
            f"{encoder['dimension']} dimensions, {encoder['form']} text"
            + (f"; {options}" if options else "")
        )
    return lines


def _check_comparable(encoders: Sequence[Results]) -> None:
    first = encoders[0]
    digests: dict[str, tuple[str, str]] = {}
    names: set[str] = set()
    for results in encoders:
        if results.name in names:
            raise _not_comparable(results.name, "one result file an encoder", "two")
        names.add(results.name)
        for what, of in _SHARED.items():
            if of(results) != of(first):
                raise _not_comparable(
                    results.name, f"the {what} of {first.name}, {of(first)}", str(of(results))
                )
        for score in results.scores:
            digest, other = digests.setdefault(score.dataset, (score.digest, results.name))
            if digest != score.digest:
                raise _not_comparable(
                    f"{results.name}, dataset {score.dataset}",
                    f"the rows that {other} was probed on, SHA-256 {digest}",
                    score.digest,
                )


_SHARED: dict[str, Callable[[Results], Any]] = {
    "seed": lambda results: results.seed,
    "protocol": lambda results: results.protocol,
    "bootstrap": lambda results: results.bootstrap,
}


def _not_comparable(where: str, expected: str, found: str) -> InputError:
    return InputError(
        f"results of {where}",
        expected=expected,
        found=found,
        todo="probe all encoders on the same instances: `dvc repro`",
    )


def _read_audited(path: Path, datasets: Datasets) -> dict[str, Any]:
    """Return the audit of the datasets.

    Raises:
        InputError: it is of other rows, or has no baselines.
    """
    report = read_audit(path)
    for dataset, scores in datasets.items():
        rows = next(iter(scores.values())).rows
        audited = report["datasets"].get(dataset, {"rows": "no such dataset"})["rows"]
        if audited != rows:
            raise _not_audited(path, dataset, f"the rows that were probed, {rows}", str(audited))
        if not baselines_of(report, dataset).keys() - {MAJORITY}:
            raise _not_audited(path, dataset, "trivial baselines besides majority", "none")
    return report


def _leaks(facts: Mapping[str, Any]) -> bool:
    return any(c["gate"] == "leakage" and c["verdict"] == "inherited" for c in facts["checks"])


def _not_audited(path: Path, dataset: str, expected: str, found: str) -> InputError:
    return InputError(
        f"{path}: {dataset}",
        expected=expected,
        found=found,
        todo="audit the same instances again: `dvc repro`",
    )


def _by_dataset(encoders: Sequence[Results]) -> Datasets:
    scores = chain.from_iterable(results.scores for results in encoders)
    groups = list(GROUPS)
    order = sorted({(groups.index(_group(score)), score.dataset) for score in scores})
    return {
        dataset: {
            results.name: score
            for results in encoders
            for score in results.scores
            if score.dataset == dataset
        }
        for _, dataset in order
    }


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> list[str]:
    """Return a table whose first ``texts`` columns stand to the left, as lines of Markdown."""
    sides = ["---"] * texts + ["---:"] * (len(header) - texts)
    return ["| " + " | ".join(row) + " |" for row in (header, sides, *rows)]


def _cell(score: Score | None, baselines: Mapping[str, float]) -> str:
    if score is None:
        return "–"
    low, high = score.interval
    # Correlations have no majority.
    beats = low > max(score.majority or 0.0, *baselines.values())
    return f"{_percent(score.value)} [{_percent(low)}, {_percent(high)}]" + (
        "" if beats else f" {NOT_SHOWN}"
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _title(name: str) -> str:
    return _spaced(name).capitalize()
