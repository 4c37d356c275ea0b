"""Reads mutants of every recipe's sample for hours; `make fuzz`. See CONTRIBUTING.md.

Each recipe has a process of its own. A mutant that ends in another exception than InputError, in
wrong counts, in more than LONGEST seconds or LARGEST megabytes is a finding: its files are kept,
with the command that reads it again.
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
from pathlib import Path
from types import FrameType

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent), str(TESTS / "support")]

from mutants import Form, mutant  # noqa: E402
from reading_oracle import read_form  # noqa: E402

from corpora_recipes.recipe import recipe_names  # noqa: E402

# Seconds, and megabytes of memory, that the reading of one mutant may take at most.
LONGEST = 10.0
LARGEST = 500


class Slow(BaseException):
    """Raised in a mutant that takes too long; no handler of errors catches it."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help="default: all")
    parser.add_argument("--seconds", type=float, default=60, help="per recipe (default: 60)")
    parser.add_argument("--least", type=int, default=0, help="of mutants, whatever the time")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="default: one a CPU")
    parser.add_argument("--seed", default=str(time.time_ns() // 10**9), help="default: the time")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--count", type=int, help="number of mutants (default: what time allows)")
    parser.add_argument("--findings", type=Path, default=Path("fuzz"), help="default: fuzz/")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.recipes[0], options)
        return 0
    print(f"seed {options.seed}", flush=True)
    recipes = options.recipes or recipe_names()
    waiting = list(reversed(recipes))
    running: dict[str, subprocess.Popen[str]] = {}
    findings = 0
    while waiting or running:
        while waiting and len(running) < options.processes:
            recipe = waiting.pop()
            command = [sys.executable, __file__, *sys.argv[1:], "--seed", options.seed, "--worker"]
            command = [part for part in command if part not in recipes]
            running[recipe] = subprocess.Popen(
                [*command, recipe], stdout=subprocess.PIPE, text=True, start_new_session=False
            )
        for recipe, process in list(running.items()):
            if process.poll() is None:
                continue
            assert process.stdout is not None
            text = process.stdout.read()
            del running[recipe]
            if process.returncode:
                findings += 1
                print(f"{recipe}: the process ended with {process.returncode}\n{text}", flush=True)
                continue
            found = json.loads(text.splitlines()[-1])
            findings += len(found["findings"])
            print(line(recipe, found), flush=True)
        time.sleep(0.2)
    return 1 if findings else 0


def line(recipe: str, found: dict[str, object]) -> str:
    counts = "{mutants:,} mutants: {read:,} read, {refused:,} refused".format_map(found)
    cost = "slowest {slowest:.2f} s ({slowest_key}), {memory} MB, {cpu:.0f} CPU-s".format_map(found)
    kinds = found["findings"]
    assert isinstance(kinds, dict)
    lines = [f"{recipe}: {counts}; {cost}; findings: {sum(kinds.values())}"]
    lines += [f"  {count} × {kind}" for kind, count in kinds.items()]
    return "\n".join(lines)


def work(recipe: str, options: argparse.Namespace) -> None:
    """Read mutants of one recipe, and print what was found as JSON."""
    outcomes: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    slowest, slowest_key = 0.0, ""
    signal.signal(signal.SIGALRM, _stop)
    end = time.monotonic() + options.seconds
    number = options.first
    with tempfile.TemporaryDirectory() as name:
        while (
            number < options.first + options.count
            if options.count
            else time.monotonic() < end or number < options.first + options.least
        ):
            key = f"{options.seed}.{number}"
            number += 1
            form = mutant(recipe, key)
            began = time.monotonic()
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            problem = read_one(recipe, form, Path(name), outcomes)
            took = time.monotonic() - began
            if took > slowest:
                slowest, slowest_key = took, key
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if not problem and memory >> 10 > LARGEST and memory > before:
                problem = f"memory above {LARGEST} MB"
            if problem:
                kind = problem.strip().splitlines()[-1][:200]
                findings[kind] += 1
                if findings[kind] <= 3:
                    keep(options.findings / recipe / key, recipe, key, form, problem)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    report = {
        "mutants": number - options.first,
        "read": outcomes["read"],
        "refused": outcomes["refused"],
        "slowest": slowest,
        "slowest_key": slowest_key,
        "memory": usage.ru_maxrss >> 10,
        "cpu": usage.ru_utime + usage.ru_stime,
        "findings": findings,
    }
    print(json.dumps(report))


def read_one(recipe: str, form: Form, folder: Path, outcomes: Counter[str]) -> str:
    """Read a mutant; return what is wrong, "" if nothing is."""
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        # Some recipes say on the screen what they drop.
        with contextlib.redirect_stderr(io.StringIO()):
            outcomes[read_form(recipe, form, folder)] += 1
    except (Exception, Slow):
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""


def keep(folder: Path, recipe: str, key: str, form: Form, problem: str) -> None:
    """Write the files of a finding, its traceback, and how to read it again."""
    for name, data in form.files.items():
        path = folder / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    seed, _, number = key.partition(".")
    again = f"python tests/fuzz.py {recipe} --seed {seed} --first {number} --count 1"
    (folder / "finding.txt").write_text(f"{again}\noptions: {form.options}\n\n{problem}", "utf-8")


def _stop(number: int, frame: FrameType | None) -> None:
    raise Slow(f"more than {LONGEST:g} seconds")


if __name__ == "__main__":
    sys.exit(main())
