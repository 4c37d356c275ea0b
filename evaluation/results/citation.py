"""One line to cite a score by: what it depends on, as sacrebleu's signatures have it (Post 2018).

    probeta:0.1.0|data:sp_wiki@3f9c12ab34cd|protocol:standard.4|encoder:beto@1a2b3c4d5e6f|layer:avg
    |seed:1111|n:43210

``data`` is a dataset with the beginning of its SHA-256, or an average with that of its datasets'
names and digests; ``encoder`` the name of the results, with that of the encoder's description
(kind, revision, options, not its layers); ``n`` the number of rows, pairs or clusters measured.
"""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from corpora_recipes.running.errors import InputError
from evaluation.results.scores import PLAIN, RankingResults, Results
from evaluation.results.stored import EncoderResults

# Hexadecimal digits of a digest.
_DIGITS = 12
# Of a protocol: options that are not said, as they are usual; keys that do not decide a score.
_USUAL = ("numpy", "difference_product", PLAIN)
_NAMED = ("name", "version", "ablations")


class Citation(NamedTuple):
    """The fields of a line, as texts; see the module."""

    probeta: str
    data: str
    protocol: str
    encoder: str
    layer: str
    seed: str
    n: str

    @property
    def name(self) -> str:
        """The name of the dataset or average."""
        return self.data.rpartition("@")[0]

    def __str__(self) -> str:
        """Return the line."""
        return "|".join(f"{name}:{value}" for name, value in self._asdict().items())


def parse_citation(line: str) -> Citation:
    """Return the fields of a line.

    Raises:
        InputError: it is no such line.
    """
    parts = [part.partition(":") for part in line.strip().split("|")]
    if [name for name, *_ in parts] != [*Citation._fields] or not all(part[2] for part in parts):
        expected = "|".join(f"{name}:…" for name in Citation._fields)
        todo = "copy the whole line, in quotes, as `probeta score` prints it"
        raise InputError("citation", expected, repr(line), todo)
    return Citation(*(value for *_, value in parts))


def cite(results: EncoderResults, scores: Sequence[Any], average: str = "") -> Citation:
    """Return the line of a score, or of the mean of several scores of one layer.

    Args:
        results: those that the scores are of.
        scores: of probes; or one of EvalRank or ParaLex, with all its measures.
        average: what the mean is called, such as "discoeval SP"; without it, a single score.
    """
    (first, *_), name = scores, average or scores[0].dataset
    digest = first.digest
    if average:
        members = sorted(f"{score.dataset} {score.digest}" for score in scores)
        digest = sha256("\n".join(members).encode()).hexdigest()
    if isinstance(results, Results):
        options = [value for key, value in results.protocol.items() if key not in _NAMED]
        version = results.protocol.get("version", "")
        protocol = [f"{results.protocol['name']}.{version}", *options]
        n = sum(score.n_rows for score in scores)
    elif isinstance(results, RankingResults):
        protocol, n = [f"evalrank.{first.similarity}", first.postprocessing], first.pairs
    else:
        protocol, n = [f"paralex.{first.vocabulary}.{first.casing}"], len(first.clusters)
    described = {k: v for k, v in results.encoder.items() if k not in ("layers", "layer")}
    description = json.dumps(described, sort_keys=True, ensure_ascii=False).encode()
    fields = (
        results.versions.get("probeta", "?"),
        f"{name}@{digest[:_DIGITS]}",
        "+".join(str(part) for part in protocol if part not in _USUAL),
        f"{results.name}@{sha256(description).hexdigest()[:_DIGITS]}",
        first.layer,
        results.seed,
        n,
    )
    return Citation(*(re.sub(r"[|\s]", ".", str(value)) for value in fields))
