"""The user's documents, in JSON Lines or Parquet."""
