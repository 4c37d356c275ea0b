"""The corpora: one folder each, with corpus.yaml (facts), recipe.py (code) and sample/."""
