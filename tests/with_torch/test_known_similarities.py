"""Rows, scores and reading of STS, held to what a real model is known to reach on them.

all-MiniLM-L6-v2 has 80.60 on all pairs of STS 2013 and 82.03 on STS-B's test (mteb publishes the
same). The files are nobody's to ship: PROBETA_SENTEVAL names a folder that has them.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from reading_oracle import corpus_for

from corpora_recipes.recipe import RECIPES, load_recipe
from corpora_recipes.records import Example
from evaluation.encoders import make_encoder
from evaluation.measures import spearman

WHOLE = os.environ.get("PROBETA_SENTEVAL", "")
needs_files = pytest.mark.skipif(
    not WHOLE, reason="PROBETA_SENTEVAL does not name a folder with the files of `senteval`"
)


@pytest.mark.parametrize(
    ("raw", "sts13", "sts_b"),
    [
        pytest.param(RECIPES / "senteval" / "sample", (30, 91.94), (15, 86.37), id="sample"),
        pytest.param(Path(WHOLE), (1500, 80.60), (1379, 82.03), id="whole", marks=needs_files),
    ],
)
def test_minilm(minilm: str, raw: Path, sts13: tuple[int, float], sts_b: tuple[int, float]) -> None:
    encoder = make_encoder("minilm", {"encoder": "sentence_transformers", "model": minilm})
    recipe, corpus = load_recipe("senteval"), corpus_for("senteval", {})
    blocks = [block for block in recipe.blocks(raw, corpus) if block.key.startswith("sts")]
    examples = [e for block in blocks for e in recipe.read_block(block, corpus).records]
    for collection, known in (("sts13", sts13), ("sts_b", sts_b)):
        rows = [
            example
            for example in examples
            if isinstance(example, Example)
            and (example.collection, example.split or "test") == (collection, "test")
        ]
        one, other = (
            np.asarray(encoder.encode([row.texts[place] for row in rows])) for place in (0, 1)
        )
        one, other = (x.reshape(len(rows), -1) for x in (one, other))
        cosines = (
            np.vecdot(one, other) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
        )
        scores = np.array([row.score for row in rows])
        assert (len(rows), round(100 * spearman(scores, cosines), 2)) == known
