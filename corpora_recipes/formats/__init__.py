"""File formats and example fields that several recipes share."""
