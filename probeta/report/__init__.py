"""The report: from results to a page, tables and figures.

inputs      what was read: results, audit; checks that they are comparable
statistics  ``Report``: inputs, best encoder first, with averages, differences, editions, items
texts/      all that a reader sees, a file per language
layout      tables independent of a format, by their columns
tables/     the tables: cells with marks (``__init__``), scores, encoders, compared, neighbours
instances   the instances that the page shows, with each encoder's answers
figures     averages, layers, ranks; picture.svg and picture.css
formats     ``SECTIONS``, the one list that all formats follow; page, Markdown, LaTeX, JSON
writing     the files of a report; verifies third-party results
"""
