"""YAML: the fast loader gives what PyYAML's own gives, and makes no objects."""

from pathlib import Path

import pytest
import yaml

from corpora_recipes.running.yaml_text import load_yaml

ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / "params.yaml",
    *sorted(ROOT.glob("builders/**/*.yaml")),
    *sorted(ROOT.glob("evaluation/**/*.yaml")),
    *sorted(ROOT.glob("corpora_recipes/**/*.yaml"))[:3],
]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_as_the_loader_in_python(file: Path) -> None:
    text = file.read_text("utf-8")
    assert load_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["!!python/name:os.system", "a: [", "a: b: c", "\x00"])
def test_what_is_no_plain_yaml_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        load_yaml(text)
