"""The Parquet files of the datasets under a folder."""

from pathlib import Path


def parquet_files(root: Path) -> list[Path]:
    """Return the files ``<dataset>/*.parquet`` and ``<corpus>/<dataset>/*.parquet``, sorted."""
    # A name with a dot in front is the unfinished output of a killed run.
    return sorted([*root.glob("[!.]*/*.parquet"), *root.glob("[!.]*/[!.]*/*.parquet")])
