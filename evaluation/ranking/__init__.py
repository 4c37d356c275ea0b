"""EvalRank: how high an encoder ranks what means the same (Wang, Kuo and Li 2022)."""
