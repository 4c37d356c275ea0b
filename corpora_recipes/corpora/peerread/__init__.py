"""The corpus of papers of PeerRead."""
