"""Datasets of a Hub folder: their texts, rows, and the features of each task."""
