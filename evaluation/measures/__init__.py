"""Metrics, similarities and intervals."""
