"""The encoder and the versions that results depend on."""

import platform
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from evaluation.encoders.encoder import Described


def encoder_facts(encoder: Described, dimension: int) -> dict[str, Any]:
    """Return an encoder's description for results; ``dimension`` is that of the store."""
    return {
        "encoder": encoder.name,
        "revision": encoder.revision,
        "form": encoder.form,
        "dimension": dimension,
        "layers": list(encoder.layers),
        "layer": encoder.layer,
        "options": encoder.options | ({"prompts": encoder.prompts} if encoder.prompts else {}),
    }


def library_versions(packages: Iterable[str] = ()) -> dict[str, str]:
    """Return the versions of Python, the platform, Probeta and the libraries that compute.

    Args:
        packages: those of the encoder, and others that the results depend on.
    """
    libraries = {"probeta", "numpy", "scipy", "pyarrow", *packages}
    versions = {"python": platform.python_version(), "platform": platform.platform()}
    for library in sorted(libraries):
        # What encoded may be elsewhere by now.
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions
