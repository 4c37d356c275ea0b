"""SICK in Spanish: pairs of sentences on everyday scenes, with relatedness and entailment."""
