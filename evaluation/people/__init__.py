"""The scores of people: sheets that they fill in, and how well they answer."""
