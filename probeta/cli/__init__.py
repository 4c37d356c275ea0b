"""The command line: the verbs, and what is not a stage of a package."""
