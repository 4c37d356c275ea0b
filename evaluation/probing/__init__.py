"""The stages `probe` and `invariance`."""
