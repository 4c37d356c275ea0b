"""The verb `doctor`: whether the corpora of params.yaml can be fetched, before it is tried."""
