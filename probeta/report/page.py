"""The data of the page, one JSON object that page.js draws, see ``page_data``.

Scores, their ends and differences are in tenths of a point. A score is [value, low, high], a
difference likewise; 0 stands for none.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any

from markupsafe import Markup

from builders.audit_report import CHANCE, GATES, detectable_of, inherited_of, shown_number
from builders.tasks import TASKS
from corpora_recipes.running.outputs import LEFT_OUT
from evaluation.datasets import Dataset
from evaluation.measures import MIN_DOCUMENTS
from evaluation.probing.protocols.problem import ABLATIONS
from evaluation.probing.words import WORD_TASKS
from evaluation.results.citation import Citation, cite
from evaluation.results.comparison import Difference
from evaluation.results.scores import PARADIGM_MEASURES, RANK_MEASURES
from evaluation.results.stored import EncoderResults
from probeta.report import layout
from probeta.report.instances import find_probed, list_rows
from probeta.report.names import (
    baseline_name,
    benchmark_name,
    benchmark_question,
    dataset_names,
    group_name,
    language_name,
)
from probeta.report.sentences import (
    describe_all,
    describe_audit,
    describe_briefly,
    describe_detectable,
    describe_groups,
    describe_leads,
    describe_ranks,
    describe_result,
    describe_uncounted,
    in_ranks,
)
from probeta.report.statistics import MIN_ENCODERS, Average, Mean, Report
from probeta.report.tables import TABLE_1, published_ranges
from probeta.report.tables.added import UNITS, describe_added, random_weights
from probeta.report.tables.compared import (
    SETTINGS,
    SharedTask,
    averaged_tasks,
    languages_of,
    shared_tasks,
)
from probeta.report.tables.encoders import FINDINGS, describe_encoder, profiles, verdict_on
from probeta.report.tables.neighbours import (
    chance_mrr,
    plain_ranks,
    rank_marks,
    scores_by_setting,
    word_marks,
)
from probeta.report.tables.scores import concerned_by
from probeta.report.tables.study import correlate, study_of, trained_means, values_of
from probeta.report.tables.words import correlations, table_1
from probeta.report.texts import all_texts, language, phrase, translated

# Most encoders whose answers and layers are in the page.
MAX_DETAILED = 20
ADDED = ("selectivity", "compression", "information")
"""The measures of controls that the page shows."""
Scored = Mapping[str, tuple[float, tuple[float, float] | None]]
"""Encoder to score and interval."""
Data = dict[str, Any]


def page_data(report: Report, datasets: Sequence[Dataset], folder: str) -> Data:
    """Return the data of the page; ``folder``: where the datasets are, as a user would type it.

    ``encoders`` are name and description, in the order of scores; ``pairs`` the pairs of them that
    are compared, in the order of differences; ``benchmarks`` see ``_benchmark``; ``datasets``: of a
    key, see ``_dataset``. Scores have ``marks``, a letter an encoder, see ``Report.marks``.
    """
    names, inputs = report.names, report.inputs
    others = {r.name: r for r in chain(inputs.rankings, inputs.paradigms) if r.name not in names}
    encoders = [*inputs.encoders, *others.values()]
    page = _Page(report, [results.name for results in encoders], datasets, folder)
    benchmarks = [
        *(page.benchmark(name, average) for name, average in report.benchmark_averages.items()),
        *filter(None, [page.evalrank(), page.paralex()]),
    ]
    return {
        "language": language(),
        "texts": all_texts()["script"],
        "title": phrase(
            "heading_samples" if inputs.samples else "heading",
            encoders=_count("one_encoder", "many_encoders", len(encoders)),
            datasets=_count("one_dataset", "many_datasets", len(inputs.groups)),
        ),
        "bands": _bands(report),
        "result": describe_all(report, _bold),
        "encoders": [[results.name, describe_encoder(report, results)] for results in encoders],
        "cited_by": list(map(_cited_by, encoders)),
        "random": {
            page.names.index(encoder): page.names.index(random)
            for encoder, random in random_weights(report).items()
        },
        "pairs": page.pairs,
        "benchmarks": benchmarks,
        "datasets": page.datasets,
        "audited": describe_audit(report, list(inputs.groups)),
        "checks": len(GATES),
        "languages": page.languages(),
        "predict": page.predict(),
        "table_1": [[*TABLE_1], *map(list, (table_1(report), correlations(report)))],
        "about": _about(report),
    }


def _cited_by(results: EncoderResults) -> list[str]:
    """Return what lines to cite an encoder by have in common: version, protocol, and the rest."""
    if not results.main:
        return []
    line = cite(results, results.main[:1])
    return [line.probeta, line.protocol, str(line).split("|n:")[0].partition("|encoder:")[2]]


def tenths(value: float | None) -> int | None:
    """Return a score in tenths of a point."""
    return None if value is None else round(1000 * value)


def _cell(value: float | None, interval: tuple[float, float] | None = None) -> list[int] | int:
    """Return a score with the ends of its interval, or 0 for none."""
    if value is None:
        return 0
    return [round(1000 * number) for number in (value, *(interval or ()))]


def _mean_cell(mean: Mean | None) -> list[int] | int:
    return _cell(mean.value, mean.interval) if mean else 0


def _difference(difference: Difference) -> list[int]:
    """Return a difference with the ends of its interval, and with 1 if it is tied."""
    numbers = (difference.value, *difference.interval)
    return [round(1000 * number) for number in numbers] + [1] * difference.tie


def _bold(name: str) -> str:
    return str(Markup("<b>{}</b>").format(name))


def _count(one: str, many: str, count: int) -> str:
    return phrase(one if count == 1 else many, count=count)


class _Page:
    """The parts of the page's data; fills ``datasets`` as it goes through the benchmarks."""

    def __init__(
        self, report: Report, names: list[str], datasets: Sequence[Dataset], folder: str
    ) -> None:
        self.report, self.names, self.folder = report, names, folder
        self.probed = find_probed(report, datasets)
        shown = dict.fromkeys((each.first, each.second) for each in report.shown_differences)
        self.named_pairs = list(shown)
        self.pairs = [[names.index(first), names.index(second)] for first, second in shown]
        self.datasets: dict[str, Data] = {}
        self.dataset_names = dataset_names(report.inputs)
        self.profiles = [p for p in profiles(report) if p.encoder in names[:MAX_DETAILED]]

    def whole_name(self, dataset: str) -> str:
        """Return what a dataset is called, with its group."""
        return self.dataset_names[dataset].whole

    def differences(self, target: str) -> list[list[int] | int]:
        """Return the differences of the pairs on a target."""
        found = (self.report.difference(target, *pair) for pair in self.named_pairs)
        return [_difference(each) if each else 0 for each in found]

    def scored(self, target: str, scores: Scored, marks: Mapping[str, str]) -> Data:
        """Return scores, marks and differences on a target."""
        return {
            "scores": [_cell(*scores[name]) if name in scores else 0 for name in self.names],
            "marks": "".join(marks.get(name, "-") for name in self.names),
            "differences": self.differences(target),
        }

    def benchmark(self, name: str, whole: Average) -> Data:
        """Return a benchmark: its averages, all groups first, its groups and its datasets.

        Without an average, ``means`` is empty.
        """
        report = self.report
        groups = [a for a in report.averages if a.benchmark == name and a.group]
        averages = [whole, *groups] if whole.datasets else []
        columns, cited = [], []
        for average in averages:
            means, people = report.means(average.datasets), report.people_mean(average.datasets)
            baseline = report.baseline_score(*average.datasets) if average.datasets else None
            scores = {encoder: (mean.value, mean.interval) for encoder, mean in means.items()}
            column = self.scored(average.name, scores, report.mean_marks(average)).values()
            further = [] if people is None else [tenths(people)]
            columns.append([*column, tenths(baseline), *further])
            lines = [report.cite(encoder, average) for encoder in [*means][:1]]
            cited.append([each for line in lines for each in (line.data, line.n)])
        ranks = report.ranks(whole)
        here = [*whole.datasets, *whole.too_small]
        here = [dataset for dataset in report.inputs.datasets if dataset in here]
        for dataset in here:
            self.datasets[dataset] = self.dataset(dataset)
        led = [self.datasets[dataset]["marks"] for dataset in here]
        facts = [
            [describe_groups(report, name), "compare"],
            [describe_ranks(report, whole), "compare"],
            [describe_audit(report, here), "data"],
            [describe_detectable(report, here), "data"],
            *(
                [text, "about"]
                for text in describe_uncounted(report, whole, name_of=self.whole_name)
            ),
        ]
        return {
            "id": name.replace(" ", "_"),
            "name": benchmark_name(name, report.inputs),
            "asks": benchmark_question(name),
            "result": describe_result(report, whole, _bold),
            "brief": describe_briefly(report, whole, _bold),
            "leads": describe_leads(self.names, led, "of_datasets", _bold),
            "audited": describe_audit(report, here),
            "facts": [fact for fact in facts if fact[0]],
            "groups": [
                [
                    a.group.abbreviation,
                    group_name(a.group),
                    int(self.correlated([*a.datasets, *a.too_small])),
                ]
                for a in groups
                if a.group
            ],
            "datasets": here,
            "counted": f"{len(here)}/{len(here) + len(whole.missing)}"
            if whole.missing
            else len(here),
            "probed": 1,
            "added": [describe_added(report, name, whole) for name in self.names[:MAX_DETAILED]],
            "means": columns,
            "cited": cited,
            "ranks": [in_ranks(ranks[name][:2]) if name in ranks else "" for name in self.names]
            if len(ranks) >= MIN_ENCODERS
            else None,
            "layers": self.layers(name),
        }

    def correlated(self, datasets: Sequence[str]) -> bool:
        """Return whether the scores on some datasets are correlations."""
        scores = map(self.report.inputs.any_score, datasets)
        return {score.metric for score in scores} == {"pearson"}

    def dataset(self, name: str) -> Data:
        """Return a probed dataset: its scores, what they are measured against, audit and rows."""
        report, inputs = self.report, self.report.inputs
        score, facts = inputs.any_score(name), inputs.audit[name]
        by, baseline = inputs.best_baseline(name)
        by_name = baseline_name(by) if score.chance or by != CHANCE else phrase("no_relation")
        scores = {e: (s.value, s.interval) for e, s in inputs.datasets[name].items()}
        task = TASKS[score.task]
        people = inputs.people.get(name)
        papers = published_ranges(report, name)
        return {
            **self.about_dataset(name, report.cite(next(iter(scores)), name)),
            "question": translated(task.question),
            "language": score.language,
            "correlation": int(score.metric == "pearson"),
            **self.scored(name, scores, report.dataset_marks(name)),
            "baseline": [tenths(baseline), by_name],
            "others": [
                [baseline_name(other), tenths(value)]
                for other, value in sorted(
                    inputs.baselines[name].items(), key=lambda item: -item[1]
                )
                if other != by
            ],
            "chance": tenths(score.chance),
            "detectable": tenths(detectable_of(facts)),
            "small": int(name in report.too_small),
            "rows": score.n_rows,
            "folds": score.folds,
            "people": _cell(people.value, people.interval) if people else 0,
            "papers": "; ".join(f"{scores} ({paper})" for paper, scores in papers.items()),
            "added": self.added(name),
            "more": list(self.further_measures(name)),
            "remarks": list(self.remarks(name)),
            **list_rows(report, self.probed[name], self.names[:MAX_DETAILED]),
        }

    def about_dataset(self, name: str, line: Citation, *protocol: str) -> Data:
        """Return what all datasets have: names, source, audit; ``line``: to cite a score by."""
        inputs, facts = self.report.inputs, self.report.inputs.audit[name]
        group = inputs.groups[name]
        return {
            "name": self.dataset_names[name].short,
            "key": name,
            "group": group.abbreviation,
            "source": facts.get("title", "").replace("(sample)", phrase("of_sample")),
            "published": facts.get("published") or "",
            "audit": list(_findings(self.report, name)),
            "cited": [line.data, line.n, *protocol],
            "load": f'load_dataset("{self.folder}", "{name}")',
        }

    def added(self, name: str) -> dict[int, list[Any]]:
        """Return what probes add: of an encoder the measures, in thousandths, and the curve.

        The measures are those of ``ADDED``; without one, 0, as of a score.
        """
        found = {}
        for number, encoder in enumerate(self.names[:MAX_DETAILED]):
            score = self.report.inputs.datasets[name].get(encoder)
            if score and score.controls and score.controls.intervals:
                ends = score.controls.intervals
                cells = [_cell(score.measures.get(each), ends.get(each)) for each in ADDED]
                curve = [[each.rows, tenths(each.value)] for each in score.controls.curve]
                found[number] = [*cells, curve]
        return found

    def further_measures(self, name: str) -> Iterator[list[Any]]:
        """Yield further columns of a dataset's scores: heading, and the score of each encoder."""
        scores = self.report.inputs.datasets[name]
        ablation = ABLATIONS.get(self.report.inputs.any_score(name).task)
        names = {"spearman": "Spearman", **({ablation.name: phrase("ablated")} if ablation else {})}
        if (first := self.report.inputs.any_score(name)).task in WORD_TASKS:
            names = {each: translated(each) for each in first.measures if each != first.metric}
        for measure, heading in names.items():
            values = {e: s.measures[measure] for e, s in scores.items() if measure in s.measures}
            if values:
                shown = (layout.percent(values.get(encoder)) for encoder in self.names)
                yield [heading, list(map(layout.with_minus, shown))]
        for measure in ADDED:
            values = {e: s.measures[measure] for e, s in scores.items() if measure in s.measures}
            write = layout.UNITS[UNITS[measure]]
            if values:
                cells = [write(values[e]) if e in values else layout.NONE for e in self.names]
                yield [layout.spaced(measure), list(map(layout.with_minus, cells))]
        if any(score.deviation is not None for score in scores.values()):
            found = {encoder: score.deviation for encoder, score in scores.items()}
            yield ["±", [layout.percent(found.get(encoder)) for encoder in self.names]]

    def remarks(self, name: str) -> Iterator[str]:
        """Yield what a reader must know of a dataset besides its numbers."""
        report = self.report
        if report.inputs.any_score(name).test_documents < MIN_DOCUMENTS:
            yield phrase("few_documents", least=MIN_DOCUMENTS)
        if name in report.too_small:
            yield phrase("in_no_average")
        controls = report.inputs.any_score(name).controls
        reasons: dict[str, list[str]] = {}
        for measure, why in controls.not_applicable.items() if controls else ():
            reasons.setdefault(translated(why), []).append(layout.spaced(measure))
        for why, measures in reasons.items():
            yield phrase("not_applicable", measures=", ".join(measures), why=why)

    def layers(self, benchmark: str) -> list[Data]:
        """Return the layers of encoders: their scores on each dataset, and the best of each."""
        return [
            {
                "encoder": self.names.index(profile.encoder),
                "rows": profile.rows,
                "numbered": len(profile.layers),
                "datasets": profile.datasets,
                "values": [[round(1000 * value) for value in row] for row in profile.values],
                "told": profile.best_layer,
                "compression": profile.compression
                and [[round(1000 * value) for value in row] for row in profile.compression],
            }
            for profile in self.profiles
            if profile.benchmark == benchmark
        ]

    def evalrank(self) -> Data | None:
        """Return EvalRank: the reciprocal ranks by cosine; hits and median rank beside them."""
        report = self.report
        found = plain_ranks(report).items()
        ranks = {name: scores["cosine"] for name, scores in found if "cosine" in scores}
        for name, scores in sorted(ranks.items()):
            first = next(iter(scores.values()))
            texts = max(score.background for score in scores.values())
            values = {e: (score.mrr, score.interval) for e, score in scores.items()}
            line = cite(report.inputs.rankings[0], [first])
            columns = {
                measure: {e: layout.percent(s.measures[measure]) for e, s in scores.items()}
                for measure in RANK_MEASURES[1:]
            }
            columns[phrase("median")] = {e: f"{s.median_rank:,.1f}" for e, s in scores.items()}
            self.datasets[name] = {
                **self.about_dataset(name, line, line.protocol),
                **self.scored(first.key("MRR"), values, rank_marks(report, scores, "MRR")),
                "group": "evalrank",
                "question": translated(TASKS[first.task].question),
                "baseline": [tenths(max(map(chance_mrr, scores.values()))), translated("chance")],
                "rows": first.pairs,
                "more": [
                    [heading, [column.get(e, layout.NONE) for e in self.names]]
                    for heading, column in columns.items()
                ],
                "remarks": [
                    phrase("ranked", texts=texts, queries=first.queries, pairs=first.pairs)
                ],
            }
        groups = [["evalrank", phrase("reciprocal_rank"), 0]]
        return self.measured("evalrank", groups, sorted(ranks)) if ranks else None

    def paralex(self) -> Data | None:
        """Return ParaLex: suggestion and coherence, in the first setting that languages share."""
        report, keys = self.report, []
        found = scores_by_setting(report)
        words = {f"{each.vocabulary} {each.casing}": None for each in found}
        setting = next(filter(words.__contains__, SETTINGS), "")
        shown = {key: scores for key, scores in found.items() if setting.split() == [*key[2:]]}
        about = {"suggestion": "about_suggestion", "coherence": "about_coherence"}
        for measure, ((name, *_), scores) in product(PARADIGM_MEASURES, sorted(shown.items())):
            first = next(iter(scores.values()))
            values = {
                e: (getattr(s, measure), getattr(s, f"{measure}_interval"))
                for e, s in scores.items()
            }
            keys.append(f"{name}-{measure}")
            line = cite(report.inputs.paradigms[0], [first])
            self.datasets[keys[-1]] = {
                **self.about_dataset(name, line, line.protocol),
                **self.scored(first.key(measure), values, word_marks(report, scores, measure)),
                "group": measure,
                "question": phrase(about[measure]),
                "baseline": [0, phrase("no_word")],
                "rows": len(first.clusters),
                "more": [],
                "remarks": [phrase("words_of", setting=layout.in_words(setting.split()))],
            }
        groups = [[measure, translated(measure).capitalize(), 0] for measure in PARADIGM_MEASURES]
        return self.measured("paralex", groups, keys) if keys else None

    def measured(self, key: str, groups: list[Any], datasets: list[str]) -> Data:
        """Return a benchmark without an average."""
        marks = [self.datasets[name]["marks"] for name in datasets]
        leads = describe_leads(self.names, marks, "of_measures", _bold)
        audited = dict.fromkeys(self.datasets[name]["key"] for name in datasets)
        return {
            "id": key,
            "name": benchmark_name(key, self.report.inputs),
            "asks": benchmark_question(key),
            "result": f"{leads} {phrase('no_mean')}",
            "brief": leads,
            "leads": leads,
            "audited": describe_audit(self.report, list(audited)),
            "facts": [],
            "groups": groups,
            "datasets": datasets,
            "counted": len(audited),
            "probed": 0,
            "means": [],
        }

    def languages(self) -> Data | None:
        """Return the tasks in two languages or more, and means over those in all languages."""
        tasks = shared_tasks(self.report)
        codes = languages_of(tasks)
        averaged = averaged_tasks(tasks, self.report)
        shared = languages_of(averaged)
        by_language = {code: [task.datasets[code] for task in averaged] for code in shared}
        if not tasks:
            return None
        return {
            "columns": [language_name(code) for code in codes],
            "tasks": [
                {
                    "name": self.in_all_languages(task),
                    "measure": translated(task.measure),
                    "different": sorted(codes.index(code) for code in task.different),
                    "scores": {
                        self.names.index(encoder): [_mean_cell(scores.get(code)) for code in codes]
                        for encoder, scores in task.scores.items()
                    },
                }
                for task in tasks
            ],
            "averaged": [language_name(code) for code in shared],
            "counted": len(averaged),
            "means": [
                [_mean_cell(self.report.mean(names, encoder)) for names in by_language.values()]
                for encoder in self.names
            ],
            "baselines": [
                tenths(self.report.baseline_score(*names)) for names in by_language.values()
            ],
        }

    def in_all_languages(self, task: SharedTask) -> str:
        """Return what a task is called, with the names of its datasets without their languages."""
        names = [
            self.dataset_names[name].short.removesuffix(f" ({language_name(code)})")
            for code, name in task.datasets.items()
        ]
        return f"{group_name(task.group)}: {', '.join(dict.fromkeys(names))}"

    def predict(self) -> Data | None:
        """Return how measures without a probe go with the mean of tasks, over encoders.

        ``targets`` has, for all benchmarks ("all") and each, the mean of tasks by encoder, and of
        each measure its correlation: [r, low, high] or [r] in tenths of a point, or 0.
        """
        study = study_of(self.report)
        means = trained_means(self.report, study)
        if not means:
            return None
        values = list(study.intrinsic.values())
        targets = {}
        for name, mean in means.items():
            goal = values_of(mean, self.names)
            found = [correlate(values_of(scores, self.names), goal) for scores in values]
            if any(found):
                cells = [_cell(each.value, each.interval) if each else 0 for each in found]
                goals = [tenths(mean.get(encoder)) for encoder in self.names]
                targets[name.replace(" ", "_")] = [goals, cells]
        shown = [[scores.get(encoder) for encoder in self.names] for scores in values]
        rounded = [[None if v is None else float(f"{v:.4g}") for v in row] for row in shown]
        measures = list(zip(map(self.in_words, study.intrinsic), rounded, strict=True))
        return {"measures": measures, "targets": targets} if targets else None

    def in_words(self, measure: str) -> str:
        """Return a measure of ``Study.intrinsic`` with the name of its dataset in words."""
        dataset, space, rest = measure.partition(" ")
        names = self.dataset_names
        return f"{names[dataset].whole}{space}{rest}" if dataset in names else measure


def _findings(report: Report, dataset: str) -> Iterator[list[str]]:
    """Yield what the audit found that a reader must know: verdict, what failed, and its kind."""
    facts = report.inputs.audit[dataset]
    reasons = inherited_of(facts)
    for gate in GATES:
        verdict = verdict_on(report, dataset, gate)
        if verdict not in FINDINGS:
            continue
        words = {"why": f": {translated(reasons[gate])}" if verdict == "inherited" else ""}
        if gate == "baselines":
            by, baseline = report.inputs.best_baseline(dataset)
            best = max(score.value for score in report.inputs.datasets[dataset].values())
            words |= {"by": baseline_name(by), "baseline": layout.percent(baseline)}
            words["best"] = layout.percent(best)
        else:
            checks = (c for c in facts["checks"] if (c["gate"], c["verdict"]) == (gate, verdict))
            words["measured"] = "; ".join(map(_describe_check, checks))
        kind, called = FINDINGS[verdict]
        yield [phrase(called), all_texts()["faults"][gate].format(**words), kind]


def _describe_check(check: Mapping[str, Any]) -> str:
    value, limit = (
        None if check[key] is None else shown_number(check[key], check["correlation"])
        for key in ("value", "limit")
    )
    allowed = phrase("of_limit", limit=limit) if limit else ""
    return f"{layout.spaced(check['what'])}: {value}{allowed}"


def _bands(report: Report) -> list[list[str]]:
    """Return the warnings that stand above all: what is to be known, and more about it."""
    inputs, bands = report.inputs, []
    if inputs.refused is not None:
        results = chain(inputs.encoders, inputs.rankings, inputs.paradigms)
        verified = len({each.name for each in results})
        words = {"verified": verified, "refused": len(inputs.refused)}
        bands.append([phrase("band_verified"), phrase("band_verified_how", **words)])
    if inputs.samples:
        which = phrase("all_of", all=len(inputs.groups))
        if len(inputs.samples) < len(inputs.groups):
            which = phrase("some_of", count=len(inputs.samples), all=len(inputs.groups))
        bands.append([phrase("band_samples"), phrase("band_samples_why", which=which)])
    elif {*inputs.datasets} == report.too_small:
        rows = [inputs.any_score(name).n_rows for name in inputs.datasets]
        folded = all(inputs.any_score(name).folds for name in inputs.datasets)
        todo = phrase("more_documents" if folded else "ask_for_folds")
        why = phrase("band_small_why", low=min(rows), high=max(rows), todo=todo)
        bands.append([phrase("band_small"), why])
    if inputs.skipped:
        names = layout.abbreviate([*inputs.skipped])
        bands.append([phrase("band_left_out"), phrase("band_left_out_what", names=names)])
    if missing := inputs.audit_report.get("missing", {}):
        bands.append(
            [phrase("band_missing"), phrase("band_missing_what", names=", ".join(missing))]
        )
    return bands


def _about(report: Report) -> Data:
    """Return what was measured and how, and what is missing, each as name and text."""
    inputs, first = report.inputs, report.inputs.encoders[0]
    options = {k: v for k, v in inputs.protocol.items() if k != "name"}
    shown = "".join(f", {layout.in_words([*each])}" for each in options.items())
    left_out = {name: layout.shorten_error(why) for name, why in inputs.skipped.items()}
    missing: dict[str, list[str]] = {}
    for name, how in inputs.audit_report.get("missing", {}).items():
        missing.setdefault(how, []).append(name)
    method = phrase(
        "method",
        rows=sum(inputs.any_score(name).n_rows for name in inputs.datasets),
        protocol=f"{inputs.protocol['name']}{shown}",
        seed=first.seed,
        version=first.versions.get("probeta", ""),
    )
    if models := [results.name for results in inputs.encoders if not results.probed]:
        method = f"{method} {phrase('models', names=', '.join(models))}"
    return {
        "verified": "" if inputs.refused is None else " ".join(layout.paragraphs("verified")),
        "refused": [[path, why] for path, why in (inputs.refused or {}).items()],
        "left_out": [[name, why] for name, why in left_out.items()],
        "missing": [[", ".join(names), how] for how, names in missing.items()],
        "folder": str(LEFT_OUT),
        "method": method,
        "differs": [[text, names] for text, names in concerned_by(report).items()],
    }
