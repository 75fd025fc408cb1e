# The few commands one needs. `make help` lists them.
PYTHON ?=
export PYTHON
BIN := .venv/bin
ARGS ?=

.PHONY: help run setup setup-test test lint unit format screenshots benchmarks soak audit clean coverage
.PHONY: setup-fuzz setup-bundle setup-test-bundle bundle deb wheel test-bundle
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
	$(BIN)/python -m pytest -m "not bundle" $(ARGS)

unit: setup-test ## the tests that need neither Triton nor a window
	$(BIN)/python -m pytest -m "not triton and not ui and not docker and not slow and not bundle" $(ARGS)

coverage: setup-test ## which lines the quick tests and those of the window run; HTML in tests/artifacts/coverage
	$(BIN)/python -m pytest -m "not docker and not slow and not bundle" --cov=desktop --cov=server_bundle \
		--cov-report=term:skip-covered --cov-report=html:tests/artifacts/coverage $(ARGS)

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

setup-fuzz:
	@bash .ci/setup.sh --fuzz

soak: setup-fuzz ## ten minutes of load, a minute of fuzzing each parser, many more examples
	$(BIN)/python -m tests.faults.soak $(ARGS)
	$(BIN)/python -m tests.fuzz
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest tests/faults tests/addresses_files tests/store -m "not docker"

audit: setup-test ## known vulnerabilities of the pinned packages; see docs/security.md
	bash .ci/audit.sh

setup-bundle:
	@bash .ci/setup.sh --bundle

bundle: setup-bundle ## dist/tritalk/, which needs no Python (LITE=1: dist/tritalk-lite/, no built-in server)
	@rm -rf dist/tritalk$(if $(LITE),-lite)
	TRITALK_BUNDLE=$(if $(LITE),lite,full) $(BIN)/pyinstaller --noconfirm --log-level WARN build.spec
	$(if $(LITE),,$(BIN)/python .ci/bundle/runtime.py dist/tritalk)
	$(BIN)/python .ci/bundle/licences.py dist/tritalk$(if $(LITE),-lite)
	@du -sh dist/tritalk$(if $(LITE),-lite)

deb: bundle ## dist/tritalk_VERSION_ARCH.deb, made from the bundle
	$(BIN)/python .ci/bundle/deb.py dist/tritalk$(if $(LITE),-lite) dist

wheel: setup-bundle ## dist/tritalk-VERSION-py3-none-any.whl
	$(BIN)/pyproject-build --quiet --wheel --outdir dist .

setup-test-bundle:
	@bash .ci/setup.sh --test-bundle

test-bundle: setup-test-bundle ## build the bundle, the .deb and the wheel and use them without Python
	$(MAKE) bundle
	$(MAKE) bundle LITE=1
	$(MAKE) wheel
	$(BIN)/python .ci/bundle/deb.py dist/tritalk dist
	$(BIN)/python -m pytest -m bundle tests/bundle $(ARGS)

clean: ## remove what set-up and tests made
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache tests/artifacts build dist *.egg-info
