"""FAC: sentences about films, critics' opinions against outlines of plots, from FilmAffinity."""
