"""ParaLex: clusters of words of one paradigm, such as the weekdays, in 46 languages."""
