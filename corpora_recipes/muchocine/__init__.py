"""MuchoCine: verdicts on films by the readers of a web site, with the stars that they gave."""
