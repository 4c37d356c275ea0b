"""Turns raw corpora into records: fetches, reads and cleans files, and counts every drop."""
