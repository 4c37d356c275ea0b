"""Tasks for language models: the datasets of a package as questions of lm-evaluation-harness."""
