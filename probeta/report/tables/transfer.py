"""Probes on datasets that they were not trained on: a matrix for each encoder and family."""

from dataclasses import replace
from functools import partial
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple

from evaluation.results.probes import Results, Score
from probeta.report import layout
from probeta.report.inputs import Inputs
from probeta.report.layout import Cell, Column, Row, Table, columns_of, lay_out
from probeta.report.tables.marks import given, sampled
from probeta.report.texts import phrase, translated

ALL_OTHERS = "all others"


class Matrix(NamedTuple):
    """A family's scores from a layer: of own probes; of others by source and by target."""

    results: Results
    layer: str
    task: str
    usual: list[Score]
    others: dict[str, dict[str, Score]]


def _matrices(inputs: Inputs) -> list[Matrix]:
    """Return the matrices of all encoders, by family, then by layer."""
    found = []
    for results in inputs.encoders:
        families: dict[str, set[str]] = {}
        for each in results.transfers:
            target = each.score.dataset
            families.setdefault(target, {target}).update(each.sources)
        for family in sorted({tuple(sorted(names)) for names in families.values()}):
            for layer in results.encoder["layers"]:
                usual = [s for s in results.scores if s.dataset in family and s.layer == layer]
                others: dict[str, dict[str, Score]] = {}
                for sources, score in ((each.sources, each.score) for each in results.transfers):
                    if score.dataset in family and score.layer == layer:
                        source = sources[0] if len(sources) == 1 else ALL_OTHERS
                        others.setdefault(source, {})[score.dataset] = score
                found.append(Matrix(results, layer, layout.spaced(usual[0].task), usual, others))
    return found


def transfer(inputs: Inputs) -> list[Table]:
    """Return a table for each encoder and family, of the main layer."""
    found = [each for each in _matrices(inputs) if each.layer == each.results.encoder["layer"]]
    tables = [_table(inputs, f"transfer-{at}", matrix) for at, matrix in enumerate(found)]
    return [*tables[:1], *(replace(table, about=()) for table in tables[1:])]


def _table(inputs: Inputs, name: str, matrix: Matrix) -> Table:
    def cell(usual: Score, source: str) -> Cell:
        score = matrix.others[source].get(usual.dataset, usual)
        majority = usual.majority or 0.0
        kept = (
            (score.value - majority) / (usual.value - majority) if usual.value > majority else None
        )
        marks = given({layout.NOT_SHOWN: score.interval[0] <= inputs.trivial(usual.dataset)})
        detail = layout.bracketed(score.interval)
        shown = layout.percent_cell(score.value, detail, marks, strong=score is usual)
        return sampled(inputs, {source, usual.dataset}, replace(shown, shade=kept))

    dataset = attrgetter("dataset")
    majority = (layout.percent_cell(usual.majority) for usual in matrix.usual)
    return lay_out(
        "transfer",
        matrix.others,
        [Column("trained_on", translated), *columns_of(matrix.usual, cell, dataset)],
        name=name,
        last=[Row((Cell(phrase("majority_row")), *majority))],
        task=matrix.task,
        encoder=matrix.results.name,
    )


def transfer_layers(inputs: Inputs) -> list[Table]:
    """Return the means over each family by layer, of encoders with several layers."""
    rows = [each for each in _matrices(inputs) if len(each.results.encoder["layers"]) > 1]

    def mean(of_all: bool, matrix: Matrix) -> float | None:
        chosen = [of for source, of in matrix.others.items() if (source == ALL_OTHERS) == of_all]
        return fmean(each.value for of in chosen for each in of.values()) if chosen else None

    columns = [
        Column("encoder", lambda matrix: matrix.results.name),
        Column("task", lambda matrix: matrix.task),
        Column("layer", lambda matrix: matrix.layer),
        Column("itself", lambda matrix: fmean(usual.value for usual in matrix.usual)),
        Column("another", partial(mean, False)),
        Column("all_others", partial(mean, True)),
    ]
    return [lay_out("transfer-layers", rows, columns, texts=3)] if rows else []
