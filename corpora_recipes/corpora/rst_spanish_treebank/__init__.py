"""The RST Spanish Treebank: texts with their rhetorical structure, as RSTTool writes them."""
