"""A stage runs over its entries: each is reused, made, or skipped with the reason."""

import json
import shutil
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpora_recipes.running import console
from corpora_recipes.running.cache import Cache, Key, open_cache
from corpora_recipes.running.console import end_stage, explain, plural
from corpora_recipes.running.errors import (
    InputError,
    LostWorkers,
    NoWorkers,
    SmallSample,
    check_names,
)
from corpora_recipes.running.outputs import LEFT_OUT, as_json, write_whole


@dataclass(frozen=True, slots=True)
class Skipped:
    """Why an entry was skipped.

    Attributes:
        why: the reason.
        asked_for: whether people must ask for it, which is no fault.
        sample: whether it needs more than a sample of the project has, which is no fault, too.
    """

    why: str
    asked_for: bool = False
    sample: bool = False

    @classmethod
    def because(cls, error: InputError) -> "Skipped":
        """Return the reason that an error gives; corpora to be asked for have errors of a kind."""
        how_to_get = getattr(error, "how_to_get", "")
        if how_to_get:
            return cls(how_to_get, asked_for=True)
        return cls(str(error), sample=isinstance(error, SmallSample))


def write_skipped(stage: str, skipped: Mapping[str, Skipped]) -> None:
    """Write what a stage has skipped: name to reason."""
    reasons = {name: asdict(reason) for name, reason in skipped.items()}
    write_whole(LEFT_OUT / f"{stage}.json", as_json(reasons))


def read_skipped(stage: str) -> dict[str, Skipped]:
    """Return what a stage has skipped; nothing if it has not run."""
    try:
        reasons = json.loads((LEFT_OUT / f"{stage}.json").read_bytes())
        return {name: Skipped(**reason) for name, reason in reasons.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


@dataclass(frozen=True, slots=True)
class Entry:
    """What a stage makes for an entry of params.yaml, such as the records of a corpus.

    Attributes:
        outputs: the files and folders that are made.
        key: returns all that decides them, see ``Cache``; or raises.
        make: makes them, and returns facts on them, an object of JSON; or raises. If the facts
            have ``left_out``, these parts of the entry were skipped, name to reason; those of
            them in ``too_small`` as a sample is too small. The line of the stage says ``work``,
            unit to the number made now, and that of all; and ``dropped``, how many texts were, of
            how many.
    """

    outputs: Sequence[Path]
    key: Callable[[], Key]
    make: Callable[[], Mapping[str, Any]]


def run_entries(
    stage: str,
    entries: Mapping[str, Entry],
    options: Namespace,
    *,
    unit: str,
    folder: Path | None = None,
    any_fault: bool = False,
) -> dict[str, Any]:
    """Bring the entries of a stage up to date; print what was made, reused and skipped.

    Args:
        stage: its name.
        entries: those of params.yaml whose inputs exist, by name.
        options: of the command line, those of a stage.
        unit: what they are called, such as "corpora".
        folder: that of the outputs, from which everything else is removed; None to remove nothing.
        any_fault: whether an entry is skipped for any fault, because the stage always runs; else
            only for one that another run would meet again, not for a full disk.

    Returns:
        The facts on each entry that was reused or made.
    """
    results, made = dict[str, Any](), dict[str, bool]()
    names, strict = select_entries(entries, options.only, unit), options.strict
    skipped = {
        name: reason
        for name, reason in read_skipped(stage).items()
        if (entry := name.partition(": ")[0]) in entries and entry not in names
    }
    with open_cache(verify=options.check):
        cache = Cache(stage)
        for name in names:
            try:
                key = entries[name].key()
                facts = cache.get(name, key)
                if facts is None or (strict and facts.get("left_out", {})):
                    again = cache.has(name)
                    facts = entries[name].make()
                    cache.put(name, key, entries[name].outputs, _as_if_new(facts))
                    made[name] = again
                results[name] = facts
                for part, why in facts.get("left_out", {}).items():
                    small = part in facts.get("too_small", {})
                    skipped[f"{name}: {part}"] = Skipped(why, sample=small)
            except Exception as error:
                fault = _local_fault(error, any_fault=any_fault)
                if fault is None or strict:
                    raise
                cache.delete(name)
                skipped[name] = Skipped.because(fault)
        if options.only is None:
            cache.prune(entries)
    if folder is not None:
        outputs = [entries[name].outputs for name in entries if name not in skipped]
        remove_others(folder, {path for paths in outputs for path in paths})
    write_skipped(stage, skipped)
    skipped_now = {n: why for n, why in skipped.items() if n.partition(": ")[0] in names}
    parts = _describe_work(results, made) if made else ()
    log_outcome(stage, unit, len(names), list(made.values()), skipped_now, parts)
    return results


def select_entries(entries: Collection[str], only: Collection[str] | None, unit: str) -> list[str]:
    """Return the names of the entries that ``--only`` names, in their order; all without it."""
    check_names(f"--only {','.join(only or ())}", only, entries, f"{unit} in params.yaml")
    return [name for name in entries if only is None or name in only]


def remove_others(folder: Path, outputs: Collection[Path]) -> None:
    """Remove all but some outputs from their folder; hidden files are of other runs."""
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        if path not in outputs and not path.name.startswith("."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)


# What a stage has done with an entry; "again" if it was there before.
_DONE = {
    "read": "read",
    "build": "built",
    "embed": "applied",
    "rank": "scored",
    "paradigms": "scored",
}
# Names that a line has of those skipped for one cause.
_MAX_NAMES = 3


def log_outcome(
    stage: str,
    unit: str,
    n_entries: int,
    made: Sequence[bool],
    skipped: Mapping[str, Skipped],
    further: Sequence[str] = (),
) -> None:
    """Print the line of a stage; below it, unless other stages follow, what it skipped.

    ``made`` has, of each of ``n_entries`` that was made now, whether it had been made before;
    ``further``, what else the line says of them.
    """
    done = _DONE.get(stage, f"{stage.removesuffix('e')}ed")
    if made and all(made):
        done = "rebuilt" if done == "built" else f"{done} again"
    some = f"{len(made)} of " if len(made) < n_entries else ""
    parts = [f"{some}{plural(n_entries, unit)} {done}"]
    if not made:
        # Those that were skipped are not reused.
        n_reused = n_entries - sum(": " not in name for name in skipped)
        parts = [f"{plural(n_reused, unit)} reused"] if n_reused else []
    parts += further
    if skipped:
        parts.append(f"{len(skipped)} skipped")
    end_stage(f"{stage}: {', '.join(parts) or f'no {unit}'}")
    if not console.heading:
        for line in describe_skipped(stage, skipped):
            print(f"  {line}")


def describe_skipped(stage: str, skipped: Mapping[str, Skipped]) -> list[str]:
    """Return what a stage skipped as lines for a terminal: one for all that have a cause.

    Errors that found the same, and have the same advice, are of one cause. An entry that is alone
    has its whole message.
    """
    causes: dict[str, list[str]] = {}
    for name, reason in skipped.items():
        _, _, cause = reason.why.partition("\n  found:    ")
        causes.setdefault(cause.replace("\n  to do:    ", "; ") or reason.why, []).append(name)
    lines = []
    for cause, names in causes.items():
        reason, n_others = skipped[names[0]], len(names) - _MAX_NAMES
        listed = ", ".join(names[:_MAX_NAMES]) + (f" and {n_others} more" if n_others > 0 else "")
        how = "missing, must be asked for" if reason.asked_for else f"skipped by {stage}"
        how += ", as a sample is too small" if reason.sample else ""
        if len(names) == 1:
            lines += [f"{how}: {listed}", *(f"  {line}" for line in reason.why.splitlines())]
        else:
            lines.append(f"{how}: {listed}: {' '.join(cause.split())}")
    return lines


def _as_if_new(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return facts without how much was reused, which is of this run and not of the entry."""
    work = {unit: [total, total] for unit, (_, total) in facts.get("work", {}).items()}
    return {**facts, "work": work} if work else facts


def _describe_work(results: Mapping[str, Any], made: Collection[str]) -> list[str]:
    """Return how much the entries have of each unit, how much of it is reused, and the drops."""
    work: dict[str, tuple[int, int]] = {}
    n_dropped = n_texts = 0
    for name, facts in results.items():
        for unit, (now, total) in facts.get("work", {}).items():
            before = work.get(unit, (0, 0))
            work[unit] = before[0] + (now if name in made else 0), before[1] + total
        dropped, texts = facts.get("dropped", (0, 0))
        n_dropped, n_texts = n_dropped + dropped, n_texts + texts
    parts = []
    for unit, (now, total) in work.items():
        if now < total:
            some = f"{total - now:,} of " if now else ""
            parts.append(f"{some}{plural(total, unit)} reused")
        elif total:
            parts.append(plural(total, unit))
    return [*parts, f"{n_dropped / n_texts:.1%} dropped"] if n_texts else parts


def _local_fault(error: Exception, *, any_fault: bool) -> InputError | None:
    """Return the error for which an entry is skipped; None for one that ends the run."""
    fault = explain(error)
    may_pass = fault is not error or isinstance(error, LostWorkers)
    return None if isinstance(error, NoWorkers) or (may_pass and not any_fault) else fault
