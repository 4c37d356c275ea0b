"""Reads Parquet files, ours and those of others, for the audit."""

from dataclasses import replace

from builders.auditing.instances import (
    class_names,
    column_types,
    read_instances,
    read_parquet,
    text_columns,
)
from builders.auditing.target import Columns, Location, Target, no_rows
from builders.store.shards import opened
from probeta.exchange.making import LABEL_NAMES, SCORE_NAMES, choose

# Rows that tell what a column holds.
_SAMPLE = 1000


def from_parquet(location: Location) -> Target:
    """Read a dataset of Parquet files; ours say of themselves what they are."""
    with opened(location.first) as file:
        ours = b"probeta" in (file.schema_arrow.metadata or {})
    return read_instances(location) if ours else read_parquet(location, _roles(location))


def _roles(location: Location) -> Columns:
    """Choose the columns of files that do not describe themselves."""
    columns = location.columns
    with opened(location.first) as file:
        schema = file.schema_arrow
        classes = [name for name in schema.names if class_names(schema, name)]
        known = {*text_columns(schema), *classes, columns.label, columns.score}
        answers = {*LABEL_NAMES, *SCORE_NAMES}
        looked = [name for name in schema.names if name in known or name.lower() in answers]
        if not file.metadata.num_rows:
            raise no_rows(location.first)
        batch = next(file.iter_batches(_SAMPLE, columns=looked))
        sample = {name: batch[name].to_pylist() for name in looked}
    if not columns.label and not columns.score and len(classes) == 1:
        columns = replace(columns, label=classes[0])
    return choose(sample, columns, location.first, shown=column_types(schema))
