"""Reads mutants of every recipe's sample, for a minute or for hours; `make fuzz`.

Each recipe has a process of its own. A mutant that ends in another exception than InputError, in
wrong counts, after more than LONGEST seconds or above LARGEST megabytes is a finding: its files are
kept, with the command that reads it again.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from types import FrameType
from typing import Any

TESTS = Path(__file__).parent
# ruff: noqa: E402
sys.path[:0] = [str(TESTS.parent), str(TESTS / "support")]

from mutants import mutant
from reading_oracle import read_form

from corpora_recipes.recipe import recipe_names

# Seconds of CPU time, and megabytes of memory, that one mutant may take at most.
LONGEST = 10.0
LARGEST = 500
# Findings of one kind whose files are kept.
KEPT = 3


class Slow(BaseException):
    """Raised in a mutant that takes too long; no handler of errors catches it."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help="default: all")
    parser.add_argument("--seconds", type=float, default=60, help="per recipe (default: 60)")
    parser.add_argument("--least", type=int, default=0, help="mutants, however long it takes")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="default: one a CPU")
    parser.add_argument("--seed", default=str(time.time_ns() // 10**9), help="default: the time")
    parser.add_argument("--key", help="read this mutant of one recipe alone")
    parser.add_argument("--findings", type=Path, default=Path("fuzz"), help="default: fuzz/")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker or options.key:
        Worker(options).work()
        return 0
    print(f"seed {options.seed}", flush=True)
    findings = 0
    with ThreadPoolExecutor(options.processes) as pool:
        recipes = options.recipes or recipe_names()
        running = {pool.submit(read_mutants, recipe, options): recipe for recipe in recipes}
        for future in as_completed(running):
            recipe, ended = running[future], future.result()
            reports = [line for line in ended.stdout.splitlines() if line.startswith('{"mutants"')]
            if ended.returncode or not reports:
                findings += 1
                said = f"the process ended with {ended.returncode}\n{ended.stdout}"
                print(f"{recipe}: {said}", flush=True)
                continue
            report = json.loads(reports[-1])
            findings += sum(report["findings"].values())
            print(shown(recipe, report), flush=True)
    return 1 if findings else 0


def read_mutants(recipe: str, options: argparse.Namespace) -> subprocess.CompletedProcess[str]:
    """Run the process of a recipe."""
    command = [sys.executable, __file__, recipe, "--worker", "--seed", options.seed]
    command += ["--seconds", str(options.seconds), "--least", str(options.least)]
    command += ["--findings", str(options.findings)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)


def shown(recipe: str, report: dict[str, Any]) -> str:
    """Return a report in words."""
    counts = "{mutants:,} mutants: {read:,} read, {refused:,} refused".format_map(report)
    cost = "slowest {slowest:.2f} s ({slowest_key}), {memory} MB, {cpu:.0f} CPU-s"
    kinds = report["findings"]
    first = f"{recipe}: {counts}; {cost.format_map(report)}; findings: {sum(kinds.values())}"
    return "\n".join([first, *(f"  {count} × {kind}" for kind, count in kinds.items())])


class Worker:
    """Reads mutants of one recipe, and prints what was found as JSON."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        (self.recipe,) = options.recipes
        self.end = time.monotonic() + options.seconds
        self.mutants = 0
        self.outcomes: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.slowest, self.slowest_key = 0.0, ""

    def work(self) -> None:
        """Read mutants until the time is over."""
        signal.signal(signal.SIGPROF, _stop)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if self.options.key:
                self.read(self.options.key, folder)
            else:
                while time.monotonic() < self.end or self.mutants < self.options.least:
                    self.read(f"{self.options.seed}.{self.mutants}", folder)
        self.report()

    def read(self, key: str, folder: Path) -> None:
        """Read one mutant, and keep it if it is a finding."""
        form = mutant(self.recipe, key)
        self.mutants += 1
        before = _megabytes()
        began = time.process_time()
        problem = ""
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            # Some recipes say on the screen what they drop.
            with contextlib.redirect_stderr(io.StringIO()):
                self.outcomes[read_form(self.recipe, form, folder)] += 1
        except (Exception, Slow):
            problem = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.process_time() - began
        if took > self.slowest:
            self.slowest, self.slowest_key = took, key
        if not problem and _megabytes() > max(LARGEST, before):
            problem = f"memory above {LARGEST} MB"
        if not problem:
            return
        kind = problem.strip().splitlines()[-1][:200]
        self.findings[kind] += 1
        if self.findings[kind] > KEPT:
            return
        place = self.options.findings / self.recipe / key
        for file, data in form.files.items():
            path = place / "raw" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        again = f"python tests/fuzz.py {self.recipe} --key {key}"
        place.mkdir(parents=True, exist_ok=True)
        text = f"{again}\noptions: {form.options}\n\n{problem}"
        (place / "finding.txt").write_text(text, "utf-8")

    def report(self) -> None:
        """Print the counts."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        report = {
            "mutants": self.mutants,
            "read": self.outcomes["read"] + self.outcomes["spoilt"],
            "refused": self.outcomes["refused"],
            "slowest": self.slowest,
            "slowest_key": self.slowest_key,
            "memory": _megabytes(),
            "cpu": usage.ru_utime + usage.ru_stime,
            "findings": self.findings,
        }
        print(json.dumps(report))


def _megabytes() -> int:
    """Return the most memory that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _stop(number: int, frame: FrameType | None) -> None:
    raise Slow(f"more than {LONGEST:g} seconds")


if __name__ == "__main__":
    sys.exit(main())
