"""Lets every process that a command starts meet the fault of ``injected``; Python runs it first."""

import os

if _FAULT := os.environ.get("PROBETA_FAULT"):
    import json

    import injected

    injected.install(json.loads(_FAULT))
