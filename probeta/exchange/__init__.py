"""Formats of other tools: third-party data, tasks of mteb, logs of lm-eval, results of the Hub.

``benchmark`` is the door for mteb.
"""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from corpora_recipes.running.errors import load_packages

if TYPE_CHECKING:
    from mteb import Benchmark


def benchmark(
    data: str | Path | None = None,
    *,
    datasets: Collection[str] | None = None,
    groups: Collection[str] | None = None,
    protocol: str = "standard",
) -> "Benchmark":
    """Return datasets with a label or a score as a benchmark of mteb.

        mteb.evaluate(mteb.get_model("intfloat/multilingual-e5-small"), benchmark("dist/hub"))

    The encoder and its prompts are mteb's; features, probe and interval are those of ``score``, and
    so are the numbers, for the same vectors.

    Args:
        data: see ``score``.
        datasets: names of datasets.
        groups: abbreviations of groups, such as "SP". Without names or groups, all datasets that
            have a label or a score.
        protocol: "standard" or "senteval".

    Returns:
        A task for each dataset.

    Raises:
        InputError: mteb is not installed, or there is no such folder, dataset, group or protocol.
    """
    load_packages("benchmark", "mteb")
    # Only with mteb, from whose classes it makes others.
    from probeta.exchange.mteb_tasks import make_benchmark

    return make_benchmark(data, datasets, groups, protocol)
