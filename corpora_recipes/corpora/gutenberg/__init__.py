"""Dialogues of Project Gutenberg's Spanish books, split by the Gutenberg Dialogue dataset."""
