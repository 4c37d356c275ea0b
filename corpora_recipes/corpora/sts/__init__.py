"""Semantic textual similarity in Spanish: the evaluation sets of SemEval 2014, 2015 and 2017."""
