"""From records to instances: the benchmark datasets, as Parquet that the Hub reads."""
