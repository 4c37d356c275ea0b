"""The sections `encoders`, `probing`, `evalrank` and `paralex` of params.yaml."""

from pathlib import Path
from typing import Any

import pytest

from corpora_recipes.running.errors import InputError
from evaluation.params import encoders_params, evalrank_params, paralex_params, store_names
from evaluation.probing.probing import Probing
from evaluation.probing.protocols import probing_params

PATH = Path("params.yaml")
SECTIONS = {
    "encoders": encoders_params,
    "probing": probing_params,
    "evalrank": evalrank_params,
    "paralex": paralex_params,
}


def test_defaults() -> None:
    assert probing_params({"probing": {}}, PATH) == Probing()
    assert evalrank_params({"evalrank": {}}, PATH) == {
        "similarities": ["cosine", "l2"],
        "postprocessings": ["none", "centre", "abtt", "whitening"],
    }
    lower = {"casings": ["as_is", "lower"], "coherence_threshold": 2}
    assert paralex_params({"paralex": {}}, PATH) == lower
    assert encoders_params({"encoders": {"a": None, "b-2": {"dimension": 5}}}, PATH) == {
        "a": {},
        "b-2": {"dimension": 5},
    }


def test_values_that_are_given() -> None:
    chosen = probing_params({"probing": {"pair_features": "four_part"}}, PATH)
    assert chosen == Probing(pair_features="four_part")
    evalrank = evalrank_params({"evalrank": {"similarities": ["l2"]}}, PATH)
    assert evalrank["similarities"] == ["l2"]
    paralex = paralex_params({"paralex": {"coherence_threshold": 3, "casings": ["lower"]}}, PATH)
    assert paralex == {"casings": ["lower"], "coherence_threshold": 3}


@pytest.mark.parametrize(
    ("section", "given", "where", "word"),
    [
        ("evalrank", {"similarities": ["cos"]}, ".similarities[0]", "cosine, l2"),
        ("evalrank", {"similarities": []}, ".similarities", "one or more"),
        ("evalrank", {"similarities": "l2"}, ".similarities", "a list"),
        ("evalrank", {"postprocessings": ["abtt", "abtt"]}, ".postprocessings", "each once"),
        ("paralex", {"casing": "lower"}, ".casing", "write casings"),
        ("paralex", {"casings": ["fold"]}, ".casings[0]", "as_is, lower"),
        ("paralex", {"coherence_threshold": 0}, ".coherence_threshold", "from 1"),
        ("paralex", {"coherence_threshold": True}, ".coherence_threshold", "True"),
        ("probing", {"protocol": "sentence"}, ".protocol", "standard, senteval"),
        ("probing", {"protocol": None}, ".protocol", "nothing"),
        ("probing", {"engine": ["numpy"]}, ".engine", "numpy"),
        ("probing", {"transfer": ["similarity"]}, ".transfer", "similarity"),
        ("probing", {"pairs": "four_part"}, ".pairs", "pair_features"),
        ("probing", {"pair_features": 4}, ".pair_features", "difference_product, four_part"),
        ("probing", {"ablations": "no"}, ".ablations", "true or false"),
        ("encoders", {"a": 512}, ".a", "dimension: 512"),
        ("encoders", {"e5": {}, "b": {}, "E5": {}}, "", "e5, E5"),
    ],
)
def test_what_is_wrong_is_said(section, given, where, word) -> None:
    with pytest.raises(InputError, match=word) as error:
        SECTIONS[section]({section: given}, PATH)
    assert error.value.where == f"params.yaml: {section}{where}"


def test_encoders_that_differ_in_post_processing_alone_share_their_vectors() -> None:
    entries: dict[str, dict[str, Any]] = {
        "white": {"encoder": "char_hash", "postprocessing": "whitening"},
        "char_hash": {},
        "again": {"encoder": "char_hash"},
        "small": {"encoder": "char_hash", "dimension": 8, "postprocessing": "centre"},
        "small_abtt": {"encoder": "char_hash", "postprocessing": "abtt", "dimension": 8},
    }
    shared = {"white": "char_hash", "again": "char_hash", "small_abtt": "small"}
    assert store_names(entries) == {name: shared.get(name, name) for name in entries}
