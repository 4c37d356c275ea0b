"""Where the stages of a run write, below the current folder."""

from pathlib import Path

RAW = Path("data/raw")
RECORDS = Path("data/records")
INSTANCES = Path("data/instances")
CORPORA, RANKINGS = INSTANCES / "corpora", INSTANCES / "rankings"
AUDIT = Path("data/audit")
PACKAGE = Path("dist/hub")
TRAINED = Path("data/trained")
EMBEDDINGS = Path("data/embeddings")
PROBED, RANKED, COMPLETED = Path("data/results"), Path("data/rankings"), Path("data/paradigms")
PEOPLE = Path("data/people")
REPORT = Path("reports")

MEMORY = Path("data/memory")
LEFT_OUT = Path("data/left_out")
ENVIRONMENT = Path("data/environment.json")
# Patterns of the folders where a killed run may have left unfinished outputs.
WRITTEN = ("data", "data/*", "data/instances/*", "data/memory/**", "dist", "reports")


def records_of(corpus: str) -> Path:
    """Return the file with the records of a corpus; its counts are in the .json file beside it."""
    return RECORDS / f"{corpus}.parquet"
