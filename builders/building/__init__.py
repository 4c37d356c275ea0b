"""The stage `build`: makes the instances of a corpus's datasets from its records."""
