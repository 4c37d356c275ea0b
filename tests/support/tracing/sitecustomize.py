"""Notes every file of a project that its commands open, or lets them meet faults.

Python runs this at each start.

With PYTHONPATH holding this folder and PROBETA_TRACE naming another one, a command such as
`probeta read theses …`, and every process that it starts, adds the paths that it opens to the file
"read theses" there, a line each. With PROBETA_FAULT it meets a fault: ``faulting/injected.py``.
"""

import os
import os.path as paths
import sys

_FOLDER = os.environ.get("PROBETA_TRACE")
_COMMAND = sys.orig_argv[1:] if len(sys.orig_argv) > 2 else []


def trace(command):
    """Note what this process opens from now on, and those that it starts."""
    os.environ["PROBETA_TRACED"] = command
    path = paths.join(_FOLDER, command.replace("/", "_"))
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen = set()

    def note(event, arguments):
        path = arguments[0] if event == "open" else None
        if isinstance(path, str) and path not in seen:
            seen.add(path)
            os.write(file, f"{paths.abspath(path)}\n".encode())

    sys.addaudithook(note)


if _FOLDER and _COMMAND and paths.basename(_COMMAND[0]) == "probeta":
    trace(" ".join(_COMMAND[1:3]))
elif _FOLDER and "PROBETA_TRACED" in os.environ:
    trace(os.environ["PROBETA_TRACED"])

if _FAULT := os.environ.get("PROBETA_FAULT"):
    import json

    import injected

    injected.install(json.loads(_FAULT))
