"""Runs verbs in forks of a process that has imported all packages: a start takes milliseconds.

A request is a line of JSON: ``arguments`` of the command, the ``folder`` where it runs, the file
for its ``output``, the ``fault`` (see ``injected``), the largest size of a ``file``, the number of
``cpus``, and ``set``, "module:name" to a value. The answer is the exit code, or minus the number of
a signal.
"""

import json
import os
import signal
import sys
import tempfile
import traceback
from contextlib import suppress
from functools import reduce
from importlib import import_module
from typing import Any

import injected

from probeta.cli import VERBS, main

# Seconds after which a command hangs.
LONGEST = 60


def serve() -> None:
    """Answer requests until there are no more; a package that a fork had to import is kept."""
    for verb in VERBS.values():
        import_module(verb.module)
    for line in sys.stdin:
        request = json.loads(line)
        known = set(sys.modules)
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.close(reader)
            code = 1
            try:
                code = run(request)
                # As much as a pipe holds.
                os.write(writer, "\n".join(sys.modules.keys() - known).encode()[:60_000])
            finally:
                os._exit(code)
        os.close(writer)
        with open(reader, encoding="utf-8", errors="ignore") as file:
            imported = file.read().split("\n")
        _, status = os.waitpid(child, 0)
        with suppress(ProcessLookupError):  # what it has started and not ended
            os.killpg(child, signal.SIGKILL)
        print(os.waitstatus_to_exitcode(status), flush=True)
        for name in imported:
            with suppress(Exception):
                import_module(name)


def run(request: dict[str, Any]) -> int:
    """Run a command in this process, of which nothing else is left to do."""
    os.setsid()
    signal.alarm(LONGEST)
    os.chdir(request["folder"])
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    for place, value in request["set"].items():
        module, names = place.split(":")
        *owners, name = names.split(".")
        setattr(reduce(getattr, owners, import_module(module)), name, value)
    os.cpu_count = lambda: request["cpus"]
    if request["file"]:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file"], request["file"]))
    # Temporary folders count too, and go with the project.
    tempfile.tempdir = os.environ["TMPDIR"] = f"{request['folder']}/tmp"
    os.makedirs(tempfile.tempdir, exist_ok=True)
    os.environ["PROBETA_FAULT"] = json.dumps(request["fault"])
    injected.install(request["fault"])
    try:
        code = main(request["arguments"])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    with suppress(OSError):
        sys.stdout.flush()
    return code


if __name__ == "__main__":
    serve()
