"""ParaLex: whether the words of a paradigm are each other's neighbours (Sumbler et al. 2018)."""
