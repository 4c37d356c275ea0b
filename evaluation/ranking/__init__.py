"""EvalRank: how highly an encoder ranks paraphrases and synonyms (Wang, Kuo and Li 2022)."""
