"""The stage `compose`: makes a ranking dataset from records of one or more corpora."""

from pathlib import Path
from typing import Any

from builders.composing.composition import Composition
from builders.plan.datasets import check_tokens
from builders.plan.rankings import RankingDataset
from builders.store.dataset_files import describe, write_dataset, write_report
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import whole_folder


def compose(dataset: RankingDataset, records: Path, out: Path, sources: str) -> dict[str, Any]:
    """Build a ranking dataset.

    Writes ``out/<dataset>/test-00000-of-0000n.parquet`` and ``out/build.json``. The rows
    depend only on the records, the entry in params.yaml and the datasets that probes are trained
    on; their order depends on the seed too.

    Sentences are the same if they differ only in case, punctuation and symbols; the row has the
    first of them, by the order of the entry's ``pairs``, then by id. If the entry names a
    ``background``, which is a published set, only equal sentences are the same. Words are compared
    in lower case and NFC. Texts without a letter or a digit are left out.

    Args:
        dataset: the ranking, an entry of params.yaml.
        records: the folder with the records of its corpora, ``<corpus>.parquet``.
        out: folder to write; what it held before is replaced as a whole.
        sources: `sources` of params.yaml; the rows of a sample have the licence of the sample.

    Returns:
        The content of ``build.json``. For the dataset: ``rows`` and ``labels`` as in `build`; the
        numbers of ``pairs``, ``texts`` and ``words`` by outcome; and ``sources``, collection to
        ``source_parts`` (the source's part to the number of its examples), ``missing_parts`` (those
        with far fewer examples than the official count), ``test_part`` (the part that is left out,
        or None) and ``of_a_test_part`` (the number of its examples). For collections of pairs also
        the numbers of ``different`` usable pairs, of those ``chosen`` as paraphrases, and of
        ``positives`` that no collection before it has, and the ``lowest_score`` of those chosen
        (None without scores).

    Raises:
        InputError: records are missing or of another kind, no pair can be used, scores do not
            separate the top quarter, or the vocabulary has no words. Nothing is written then.
    """
    check_tokens(dataset)
    composition = Composition(dataset, records, sources)
    composition.add_background()
    composition.add_vocabulary()
    composition.link_pairs()
    rows = composition.rows()
    counts = composition.counts(rows)
    if not counts["texts"]["with_positives"]:
        of_background = bool(dataset.background)
        raise InputError(
            f"dataset {dataset.name} ({dataset.task.name.replace('_', ' ')})",
            expected=dataset.task.needs + ", both in the background" * of_background,
            found=describe(counts),
            todo="add the source's files that are missing, or name other pairs"
            + " or another background" * of_background,
        )
    with whole_folder(out) as folder:
        written = write_dataset(dataset, {"test": rows}, [], folder)
        report = {dataset.name: written | counts | {"sources": composition.collections}}
        write_report(report, folder)
    return report
