"""Examples of functions for the encoder ``callable``, to be copied and changed."""
