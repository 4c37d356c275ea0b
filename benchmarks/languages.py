"""What the language gate makes of sentences whose language is known: refused, and accepted as.

A row for each treebank and unit: single sentences, and rows of five as in a dataset. "Refused" are
those that the gate takes for another language; of the others named, each would take so many for its
own. Texts that are too short to judge are left out.
"""

from itertools import groupby
from pathlib import Path

from measuring import parser_of

from corpora_recipes.text.language import can_identify, is_language, is_too_short

OTHERS = ("es", "pt", "gl", "ca", "eu", "fr", "it", "de", "en")
_TEXT = "# text = "


def read_sentences(path: Path) -> list[str]:
    """Return the sentences of a CoNLL-U file."""
    lines = path.read_text("utf-8").splitlines()
    return [line.removeprefix(_TEXT) for line in lines if line.startswith(_TEXT)]


def share(texts: list[str], language: str) -> str:
    """Return in how many percent of the texts the gate sees a language."""
    accepted = sum(is_language(text, language) for text in texts)
    return f"{100 * accepted / len(texts):.2f}"


def main() -> None:
    """Print the shares in percent."""
    parser = parser_of(__doc__, "example: python benchmarks/languages.py treebanks/")
    parser.add_argument(
        "folder", type=Path, nargs="+", help="folders with files such as gl_ctg-ud-dev.conllu"
    )
    parser.add_argument("--most", type=int, default=2500, help="sentences (default: 2500)")
    args = parser.parse_args()

    files = sorted((f for folder in args.folder for f in folder.rglob("*.conllu")), key=_name)
    for language, group in groupby(files, key=lambda file: _name(file).partition("_")[0]):
        sentences = [text for file in group for text in read_sentences(file)][: args.most]
        rows = [" ".join(sentences[i : i + 5]) for i in range(0, len(sentences) - 4, 5)]
        for unit, given in (("one", sentences), ("five", rows)):
            texts = [text for text in given if not is_too_short(text)]
            refused = "unknown"
            if can_identify(language):
                refused = f"{100 - float(share(texts, language)):.2f}"
            shares = {other: share(texts, other) for other in OTHERS if other != language}
            seen = ", ".join(f"{other} {value}" for other, value in shares.items() if float(value))
            print(f"{language} {unit:5}{len(texts):6,}  refused {refused:8} accepted as {seen}")


def _name(file: Path) -> str:
    return file.name


if __name__ == "__main__":
    main()
