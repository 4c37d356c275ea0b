"""The corpus of five-sentence stories, which users get from its authors."""
