"""The tables of the report, without a format: one module per subject."""
