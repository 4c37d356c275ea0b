"""What speaks the formats of others: tasks of mteb, answers of lm-eval, results for the Hub."""
