"""The stage `probe`: a probe for every dataset, on the vectors of an encoder."""
