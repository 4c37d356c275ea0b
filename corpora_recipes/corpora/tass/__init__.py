"""TASS 2020: Spanish tweets labelled with their polarity or with the emotion they express."""
