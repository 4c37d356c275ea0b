"""Pairs of words that mean the same: a list of Spanish ones, or anybody's own."""
