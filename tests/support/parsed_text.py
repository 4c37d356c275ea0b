"""Parsed sentences from short text."""

from corpora_recipes.records import ParsedSentence, Split, Token, Word


def parsed(
    words: str,
    name: str = "s1",
    split: Split = "train",
    tokens: str = "",
    joined: dict[str, int] | None = None,
) -> ParsedSentence:
    """Return a sentence of words FORM/UPOS/HEAD/RELATION, and /FEATURES and /LEMMA if any.

    ``tokens`` is the text if words are written together, and ``joined`` the number of words in each
    such token; a token before punctuation has no space after it.
    """
    made = []
    for given in words.split():
        form, upos, head, relation, *more = given.split("/")
        features, lemma = (*more, "", "")[:2]
        made.append(Word(form, lemma or form.lower(), upos, features, int(head), relation))
    forms = tokens.split() or [word.form for word in made]
    following = [*forms[1:], "."]
    spaced = tuple(
        Token(form, (joined or {}).get(form, 1), after not in ".,;?!")
        for form, after in zip(forms, following, strict=True)
    )
    return ParsedSentence(f"es_own/{name}", "es_own", name, tuple(made), spaced, "CC0 1.0", split)
