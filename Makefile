# Everything starts from nothing but python3 (3.11 to 3.13), git and a C++ compiler.
#   make observe   measure the newest PyTensor, show the table, build html/
#   make test      run all tests
# `make PYTHON=/path/to/python3.12 ...` chooses the interpreter of the tool's own environment.

PYTHON ?= python3
# Four at a time, a file each, the long files first (tests/conftest.py). Two CPUs are enough: most of
# the time is real compiles, which use one CPU, and some tests wait for another's sample or a clock.
WORKERS ?= -n 4 --dist loadfile --no-loadscope-reorder
PYTEST_ARGS ?=
VENV := .venv
STAMP := $(VENV)/.ready
MAKEFLAGS += --no-print-directory
# Images of containers often set it. No module is compiled before it is imported here, so that each
# start of the tool would compile a thousand of them anew: two seconds instead of one.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help observe test rehearse bench lint format docs docs-schemas pictures history constraints clean

help:
	@sed -n '1,/^$$/p' Makefile | sed 's/^# \{0,1\}//'
	@echo 'Further: bench (speed of the tool itself), rehearse CLONE=DIR (real nights; half an hour),'
	@echo 'lint, format, docs (the documentation, into build/docs), docs-schemas, pictures, history'
	@echo '(the git history of releases, for plain asv), constraints, clean.'

$(STAMP): pyproject.toml constraints.txt scripts/make_tool_environment.sh
	@bash scripts/make_tool_environment.sh "$(PYTHON)" "$(VENV)"
	@touch $(STAMP)

observe: $(STAMP)
	@$(VENV)/bin/observatory observe

test: $(STAMP)
	@$(VENV)/bin/python -m pytest $(WORKERS) $(PYTEST_ARGS)

# Real nights along CLONE, a clone of PyTensor, with a fault between two of them; and 20 kills of each
# command that measures and of nights.
rehearse: $(STAMP)
	@test -n "$(CLONE)" || { echo 'say which clone of PyTensor: make rehearse CLONE=DIR'; exit 2; }
	@CLONE="$(abspath $(CLONE))" $(VENV)/bin/python -m pytest -o addopts="" \
	    --import-mode=importlib -s -v tests/rehearsal
	@$(VENV)/bin/python -m scripts.suite_run --kills 20 \
	    tests/integration/test_kills.py tests/unit/cli/commands/test_nightly.py

bench: $(STAMP)
	@$(VENV)/bin/python -m pytest -o addopts="" --import-mode=importlib --benchmark-only -q \
	    --benchmark-sort=name --benchmark-columns=min,mean,max,rounds tests/benchmarks

lint: $(STAMP)
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@$(VENV)/bin/zizmor --offline --quiet .github
	@if command -v actionlint >/dev/null; then actionlint; \
	    else echo 'actionlint is not on PATH: zizmor alone has read the workflows'; fi

format: $(STAMP)
	@$(VENV)/bin/ruff check --fix .
	@$(VENV)/bin/ruff format .

# Warnings are errors, unless --quiet hides them. The variable silences a notice of the theme.
docs: $(STAMP)
	@$(VENV)/bin/python scripts/reference.py
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict
	@echo 'The documentation: build/docs/index.html'

docs-schemas: $(STAMP)
	@$(VENV)/bin/python -m observatory.app.schemas

pictures: $(STAMP)
	@$(VENV)/bin/python -m scripts.docs.pictures

history: $(STAMP)
	@$(VENV)/bin/python scripts/release_history.py

# The pins of the tool's own environment, for every supported Python at once.
constraints: $(STAMP)
	@$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --extra dev --upgrade \
	    --no-header --no-annotate pyproject.toml --output-file constraints.txt

clean:
	rm -rf $(VENV) .observatory .asv html build *.egg-info
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
