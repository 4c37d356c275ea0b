"""The datasets to audit: one module per file format."""
