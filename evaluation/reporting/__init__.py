"""The report: from results to a page, tables and figures.

inputs      the results of a report, checked to be comparable
long        all scores in one table, a row each
instances   the instances that the page shows, with each encoder's answer
published   scores that papers report
layout      tables independent of a format, by their columns; notes: their marks
            tables.yaml: their titles and explanations
tables/     the tables: one module per subject
sections    the one list of sections, which all formats follow
markdown, latex, html, figures      the formats
writing     the command
"""
