"""Wikipedia: articles of any language's Wikipedia, from a pages-articles dump.

A dump is XML: a header ``<siteinfo>``, then ``<page>`` elements with ``<title>``, ``<ns>``,
``<id>`` and a ``<revision>`` with ``<model>`` and ``<text>``, the wikitext. Multistream dumps are
bz2 streams of 100 pages each, with an index of ``offset:id:title`` lines, so that any part can be
read alone. Other dumps, plain or compressed, are read from any byte on. Content File Exports are
several such dumps.

    plan.py           finds the dump in a folder, and cuts it into blocks
    pages.py          the pages of a block (bytes)
    chunks.py         decompresses from any bz2 stream, or the middle of a long one
    editions.py       the pages created after a day, and Content File Exports
    wikitext.py       a page's wikitext to paragraphs of half-cleaned text (plain.py: tags, quotes)
    templates.py      renders templates by the tables of wikis.yaml (data for each language)
    prose.py          paragraphs to whole sentences, the rest dropped and counted
    wikiextractor.py  the same through the wikiextractor command, for comparison
    upstream.py       finds the date of a dump, and what its files must be
    partial.py        fetches the parts of a dump that a quota needs
    recipe.py         the interface of a recipe
"""
