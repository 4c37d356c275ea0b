"""Wikipedia: articles of any language's Wikipedia, from a pages-articles dump.

A dump is XML: a header ``<siteinfo>``, then ``<page>`` elements with ``<title>``, ``<ns>``,
``<id>`` and a ``<revision>`` with ``<model>`` and ``<text>``, the wikitext. Multistream dumps are
bz2 streams of 100 pages each, with an index of ``offset:id:title`` lines, so that any part can be
read alone. Other dumps, plain or compressed, are read from any byte on. Content File Exports are
several such dumps.

    dump.py           blocks and pages (bytes)
    folder.py         finds the dump in a folder
    created.py        finds the pages that were created after a day
    bz2_blocks.py     decompresses from the middle of a long bz2 stream
    exports.py        the files of a Content File Export
    wikitext.py       a page's wikitext to paragraphs of half-cleaned text
    templates.py      renders templates by the tables of wikis.yaml (data for each language)
    prose.py          paragraphs to whole sentences, the rest dropped and counted
    wikiextractor.py  the same through the wikiextractor command, for comparison
    upstream.py       finds the date of a dump, and what its files must be
    partial.py        fetches the parts of a dump that a quota needs
    recipe.py         the interface of a recipe
"""
