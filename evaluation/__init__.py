"""From instances to scores: embed sentences, probe the embeddings, report."""
