"""EvalRank in English: pairs that mean the same, their background, and word similarity sets."""
