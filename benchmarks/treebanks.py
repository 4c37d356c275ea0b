"""What treebanks give: the rows of each task on the sentences of a language's treebanks.

Prints per language and task the number of rows and the share of the sentences, or the most frequent
reasons why there are too few; and at the end the entries of ``unsupported`` in
probeta/cli/templates/offers.yaml.
"""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from measuring import main_of, make_parser

from builders.building import treebank_rows
from builders.plan.datasets import TreebankDataset, datasets_of
from builders.store import BuiltRows
from builders.tasks.treebank import TASKS
from corpora_recipes.params import corpus_of
from corpora_recipes.reading import read

RECIPE = "universal_dependencies"
# With fewer rows of a thousand sentences or so, a treebank is taken not to support a task.
MIN_ROWS = 20


def rows_of(raw: Path, language: str, folders: list[str]) -> dict[str, BuiltRows]:
    """Return task to rows, of treebanks given by the names of their folders in ``raw``."""
    options = {"recipe": RECIPE, "language": language, "treebanks": folders}
    datasets = {task.name: {"task": task.name} for task in TASKS}
    entry = {"corpus": options, "datasets": datasets}
    corpus = corpus_of({"seed": 1111, "corpora": {"it": entry}}, Path("params.yaml"), "it")
    built = [d for d in datasets_of(corpus, "upstream") if isinstance(d, TreebankDataset)]
    with TemporaryDirectory() as folder:
        records = Path(folder, "it.parquet")
        read(corpus, raw, records, workers=1, executor="local")
        rows = treebank_rows(built, records, corpus)
    return {dataset.name: made for dataset, made in zip(built, rows, strict=True)}


def benchmark() -> None:
    """Print the rows of each task."""
    parser = make_parser(__doc__, "example: python benchmarks/treebanks.py treebanks/")
    parser.add_argument("raw", type=Path, help="folder with folders such as UD_Czech-PUD")
    parser.add_argument("--languages", nargs="*", help="such as cs (default: all)")
    args = parser.parse_args()
    folders: dict[str, set[str]] = {}
    for file in sorted(args.raw.glob("UD_*/*.conllu")):
        folders.setdefault(file.name.partition("_")[0], set()).add(file.parent.name)
    unsupported = []
    print(f"{'task':26}{'rows':>7}{'of sentences':>14}  reasons")
    for language in args.languages or folders:
        treebanks = sorted(folders[language])
        made = rows_of(args.raw, language, treebanks)
        n_sentences = next(iter(made.values())).counts["sentences"]["read"]
        print(f"{language}: {n_sentences:,} sentences of {', '.join(treebanks)}")
        few = []
        for task, built in made.items():
            n_rows = len(built.rows.get("train", ()))
            reasons = Counter(built.counts["sentences"]) - Counter(read=n_sentences, used=n_rows)
            why = ", ".join(f"{reason} {n:,}" for reason, n in reasons.most_common(3))
            print(f"  {task:24}{n_rows:7,}{n_rows / n_sentences:14.1%}", end="  ")
            print((built.fault.found if built.fault else why) if n_rows < MIN_ROWS else "")
            few += [task] * (n_rows < MIN_ROWS)
        unsupported.append(f"  {language}: {' '.join(sorted(few)) or chr(34) * 2}")
    print("\n".join(["unsupported:", *unsupported]))


if __name__ == "__main__":
    main_of(benchmark)
