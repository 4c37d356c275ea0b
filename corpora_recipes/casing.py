"""Lower case, the same wherever words are compared."""


def lower_case(text: str) -> str:
    """Return a text in lower case, by the rules for any language.

    Turkish İ becomes i, and not Python's i with a dot above, which no list of words has; Turkish I
    becomes i too, as it does in all other languages.
    """
    return text.lower().replace("i\u0307", "i")
