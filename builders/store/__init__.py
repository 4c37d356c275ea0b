"""Rows on disk: schema, shards, files of records."""
