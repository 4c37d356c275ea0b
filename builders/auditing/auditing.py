"""The stage `audit`: every gate on every dataset, as JSON and as Markdown."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise, permutations, repeat
from pathlib import Path
from re import Pattern
from typing import Any

import numpy as np
import yaml
from markupsafe import Markup

from builders.audit_report import (
    FORMAT,
    GATES,
    SMALL_TEST,
    SURFACE_FORM,
    Declared,
    Inherited,
    chosen_of,
    cite,
    entries_of,
    failures_of,
    inherited_of,
    shown_number,
    undeclared_of,
    verdict_of,
)
from builders.auditing.gates import audit_dataset
from builders.auditing.gates.donors import occur_elsewhere, replacements, rows_of
from builders.auditing.gates.gate import Check, share_check
from builders.auditing.target import Labels, Location, Marks, Target
from builders.plan.groups import BuildGroup, check_inherited
from builders.store import digest
from corpora_recipes import escaping
from corpora_recipes.recipe import load_recipe
from corpora_recipes.running.cache import Cache, Key, digest_file
from corpora_recipes.running.code import code_digest, stage_versions
from corpora_recipes.running.console import PARAMS, progress
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.outputs import whole_file, whole_folder

_FACTS: Mapping[str, Any] = {
    "titles": {gate: Markup(title) for gate, title in GATES.items()},
    "marks": {
        "not applicable": "–",
        "within chance": "pass (within chance)",
        SURFACE_FORM: Markup(f"**{SURFACE_FORM}**"),
        "undeclared": Markup("**undeclared**"),
        "miss": Markup("**miss**"),
    },
    "inherited_of": inherited_of,
    "shown_number": shown_number,
    "verdict_of": verdict_of,
}


def render(template: Path, facts: Mapping[str, Any]) -> str:
    """Render like ``escaping.render``; templates may import ``gates.md.jinja`` "with context"."""
    return escaping.render(template, {**_FACTS, **facts}, Path(__file__).parent)


Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

# A text in more rows than this, of one dataset, tells nothing about where a row comes from.
_MOST_ROWS = 20
# Of rows that are looked up in another dataset: the share of labels found there that is chance.
LOOKED_UP = 0.52
# Pairs of rows that are named.
_FIRST = 5
_SENTENCE_POSITION = "sentence_position"


@dataclass(frozen=True, slots=True)
class Index:
    """The texts of a dataset, as far as other datasets are compared with them.

    Attributes:
        marks: uint64 [texts]: the mark of each text of six words or more, once for each row.
        rows: int32 [texts]: the number of its row, counted over all splits.
        places: int16 [texts]: which text of the passage it is, from 0; where a task moves a
            sentence, its place before.
        instances: uint64 [rows]: the sum of the marks of all texts of a row, which does not depend
            on their order.
        labels: int64 [rows]: class numbers, 0 or 1, where some rows hold a sentence of another
            passage; otherwise [0].
    """

    marks: Marks
    rows: Integers
    places: Integers
    instances: Marks
    labels: Labels

    @classmethod
    def of(cls, target: Target) -> "Index":
        """Return the index of a dataset."""
        moved = target.task is not None and target.task.name == _SENTENCE_POSITION
        marks: list[int] = []
        rows: list[int] = []
        places: list[int] = []
        instances: list[int] = []
        for number, (part, row) in enumerate(target.rows()):
            instances.append(sum(part.marks[row]) % 2**64)
            first = int(part.labels[row]) if moved else 0
            for m, place in {m: at for at, m in reversed([*enumerate(part.marks[row])])}.items():
                if part.telling[row][place]:
                    marks.append(m)
                    rows.append(number)
                    places.append(_before(place, first) if moved else place)
        replaces = target.task is not None and target.task.replaces_sentences
        labels = [part.labels for part in target.parts.values() if replaces]
        return cls(
            np.array(marks, np.uint64),
            np.array(rows, np.int32),
            np.array(places, np.int16),
            np.array(instances, np.uint64),
            np.concatenate(labels) if labels else np.zeros(0, np.int64),
        )


@dataclass(frozen=True, slots=True)
class Shared:
    """What a dataset shares with another one.

    Attributes:
        texts: different texts of six words or more that are in both.
        rows: its rows with such a text.
        whole: those of them that have all such texts of one row of the other, or that have all
            theirs there.
        same_number: those of them whose row there has the same number in the same split.
        places: for those of them with several such texts, the places in the passage of the other
            row ("1, 2") to the number of rows; the commonest four.
        in_train: its test rows that are, as a whole, rows of the other one's train.
        looked_up: of ``rows``, those whose label says whether they are whole there; None where no
            rows hold a sentence of another passage.
        first: the first rows, each with one of the other: split, number from 0, split, number.
    """

    dataset: str
    other: str
    texts: int
    rows: int
    whole: int
    same_number: int
    places: dict[str, int]
    in_train: int
    looked_up: int | None
    first: list[tuple[str, int, str, int]]


def compare(indices: Mapping[str, Index], splits: Mapping[str, Mapping[str, int]]) -> list[Shared]:
    """Compare each dataset with each other one.

    ``splits`` has the number of rows of each split of a dataset, in the order of its index.
    """
    texts: Counter[tuple[str, str]] = Counter()
    # (dataset, other) to row to the (row, place there) of each of its texts.
    rows_of: dict[tuple[str, str], dict[int, list[tuple[int, int]]]] = {}
    for group in _in_several(indices):
        for pair in permutations(group, 2):
            texts[pair] += 1
            rows = rows_of.setdefault(pair, {})
            for row, _ in group[pair[0]]:
                rows.setdefault(row, []).extend(group[pair[1]])
    return [
        _shared(pair, indices, splits, texts[pair], rows_of[pair])
        for pair in permutations(indices, 2)
        if pair in rows_of
    ]


def lookup_check(shared: Shared) -> Check:
    """Return whether another dataset gives away which rows hold a sentence of another passage."""
    right = shared.looked_up or 0
    share = max(right, shared.rows - right) / shared.rows
    what = f"labels of rows with texts of {shared.other} that follow from the rows there"
    return share_check("leakage", what, share, LOOKED_UP, shared.rows)


def _in_several(indices: Mapping[str, Index]) -> Iterator[dict[str, list[tuple[int, int]]]]:
    """Yield for each text that several datasets hold: dataset to (row, place) of its rows there."""
    names, each = list(indices), indices.values()
    marks = np.concatenate([index.marks for index in each])
    owners = np.repeat(np.arange(len(names)), [len(index.marks) for index in each])
    rows = np.concatenate([index.rows for index in each])
    places = np.concatenate([index.places for index in each])
    order = np.argsort(marks, kind="stable")
    marks, owners, rows, places = (array[order] for array in (marks, owners, rows, places))
    limits = [0, *(np.flatnonzero(marks[1:] != marks[:-1]) + 1).tolist(), len(marks)]
    for start, end in pairwise(limits if len(marks) else []):
        # The owners of a text are in ascending order, as the sort is stable.
        if owners[start] != owners[end - 1]:
            group: dict[str, list[tuple[int, int]]] = {}
            for n in range(start, end):
                group.setdefault(names[owners[n]], []).append((int(rows[n]), int(places[n])))
            kept = {name: of_one for name, of_one in group.items() if len(of_one) <= _MOST_ROWS}
            if len(kept) > 1:
                yield kept


def _shared(
    pair: tuple[str, str],
    indices: Mapping[str, Index],
    splits: Mapping[str, Mapping[str, int]],
    texts: int,
    rows: Mapping[int, list[tuple[int, int]]],
) -> Shared:
    index, other = (indices[name] for name in pair)
    splits_of, splits_of_other = (splits[name] for name in pair)
    telling, telling_there = (
        np.bincount(each.rows, minlength=len(each.instances)).tolist() for each in (index, other)
    )
    whole = same = looked_up = 0
    places: Counter[str] = Counter()
    first: list[tuple[str, int, str, int]] = []
    for row in sorted(rows):
        partner, count = Counter(r for r, _ in dict.fromkeys(rows[row])).most_common(1)[0]
        is_whole = count == min(telling[row], telling_there[partner])
        mine, theirs = _place(row, splits_of), _place(partner, splits_of_other)
        if is_whole:
            whole += 1
            same += mine == theirs
            if count > 1:
                at = sorted(place for r, place in set(rows[row]) if r == partner)
                places[", ".join(str(place + 1) for place in at)] += 1
        looked_up += len(index.labels) > 0 and bool(index.labels[row]) == is_whole
        if len(first) < _FIRST:
            first.append((*mine, *theirs))
    tested = _of_split(index, splits_of, "test")
    train = _of_split(other, splits_of_other, "train")
    return Shared(
        *pair,
        texts,
        len(rows),
        whole,
        same,
        dict(places.most_common(4)),
        int(np.isin(tested, train).sum()),
        looked_up if len(index.labels) else None,
        first,
    )


def _before(place: int, label: int) -> int:
    """Return the place of a sentence before the one of place ``label`` was moved to the front."""
    return label if place == 0 else place - (place <= label)


def _place(row: int, splits: Mapping[str, int]) -> tuple[str, int]:
    """Return the split and the number there of a row counted over all splits."""
    for split, count in splits.items():
        if row < count:
            return split, row
        row -= count
    raise ValueError(f"row {row} is beyond the splits")


def _of_split(index: Index, splits: Mapping[str, int], split: str) -> Marks:
    start = 0
    for name, count in splits.items():
        if name == split:
            return index.instances[start : start + count]
        start += count
    return index.instances[:0]


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurements on one dataset, except those that need the sentences of all datasets.

    Attributes:
        corpus: the entry of params.yaml that it was built from; "" for datasets of others.
        facts: its part of the report.
        replacing: see ``builders.auditing.gates.donors.replacements``.
    """

    corpus: str
    facts: dict[str, Any]
    checks: list[Check]
    index: Index
    replacing: Marks | None


def key_of(location: Location, boilerplate: Iterable[Pattern[str]]) -> Key:
    """Return all that the measurements of a dataset depend on; patterns are those of its corpus."""
    files = {
        split: [[p.name, digest_file(p)] for p in paths] for split, paths in location.files.items()
    }
    return {
        "inputs": files,
        "parameters": [[pattern.pattern, pattern.flags] for pattern in boilerplate],
        "code": code_digest("builders.auditing.auditing", "builders.auditing.instances"),
        "versions": stage_versions("audit"),
    }


def keep_measured(cache: Cache, name: str, key: Key, measured: Measured) -> None:
    """Keep the measurements on a dataset."""
    arrays = {array.name: getattr(measured.index, array.name) for array in fields(Index)}
    if measured.replacing is not None:
        arrays["replacing"] = measured.replacing
    with whole_file(_file(cache, name)) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)
    checks = [asdict(check) for check in measured.checks]
    facts = {"corpus": measured.corpus, "facts": measured.facts, "checks": checks}
    cache.put(name, key, [_file(cache, name)], facts)


def kept_measured(cache: Cache, name: str, key: Key) -> Measured | None:
    """Return the measurements on a dataset; None if it must be measured."""
    kept = cache.get(name, key)
    if kept is None:
        return None
    with np.load(_file(cache, name)) as arrays:
        index = Index(*(arrays[array.name] for array in fields(Index)))
        replacing = arrays.get("replacing")
    checks = [Check(**check) for check in kept["checks"]]
    return Measured(kept["corpus"], kept["facts"], checks, index, replacing)


def _file(cache: Cache, name: str) -> Path:
    return cache.folder(name) / "measured.npz"


def measure(location: Location, boilerplate: Mapping[str, Sequence[Pattern[str]]]) -> Measured:
    """Read a dataset and measure its gates; ``boilerplate`` has the patterns of each corpus."""
    target = location.load()
    target = replace(target, boilerplate=boilerplate.get(target.corpus, ()))
    try:
        checks = audit_dataset(target)
    except InputError as error:
        where = f"dataset {target.name}: {error.where}"
        raise InputError(where, error.expected, error.found, error.todo) from None
    shards = location.files if target.corpus else {}
    facts = {
        "task": target.task.name if target.task else None,
        "language": target.language,
        "classes": len(target.labels),
        "texts": list(target.texts),
        "answer": target.answer,
        "records": target.records,
        "rows": {split: len(part.texts) for split, part in target.parts.items()},
        # Identifies the audited rows, so that no others are packaged with this audit.
        "content": {split: digest(paths)["content"] for split, paths in shards.items()},
    }
    return Measured(target.corpus, facts, checks, Index.of(target), replacements(target))


PAGE = Path(__file__).with_name("audit.md.jinja")
# Decimals that a declared share is rounded up to; a declaration of more than `GENEROUS` times the
# measured share is noted.
DECIMALS = 3
GENEROUS = 10
# A worker process needs longer to start than to measure this many bytes of files.
BYTES_A_WORKER = 2_000_000
# Pairs of datasets that share fewer rows are in audit.json only.
SHOWN_ROWS = 5
MISSES = ("inherited", "undeclared", "miss")


def audit(
    locations: Sequence[Location],
    out: Path,
    *,
    target: str,
    source: Mapping[str, Any] | None = None,
    not_read: Sequence[str] = (),
    groups: Sequence[BuildGroup] = (),
    inherited: Inherited | None = None,
    params: Path = PARAMS,
    strict: bool = False,
    workers: int = 1,
    cited: Path | None = None,
    cache: Cache | None = None,
) -> dict[str, Any]:
    """Measure the gates on datasets.

    Writes ``out/audit.json`` and ``out/audit.md``, whatever the verdicts. They do not depend on the
    number of workers, nor on the cache.

    Args:
        locations: of the datasets.
        out: a folder; what it held before is replaced as a whole.
        target: the folder or name that the datasets were found in, for the JSON that is cited.
        source: the repository, if they were downloaded.
        not_read: files that were not opened.
        groups: the datasets of params.yaml, for the boilerplate of their corpora.
        inherited: dataset to gate to the reason why the dataset misses it (``because``) and the
            highest share of rows (``at_most``, 0 … 1; a count is taken as a share of all rows).
        params: the file that declares them, for messages.
        strict: whether undeclared misses of source data are failures too.
        workers: number of processes; fewer if there is little to measure.
        cited: a file for the JSON of ``builders.audit_report.cite``; None for none.
        cache: the cached measurements on datasets of ``groups``; None to measure all.

    Returns:
        The content of ``audit.json``: ``source``, ``shared`` (see
        ``builders.auditing.auditing.Shared``), ``not_read``; ``datasets``, name to
        ``task``, ``language``, ``classes``,
        ``texts`` (the columns judged), ``rows``, ``content`` (split to hash), ``inherited`` (its
        declarations), ``checks``, ``chosen`` (see ``audit_report.chosen_of``); in words
        ``failures``, ``undeclared`` (misses of source data) and ``notes``; and ``entry``, YAML for
        ``audit.inherited`` that declares what is undeclared.

    Raises:
        InputError: files are damaged, or ``inherited`` names an unknown gate or dataset.
    """
    declared = inherited or {}
    corpora = {
        dataset.name: dataset.about()["corpus"] for group in groups for dataset in group.datasets
    }
    files = {location.name: location.files for location in locations}
    _check_declared(declared, sorted({*corpora, *files}), params)
    boilerplate = {
        group.name: [
            pattern
            for origin in group.origins
            for pattern in load_recipe(origin.corpus.recipe).boilerplate(origin.corpus)
        ]
        for group in groups
    }
    measured = _measured(locations, boilerplate, corpora, cache, workers)
    compared = compare(
        {name: results.index for name, results in measured.items()},
        {name: results.facts["rows"] for name, results in measured.items()},
    )
    checks = _with_others(measured, locations, compared)
    report: dict[str, Any] = {
        "format": FORMAT,
        "source": source,
        "datasets": {
            name: _judged(
                name, results, checks[name], declared.get(name, {}), strict, ours=name in corpora
            )
            for name, results in measured.items()
        },
        "shared": [asdict(shared) for shared in compared],
        "not_read": [*not_read],
    }
    with whole_folder(out) as temporary:
        text = json.dumps(report, ensure_ascii=False, indent=2)
        (temporary / "audit.json").write_text(text + "\n", "utf-8")
        (temporary / "audit.md").write_text(as_markdown(report), "utf-8")
    if cited:
        cite(report, files, target, cited)
    return report


def as_markdown(report: Mapping[str, Any]) -> str:
    """Return the report as Markdown: a table of verdicts, every measurement, and what fails."""
    return render(
        PAGE,
        {
            "source": report["source"],
            "datasets": report["datasets"],
            "undeclared": undeclared_of(report),
            "entries": entries_of(report),
            "failures": failures_of(report),
            "shared": [pair for pair in report["shared"] if pair["rows"] >= SHOWN_ROWS],
            "not_read": report["not_read"],
        },
    )


def _measured(
    locations: Sequence[Location],
    boilerplate: Mapping[str, Sequence[re.Pattern[str]]],
    corpora: Mapping[str, str],
    cache: Cache | None,
    workers: int,
) -> dict[str, Measured]:
    """Return the measurements on each dataset, by name: those that are remembered, or new ones."""
    keys: dict[str, Key] = {}
    measured: dict[str, Measured] = {}
    for location in locations if cache else ():
        name = location.name
        keys[name] = key_of(location, boilerplate.get(corpora.get(name, ""), ()))
        if cache and (kept := kept_measured(cache, name, keys[name])):
            measured[name] = kept
    new = [location for location in locations if location.name not in measured]
    files = [path for location in new for paths in location.files.values() for path in paths]
    size = sum(path.stat().st_size for path in files)
    workers = min(workers, len(new), 1 + size // BYTES_A_WORKER)
    with (
        open_executor("local", max(1, workers)) as pool,
        progress(len(new), "audit", "dataset") as bar,
    ):
        each: Callable[..., Iterator[Measured]] = map if pool is None else pool.map
        for location, results in zip(new, each(measure, new, repeat(boilerplate)), strict=True):
            measured[location.name] = results
            if cache:
                keep_measured(cache, location.name, keys[location.name], results)
            bar.update()
    if cache:
        cache.prune(keys)
    return {location.name: measured[location.name] for location in locations}


def _check_declared(declared: Inherited, datasets: Sequence[str], params: Path) -> None:
    check_inherited(declared, datasets, params)
    for dataset, gates in declared.items():
        if unknown := [gate for gate in gates if gate not in GATES]:
            where = f"{params}: audit.inherited.{dataset}"
            raise ParamsError(where, f"gates among {', '.join(GATES)}", ", ".join(unknown))


def _with_others(
    measured: Mapping[str, Measured], locations: Sequence[Location], compared: Sequence[Shared]
) -> dict[str, list[Check]]:
    """Return the checks of each dataset, with those that need the other datasets."""
    marks = [r.index.marks for r in measured.values() if r.facts["records"] != "examples"]
    texts = np.sort(np.concatenate([np.zeros(0, np.uint64), *marks]))
    checks = {name: list(results.checks) for name, results in measured.items()}
    for location in locations:
        replacing = measured[location.name].replacing
        if replacing is not None:
            of_dataset = checks[location.name]
            first = [check.gate for check in of_dataset].index("donors")
            of_dataset.insert(first, occur_elsewhere(replacing, texts, rows_of(location, texts)))
    for shared in compared:
        if shared.looked_up is not None:
            checks[shared.dataset].insert(0, lookup_check(shared))
    return checks


def _judged(
    name: str,
    results: Measured,
    checks: Sequence[Check],
    declared: Declared,
    strict: bool,
    *,
    ours: bool,
) -> dict[str, Any]:
    """Return the part of the report about a dataset."""
    rows = sum(results.facts["rows"].values())
    # A fault of ours cannot be declared: there is no source that has it.
    checks = [
        check if ours and check.verdict == "miss" else _inherited(check, declared, rows)
        for check in checks
    ]
    failures = [_in_words(c, declared) for c in checks if c.verdict == "miss"]
    undeclared = [check for check in checks if check.verdict == "undeclared"]
    in_words = [_in_words(check, declared) for check in undeclared]
    return results.facts | {
        "inherited": dict(declared),
        "checks": [asdict(check) for check in checks],
        "chosen": chosen_of(map(asdict, checks)),
        "failures": [*failures, *in_words] if strict else failures,
        "undeclared": in_words,
        "entry": _entry(name, undeclared, declared, rows),
        "notes": _notes(checks, declared, rows),
    }


def _inherited(check: Check, declared: Declared, rows: int) -> Check:
    """Mark a declared miss as inherited; the declared share does not limit small datasets."""
    if (
        check.verdict in MISSES
        and check.gate in declared
        and (rows < SMALL_TEST or _share(check, rows) <= declared[check.gate]["at_most"])
    ):
        return replace(check, verdict="inherited")
    return check


def _share(check: Check, rows: int) -> float:
    """Return the measured value as a share; a count is divided by the number of rows."""
    return check.value / rows if isinstance(check.value, int) else check.value


def _in_words(check: Check, declared: Declared) -> str:
    value = shown_number(check.value, check.correlation)
    words = f"gate {GATES[check.gate]}: {check.what}: {value}"
    if check.gate in declared:
        at_most = declared[check.gate]["at_most"]
        words += f", declared as at most {at_most:.1%} of rows"
    return words


def _entry(name: str, undeclared: Sequence[Check], declared: Declared, rows: int) -> str:
    """Return YAML that declares the misses of a dataset, including those declared already."""
    if not undeclared:
        return ""
    entry = {gate: dict(declaration) for gate, declaration in declared.items()}
    for check in undeclared:
        declaration = entry.setdefault(check.gate, {"at_most": 0, "because": "…"})
        share = math.ceil(_share(check, rows) * 10**DECIMALS) / 10**DECIMALS
        declaration["at_most"] = min(1, max(declaration["at_most"], share))
    # One gate per line, as in params.yaml.
    text: str = yaml.safe_dump(
        {name: entry}, default_flow_style=None, allow_unicode=True, sort_keys=False, width=1000
    )
    return text


def _notes(checks: Sequence[Check], declared: Declared, rows: int) -> list[str]:
    """Return notes on declared misses that do not occur, or hardly."""
    notes = []
    for gate, declaration in declared.items():
        missed = [c for c in checks if c.gate == gate and c.verdict in MISSES]
        title = f"gate {GATES[gate]}"
        if not missed:
            notes.append(f"{title}: declared as missed, but it is met in {rows:,} rows")
        elif rows >= SMALL_TEST:
            share = max(_share(check, rows) for check in missed)
            if GENEROUS * share < declaration["at_most"]:
                notes.append(
                    f"{title}: declared as at most {declaration['at_most']:.1%} of "
                    f"rows, measured {share:.2%}"
                )
    return notes
