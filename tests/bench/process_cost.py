"""Notes what each command of `probeta` costs: a copy, named sitecustomize.py, runs at its start.

A command adds a line to the file PROBETA_COSTS at its end: its own CPU seconds, those of the
processes it has started, the part of its own that was spent in starting (Python and imports, late
ones too), its seconds of wall, the most MB that it or one of them had, and its words.
"""

import os
import sys
import time


def _watch(file):
    import atexit
    import importlib._bootstrap as bootstrap
    import resource

    begin, load, spent, within = time.monotonic(), bootstrap._find_and_load, time.process_time(), 0

    def timed(name, import_):
        nonlocal spent, within
        within += 1
        started = time.process_time()
        try:
            return load(name, import_)
        finally:
            within -= 1
            # What an import imports is counted with it.
            if not within:
                spent += time.process_time() - started

    def note():
        from pathlib import Path

        own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        status = Path("/proc/self/status").read_text("ascii").splitlines()
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        cpu, of_others = (usage.ru_utime + usage.ru_stime for usage in (own, others))
        figures = [cpu, of_others, spent, time.monotonic() - begin]
        figures.append(max(peak, others.ru_maxrss) / 1024)
        with Path(file).open("a", encoding="utf-8") as out:
            print(*(f"{figure:.3f}" for figure in figures), *sys.argv[1:], file=out)

    bootstrap._find_and_load = timed
    atexit.register(note)


if "PROBETA_COSTS" in os.environ and "".join(sys.orig_argv[1:2]).endswith("/probeta"):
    _watch(os.environ["PROBETA_COSTS"])
