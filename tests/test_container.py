"""The containers: a command of the Makefile in a Python that the gate tests; all packages."""

import json
import re
from pathlib import Path

import yaml
from imports import PACKAGES


def test_the_dev_container_makes_the_environment_of_the_gate(repository: Path) -> None:
    container = json.loads((repository / ".devcontainer/devcontainer.json").read_text("utf-8"))
    workflow = yaml.safe_load((repository / ".github/workflows/test.yml").read_text("utf-8"))
    versions = workflow["jobs"]["gate"]["strategy"]["matrix"]["python"]
    assert container["image"] in [f"python:{version}" for version in versions]
    target = container["postCreateCommand"].removeprefix("make ")
    assert re.search(rf"^{re.escape(target)}:", (repository / "Makefile").read_text(), re.MULTILINE)


def test_the_container_has_every_package(repository: Path) -> None:
    dockerfile = (repository / "Dockerfile").read_text("utf-8").splitlines()
    assert {f"COPY {package} {package}" for package in PACKAGES} <= {*dockerfile}
