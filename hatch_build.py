"""Puts into the wheel what stands elsewhere in a checkout: for hatchling, which looks for this."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[type-arg,unused-ignore]
    """An editable installation takes these files from the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a wheel."""
        if version != "editable":
            build_data["force_include"] |= {
                # PEP 561 knows no typed module, so that it becomes a package.
                "probeta.py": "probeta/__init__.py",
                "evaluation/py.typed": "probeta/py.typed",
                # For `probeta repro` in an empty folder.
                "params.yaml": "corpora_recipes/params.yaml",
            }
