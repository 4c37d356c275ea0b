"""MuchoCine: summaries of film reviews by readers of a web site, with their star ratings."""
