"""PAWS-X: pairs of sentences that share nearly all words, labelled as paraphrases or not."""
