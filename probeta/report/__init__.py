"""The report: from results to a page, tables and figures.

inputs      what was read: results, audit; checks that they are comparable
statistics  ``Report``: inputs, best encoder first, with averages, differences, editions, items
texts/      all that a reader sees, a file per language
tables/     the tables, each yields rows: papers (``__init__``), scores, encoders, compared, …
layout      numbers as texts; how rows stand as a table of a paper
names       what benchmarks, groups, datasets and languages are called
sentences   what came out, for the page and for Markdown
instances   the rows that the page shows, with encoders' answers
page        the data of the page, which page.js draws
figures     means, layers, ranks; picture.svg
formats     ``TABLES`` of tables.json, ``SECTIONS`` of tables.tex; the page
markdown    report.md, of the data of the page
citing      what a line that cites a score names
writing     the files of a report; verifies third-party results
"""
