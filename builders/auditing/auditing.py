"""The stage `audit`: every gate on every dataset, as JSON and as Markdown."""

import math
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
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
    entries_of,
    failures_of,
    inherited_of,
    shown_number,
    undeclared_of,
    verdict_of,
)
from builders.auditing.gates import audit_dataset
from builders.auditing.gates.donors import donor_check, replacements, rows_with_repeated_donors
from builders.auditing.gates.gate import Check, share_check
from builders.auditing.target import Labels, Location, Marks, Target
from builders.plan.groups import BuildGroup, validate_inherited
from builders.store import digest
from corpora_recipes import escaping
from corpora_recipes.hashing import sha256_of
from corpora_recipes.recipe import load_recipe
from corpora_recipes.records import Split
from corpora_recipes.running.cache import Cache, Key, digest_file
from corpora_recipes.running.code import LIBRARIES, code_digest, stage_versions
from corpora_recipes.running.console import PARAMS, progress
from corpora_recipes.running.errors import InputError, ParamsError
from corpora_recipes.running.executors import open_executor
from corpora_recipes.running.outputs import as_json, whole_file, whole_folder, write_whole

PAGE = Path(__file__).with_name("audit.md.jinja")
_TEMPLATE_FACTS: Mapping[str, Any] = {
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
Integers = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
# A text in more rows than this, of one dataset, tells nothing about where a row comes from.
_MAX_ROWS_WITH_TEXT = 20
# Of rows that are looked up in another dataset: the share of labels found there that is chance.
MAX_LOOKUP_ACCURACY = 0.52
# Pairs of rows that are named.
_N_NAMED_PAIRS = 5
_SENTENCE_POSITION = "sentence_position"
# Decimals that a declared share is rounded up to.
_SHARE_DECIMALS = 3
# A declaration of more than this many times the measured share is noted.
_GENEROUS_RATIO = 10
# A worker process needs longer to start than to measure this many bytes of files.
_BYTES_PER_WORKER = 2_000_000
# Pairs of datasets that share fewer rows are in audit.json only.
_MIN_SHARED_ROWS = 5
_MISSES = ("inherited", "undeclared", "miss")
# Rises whenever a field gets another meaning or goes.
CITED_VERSION = 1
_CITED_FACTS = ("task", "records", "language", "classes", "texts", "answer", "rows", "content")


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
                    places.append(_original_position(place, first) if moved else place)
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


@dataclass(frozen=True, slots=True)
class Measurements:
    """The measurements on one dataset, except those that need the sentences of all datasets.

    Attributes:
        corpus: the entry of params.yaml that it was built from; "" for third-party datasets.
        facts: its part of the report.
        replacing: see ``builders.auditing.gates.donors.replacements``.
    """

    corpus: str
    facts: dict[str, Any]
    checks: list[Check]
    index: Index
    replacing: Marks | None


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
        cited: a file for the JSON of ``cite``; None for none.
        cache: the cached measurements on datasets of ``groups``; None to measure all.

    Returns:
        The content of ``audit.json``: ``source``, ``shared`` (see ``Shared``), ``not_read``;
        ``datasets``, name to ``task``, ``language``, ``classes``, ``texts`` (the columns judged),
        ``rows``, ``content`` (split to hash), ``inherited`` (its declarations), ``checks``,
        ``chosen`` (see ``audit_report.chosen_of``); in words ``failures``, ``undeclared`` (misses
        of source data) and ``notes``; and ``entry``, YAML for ``audit.inherited`` that declares
        what is undeclared.

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
    measurements = _measure_all(locations, boilerplate, corpora, cache, workers)
    comparisons = compare(
        {name: results.index for name, results in measurements.items()},
        {name: results.facts["rows"] for name, results in measurements.items()},
    )
    checks = _add_comparisons(measurements, locations, comparisons)
    report: dict[str, Any] = {
        "format": FORMAT,
        "source": source,
        "datasets": {
            name: _judge(
                name, results, checks[name], declared.get(name, {}), strict, ours=name in corpora
            )
            for name, results in measurements.items()
        },
        "shared": [asdict(shared) for shared in comparisons],
        "not_read": [*not_read],
    }
    with whole_folder(out) as temporary:
        (temporary / "audit.json").write_text(as_json(report), "utf-8")
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
            "shared": [pair for pair in report["shared"] if pair["rows"] >= _MIN_SHARED_ROWS],
            "not_read": report["not_read"],
        },
    )


def render(template: Path, facts: Mapping[str, Any]) -> str:
    """Render like ``escaping.render``; templates may import ``gates.md.jinja`` "with context"."""
    return escaping.render(template, {**_TEMPLATE_FACTS, **facts}, Path(__file__).parent)


def cite(
    report: Mapping[str, Any],
    files: Mapping[str, Mapping[Split, Sequence[Path]]],
    target: str,
    path: Path,
) -> dict[str, Any]:
    """Write and return the JSON to cite, see docs/audit.md; the same audit gives the same bytes.

    ``files`` are those of each dataset, by split; ``target`` is the folder or name audited.
    """
    cited = {
        "version": CITED_VERSION,
        "audited": report["source"] or {"name": Path(target).resolve().name},
        "audited_by": {
            "probeta": version("probeta"),
            "audit": FORMAT,
            "code": code_digest("builders.auditing.auditing"),
            "python": platform.python_version(),
            "libraries": {name: version(name) for name in LIBRARIES["audit"]},
        },
        "datasets": {
            name: {
                **{key: facts[key] for key in _CITED_FACTS},
                "files": {
                    split: [
                        {"name": p.name, "bytes": p.stat().st_size, "sha256": sha256_of(p)}
                        for p in paths
                    ]
                    for split, paths in files.get(name, {}).items()
                },
                "verdicts": {gate: verdict_of(facts["checks"], gate) for gate in GATES},
                "checks": [c for c in facts["checks"] if c["verdict"] != "not applicable"],
            }
            for name, facts in report["datasets"].items()
        },
        "shared": report["shared"],
        "not_read": report["not_read"],
    }
    write_whole(path, as_json(cited))
    return cited


def _check_declared(declared: Inherited, datasets: Sequence[str], params: Path) -> None:
    validate_inherited(declared, datasets, params)
    for dataset, gates in declared.items():
        if unknown := [gate for gate in gates if gate not in GATES]:
            where = f"{params}: audit.inherited.{dataset}"
            raise ParamsError(where, f"gates among {', '.join(GATES)}", ", ".join(unknown))


def _measure_all(
    locations: Sequence[Location],
    boilerplate: Mapping[str, Sequence[re.Pattern[str]]],
    corpora: Mapping[str, str],
    cache: Cache | None,
    workers: int,
) -> dict[str, Measurements]:
    """Return the measurements on each dataset, by name: cached or new."""
    keys: dict[str, Key] = {}
    measurements: dict[str, Measurements] = {}
    for location in locations if cache else ():
        name = location.name
        keys[name] = cache_key(location, boilerplate.get(corpora.get(name, ""), ()))
        if cache and (cached := read_cached_measurements(cache, name, keys[name])):
            measurements[name] = cached
    new = [location for location in locations if location.name not in measurements]
    files = [path for location in new for paths in location.files.values() for path in paths]
    size = sum(path.stat().st_size for path in files)
    workers = min(workers, len(new), 1 + size // _BYTES_PER_WORKER)
    with (
        open_executor("local", max(1, workers)) as pool,
        progress(len(new), "audit", "dataset") as bar,
    ):
        run: Callable[..., Iterator[Measurements]] = map if pool is None else pool.map
        for location, results in zip(new, run(measure, new, repeat(boilerplate)), strict=True):
            measurements[location.name] = results
            if cache:
                cache_measurements(cache, location.name, keys[location.name], results)
            bar.update()
    if cache:
        cache.prune(keys)
    return {location.name: measurements[location.name] for location in locations}


def cache_key(location: Location, boilerplate: Iterable[Pattern[str]]) -> Key:
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


def cache_measurements(cache: Cache, name: str, key: Key, measured: Measurements) -> None:
    """Cache the measurements on a dataset."""
    arrays = {array.name: getattr(measured.index, array.name) for array in fields(Index)}
    if measured.replacing is not None:
        arrays["replacing"] = measured.replacing
    with whole_file(_file(cache, name)) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)
    checks = [asdict(check) for check in measured.checks]
    facts = {"corpus": measured.corpus, "facts": measured.facts, "checks": checks}
    cache.put(name, key, [_file(cache, name)], facts)


def read_cached_measurements(cache: Cache, name: str, key: Key) -> Measurements | None:
    """Return the cached measurements on a dataset; None if it must be measured."""
    cached = cache.get(name, key)
    if cached is None:
        return None
    with np.load(_file(cache, name)) as arrays:
        index = Index(*(arrays[array.name] for array in fields(Index)))
        replacing = arrays.get("replacing")
    checks = [Check(**check) for check in cached["checks"]]
    return Measurements(cached["corpus"], cached["facts"], checks, index, replacing)


def _file(cache: Cache, name: str) -> Path:
    return cache.folder(name) / "measured.npz"


def measure(location: Location, boilerplate: Mapping[str, Sequence[Pattern[str]]]) -> Measurements:
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
        "classes": target.n_classes,
        "texts": list(target.texts),
        "answer": target.answer,
        "records": target.records,
        "rows": {split: len(part.texts) for split, part in target.parts.items()},
        # Identifies the audited rows, so that no others are packaged with this audit.
        "content": {split: digest(paths)["content"] for split, paths in shards.items()},
    }
    return Measurements(target.corpus, facts, checks, Index.of(target), replacements(target))


def compare(indices: Mapping[str, Index], splits: Mapping[str, Mapping[str, int]]) -> list[Shared]:
    """Compare each dataset with each other one.

    ``splits`` has the number of rows of each split of a dataset, in the order of its index.
    """
    texts: Counter[tuple[str, str]] = Counter()
    # (dataset, other) to row to the (row, place there) of each of its texts.
    shared_rows: dict[tuple[str, str], dict[int, list[tuple[int, int]]]] = {}
    for group in _iter_shared_texts(indices):
        for pair in permutations(group, 2):
            texts[pair] += 1
            rows_of_pair = shared_rows.setdefault(pair, {})
            for row, _ in group[pair[0]]:
                rows_of_pair.setdefault(row, []).extend(group[pair[1]])
    return [
        _compare_pair(pair, indices, splits, texts[pair], shared_rows[pair])
        for pair in permutations(indices, 2)
        if pair in shared_rows
    ]


def _iter_shared_texts(indices: Mapping[str, Index]) -> Iterator[dict[str, list[tuple[int, int]]]]:
    """Yield for each text that several datasets hold: dataset to (row, place) of its rows there."""
    names, all_indices = list(indices), indices.values()
    marks = np.concatenate([index.marks for index in all_indices])
    owners = np.repeat(np.arange(len(names)), [len(index.marks) for index in all_indices])
    rows = np.concatenate([index.rows for index in all_indices])
    places = np.concatenate([index.places for index in all_indices])
    order = np.argsort(marks, kind="stable")
    marks, owners, rows, places = (array[order] for array in (marks, owners, rows, places))
    limits = [0, *(np.flatnonzero(marks[1:] != marks[:-1]) + 1).tolist(), len(marks)]
    for start, end in pairwise(limits if len(marks) else []):
        # The owners of a text are in ascending order, as the sort is stable.
        if owners[start] != owners[end - 1]:
            group: dict[str, list[tuple[int, int]]] = {}
            for n in range(start, end):
                group.setdefault(names[owners[n]], []).append((int(rows[n]), int(places[n])))
            rare = {name: held for name, held in group.items() if len(held) <= _MAX_ROWS_WITH_TEXT}
            if len(rare) > 1:
                yield rare


def _compare_pair(
    pair: tuple[str, str],
    indices: Mapping[str, Index],
    splits: Mapping[str, Mapping[str, int]],
    texts: int,
    rows: Mapping[int, list[tuple[int, int]]],
) -> Shared:
    index, other = (indices[name] for name in pair)
    sizes, other_sizes = (splits[name] for name in pair)
    n_texts, n_texts_there = (
        np.bincount(each.rows, minlength=len(each.instances)).tolist() for each in (index, other)
    )
    n_whole = n_same_number = n_revealed = 0
    positions: Counter[str] = Counter()
    named_pairs: list[tuple[str, int, str, int]] = []
    for row in sorted(rows):
        partner, count = Counter(r for r, _ in dict.fromkeys(rows[row])).most_common(1)[0]
        is_whole = count == min(n_texts[row], n_texts_there[partner])
        location, location_there = _locate_row(row, sizes), _locate_row(partner, other_sizes)
        if is_whole:
            n_whole += 1
            n_same_number += location == location_there
            if count > 1:
                positions_there = sorted(place for r, place in set(rows[row]) if r == partner)
                positions[", ".join(str(place + 1) for place in positions_there)] += 1
        n_revealed += len(index.labels) > 0 and bool(index.labels[row]) == is_whole
        if len(named_pairs) < _N_NAMED_PAIRS:
            named_pairs.append((*location, *location_there))
    tested = _instances_of_split(index, sizes, "test")
    train = _instances_of_split(other, other_sizes, "train")
    return Shared(
        *pair,
        texts,
        len(rows),
        n_whole,
        n_same_number,
        dict(positions.most_common(4)),
        int(np.isin(tested, train).sum()),
        n_revealed if len(index.labels) else None,
        named_pairs,
    )


def _original_position(place: int, label: int) -> int:
    """Return the place of a sentence before the one of place ``label`` was moved to the front."""
    return label if place == 0 else place - (place <= label)


def _locate_row(row: int, splits: Mapping[str, int]) -> tuple[str, int]:
    """Return the split and the number there of a row counted over all splits."""
    for split, count in splits.items():
        if row < count:
            return split, row
        row -= count
    raise ValueError(f"row {row} is beyond the splits")


def _instances_of_split(index: Index, splits: Mapping[str, int], split: str) -> Marks:
    start = 0
    for name, count in splits.items():
        if name == split:
            return index.instances[start : start + count]
        start += count
    return index.instances[:0]


def lookup_check(shared: Shared) -> Check:
    """Return whether another dataset gives away which rows hold a sentence of another passage."""
    right = shared.looked_up or 0
    share = max(right, shared.rows - right) / shared.rows
    what = f"labels of rows with texts of {shared.other} that follow from the rows there"
    return share_check("leakage", what, share, MAX_LOOKUP_ACCURACY, shared.rows)


def _add_comparisons(
    measurements: Mapping[str, Measurements],
    locations: Sequence[Location],
    comparisons: Sequence[Shared],
) -> dict[str, list[Check]]:
    """Return the checks of each dataset, with those that need the other datasets."""
    marks = [r.index.marks for r in measurements.values() if r.facts["records"] != "examples"]
    texts = np.sort(np.concatenate([np.zeros(0, np.uint64), *marks]))
    checks = {name: list(results.checks) for name, results in measurements.items()}
    for location in locations:
        replacing = measurements[location.name].replacing
        if replacing is not None:
            own_checks = checks[location.name]
            first = [check.gate for check in own_checks].index("donors")
            own_checks.insert(
                first, donor_check(replacing, texts, rows_with_repeated_donors(location, texts))
            )
    for shared in comparisons:
        if shared.looked_up is not None:
            checks[shared.dataset].insert(0, lookup_check(shared))
    return checks


def _judge(
    name: str,
    results: Measurements,
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
        check if ours and check.verdict == "miss" else _mark_inherited(check, declared, rows)
        for check in checks
    ]
    failures = [_describe(c, declared) for c in checks if c.verdict == "miss"]
    undeclared = [check for check in checks if check.verdict == "undeclared"]
    in_words = [_describe(check, declared) for check in undeclared]
    return results.facts | {
        "inherited": dict(declared),
        "checks": [asdict(check) for check in checks],
        "chosen": chosen_of(map(asdict, checks)),
        "failures": [*failures, *in_words] if strict else failures,
        "undeclared": in_words,
        "entry": _declaration(name, undeclared, declared, rows),
        "notes": _note_declarations(checks, declared, rows),
    }


def _mark_inherited(check: Check, declared: Declared, rows: int) -> Check:
    """Mark a declared miss as inherited; the declared share does not limit small datasets."""
    if (
        check.verdict in _MISSES
        and check.gate in declared
        and (rows < SMALL_TEST or _as_share(check, rows) <= declared[check.gate]["at_most"])
    ):
        return replace(check, verdict="inherited")
    return check


def _as_share(check: Check, rows: int) -> float:
    """Return the measured value as a share; a count is divided by the number of rows."""
    return check.value / rows if isinstance(check.value, int) else check.value


def _describe(check: Check, declared: Declared) -> str:
    value = shown_number(check.value, check.correlation)
    words = f"gate {GATES[check.gate]}: {check.what}: {value}"
    if check.gate in declared:
        at_most = declared[check.gate]["at_most"]
        words += f", declared as at most {at_most:.1%} of rows"
    return words


def _declaration(name: str, undeclared: Sequence[Check], declared: Declared, rows: int) -> str:
    """Return YAML that declares the misses of a dataset, including those declared already."""
    if not undeclared:
        return ""
    declarations = {gate: dict(declaration) for gate, declaration in declared.items()}
    for check in undeclared:
        declaration = declarations.setdefault(check.gate, {"at_most": 0, "because": "…"})
        share = math.ceil(_as_share(check, rows) * 10**_SHARE_DECIMALS) / 10**_SHARE_DECIMALS
        declaration["at_most"] = min(1, max(declaration["at_most"], share))
    # One gate per line, as in params.yaml.
    text: str = yaml.safe_dump(
        {name: declarations},
        default_flow_style=None,
        allow_unicode=True,
        sort_keys=False,
        width=1000,
    )
    return text


def _note_declarations(checks: Sequence[Check], declared: Declared, rows: int) -> list[str]:
    """Return notes on declared misses that do not occur, or hardly."""
    notes = []
    for gate, declaration in declared.items():
        missed = [c for c in checks if c.gate == gate and c.verdict in _MISSES]
        title = f"gate {GATES[gate]}"
        if not missed:
            notes.append(f"{title}: declared as missed, but it is met in {rows:,} rows")
        elif rows >= SMALL_TEST:
            share = max(_as_share(check, rows) for check in missed)
            if _GENEROUS_RATIO * share < declaration["at_most"]:
                notes.append(
                    f"{title}: declared as at most {declaration['at_most']:.1%} of "
                    f"rows, measured {share:.2%}"
                )
    return notes
