"""The datasets and rankings of params.yaml, checked."""
