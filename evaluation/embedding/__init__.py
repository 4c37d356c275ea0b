"""The stage `embed`: every text is encoded once, and its vector is stored."""
