"""The RST Discourse Treebank, and treebanks of other texts in the same theory: GUM and Potsdam."""
