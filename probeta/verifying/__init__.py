"""Stored scores are computed again."""
