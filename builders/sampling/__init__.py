"""All random choices of the builders, by keyed hashing."""
