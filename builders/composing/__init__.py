"""The stage `compose`: records of several corpora become the instances of a ranking."""
