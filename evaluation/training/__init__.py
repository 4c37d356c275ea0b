"""Trains sentence encoders on the structure of documents (Chen et al. 2019, section 4)."""
