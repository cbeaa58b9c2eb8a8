# Every target makes what it needs: nothing but Python 3.11+, make and pip is assumed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check -q
SOURCES = src tests benchmarks docs examples release fuzz mutation

.PHONY: demo test lint web screenshots reproduce bench bench-case bench-kernels bench-dask bench-map bench-neighbors bench-scale docs test-lowest wheel constraints fuzz coverage mutants trust clean

demo: $(VENV)/.demo
	$(BIN)/graphfold demo --output demo.png --map demo.html
	@echo "open demo.html"

# two workers with one BLAS thread each: two with two would wait for each other
test: export OPENBLAS_NUM_THREADS = 1
test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.dev $(VENV)/.audited
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

# pip-audit, once for an environment; it says so where no advisory can be had
$(VENV)/.audited: $(VENV)/.dev
	$(BIN)/python -m release.audit
	touch $@

# .ci/constraints.txt anew: what the newest dependencies are today. Then run .ci/run
constraints:
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	PIP_CONSTRAINT= .venv-constraints/bin/python -m pip --disable-pip-version-check -q install --no-compile '.[dev,docs]'
	.venv-constraints/bin/python -m release.pins
	rm -rf .venv-constraints

# the same tests on the lowest versions that pyproject.toml allows
test-lowest: export OPENBLAS_NUM_THREADS = 1
test-lowest: .venv-lowest/.dev
	.venv-lowest/bin/python -m pytest -n 2 --dist worksteal tests

# hostile input: EXAMPLES times as many of every property as make test has, new ones each
# time, then every parser by coverage-guided fuzzing for FUZZ_SECONDS
EXAMPLES ?= 20
FUZZ_SECONDS ?= 60
fuzz: export OPENBLAS_NUM_THREADS = 1
fuzz: $(VENV)/.dev .venv-fuzz/.tools
	GRAPHFOLD_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 2 --dist worksteal tests/trust/properties tests/trust/parsers tests/trust/numbers
	.venv-fuzz/bin/python -m fuzz --all --seconds $(FUZZ_SECONDS) --out docs/trust/fuzz.json

# which lines and branches the tests reach: at least 95 %
coverage: export OPENBLAS_NUM_THREADS = 1
coverage: export GRAPHFOLD_REQUIRE_SLOW = 1
coverage: export GRAPHFOLD_REQUIRE_CLUSTERS = 1
coverage: lint
	rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage json -q -o .coverage.json
	$(BIN)/python -m tests.trust.covered .coverage.json docs/trust/coverage.json

# changes in model/ and graphs/ that tests have to notice: more than an hour
mutants: $(VENV)/.dev
	$(PIP) install -r mutation/requirements.txt
	$(BIN)/python -m mutation --jobs 2 --out docs/trust/mutation.json

# docs/trust.md, counted anew; coverage and mutants are taken as they were found last
trust: export GRAPHFOLD_LEDGER = $(CURDIR)/.ledger
trust: export GRAPHFOLD_REQUIRE_FAULTS = 1
trust: export GRAPHFOLD_REQUIRE_LOAD = 1
trust: $(VENV)/.dev
	rm -rf .ledger
	$(MAKE) fuzz
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/trust/faults tests/trust/load tests/trust/supply
	$(BIN)/python -m tests.trust.page .ledger

# the page that view() writes, built from web/ (needs Node.js 20 and npm); it is committed.
# Not by npm ci, which refuses a lock file without the packages of other systems
web:
	cd web && npm install --no-audit --no-fund && npx vite build

# screenshots of the documentation, by the browser of the tests
screenshots: $(VENV)/.dev
	$(BIN)/python -m tests.views.screenshots docs/images

# goes on where it was interrupted: runs are in docs/reproduction/*/
reproduce: $(VENV)/.demo
	$(BIN)/graphfold reproduce all --out docs/reproduction --page docs/reproduction.md

bench: .venv-bench/.bench
	.venv-bench/bin/python -m benchmarks.run

bench-case: .venv-case/.bench
	.venv-case/bin/python -m benchmarks.linear_graph
	.venv-case/bin/python -m benchmarks.report

bench-kernels: .venv-kernels/.bench
	.venv-kernels/bin/python -m benchmarks.many_kernels
	.venv-kernels/bin/python -m benchmarks.report

bench-neighbors: .venv-neighbors/.bench
	.venv-neighbors/bin/python -m benchmarks.neighbors
	.venv-neighbors/bin/python -m benchmarks.neighbors --large
	.venv-neighbors/bin/python -m benchmarks.neighbors --page

# two workers against one, and the model of docs/distributed.md; on an idle machine
bench-dask: $(VENV)/.dev
	$(BIN)/python -m benchmarks.distributed --spread 50
	$(BIN)/python -m benchmarks.distributed --spread 0
	$(BIN)/python -m benchmarks.distributed_model

bench-map: .venv-map/.bench
	.venv-map/bin/python -m benchmarks.map
	.venv-map/bin/python -m benchmarks.map --page

# goes on where it was interrupted: points are in benchmarks/results/scale.json
bench-scale: .venv-scale/.bench
	.venv-scale/bin/python -m pip --disable-pip-version-check -q install --no-deps st-graphpca==2.2.0
	.venv-scale/bin/python -m benchmarks.scale
	.venv-scale/bin/python -m benchmarks.scale_page

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# both archives in dist/, looked into, and the wheel used in a new environment;
# PYTHONS="python3.12 python3.13" does the last part with others
wheel: .venv-release/.tools
	.venv-release/bin/python -m release $(PYTHONS)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[plot]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) install -e '.[docs]'
	touch $@

.venv-lowest/.dev: pyproject.toml tests/lowest.txt
	$(PYTHON) -m venv .venv-lowest
	PIP_CONSTRAINT= .venv-lowest/bin/python -m pip --disable-pip-version-check -q install -r tests/lowest.txt -e .
	touch $@

.venv-bench/.bench: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip --disable-pip-version-check -q install -r benchmarks/requirements.txt -e '.[plot]'
	touch $@

# peers that do not go together have an environment each
.venv-%/.bench: pyproject.toml benchmarks/requirements-%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip --disable-pip-version-check -q install -r benchmarks/requirements-$*.txt -e .
	touch $@

# atheris has wheels for few Pythons: an environment of its own
.venv-fuzz/.tools: pyproject.toml fuzz/requirements.txt
	$(PYTHON) -m venv .venv-fuzz
	.venv-fuzz/bin/python -m pip --disable-pip-version-check -q install -r fuzz/requirements.txt -e '.[tables,graphs,plot]'
	touch $@

.venv-release/.tools:
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip --disable-pip-version-check -q install 'build>=1.2' 'twine>=6.1' 'cyclonedx-bom>=7'
	touch $@

clean:
	rm -rf dist .ledger .coverage .coverage.* .venv .venv-fuzz .venv-release .venv-constraints .venv-case .venv-kernels .venv-map .venv-neighbors .venv-scale .venv-lowest .venv-bench web/node_modules web/dist docs/_build docs/auto_examples docs/generated demo.png demo.html .mypy_cache .ruff_cache .pytest_cache
