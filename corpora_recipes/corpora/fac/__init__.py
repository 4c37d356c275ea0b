"""FAC: sentences about films, critics' opinions against plot summaries, from FilmAffinity."""
