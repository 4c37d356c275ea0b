"""Abstracts of theses from university repositories, by OAI-PMH."""
