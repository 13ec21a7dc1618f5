# Everything happens in .venv, which is made when it is missing and otherwise used as it is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install -qq -c constraints.txt
SHOW_TEXTS := import json, sys; [print("   ", json.loads(line)["text"]) for line in sys.stdin]

# The stamps say what .venv holds: what a user needs, and with it what a developer needs.
USER_STAMP := $(VENV)/.user-stamp
DEVELOPER_STAMP := $(VENV)/.developer-stamp

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: demo test lint clean help

help: ## say what the targets are
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

demo: $(USER_STAMP) ## generate sentences and probe the default encoders with them
	mkdir -p demo
	$(BIN)/gen --template transitive-rc --n 5000 --out demo/sentences.jsonl
	@head -n 8 demo/sentences.jsonl | $(BIN)/python -c '$(SHOW_TEXTS)'
	$(BIN)/probe run compeval --out demo/run

test: $(DEVELOPER_STAMP) ## run all tests, then the linter, the formatter's check and the type checker
	$(BIN)/python -m pytest
	@$(MAKE) --no-print-directory lint

lint: $(DEVELOPER_STAMP) ## check style, format and types only
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

clean: ## remove .venv and everything else that make made
	rm -rf $(VENV) demo dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "sentprobe needs Python 3.11 or newer; say which with: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(USER_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing sentprobe into $(VENV) (some minutes the first time)"
	@$(PIP_INSTALL) --upgrade pip
	@$(PIP_INSTALL) --build-constraint constraints.txt -e .
	@touch $@

$(DEVELOPER_STAMP): $(USER_STAMP)
	@echo "installing the tools for tests into $(VENV)"
	@$(PIP_INSTALL) --build-constraint constraints.txt -e '.[corenlp,dask,gensim,pandas,plots,sentence-transformers,spacy,stanza,transformers]' --group dev
	@echo "building the parser bllip (a few minutes, with a C++ compiler)"
	@$(PIP_INSTALL) --build-constraint constraints.txt -e '.[bllip]' >$(VENV)/bllip.log 2>&1 || \
	  echo "bllip cannot be built here ($(VENV)/bllip.log says why): its tests will be skipped" >&2
	@touch $@
