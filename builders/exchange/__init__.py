"""What is in somebody else's format: datasets to audit, and datasets as others name them."""
