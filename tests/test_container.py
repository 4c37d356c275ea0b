"""The dev container: a command of the Makefile, in a Python that the gate tests."""

import json
import re
from pathlib import Path

import yaml


def test_the_dev_container_makes_the_environment_of_the_gate(repository: Path) -> None:
    container = json.loads((repository / ".devcontainer/devcontainer.json").read_text("utf-8"))
    workflow = yaml.safe_load((repository / ".github/workflows/test.yml").read_text("utf-8"))
    versions = workflow["jobs"]["gate"]["strategy"]["matrix"]["python"]
    assert container["image"] in [f"python:{version}" for version in versions]
    target = container["postCreateCommand"].removeprefix("make ")
    assert re.search(rf"^{re.escape(target)}:", (repository / "Makefile").read_text(), re.MULTILINE)
