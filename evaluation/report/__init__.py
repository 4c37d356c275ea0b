"""The report: from results to tables, figures and a page to look at.

inputs      what a report is made of, checked for being comparable
layout      tables without a format
tables      what is shown of probes, as such tables
neighbours  the same of EvalRank and ParaLex, and of what they tell about downstream
published   what papers report
layers      how scores change over the layers of an encoder
instances   the instances that the page shows, with each encoder's answer
markdown, latex, html, figures      the formats
writing     the command
"""

from evaluation.report.writing import write_report

__all__ = ["write_report"]
