"""What a verb imports in a run on the samples: each start costs what it imports."""

from pathlib import Path

# sklearn imports scipy and pandas.
SKLEARN = {"audit", "embed char_hash", "invariance"}
ROWS = {"read", "build", "compose", "audit", "package", "embed", "probe", "rank", "paradigms"}
ROWS |= {"invariance", "report"}
# What takes long to import, and which verbs, or verbs with a name, import it on the samples. CPU
# seconds: spacy 1.7, sklearn 1.5 or more, matplotlib 1.3, pandas 1, scipy 0.3 or more, datasets 3.
IMPORTED: dict[str, set[str]] = {
    "dask": set(),
    "datasets": set(),
    "distributed": set(),
    "huggingface_hub": set(),
    "matplotlib": {"report"},
    "numpy": ROWS,
    "pandas": SKLEARN,
    "pyarrow": ROWS,
    "scipy": SKLEARN | {"probe"},
    "sklearn": SKLEARN,
    "spacy": {"package"},
    "torch": set(),
}


def packages(trace: Path) -> set[str]:
    """Return the packages of the environment whose ``__init__`` a command has opened."""
    found = set()
    for line in trace.read_text("utf-8").splitlines():
        parts = Path(line).parts
        if "site-packages" in parts and parts[-1].startswith("__init__."):
            found.add(parts[parts.index("site-packages") + 1])
    return found


def test_what_takes_long_is_imported_by_few(project: Path) -> None:
    found: dict[str, set[str]] = {package: set() for package in IMPORTED}
    for trace in project.with_name("traces").iterdir():
        verb = trace.name.split()[0]
        for package in packages(trace) & IMPORTED.keys():
            found[package].add(trace.name if trace.name in IMPORTED[package] else verb)
    assert found == IMPORTED
