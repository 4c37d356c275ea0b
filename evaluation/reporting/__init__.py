"""The report: from results to a page, tables and figures.

inputs      the results of a report, checked to be comparable
downstream  scores without a probe against scores of probes
layers      the scores over the layers of an encoder
instances   the instances that the page shows, with each encoder's answer
published   scores that papers report
layout      tables independent of a format; notes: their marks
tables/     the tables: one module per subject
sections    the one list of sections, which all formats follow
markdown, latex, html, figures      the formats
writing     the command
"""
