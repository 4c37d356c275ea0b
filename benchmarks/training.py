"""Measures `probeta train`: CPU seconds for 1,000 sentences, and memory."""

import random
import sys
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from measuring import PROBETA, REPOSITORY, Cost, measure, parser_of

sys.path.append(str(REPOSITORY / "tests/support"))

from instance_files import row, write_dataset

from corpora_recipes.records import Document, Section, record_schema, to_row
from corpora_recipes.running.console import run
from corpora_recipes.running.outputs import PACKAGE, records_of

EXAMPLES = """\
examples:
  python benchmarks/training.py
  python benchmarks/training.py --sentences 100000 --setting small

Needs the extra `torch`. Sentences have 25 words on average, of a vocabulary of 60,000 with Zipf's
frequencies; the objectives are nsp, spp and nl, and a batch has 128 sentences. What a run of one
batch costs (imports, and everything that happens once) is told apart.
"""
LIMITS = {"small": 1.6, "published": 12.0}
MEGABYTES = 1500
WORDS = 60_000
A_DOCUMENT = 16


def write_corpus(path: Path, sentences: int) -> None:
    """Write records with so many random sentences, in documents of two sections."""
    draw = random.Random(1)
    weights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    vocabulary = [f"w{rank}" for rank in range(WORDS)]

    def sentence() -> str:
        return " ".join(draw.choices(vocabulary, cum_weights=weights, k=draw.randint(10, 40)))

    path.parent.mkdir(parents=True)
    with pq.ParquetWriter(path, record_schema("documents")) as writer:
        for number in range(-(-sentences // A_DOCUMENT)):
            parts = [[[sentence() for _ in range(4)] for _ in range(2)] for _ in range(2)]
            sections = [Section("", 1, parts[0]), Section("Part", 2, parts[1])]
            document = to_row(Document(str(number), f"Title {number}", (), sections, "train"))
            writer.write_table(pa.Table.from_pylist([document], schema=record_schema("documents")))


def train(folder: Path, setting: str, sentences: int) -> Cost:
    """Return what it costs to train one epoch of the first sentences."""
    entry = {"corpus": "mine", "setting": setting, "sentences": sentences}
    entry["objectives"] = {"nsp": 1, "spp": 1, "nl": 1}
    corpora = {"mine": {"corpus": {"recipe": "documents", "language": "en", "path": "x"}}}
    params = {"corpora": corpora, "trained": {"mine": entry}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    return measure([*PROBETA, "train", "--strict"], folder, timeout=7200)


def main() -> None:
    parser = parser_of(__doc__, EXAMPLES)
    parser.add_argument("--sentences", type=int, default=4096)
    parser.add_argument("--setting", choices=LIMITS, nargs="+", default=list(LIMITS))
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_corpus(folder / records_of("mine"), arguments.sentences)
        rows = [row(i, i % 2, sentences=["Uno.", f"Dos {i}."]) for i in range(6)]
        splits = {"train": rows[:2], "validation": rows[2:4], "test": rows[4:]}
        write_dataset(folder / PACKAGE / "bso_own", "sentence_ordering", splits)
        for setting in arguments.setting:
            once = train(folder, setting, 128)
            whole = train(folder, setting, arguments.sentences)
            each = (whole.cpu - once.cpu) / (arguments.sentences - 128) * 1000
            print(
                f"{setting}: {each:.2f} CPU s for 1,000 sentences (limit {LIMITS[setting]}), "
                f"{once.cpu:.0f} once, {whole.cpu:.0f} for {arguments.sentences} sentences; "
                f"{whole.peak:.0f} MB (limit {MEGABYTES})",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(run(main))
