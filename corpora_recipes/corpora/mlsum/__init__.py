"""News items with their subheads, from MLSUM."""
