"""Lower case, shared by all comparisons of words."""


def lower_case(text: str) -> str:
    """Return a text in lower case, by the rules for any language.

    Turkish İ becomes i, not Python's i with a dot above, which no word list has; Turkish I
    becomes i too, as in all other languages.
    """
    return text.lower().replace("i\u0307", "i")
