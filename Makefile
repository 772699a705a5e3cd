# `make run` does the main job, `make test` checks everything, `make setup` installs what both use. They need Python 3.11 or later, nothing else,
# and install isentropic and papers/, its plug-in of published tables.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup run test quick lint types layers unit kernels-without-jit papers benchmark docs changes clean

# What a first `make quick` or `pytest` needs; the other targets do it by themselves.
setup: .venv/installed-for-development

run: .venv/compiled
	@mkdir -p out
	@$(BIN)/isentropic report builtin:digits --preset standard --out out/digits.html
	@echo "Open $(CURDIR)/out/digits.html in a browser."

# Kernels compile on first use: here once, on all cores.
.venv/compiled: .venv/installed
	@echo "Compiling the kernels, once: about a minute."
	@$(BIN)/isentropic warm
	@touch $@

test: lint types layers unit kernels-without-jit

# What is checked while one works: the tests of what differs from BASE, all of lint, types and layers.
BASE ?= HEAD
quick: lint types layers
	@tests=$$($(BIN)/python tests/changed.py $(BASE)); \
	if [ -n "$$tests" ]; then $(BIN)/pytest -q -n auto --dist loadfile $$tests; else echo "Nothing to test differs from $(BASE)."; fi

lint: .venv/installed-for-development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-for-development
	$(BIN)/mypy

layers: .venv/installed-for-development
	$(BIN)/lint-imports

# A process for each core; the tests of a file stay together, as they share what was compiled and fitted.
unit: .venv/installed-for-development
	$(BIN)/pytest -n auto --dist loadfile

# numba's compiled code is invisible to coverage, so the kernels run once more as plain Python.
kernels-without-jit: .venv/installed-for-development
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest tests/kernels -q
	$(BIN)/coverage report

# The plug-in of published tables alone: its tests, then what `isentropic reproduce` can run.
papers: .venv/installed-for-development
	$(BIN)/pytest -n auto --dist loadfile papers
	@$(BIN)/isentropic reproduce list

docs: .venv/installed
	$(BIN)/python docs/write_methods_table.py

# The section that the fragments in changes/ will add to CHANGELOG.md; nothing is written.
changes: .venv/installed-for-development
	$(BIN)/towncrier build --draft

# make benchmark NAME=quality; without a name, what there is
NAME ?=
benchmark: .venv/installed-for-development
	@if [ -n "$(NAME)" ]; then $(BIN)/python -m benchmarks.$(NAME); \
	else echo "Say make benchmark NAME=..., one of: $(filter-out runner,$(basename $(notdir $(shell grep -l __main__ benchmarks/*.py))))."; fi

.venv/installed: pyproject.toml papers/pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'isentropic needs Python 3.11 or later, this is ' + sys.version.split()[0] + '. Say: make PYTHON=python3.12')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all]" --editable papers
	@touch $@

.venv/installed-for-development: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,test,lint]" --editable papers
	@touch $@

clean:
	rm -rf .venv out .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
