"""The stage `read`: raw files to records."""
