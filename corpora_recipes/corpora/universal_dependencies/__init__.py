"""Recipe for the treebanks of Universal Dependencies."""
