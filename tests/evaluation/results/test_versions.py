"""What results say of their encoder, and of the libraries."""

from importlib.metadata import version

from evaluation.encoders.encoder import Description
from evaluation.results.versions import encoder_facts, library_versions

ENCODER = Description(
    "mine", "7", ("0", "1"), "1", "tokens", {"batch": 2}, {}, ("yaml", "hypothesis")
)


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


def test_packages_that_are_not_installed_are_left_out() -> None:
    """There is a module yaml, of the package PyYAML."""
    found = library_versions([*ENCODER.packages, "pytest"])
    expected = ["hypothesis", "numpy", "platform", "probeta", "pyarrow", "pytest", "python"]
    assert sorted(found) == [*expected, "scipy"]
    assert found["hypothesis"] == version("hypothesis")
