"""`probeta init`: a params.yaml with all datasets that the recipes have in a language."""
