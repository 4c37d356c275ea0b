"""`probeta init`: write a params.yaml for a language, documents or a paper to standard output."""

import argparse
from pathlib import Path

from corpora_recipes.running.errors import InputError

FOLDER = Path(__file__).parent / "templates" / "papers"
PAPERS = sorted(path.name.partition(".")[0] for path in FOLDER.iterdir())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `probeta init`."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--language", metavar="CODE", help="of the benchmark, such as ca or pt-BR")
    about = f"{', '.join(PAPERS)}: a paper to do again, instead of a language"
    what.add_argument("--paper", choices=PAPERS, metavar="NAME", help=about)
    about = "a file, a folder or hf://datasets/ORG/NAME: write a params.yaml for these alone"
    parser.add_argument("--documents", metavar="PATH", help=about)
    about = "of the corpus of the documents, and the ending of its datasets' names (default: mine)"
    parser.add_argument("--name", default="mine", help=about)


def run(options: argparse.Namespace) -> None:
    """Print a params.yaml."""
    if options.paper and options.documents:
        todo = "give --language in place of --paper"
        raise InputError("--documents", "their language", f"the paper {options.paper}", todo)
    if options.paper:
        from probeta.cli.offers import paper_text

        print(paper_text(options.paper))
        return
    if options.documents:
        from probeta.cli.init_documents import documents_text

        print(documents_text(options.documents, options.language, options.name))
        return
    from probeta.cli.offers import params_text

    print(params_text(options.language))
