"""What came out, in sentences: the same ones on the page and in report.md.

"Ahead", "clear": the simultaneous interval of the paired difference excludes 0. "Beats", "stays
below": see ``Report.beats_baseline``. "Best" is said only with real corpora, a
whole benchmark and three encoders or more, of one that is ahead of all others and beats the
baseline.
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from builders.audit_report import GATES, SURFACE_FORM, detectable_of
from evaluation.results.comparison import ALL_PAIRS_LIMIT, Difference
from probeta.report.layout import abbreviate, percent, signed, with_minus
from probeta.report.names import benchmark_name
from probeta.report.statistics import MIN_ENCODERS, Average, Mean, Report
from probeta.report.tables.encoders import verdict_on
from probeta.report.texts import phrase, translated

FEW = 4
"""Up to this many encoders are named in a sentence, and have a colour on the page."""
Write = Callable[[str], str]
"""Writes the name of an encoder, such as in bold."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How encoders stand on an average.

    Attributes:
        means: encoder to mean, the highest first; of those that have all datasets.
        baseline: the mean of the trivial baselines.
        beats: encoder to 1 if it is shown to beat the baseline, -1 if to stay below it, else 0.
        lead: the first encoder minus the second; None of one encoder.
        tied: the encoders that cannot be distinguished from the first.
        whole: whether all datasets of the benchmark are in it.
        samples: whether one of them is a sample.
    """

    means: Mapping[str, Mean]
    baseline: float
    beats: Mapping[str, int]
    lead: Difference | None
    tied: tuple[str, ...]
    whole: bool
    samples: bool

    @property
    def first(self) -> str:
        """The encoder with the highest mean."""
        return next(iter(self.means))

    @property
    def ahead(self) -> bool:
        """Whether the first encoder is ahead of every other one."""
        return len(self.means) > 1 and not self.tied

    @property
    def beating(self) -> list[str]:
        """The encoders that are shown to beat the baseline."""
        return [name for name in self.means if self.beats[name] > 0]

    @property
    def below(self) -> list[str]:
        """The encoders that stay below the baseline."""
        return [name for name in self.means if self.beats[name] < 0]

    @property
    def best(self) -> bool:
        """Whether the first encoder may be called the best one."""
        enough = len(self.means) >= MIN_ENCODERS and self.whole and not self.samples
        return enough and self.ahead and self.first in self.beating


def standing(report: Report, average: Average) -> Standing | None:
    """Return how encoders stand on an average; None if none has all of its datasets."""
    means = report.means(average.datasets)
    if not means:
        return None
    first, *others = means
    tied = report.tied_with(first, average.name)
    return Standing(
        means,
        report.baseline_score(*average.datasets),
        {name: report.beats_baseline(mean, *average.datasets) for name, mean in means.items()},
        report.difference(average.name, first, others[0]) if others else None,
        tuple(name for name in others if name in tied),
        not average.missing and not average.too_small,
        not report.inputs.samples.isdisjoint(average.datasets),
    )


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return phrase("and").join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def describe_result(report: Report, average: Average, write: Write = str) -> str:
    """Return who is ahead on a benchmark, and whether that beats what needs no encoder."""
    stands = standing(report, average)
    if stands is None:
        return phrase("nobody" if average.datasets else "all_too_small")
    return " ".join(
        filter(
            None,
            [
                _describe_lead(stands, write, len(report.names) > 1),
                _describe_baseline(stands, write),
            ],
        )
    ) + _describe_missing(average)


def _describe_lead(stands: Standing, write: Write, several: bool) -> str:
    first, *others = map(write, stands.means)
    if stands.lead is None:
        only = "only_whole" if several else "only"
        return phrase(only, best=first, mean=percent(stands.means[stands.first].value))
    words = {"best": first, "next": others[0], "others": len(others), **_points(stands.lead)}
    if stands.ahead:
        best = phrase("best_of", count=len(stands.means)) if stands.best else ""
        return phrase("ahead_of_all" if others[1:] else "ahead_of_one", **words, best_of=best)
    if not others[1:]:
        return phrase("two_tied", **words)
    many = len(stands.tied) >= FEW
    tied = phrase("some_of", count=len(stands.tied), all=len(others))
    names = tied if many else listed([*map(write, stands.tied)])
    return phrase("several_tied" if stands.tied[1:] else "one_tied", best=first, names=names)


def _points(difference: Difference) -> dict[str, str]:
    low, high = map(signed, difference.interval)
    words = {"points": percent(difference.value), "low": low, "high": high}
    return {key: with_minus(text) for key, text in words.items()}


def _describe_baseline(stands: Standing, write: Write) -> str:
    what = phrase("trivial_of", score=percent(stands.baseline))
    count, beating, below = len(stands.means), stands.beating, stands.below
    if count > FEW:
        key = "some_beat" if beating else "nobody_beats"
        return phrase(key, some=len(beating), count=count, what=what)
    unclear = [name for name in stands.means if name not in (*beating, *below)]
    parts = []
    for one, many, everybody, names in (
        ("beat_one", "beat_many", "beat_all", beating),
        ("unclear_one", "unclear_many", "unclear_all", unclear),
        ("below_one", "below_many", "below_all", below),
    ):
        if names:
            key = everybody if len(names) == count > 1 else many if names[1:] else one
            written = listed([*map(write, names)]) if count > 1 else phrase("it_alone")
            words = {"names": written, "all": phrase("both" if count == 2 else "all_of_them")}
            words["none"] = phrase("neither" if count == 2 else "none_of_them")
            parts.append(phrase(key, what=what, **words))
            what = phrase("it")
    return "; ".join(parts) + "."


def _describe_missing(average: Average, key: str = "not_whole") -> str:
    here = len(average.datasets)
    count = here + len(average.missing) + len(average.too_small)
    return f" {phrase(key, here=here, count=count)}" if count > here else ""


def describe_briefly(report: Report, average: Average, write: Write = str) -> str:
    """Return the result on a benchmark in a line of a table of all benchmarks."""
    stands = standing(report, average)
    if stands is None:
        return describe_result(report, average, write)
    words: dict[str, object] = {"best": write(stands.first), "count": len(stands.means)}
    words |= _points(stands.lead) if stands.lead else {}
    words["mean"] = percent(stands.means[stands.first].value)
    level = [stands.first, *stands.tied]
    beating = sum(name in stands.beating for name in level)
    if not stands.tied:
        below = "it_stays_below" if stands.first in stands.below else "it_may_beat"
        words["beats"] = phrase("it_beats" if beating else below)
        text = phrase("brief_ahead" if stands.lead else "brief_only", **words)
    else:
        some = "brief_everybody" if beating == len(level) else "brief_some"
        beats = phrase(some if beating else "brief_nobody", some=beating)
        key = "brief_tied" if len(stands.means) > 2 else "brief_two_tied"
        text = phrase(key, **words, tied=len(level), beats=beats)
    return text + _describe_missing(average, "briefly_not_whole")


def describe_all(report: Report, write: Write = str) -> str:
    """Return on how many benchmarks who is ahead, and on which the trivial baseline is beaten."""
    averages = report.benchmark_averages
    if len(averages) == 1:
        (average,) = averages.values()
        return describe_result(report, average, write)
    found = {name: standing(report, average) for name, average in averages.items()}
    having = {name: stands for name, stands in found.items() if stands}
    compared = {name: stands for name, stands in having.items() if stands.whole} or having
    if not compared:
        return phrase("no_average")
    kind = "whole_benchmarks" if len(compared) < len(averages) else "benchmarks"
    words = {"count": len(compared), "benchmarks": phrase(kind)}
    beaten = [name for name, stands in compared.items() if stands.beating]
    named = [write(benchmark_name(name, report.inputs)) for name in beaten]
    which = f": {listed(named)}" if 0 < len(beaten) < FEW else ""
    beats = phrase(
        "beaten_on" if beaten else "beaten_nowhere", some=len(beaten), which=which, **words
    )
    leads = Counter(stands.first for stands in compared.values() if stands.ahead)
    if len(report.names) == 1:
        return beats
    if not leads:
        return f"{phrase('nobody_leads', **words)} {beats}"
    parts = [
        phrase("leads_on", name=write(name), some=count, **words)
        for name, count in leads.most_common(FEW)
    ]
    return f"{', '.join(parts)}. {beats}"


def describe_leads(
    names: Sequence[str], marks: Sequence[str], what: str, write: Write = str
) -> str:
    """Return on how many datasets who leads, several lead, or none does.

    ``marks``: of each dataset or measure, a letter for each of ``names``; see ``Report.marks``.
    ``what``: the phrase of what is counted.
    """
    words = {"count": len(marks), "what": phrase(what)}
    some = sum(any(mark in ("L", "l", "b") for mark in each) for each in marks)
    if not some:
        return phrase("none_beaten", **words)
    if all(len(each) == 1 for each in marks):
        return phrase("only_beats", some=some, **words)
    alone = Counter(names[each.index("L")] for each in marks if "L" in each)
    parts = [
        phrase("led_by", name=write(name), some=count) for name, count in alone.most_common(FEW)
    ]
    if len(alone) > FEW:
        parts = [phrase("led_alone", some=alone.total())]
    together = sum("l" in each for each in marks)
    counts = {"led_together": together, "led_none": len(marks) - together - alone.total()}
    parts += [phrase(key, some=count) for key, count in counts.items() if count]
    return phrase("led", parts=listed(parts), **words)


def describe_audit(report: Report, datasets: Sequence[str]) -> str:
    """Return how many datasets are solved by surface form, of all that are named."""
    solved = sum(
        any(verdict_on(report, name, gate) == SURFACE_FORM for gate in GATES) for name in datasets
    )
    key = {0: "audited_none", 1: "audited_one"}.get(solved, "audited")
    return phrase(key, solved=solved, count=len(datasets))


def describe_detectable(report: Report, datasets: Sequence[str]) -> str:
    """Return the differences that half of some datasets show; "" if none was measured."""
    found = [detectable_of(report.inputs.audit[name]) for name in datasets]
    measured = [value for value in found if value is not None]
    if not measured:
        return ""
    half = median(measured)
    return phrase("half_detect" if half < 1 else "half_detect_none", points=percent(half))


def describe_groups(report: Report, benchmark: str) -> str:
    """Return in which groups of a benchmark two encoders clearly differ."""
    if len(report.names) != 2:
        return ""
    averages = [a for a in report.averages if a.benchmark == benchmark and a.group and a.datasets]
    differences = {a.name: report.difference(a.name, *report.names) for a in averages}
    clear = sum(d is not None and not d.tie for d in differences.values())
    key = "groups_clear" if clear else "no_group_clear"
    return phrase(key, some=clear, count=len(averages)) if averages[1:] else ""


def in_ranks(rank: Sequence[int]) -> str:
    """Return the ranks that an encoder may have, the lowest and the highest, such as "2 to 3"."""
    low, high = rank
    return str(low) if low == high else phrase("range", first=low, last=high)


def describe_ranks(report: Report, average: Average) -> str:
    """Return the ranks of three encoders or more, if some differ, and who is not distinguished."""
    ranks = report.ranks(average)
    if not MIN_ENCODERS <= len(ranks) <= ALL_PAIRS_LIMIT:
        return ""
    groups: dict[int, list[str]] = {}
    for name, rank in ranks.items():
        for number in rank.groups:
            groups.setdefault(number, []).append(name)
    if len(groups) < 2:
        return ""
    tied = "; ".join(", ".join(names) for names in groups.values() if names[1:]) or phrase("none")
    shown = (f"{name} {in_ranks(rank[:2])}" for name, rank in ranks.items())
    return phrase("ranks", ranks=", ".join(shown), tied=tied)


def describe_uncounted(
    report: Report,
    whole: Average,
    write: Callable[[list[str]], str] = abbreviate,
    name_of: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yield which datasets are in no mean of a benchmark, and which an encoder lacks."""
    if whole.missing:
        yield phrase("missing", names=write([*whole.missing]))
    if whole.too_small:
        yield phrase("small_tests", names=write([*map(name_of, whole.too_small)]))
    for name, why in whole.withdrawn.items():
        yield phrase("withdrawn", name=name, why=translated(why))
    scores = report.inputs.datasets
    for encoder in report.names:
        missing = [name for name in whole.datasets if encoder not in scores[name]]
        if missing:
            yield phrase("lacks", name=encoder, datasets=write(missing))


def plain_text(sentence: str) -> str:
    """Return a sentence of the page, HTML in which names may be bold, as a text."""
    return html.unescape(re.sub("</?b>", "", sentence))
