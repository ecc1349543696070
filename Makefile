# `make demo` and `make test` do all the set-up: Python 3.11+ with venv, git and make are enough.
#   PYTHON=python3.12   the interpreter that .venv is made with
#   JOBS=2              processes that the tests run in: more than cores, for tests also wait

PYTHON ?= python3
JOBS ?= 4
BIN := .venv/bin
CORE := .venv/.ready-core
DEV := .venv/.ready-all-dev

# Compiled test modules are kept: to compile them again takes a fifth of a run.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-night test test-slow test-lowest lowest check check-code check-types fix bench docs captures docs-site clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "make %-12s %s\n", $$1, $$2}'

demo: $(CORE) ## the main job on real repositories in a temporary place, in under a minute
	$(BIN)/ghp agent-demo

demo-night: $(CORE) ## Claude Code, Codex and two scripted agents do twelve jobs, in about two minutes
	$(BIN)/python -m tools.demo_night

test: $(DEV) ## the tests, without the slow ones
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

# The house rules are tests of `make check`.
test-slow: $(DEV) ## crowds, kills, laws, the wheel, real coding agents; THOROUGH=1 tries all cases
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m slow --ignore=tests/test_house_rules.py

# Which tests depend on the version of a library: those of the packages that import one, which
# tests/tools/test_lowest.py compares with the contracts, and of those that render its templates.
LOWEST := cli conflicts core git github github_world handoffs integrations notes settings

# Made for this place and this interpreter; a copy needs its own.
LOWEST_READY := .cache/lowest/.ready$(subst /,-,$(CURDIR)-$(PYTHON))

$(LOWEST_READY): pyproject.toml tools/lowest.py | $(DEV)
	$(BIN)/python tools/lowest.py > .venv/lowest.txt
	$(PYTHON) -m venv --clear --without-pip .cache/lowest
	$(BIN)/pip --python .cache/lowest install --quiet --no-compile --disable-pip-version-check -c .venv/lowest.txt -e ".[test]"
	touch $@

lowest: $(LOWEST_READY)

test-lowest: lowest ## each third test of what uses libraries, with their oldest versions, without extras
	EVERY=3 .cache/lowest/bin/python -m pytest -n $(JOBS) -m "not slow" $(LOWEST:%=tests/%) $(wildcard tests/test_*.py)

check: $(DEV) ## format, lint, types, floors, house rules, what is written for GitHub
	@$(MAKE) --no-print-directory --jobs=2 --output-sync check-types check-code

check-types: $(DEV)
	$(BIN)/mypy

check-code: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -q tests/test_house_rules.py
	$(BIN)/python -m tools.workflows

fix: $(DEV) ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(DEV) ## measure what must be fast; prints a table, writes JSON
	$(BIN)/python -m bench

docs: $(DEV) ## write the generated pages of docs/, and their lists
	$(BIN)/python -m tools.docs
	$(BIN)/python -m tools.first_session

captures: $(DEV) ## record what commands show on terminals of four widths
	THOROUGH=1 RECORD_SCREENS=1 $(BIN)/python -m pytest -q tests/cli/test_screens.py tests/cli/watch/test_screens.py

docs-site: ## build the pages of docs/ as a site; every link and anchor in it is checked
	@$(PYTHON) tools/site.py

clean: ## take away everything that was made here
	rm -rf .venv .venv.unfinished .cache dist build recall/dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache

# A checkout that was copied or moved carries an environment that belongs to the original.
ifneq ($(shell cat .venv/.made-in 2>/dev/null),$(CURDIR))
.PHONY: $(CORE) $(DEV)
endif

$(CORE): EXTRAS := core
$(DEV): EXTRAS := all,dev
$(CORE) $(DEV): pyproject.toml tools/environment.py $(wildcard recall/pyproject.toml recall/ghp_agents_recall/model.txt)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Error: Python 3.11 or newer is needed; $(PYTHON) is older, or is not there."; \
	  echo "Hint: name another one: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 1; } >&2
	@$(PYTHON) tools/environment.py $(EXTRAS)
