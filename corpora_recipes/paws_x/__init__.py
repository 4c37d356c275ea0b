"""PAWS-X: pairs of sentences that share nearly all words and may or may not mean the same."""
