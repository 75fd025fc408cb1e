# The few commands one needs. `make help` lists them.
PYTHON ?=
export PYTHON
BIN := .venv/bin
ARGS ?=

.PHONY: help run setup setup-test test lint unit format screenshots benchmarks soak audit clean
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

run: setup ## set up what is missing and open the window (without a display: the terminal)
	@$(BIN)/python -m desktop $(ARGS)

setup: ## set up what is missing, nothing else
	@bash .ci/setup.sh

setup-test:
	@bash .ci/setup.sh --test

test: setup-test lint ## set up, check style, types and layers, run all tests
	$(BIN)/python -m pytest $(ARGS)

unit: setup-test ## the tests that need neither Triton nor a window
	$(BIN)/python -m pytest -m "not triton and not ui and not docker and not slow" $(ARGS)

lint: setup-test ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup-test ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: setup-test ## every page in both themes and languages, into tests/artifacts/ui
	$(BIN)/python tests/ui/screenshots.py $(ARGS)

benchmarks: setup-test ## speed, as ratios within one run
	$(BIN)/python -m tests.benchmarks $(ARGS)

soak: setup-test ## ten minutes of load, and the fuzz tests with many more examples
	$(BIN)/python -m tests.faults.soak $(ARGS)
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest tests/faults tests/addresses_files tests/store -m "not docker"

audit: setup-test ## known vulnerabilities of the pinned packages; see docs/security.md
	bash .ci/audit.sh

clean: ## remove what set-up and tests made
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache tests/artifacts *.egg-info
