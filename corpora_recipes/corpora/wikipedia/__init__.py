"""Wikipedia: articles of any language's Wikipedia, from a pages-articles dump.

A dump is XML: a header ``<siteinfo>``, then ``<page>`` elements with ``<title>``, ``<ns>``,
``<id>`` and a ``<revision>`` with ``<model>`` and ``<text>``, the wikitext. Multistream dumps are
bz2 streams of 100 pages each, with an index of ``offset:id:title`` lines, so that any part can be
read alone. Other dumps, plain or compressed, are read from any byte on. Content File Exports are
several such dumps.

Order: plan.py cuts a dump, pages.py reads it, wikitext.py and templates.py clean, prose.py splits.
"""
