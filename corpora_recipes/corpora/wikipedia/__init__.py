"""Wikipedia: articles of any language's Wikipedia, from a pages-articles dump.

A dump is XML: a header ``<siteinfo>``, then ``<page>`` elements with ``<title>``, ``<ns>``,
``<id>`` and a ``<revision>`` with ``<model>`` and ``<text>``, the wikitext. Multistream dumps are
bz2 streams of 100 pages each, with an index of ``offset:id:title`` lines, so that any part can be
read alone. Plain ``.xml`` dumps are read in parallel too; a ``.xml.bz2`` without an index is one
block, which only one worker can read.

    dump.py           blocks and pages (bytes)
    wikitext.py       a page's wikitext to paragraphs of half-cleaned text
    templates.py      renders templates by the tables of wikis.yaml (data for each language)
    prose.py          paragraphs to whole sentences, the rest dropped and counted
    wikiextractor.py  the same through the wikiextractor command, for comparison
    partial.py        fetches the parts of a dump that a quota needs
    recipe.py         the interface of a recipe
"""
