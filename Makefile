# Everything here needs only make and a Python >= 3.11; the rest is installed into .venv.

PYTHON  ?= python3
WORKERS ?= 2
PYTEST  ?=
# Interpreters: the lowest one, for test-lowest, and those of test-versions.
LOWEST  ?= python3.11
PYTHONS ?= python3.11 python3.12 python3.13

VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
PEER  := $(VENV)/.peer
# What runs in pages, built with a Node that pip installs.
SCRIPT := src/kane/page/component.js

# A slice of the tests that meets all that older or newer packages may do otherwise: code generation, compiled loops,
# arrays, pictures, the terminal. It needs none of the peers, and no stores of ensembles.
SLICE := tests/test_tiny.py tests/unit/graph tests/unit/simulate tests/unit/cli tests/unit/viewer/test_pictures.py \
         tests/backends tests/laws/test_trees.py tests/cases/test_bicycle.py tests/cases/test_sympy_interop.py \
         tests/unit/ensemble/test_draws.py tests/unit/ensemble/test_members.py tests/unit/ensemble/test_progress.py \
         tests/unit/ensemble/test_tallies.py tests/unit/ensemble/test_views.py \
         --deselect tests/unit/ensemble/test_views.py::test_a_dataset_has_members_times_and_units \
         --ignore tests/unit/cli/test_sweep_stores.py
TOOLS := hypothesis matplotlib mpmath pytest pytest-xdist sympy

.PHONY: help setup wheel package demo test test-long test-lowest test-versions check format bench docs clean distclean

help:
	@echo 'make setup          prepare .venv with all that tests, checks and most benchmarks need'
	@echo 'make wheel          the wheel, with what runs in pages, to dist'
	@echo 'make package        sdist and wheel built, installed into fresh environments and tried'
	@echo 'make demo           the main job on the Stanford arm; writes one HTML report'
	@echo 'make test           the test suite     (make test PYTEST="-k layers" for a part, WORKERS=4 for more processes)'
	@echo 'make test-long      eight hours: all tests on new random systems, and 10^5 tries to find a fault'
	@echo 'make test-lowest    a slice of the tests with the lowest dependencies (constraints-lowest.txt)'
	@echo 'make test-versions  that slice with the newest dependencies   (PYTHONS="python3.12 python3.13" to choose)'
	@echo 'make check          lint, format, types, layers'
	@echo 'make bench          benchmarks beside their peers, to benchmarks/results.md'
	@echo 'make docs           run the code of the documentation'
	@echo 'make clean          remove caches and build output (distclean: .venv too)'

# Reinstalled only when the declared dependencies change; an existing .venv is kept and brought up to date.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "kane needs Python 3.11 or newer, but '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)."; \
	    echo "Name another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }; \
	  $(PYTHON) -m venv $(VENV) || { \
	    rm -rf $(VENV); \
	    echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu it is in the package python3-venv."; exit 1; }; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(SCRIPT): $(STAMP) web/build.py web/build.mjs web/package-lock.json $(wildcard web/src/*)
	$(BIN)/python web/build.py
	@touch $@

setup: $(STAMP) $(SCRIPT)
	@:

# Compiled loops for pages go along, so that whoever installs the wheel does not wait for them.
wheel: setup
	$(BIN)/python web/loops.py
	$(BIN)/python -m pip wheel --quiet --no-deps --disable-pip-version-check -w dist .

package: setup
	$(BIN)/python tests/built_package.py

demo: setup
	$(BIN)/kane demo

test: setup
	@$(BIN)/python tests/browser.py
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile $(PYTEST)

# At night, 8 hours in all (KANE_LONG_SECONDS=3600 for one): first the tests, then the searches for faults, which go on
# where the last run stopped. What fails is drawn again with the KANE_SEED that is printed, or with hypothesis's blob.
test-long: setup
	@status=0; \
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m 'long or not long' $(PYTEST) \
	  || status=1; \
	PYTHONPATH=tests:. $(BIN)/python -m long --workers $(WORKERS) || status=1; \
	exit $$status

# $(1): interpreter, $(2): folder of the environment, made anew, $(3): options of pip
define slice
	rm -rf $(2)
	$(1) -m venv $(2)
	$(2)/bin/python -m pip install --quiet --disable-pip-version-check $(3) . $(TOOLS)
	HYPOTHESIS_PROFILE=ci $(2)/bin/python -m pytest -q -n $(WORKERS) --dist loadfile $(SLICE) $(PYTEST)

endef

test-lowest:
	$(call slice,$(LOWEST),build/lowest,-c constraints-lowest.txt)

# An environment per interpreter, with the newest releases that pip finds for it.
test-versions:
	$(foreach python,$(PYTHONS),$(call slice,$(python),build/$(notdir $(python)),--upgrade))

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/python web/build.py --check
	$(BIN)/python -m pytest -q tests/style/test_layers.py tests/style/test_citations.py
	PYTHONPATH=tests $(BIN)/python -m style.sizes

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A peer of the benchmarks alone, with many packages of its own: installed when it is first measured.
$(PEER): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@

bench: $(PEER)
	PYTHONPATH=tests $(BIN)/python -m benchmarks

docs: setup
	$(BIN)/python -m pytest -q tests/style/test_docs.py

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis web/build $(SCRIPT) src/kane/simulate/compiled/translated
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) web/node_modules
