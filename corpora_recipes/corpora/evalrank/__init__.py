"""EvalRank in English: positive pairs, background texts, and word similarity sets."""
