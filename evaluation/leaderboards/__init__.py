"""The datasets as tasks of mteb, and results in the formats of mteb and the Hugging Face Hub."""
