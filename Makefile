# make demo    train a model on built-in data, fill a table, fuzz libpng; see demo/report.html, demo/orders.csv,
#              demo/fuzz
# make test    style, types, import rules and all tests
# make bench   speed against PyTorch, and how step time grows (CPU or, if there is one, GPU)
#
# Each sets up what it needs in .venv first. PYTHON chooses the interpreter (3.11 or newer).

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
BIN := .venv/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || (command -v sudo >/dev/null && sudo -n true 2>/dev/null && echo sudo) || echo no)

# Compilers for the fuzz targets; where they cannot be installed, the tests of targets are skipped.
SYSTEM := clang-19 libclang-rt-19-dev libfuzzer-19-dev llvm-19 zlib1g-dev

.PHONY: demo demo-fuzz test lint bench venv system clean
.DELETE_ON_ERROR:

demo: .venv/ready system
	$(BIN)/aloex demo --out demo
	$(BIN)/aloex fill examples/orders.csv --target day --out demo/orders.csv
	$(BIN)/aloex fill demo/orders.csv --target price --in-place
	$(BIN)/aloex fill demo/orders.csv --target delivery --source amount --in-place
	@$(MAKE) -s demo-fuzz || echo "demo: the fuzzing part was left out, for the reason above"

# About a minute, with a compiler and Debian's sources at hand.
demo-fuzz:
	$(BIN)/aloex fuzz build libpng
	$(BIN)/aloex fuzz run libpng --seconds 20 --out demo/fuzz

test: lint system
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --warnings
	$(BIN)/lint-imports

bench: .venv/bench
	$(BIN)/python -m studies.speed compare
	$(BIN)/python -m studies.speed scaling
	$(BIN)/python -m studies.speed page

venv: .venv/ready

system:
	@dpkg -s $(SYSTEM) >/dev/null 2>&1 || [ "$(SUDO)" = no ] || { $(SUDO) apt-get update -qq; \
	  $(SUDO) apt-get install -y -qq --no-install-recommends $(SYSTEM); } >/dev/null 2>&1 </dev/null || true
	@dpkg -s $(SYSTEM) >/dev/null 2>&1 || \
	  echo "fuzz targets cannot be built here, tests of them are skipped; apt-get install $(SYSTEM)"

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11)' 2>/dev/null || \
	  { echo "Aloex needs Python 3.11 or newer, found: $$($(PYTHON) --version 2>&1); set PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || [ "$(SUDO)" = no ] || \
	  { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq python3-venv; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is missing: install the package python3-venv, then try again"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

clean:
	rm -rf .venv build demo .pytest_cache .ruff_cache .hypothesis .import_linter_cache
