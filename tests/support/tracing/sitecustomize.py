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

if _FOLDER and _COMMAND and paths.basename(_COMMAND[0]) == "probeta":
    os.environ["PROBETA_TRACED"] = " ".join(_COMMAND[1:3])

if _FOLDER and (_TRACED := os.environ.get("PROBETA_TRACED")):
    _FILE = os.open(
        paths.join(_FOLDER, _TRACED.replace("/", "_")), os.O_WRONLY | os.O_APPEND | os.O_CREAT
    )
    _SEEN = set()

    def _note(event, arguments):
        path = arguments[0] if event == "open" else None
        if isinstance(path, str) and path not in _SEEN:
            _SEEN.add(path)
            os.write(_FILE, f"{paths.abspath(path)}\n".encode())

    sys.addaudithook(_note)

if _FAULT := os.environ.get("PROBETA_FAULT"):
    import json

    import injected

    injected.install(json.loads(_FAULT))
