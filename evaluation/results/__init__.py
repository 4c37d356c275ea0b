"""What every stage writes, and the report reads."""
