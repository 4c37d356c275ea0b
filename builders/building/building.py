"""The stage `build`: makes the instances of a corpus's datasets from its records."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from builders.building.examples import example_rows
from builders.building.made import Made, check_sizes
from builders.building.parsed_sentences import treebank_rows
from builders.building.passages import passage_rows
from builders.building.relations import relation_rows
from builders.plan.datasets import (
    Dataset,
    ExampleDataset,
    PassageDataset,
    TreebankDataset,
    check_tokens,
    datasets_of,
)
from builders.store.record_files import window_of
from builders.store.shards import write_dataset, write_report
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder

# Kind of dataset to the function that makes the rows from the records of the corpus.
MAKERS: dict[type[Dataset], Callable[[Sequence[Any], Path, Corpus], Iterable[Made]]] = {
    PassageDataset: passage_rows,
    ExampleDataset: example_rows,
    Dataset: relation_rows,
    TreebankDataset: treebank_rows,
}


def build(
    corpus: Corpus,
    records: Path,
    out: Path,
    sources: str,
    faults: dict[str, InputError] | None = None,
) -> dict[str, Any]:
    """Build every dataset of a corpus.

    Writes ``out/<dataset>/<split>-0000i-of-0000n.parquet`` and ``out/build.json``: for each
    dataset the rows and labels per split, and the numbers of documents and passages used or left
    out, by reason; and the window of the documents' dates, if there is one. The rows depend only on
    the records, the seed and the parameters.

    Args:
        corpus: its entry in params.yaml.
        records: the file that `probeta read` wrote.
        out: folder to write; what it held before is replaced as a whole.
        sources: `sources` of params.yaml; the rows of a sample have the licence of the sample.
        faults: gets the datasets with too few rows, which are left out; None to raise the first.

    Returns:
        The content of ``build.json``.

    Raises:
        InputError: the records are missing or of another kind, a parameter is invalid, or a split
            has too few documents. Nothing is written then.
    """
    datasets = datasets_of(corpus, sources)
    for dataset in datasets:
        check_tokens(dataset)
    # All datasets of a corpus are of one kind, as its records are.
    made = MAKERS[type(datasets[0])](datasets, records, corpus) if datasets else ()
    with whole_folder(out) as folder:
        report = {}
        for dataset, result in zip(datasets, made, strict=True):
            try:
                check_sizes(dataset, result)
            except InputError as error:
                if faults is None:
                    raise
                faults[dataset.name] = error
                continue
            written = write_dataset(dataset, result.rows, result.labels, folder)
            report[dataset.name] = written | result.counts
            if window := window_of(records):
                report[dataset.name]["window"] = window
        write_report(report, folder)
    return report
