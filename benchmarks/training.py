"""Measures `probeta train`: CPU seconds for 1,000 sentences, and memory."""

import random
import sys
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from measuring import PROBETA, REPOSITORY, Cost, main_of, make_parser, measure

sys.path.append(str(REPOSITORY / "tests/support"))

from instance_files import row, write_dataset

from corpora_recipes.records import Document, Section, record_schema, to_row
from corpora_recipes.running.outputs import PACKAGE, records_of

EXAMPLES = """\
examples:
  python benchmarks/training.py
  python benchmarks/training.py --sentences 100000 --setting small

Needs the extra `torch`. Sentences have 25 words on average, of a vocabulary of 60,000 with Zipf's
frequencies; the objectives are nsp, spp and nl, and a batch has 128 sentences. What a run of one
batch costs (imports, and everything that happens once) is shown apart; x is beside the first
setting.
"""
MAX_SECONDS = {"small": 1.6, "published": 12.0}
N_WORDS = 60_000
BATCH = 128


def write_corpus(path: Path, n_sentences: int) -> None:
    """Write records with so many random sentences, in documents of two sections."""
    draw = random.Random(1)
    weights = list(accumulate(1 / (rank + 3) for rank in range(N_WORDS)))
    vocabulary = [f"w{rank}" for rank in range(N_WORDS)]

    def sentence() -> str:
        return " ".join(draw.choices(vocabulary, cum_weights=weights, k=draw.randint(10, 40)))

    path.parent.mkdir(parents=True)
    with pq.ParquetWriter(path, record_schema("documents")) as writer:
        for number in range(-(-n_sentences // 16)):
            parts = [[[sentence() for _ in range(4)] for _ in range(2)] for _ in range(2)]
            sections = [Section("", 1, parts[0]), Section("Part", 2, parts[1])]
            document = to_row(Document(str(number), f"Title {number}", (), sections, "train"))
            writer.write_table(pa.Table.from_pylist([document], schema=record_schema("documents")))


def train(folder: Path, setting: str, n_sentences: int) -> Cost:
    """Return what it costs to train one epoch of the first sentences."""
    entry = {"corpus": "mine", "setting": setting, "sentences": n_sentences}
    entry["objectives"] = {"nsp": 1, "spp": 1, "nl": 1}
    corpora = {"mine": {"corpus": {"recipe": "documents", "language": "en", "path": "x"}}}
    params = {"corpora": corpora, "trained": {"mine": entry}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    return measure([*PROBETA, "train", "--strict"], folder, timeout=7200)


def benchmark() -> None:
    """Print a row per setting."""
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("--sentences", type=int, default=4096)
    parser.add_argument("--setting", choices=MAX_SECONDS, nargs="+", default=list(MAX_SECONDS))
    args = parser.parse_args()
    print(f"{'setting':10}{'CPU s for 1,000':>16}{'limit':>7}{'x':>7}{'once':>7}{'MB':>7}")
    first = 0.0
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_corpus(folder / records_of("mine"), args.sentences)
        rows = [row(i, i % 2, sentences=["Uno.", f"Dos {i}."]) for i in range(6)]
        splits = {"train": rows[:2], "validation": rows[2:4], "test": rows[4:]}
        write_dataset(folder / PACKAGE / "bso_own", "sentence_ordering", splits)
        for setting in args.setting:
            once = train(folder, setting, BATCH)
            whole = train(folder, setting, args.sentences)
            seconds = (whole.cpu - once.cpu) / (args.sentences - BATCH) * 1000
            first = first or seconds
            print(
                f"{setting:10}{seconds:16.2f}{MAX_SECONDS[setting]:7}{seconds / first:7.1f}"
                f"{once.cpu:7.0f}{whole.peak:7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main_of(benchmark)
