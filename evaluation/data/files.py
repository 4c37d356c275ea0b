"""The Parquet files of the datasets under a folder."""

from pathlib import Path


def parquet_files(root: Path) -> list[Path]:
    """Return the files of the datasets under a folder, sorted.

    They are ``<dataset>/*.parquet``, ``<corpus>/<dataset>/*.parquet`` and
    ``rankings/<ranking>/<dataset>/*.parquet``.
    """
    # A name with a dot in front is the unfinished output of a killed run.
    depths = [root.glob(f"{'[!.]*/' * depth}*.parquet") for depth in (1, 2, 3)]
    return sorted(path for found in depths for path in found)
