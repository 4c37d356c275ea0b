"""Reads the Spanish pairs of SemEval's shared tasks on semantic textual similarity.

A subset is two text files with corresponding lines: STS.input.<subset>.txt holds the two sentences
of a pair, separated by a tab, and STS.gs.<subset>.txt the gold standard, the pair's mean score::

    Un perro está con un palo.<TAB>Un perro tiene un palo.          4.6

They are in archives of SemEval; the archives' files of other tracks are not read. Those of 2014 and
2015 have also been published in folders, with blanks around all punctuation, which are undone. A
line without a score is a pair that the organisers left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpora_recipes.formats import tables
from corpora_recipes.formats.archives import Member, list_members
from corpora_recipes.recipe import BlockResult, Corpus, no_files
from corpora_recipes.records import Example
from corpora_recipes.running.errors import RawError
from corpora_recipes.text.tokens import detokenize


@dataclass(frozen=True, slots=True)
class Subset:
    """A block: the two files of a subset."""

    key: str  # its collection and name, such as "2014/news"
    pairs: Member
    gold: Member  # the scores
    tokenised: bool  # whether the sentences have blanks around all punctuation


def blocks(raw: Path, corpus: Corpus) -> Sequence[Subset]:
    """List the subsets of corpus.yaml that exist, in natural text if it is there."""
    subsets = corpus.facts.special["subsets"]
    existing = []
    for key, forms in subsets.items():
        for form, files in forms.items():
            pairs, gold = (_find(raw, file) for file in files)
            if pairs and gold:
                existing.append(Subset(key, pairs, gold, tokenised=form == "tokenised"))
                break
            if pairs or gold:
                half, missing = files if pairs else reversed(files)
                raise no_files(corpus, raw / missing, f"the other half of {half}", "no such file")
    if not existing:
        names = [file for forms in subsets.values() for files in forms.values() for file in files]
        raise no_files(corpus, raw, f"two files of a subset, among {', '.join(names)}")
    return existing


def _find(raw: Path, file: str) -> Member | None:
    """Return a file of the folder, or of an archive in it (ARCHIVE.zip/NAME)."""
    path = raw / file
    if path.parent.suffix != ".zip":
        return list_members(path, raw)[0] if path.is_file() else None
    archive = path.parent
    if not archive.is_file():
        return None
    inside = [
        member for member in list_members(archive, raw) if Path(member.name).name == path.name
    ]
    if len(inside) != 1:
        found = ", ".join(member.name for member in inside) or "none"
        raise RawError(archive, f"one file {path.name} in the archive", found)
    return inside[0]


def read_block(block: Subset, corpus: Corpus) -> BlockResult:
    """Read the pairs of a subset; their ids are <collection>/<subset>/<line number>.

    Dropped examples: ``no_score``, ``empty_text``.
    """
    collection, subset = block.key.split("/")

    def text(raw: str) -> str:
        return tables.natural_text(detokenize(raw, corpus.language) if block.tokenised else raw)

    def example(row: tables.Row) -> Example:
        score = tables.scored(row)
        key = f"{block.key}/{row.line}"
        return Example(
            id=key,
            collection=collection,
            texts=(text(row.fields["sentence_1"]), text(row.fields["sentence_2"])),
            score=tables.parse_score(score, collection, corpus, row),
            columns={"subset": subset},
            split="test",
        )

    return tables.collect_examples(tables.scored_pairs(block.pairs, block.gold), example)
