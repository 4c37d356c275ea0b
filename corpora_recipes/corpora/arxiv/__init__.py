"""The corpus of arXiv abstracts."""
