"""Natural text: cleaning, sentences, tokens, detokenising, language identification."""
