"""What the language gate makes of sentences in a known language: refused, and accepted as.

A row per treebank and unit: single sentences, and rows of five as in a dataset. "Refused" are those
that the gate takes for another language; of the others named, each would take so many for its own.
Texts that are too short to judge are skipped.
"""

from itertools import groupby
from pathlib import Path

from measuring import main_of, make_parser

from corpora_recipes.text.language import can_identify, is_language, is_too_short

OTHERS = ("es", "pt", "gl", "ca", "eu", "fr", "it", "de", "en")
TEXT = "# text = "
MAX_SENTENCES = 2500


def read_sentences(path: Path) -> list[str]:
    """Return the sentences of a CoNLL-U file."""
    lines = path.read_text("utf-8").splitlines()
    return [line.removeprefix(TEXT) for line in lines if line.startswith(TEXT)]


def percent_accepted(texts: list[str], language: str) -> str:
    """Return in how many per cent of the texts the gate sees a language."""
    accepted = sum(is_language(text, language) for text in texts)
    return f"{100 * accepted / len(texts):.2f}"


def benchmark() -> None:
    """Print the shares in per cent."""
    parser = make_parser(__doc__, "example: python benchmarks/languages.py treebanks/")
    parser.add_argument(
        "folder", type=Path, nargs="+", help="folders with files such as gl_ctg-ud-dev.conllu"
    )
    args = parser.parse_args()

    files = [file for folder in args.folder for file in folder.rglob("*.conllu")]
    files.sort(key=lambda file: file.name)
    for language, group in groupby(files, key=lambda file: file.name.partition("_")[0]):
        sentences = [text for file in group for text in read_sentences(file)][:MAX_SENTENCES]
        rows = [" ".join(sentences[i : i + 5]) for i in range(0, len(sentences) - 4, 5)]
        for unit, unit_texts in (("one", sentences), ("five", rows)):
            texts = [text for text in unit_texts if not is_too_short(text)]
            refused = "unknown"
            if can_identify(language):
                refused = f"{100 - float(percent_accepted(texts, language)):.2f}"
            shares = {other: percent_accepted(texts, other) for other in OTHERS}
            shares.pop(language, None)
            seen = ", ".join(f"{other} {share}" for other, share in shares.items() if float(share))
            print(f"{language} {unit:5}{len(texts):6,}  refused {refused:8} accepted as {seen}")


if __name__ == "__main__":
    main_of(benchmark)
