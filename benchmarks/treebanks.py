"""What treebanks give: the rows of each task on the sentences of a language's treebanks.

Prints for each language and task the number of rows, or the most frequent reasons why there are
too few; and at the end the entries of ``unsupported`` in evaluation/starting/offers.yaml.
"""

from pathlib import Path

from measuring import parser_of

from builders.building import _build_treebank_rows, _TreebankCandidates
from builders.plan.datasets import TreebankDataset
from builders.sampling.candidates import Tree
from builders.tasks.treebank import TASKS
from corpora_recipes.params import corpus_of
from corpora_recipes.recipe import load_recipe
from corpora_recipes.records import ParsedSentence

RECIPE = "universal_dependencies"
# With fewer rows of a thousand sentences or so, a treebank is taken not to support a task.
LEAST = 20


def trees_of(raw: Path, language: str, folders: list[str]) -> list[Tree]:
    """Return the trees of treebanks, given by the names of their folders in ``raw``."""
    entry = {"recipe": RECIPE, "language": language, "treebanks": folders}
    corpus = corpus_of({"seed": 1111, "corpora": {"it": {"corpus": entry}}}, Path(), "it")
    recipe = load_recipe(RECIPE)
    records = [r for b in recipe.blocks(raw, corpus) for r in recipe.read_block(b, corpus).records]
    return [Tree(record) for record in records if isinstance(record, ParsedSentence)]


def main() -> None:
    """Print the rows of each task."""
    parser = parser_of(__doc__, "example: python benchmarks/treebanks.py treebanks/")
    parser.add_argument("raw", type=Path, help="folder with folders such as UD_Czech-PUD")
    parser.add_argument("--languages", nargs="*", help="such as cs (default: all)")
    args = parser.parse_args()
    folders: dict[str, list[str]] = {}
    for code, name in sorted(
        {(file.name.partition("_")[0], file.parent.name) for file in args.raw.glob("UD_*/*.conllu")}
    ):
        folders.setdefault(code, []).append(name)
    lines = []
    for language in args.languages or folders:
        trees = trees_of(args.raw, language, folders[language])
        print(f"{language}: {len(trees):,} sentences of {', '.join(folders[language])}")
        without = []
        for task in TASKS:
            facts = {"corpus": "it", "records": "parsed_sentences", "language": language}
            given = _TreebankCandidates(
                TreebankDataset(
                    name=f"ud_{task.name}_{language}",
                    task=task,
                    seed=1111,
                    licence="",
                    sample=False,
                    version="1.0.0",
                    **facts,
                )
            )
            for tree in trees:
                given.add(tree)
            made = _build_treebank_rows(given, len(trees))
            rows = len(made.rows["train"])
            reasons = ", ".join(f"{name} {n:,}" for name, n in given.left_out.most_common(3))
            print(
                f"  {task.name:24}{rows:7,}  {made.lacking or ('' if rows >= LEAST else reasons)}"
            )
            if rows < LEAST:
                without.append(task.name)
        lines.append(f"  {language}: {' '.join(sorted(without)) or chr(34) * 2}")
    print("\n".join(["unsupported:", *lines]))


if __name__ == "__main__":
    main()
