"""The report: from results to tables, figures and a page to look at.

inputs      what a report is made of, checked for being comparable
tables      what is shown, as tables without a format
layers      how scores change over the layers of an encoder
instances   the instances that the page shows, with each encoder's answer
markdown, latex, html, figures      the formats
writing     the command
"""

from evaluation.report.writing import write_report

__all__ = ["write_report"]
