"""Anybody's own documents, as JSON Lines or Parquet."""
