"""Pairs of synonyms: a Spanish list, or the user's."""
