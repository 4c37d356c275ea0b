"""Metrics, similarities and the bootstrap."""
