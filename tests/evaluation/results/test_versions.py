"""What results say of their encoder, and of the libraries."""

from importlib.metadata import version

from evaluation.encoders.encoder import Description
from evaluation.results.stored import encoder_facts, library_versions

ENCODER = Description("mine", "7", ("0", "1"), "1", "tokens", {"batch": 2}, {}, ())


def test_the_encoder() -> None:
    assert encoder_facts(ENCODER, 300) == {
        "encoder": "mine",
        "revision": "7",
        "form": "tokens",
        "dimension": 300,
        "layers": ["0", "1"],
        "layer": "1",
        "options": {"batch": 2},
    }


def test_what_has_encoded_and_what_has_scored() -> None:
    """An encoder may have run in another environment; what scores is of this one."""
    found = library_versions("probe", {"versions": {"torch": "0.1", "numpy": "0.2"}})
    assert list(found) == ["numpy", "platform", "probeta", "pyarrow", "python", "scipy", "torch"]
    assert (found["torch"], found["numpy"]) == ("0.1", version("numpy"))
