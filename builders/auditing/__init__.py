"""The stage `audit`: every gate on every dataset, and a verdict."""
