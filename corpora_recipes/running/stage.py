"""A stage runs over its entries: each is reused, made, or skipped with the reason."""

import json
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from corpora_recipes.running.cache import Cache, Key
from corpora_recipes.running.console import announce, explain, plural
from corpora_recipes.running.errors import InputError, LostWorkers, NoWorkers, suggest
from corpora_recipes.running.outputs import LEFT_OUT, whole_file


@dataclass(frozen=True, slots=True)
class Skipped:
    """Why an entry was skipped; ``asked_for`` if people must ask for it, which is no fault."""

    why: str
    asked_for: bool = False

    @classmethod
    def because(cls, error: InputError) -> "Skipped":
        """Return the reason that an error gives; corpora to be asked for have errors of a kind."""
        how_to_get = getattr(error, "how_to_get", "")
        return cls(how_to_get, True) if how_to_get else cls(str(error))


def write_skipped(stage: str, skipped: Mapping[str, Skipped]) -> None:
    """Write what a stage has skipped: name to reason."""
    reasons = {name: asdict(reason) for name, reason in skipped.items()}
    text = json.dumps(reasons, ensure_ascii=False, indent=2)
    with whole_file(LEFT_OUT / f"{stage}.json") as temporary:
        temporary.write_text(text + "\n", "utf-8")


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
        make: makes them, and returns facts on them, JSON that is not None; or raises. If the facts
            have ``left_out``, these parts of the entry were skipped, name to reason.
    """

    outputs: Sequence[Path]
    key: Callable[[], Key]
    make: Callable[[], Any]


def run_entries(
    stage: str,
    entries: Mapping[str, Entry],
    *,
    unit: str,
    folder: Path | None = None,
    only: Collection[str] | None = None,
    strict: bool = False,
    any_fault: bool = False,
) -> dict[str, Any]:
    """Bring the entries of a stage up to date; print how many are new, and what was skipped.

    Args:
        stage: its name.
        entries: those of params.yaml whose inputs exist, by name.
        unit: what they are called, such as "corpora".
        folder: that of the outputs, from which everything else is removed; None to remove nothing.
        only: the names of those to make; None for all.
        strict: whether the first fault ends the run.
        any_fault: whether an entry is skipped for any fault, because the stage always runs; else
            only for one that another run would meet again, not for a full disk.

    Returns:
        The facts on each entry that was reused or made.
    """
    cache, results, n_new = Cache(stage), {}, 0
    names = select_entries(entries, only, unit)
    skipped = {
        name: reason
        for name, reason in read_skipped(stage).items()
        if (entry := name.partition(": ")[0]) in entries and entry not in names
    }
    for name in names:
        try:
            key = entries[name].key()
            facts = cache.get(name, key)
            if facts is None or (strict and _skipped_parts(facts)):
                facts = entries[name].make()
                cache.put(name, key, entries[name].outputs, facts)
                n_new += 1
            results[name] = facts
            parts = _skipped_parts(facts)
            skipped |= {f"{name}: {part}": Skipped(why) for part, why in parts.items()}
        except Exception as error:
            fault = _local_fault(error, any_fault=any_fault)
            if fault is None or strict:
                raise
            cache.delete(name)
            skipped[name] = Skipped.because(fault)
    if only is None:
        cache.prune(entries)
    if folder is not None:
        outputs = [entries[name].outputs for name in entries if name not in skipped]
        remove_others(folder, {path for paths in outputs for path in paths})
    write_skipped(stage, skipped)
    skipped_now = {n: why for n, why in skipped.items() if n.partition(": ")[0] in names}
    log_outcome(stage, unit, len(names), n_new, skipped_now)
    return results


def select_entries(entries: Collection[str], only: Collection[str] | None, unit: str) -> list[str]:
    """Return the names of the entries that ``--only`` names, in their order; all without it."""
    if unknown := [name for name in only or () if name not in entries]:
        where, expected = f"--only {','.join(only or ())}", f"{unit} that there are"
        raise InputError(where, expected, ", ".join(unknown), suggest(unknown, entries))
    return [name for name in entries if only is None or name in only]


def remove_others(folder: Path, outputs: Collection[Path]) -> None:
    """Remove all but some outputs from their folder; hidden files are of other runs."""
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        if path not in outputs and not path.name.startswith("."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    folder.mkdir(parents=True, exist_ok=True)


def log_outcome(
    stage: str, unit: str, n_entries: int, n_new: int, skipped: Mapping[str, Skipped]
) -> None:
    """Print how many entries a stage has reused and made, and which it has skipped, and why."""
    n_whole = sum(": " not in name for name in skipped)
    counts = {"kept": max(0, n_entries - n_new - n_whole), "new": n_new, "left out": len(skipped)}
    words = ", ".join(f"{count} {how}" for how, count in counts.items() if count or how == "new")
    announce(f"{stage}: {plural(n_entries, unit)}: {words}")
    for name, reason in skipped.items():
        print(f"  left out {name}:\n{indent(reason.why, '    ')}")


def _skipped_parts(facts: Any) -> Mapping[str, str]:
    """Return the skipped parts of an entry, name to reason, of the facts on it."""
    return facts.get("left_out", {}) if isinstance(facts, Mapping) else {}


def _local_fault(error: Exception, *, any_fault: bool) -> InputError | None:
    """Return the error for which an entry is skipped; None for one that ends the run."""
    fault = explain(error)
    may_pass = fault is not error or isinstance(error, LostWorkers)
    return None if isinstance(error, NoWorkers) or (may_pass and not any_fault) else fault
