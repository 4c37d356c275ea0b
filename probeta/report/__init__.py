"""The report: from results to a page, tables and figures.

inputs      the results of a report, checked to be comparable, and all scores in one table
sources     where the pairs of rankings come from
averages    the datasets that scores are averaged over, and means
instances   the instances that the page shows, with each encoder's answer
texts/      all that a reader sees, a file per language
layout      tables independent of a format, by their columns
tables/     the tables: one module per subject; marks: of their cells
picture     the picture of the averages; its template, its colours
sections    the one list of sections, which all formats follow
formats     Markdown, LaTeX, the page; figures
writing     the files of a report
"""
