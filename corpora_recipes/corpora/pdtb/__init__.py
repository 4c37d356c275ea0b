"""The Penn Discourse Treebank 2 and 3, and treebanks in its format: GDTB and TED-MDB."""
