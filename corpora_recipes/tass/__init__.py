"""TASS 2020: Spanish tweets with their polarity, and with the emotion that they show."""
