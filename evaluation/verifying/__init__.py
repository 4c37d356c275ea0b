"""The verb `verify`: whether stored scores are those that the stored answers give."""
