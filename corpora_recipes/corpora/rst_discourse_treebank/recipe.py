"""Reads the RST Discourse Treebank, GUM and the Potsdam Commentary Corpus into discourse trees.

The folder holds one or more of these, and the entry's option ``treebank`` says which is read (any:
the first of the entry's language)::

    rst_dt/TRAINING/*.dis  rst_dt/TEST/*.dis
    gum/lisp_nary/*.dis (or lisp_binary/*.dis, or rs4/*.rs4)  gum/splits.md
    pcc/rs3/*.rs3
    own/*.dis (or *.rs3, or *.rs4), a treebank of the user's own in the entry's language

If a text is there in several of these forms, the first is read. Splits are the treebank's own.
The RST Discourse Treebank has no validation: 35 of its 347 training texts are taken for it, by
keyed hash; the published benchmark took as many (Chen, Chu and Gimpel 2019, section 3.1) and does
not say which. The last two have no splits: a fifth of the texts each is validation and test.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from corpora_recipes.formats import treebanks
from corpora_recipes.recipe import BlockResult, Corpus, Dropped, no_files
from corpora_recipes.records import DiscourseNode, DiscourseTree, Split
from corpora_recipes.running.errors import RawError
from corpora_recipes.text.tokens import detokenize
from corpora_recipes.yaml_files import load_yaml

VALIDATION_SHARE = 35 / 347
CLASSES = Path(__file__).with_name("classes.yaml")

_SUFFIX = re.compile(r"(?:\.out)?\.(?:dis|rs[34])")
_ENDING = re.compile(r"(?:-[ens])+$")


# The raw files of the treebanks that the entry can mean.
sources = treebanks.treebank_sources


def blocks(raw: Path, corpus: Corpus) -> Sequence[treebanks.Texts]:
    """List the texts of the treebank, a few to a block."""
    treebank, paths = treebanks.find_treebank(raw, corpus)
    texts: dict[str, str] = {}
    for path in paths:
        texts.setdefault(_key(path), path)
    splits = _splits(raw, treebank, texts, corpus)
    by_path = {path: splits[key] for key, path in texts.items() if key in splits}
    return treebanks.group_in_blocks(raw, treebank, list(texts.values()), by_path)


def _key(path: str) -> str:
    """Return the name of a text, such as wsj_0601 for rst_dt/TRAINING/wsj_0601.out.dis."""
    return _SUFFIX.sub("", PurePosixPath(path).name)


def _splits(
    raw: Path, treebank: str, texts: Mapping[str, str], corpus: Corpus
) -> Mapping[str, Split]:
    """Return the split of each text, given their names and paths."""
    if (listed := raw / treebank / "splits.md").is_file():
        return treebanks.read_split_list(listed)
    edus = {key: treebanks.read_edus(raw / path) for key, path in texts.items()}
    if treebank != "rst_dt":
        return treebanks.carve_splits(texts, corpus, edus)
    parts = [raw / "rst_dt" / part for part in ("TRAINING", "TEST")]
    train, test = ({_key(path.name) for path in part.glob("*.dis")} for part in parts)
    if not (train and test):
        raise no_files(corpus, parts[1 if train else 0], "*.dis files of the treebank")
    validation = treebanks.choose_held_out(
        train, max(1, round(VALIDATION_SHARE * len(train))), corpus, "validation", edus
    )
    return {
        key: "test" if key in test else "validation" if key in validation else "train"
        for key in texts
    }


def read_block(block: treebanks.Texts, corpus: Corpus) -> BlockResult:
    """Read the texts of a block.

    A tree's id is the treebank and the name of the text, such as "gum/GUM_bio_byron". Its relations
    are the treebank's classes; with ``classes: false``, what was annotated.
    Dropped documents: ``no_split`` (GUM's texts of further genres), ``crossing`` (see
    ``read_rs3``), ``irregular`` (see both), ``withheld_text`` (underscores for words that
    may not be published), ``single_edu``. Dropped EDUs: ``unrelated_title``.
    """
    result = BlockResult()
    for name in block.names:
        with result.counting("documents", str(block.raw / name)):
            result.records.append(_tree(name, block, corpus, result))
    return result


def _tree(name: str, block: treebanks.Texts, corpus: Corpus, result: BlockResult) -> DiscourseTree:
    if name not in block.splits:
        raise Dropped("no_split")
    path = block.raw / name
    titles = 0
    if path.suffix == ".dis":
        tree = treebanks.read_dis(path)
    else:
        tree, titles = treebanks.read_rs3(path)
    if any(map(treebanks.is_withheld, tree.edus)):
        raise Dropped("withheld_text")
    if len(tree.edus) == 1:
        raise Dropped("single_edu")
    result.drops.seen["edus"] += len(tree.edus) + titles
    result.drops.dropped["edus", "unrelated_title"] += titles
    edus = tree.edus
    if corpus.facts.treebanks[block.treebank].tokenised:
        edus = [detokenize(edu, corpus.language, tokens=True) for edu in edus]
    root = tree.root
    if corpus.options["classes"]:
        root = _classify(root, _classes(block.treebank), path)
    key = f"{block.treebank}/{_key(name)}"
    return replace(tree, id=key, edus=edus, root=root, split=block.splits[name])


@cache
def _classes(treebank: str) -> Mapping[str, str]:
    """Return relation to class; empty if the relations are the classes."""
    classes = load_yaml(CLASSES).get(treebank, {})
    return {relation: name for name, relations in classes.items() for relation in relations}


def _classify(root: DiscourseNode, classes: Mapping[str, str], path: Path) -> DiscourseNode:
    """Return a tree with classes in place of relations."""
    if not classes:
        return root
    order = [root]
    for node in order:  # the list grows while it is walked through
        order.extend(node.children)
    classified: dict[int, DiscourseNode] = {}
    for node in reversed(order):
        if not node.children:
            classified[id(node)] = node
            continue
        relation = node.relation.lower()
        name = classes.get(relation) or classes.get(_ENDING.sub("", relation))
        if name is None:
            expected = f"relations of {', '.join(dict.fromkeys(classes.values()))}"
            todo = "correct the file, add the relation to the recipe's classes.yaml, or set "
            raise RawError(path, expected, repr(node.relation), f"{todo}`classes: false`")
        children = tuple(classified[id(child)] for child in node.children)
        classified[id(node)] = replace(node, relation=name, children=children)
    return classified[id(root)]
