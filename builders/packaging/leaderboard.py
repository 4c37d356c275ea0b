"""Names of datasets and languages on the leaderboards of mteb and the Hub, and eval.yaml."""

from collections.abc import Mapping

import yaml

from corpora_recipes.records import Split
from corpora_recipes.running.errors import InputError

NAME = "Probeta"
DESCRIPTION = (
    "Discourse, similarity, classification and linguistic probing: benchmarks for sentence "
    "encoders, rebuilt from raw corpora."
)
FRAMEWORK = "mteb"
# In a package: what ``mteb_facts`` states of its datasets.
FACTS = "mteb.json"


def task_name(dataset: str) -> str:
    """Return the name of a dataset as a task of mteb, where names of all benchmarks meet."""
    return f"{NAME.lower()}_{dataset}"


def eval_yaml(asked: Mapping[str, Split]) -> str:
    """Return eval.yaml, as the Hub's documentation describes it ("Evaluation results").

    ``asked`` has the datasets with a label or a score, and the split that encoders are scored on.
    """
    content = {
        "name": NAME,
        "description": DESCRIPTION,
        "evaluation_framework": FRAMEWORK,
        "tasks": [
            {"id": task_name(dataset), "config": dataset, "split": split}
            for dataset, split in asked.items()
        ],
    }
    return yaml.safe_dump(content, sort_keys=False, width=1000)


# ISO 639-1 to ISO 639-3, by script (ISO 15924): that of most texts of the language. They are those
# languages that spaCy tokenises.
_BY_SCRIPT = {
    "Arab": "ar:ara fa:fas ur:urd",
    "Armn": "hy:hye",
    "Beng": "bn:ben",
    "Cyrl": "bg:bul kk:kaz ky:kir mk:mkd ru:rus sr:srp tt:tat uk:ukr",
    "Deva": "hi:hin mr:mar ne:nep sa:san",
    "Ethi": "am:amh ti:tir",
    "Grek": "el:ell grc:grc",
    "Gujr": "gu:guj",
    "Hang": "ko:kor",
    "Hans": "zh:zho",
    "Hebr": "he:heb",
    "Jpan": "ja:jpn",
    "Knda": "kn:kan",
    "Latn": "af:afr az:aze ca:cat cs:ces da:dan de:deu dsb:dsb en:eng es:spa et:est eu:eus fi:fin "
    "fo:fao fr:fra ga:gle gd:gla gl:glg hr:hrv hsb:hsb ht:hat hu:hun id:ind is:isl it:ita la:lat "
    "lb:ltz lg:lug lij:lij lt:lit lv:lav ms:msa nb:nob nl:nld nn:nno no:nor pl:pol pt:por ro:ron "
    "sk:slk sl:slv sq:sqi sv:swe tl:tgl tn:tsn tr:tur vi:vie yo:yor",
    "Mlym": "ml:mal",
    "Sinh": "si:sin",
    "Taml": "ta:tam",
    "Telu": "te:tel",
    "Thai": "th:tha",
    "Tibt": "bo:bod",
}
CODES: dict[str, str] = {
    short: f"{long}-{script}"
    for script, pairs in _BY_SCRIPT.items()
    for short, _, long in (pair.partition(":") for pair in pairs.split())
}
# mteb also names two languages by their standard variety.
_SHORT = {"arb": "ar", "cmn": "zh"} | {
    long.partition("-")[0]: short for short, long in CODES.items()
}


def mteb_language(code: str) -> str:
    """Return a language, a BCP 47 code, as mteb writes it; of es-MX only the language counts."""
    language = code.partition("-")[0]
    if language not in CODES:
        expected, todo = f"one of {', '.join(sorted(CODES))}", f"add it to {__name__}"
        raise InputError(f"language {code}", expected, "another one", todo)
    return CODES[language]


def short_code(mteb: str) -> str:
    """Return the code, of ISO 639-1 if it has one, of a language as mteb writes it (spa-Latn)."""
    language = mteb.partition("-")[0]
    return _SHORT.get(language, language)
