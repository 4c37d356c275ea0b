"""`probeta init`: a params.yaml with what there is in a language, or as in a paper."""
