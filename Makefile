# Needs Python 3.11 or newer and make; everything else is installed into $(VENV).
# `make demo` and `make test` do all set-up themselves, and only once.

VENV ?= .venv
PYTHON ?= python3.11 python3 python3.14 python3.13 python3.12 python
PYTEST_ARGS ?= -n 2
BIN := $(VENV)/bin

# Each start of simt would take half a second more where Python is told not to keep what it compiles.
# (And each worker of the tests seven more, to rewrite their assertions: pytest may keep those.)
COMPILE = $(BIN)/python -m compileall -q src

.PHONY: help demo test lint format pytest bench docs clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    install, run a real kernel from a PTX file, check it, draw its picture"
	@echo "make test    install, lint, run every test"
	@echo "make lint    ruff, basedpyright (strict), import directions"
	@echo "make format  let ruff rewrite the files"
	@echo "make bench   time simt against native code, OpenCL, Numba; BENCH_ARGS=--quick for small sizes"
	@echo "make docs    docs/isa/ from the catalogue, and how it compares with the recorded results of a GPU"
	@echo "make clean   remove $(VENV) and caches"

demo: $(VENV)/.runtime
	@$(BIN)/python examples/demo.py

test: lint pytest

pytest: $(VENV)/.dev
	@$(COMPILE)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.bench
	@$(BIN)/python bench/run.py
	@$(BIN)/python bench/run_suite.py $(BENCH_ARGS)

docs: $(VENV)/.dev
	$(BIN)/python -m tests.hw.conformance
	$(BIN)/python -m simt.tools.pages docs/isa

# The first interpreter of the list that is new enough makes the virtual environment.
$(VENV)/.made:
	@for python in $(PYTHON); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "making $(VENV) with $$($$python --version)"; \
	        $$python -m venv $(VENV) && touch $@ && exit 0; \
	        echo "error: '$$python -m venv' failed; on Debian and Ubuntu it needs the package python3-venv" >&2; \
	        exit 1; \
	    fi; \
	done; \
	echo "error: simt needs Python 3.11 or newer; tried: $(PYTHON). Name one: make PYTHON=/path/to/python" >&2; \
	exit 1

$(VENV)/.runtime: $(VENV)/.made pyproject.toml
	@echo "installing simt into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(COMPILE)
	@touch $@

# What the suite compares with is optional: it leaves out what is not there.
$(VENV)/.bench: $(VENV)/.runtime
	@echo "installing what the benchmark compares with into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]' || \
	    echo "not installed: the benchmark leaves out what is missing"
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	@echo "installing simt and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.runtime

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
