"""ParaLex: clusters of words that are one another's like, such as weekdays, in 46 languages."""
