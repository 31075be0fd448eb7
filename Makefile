# `make demo` and `make test` need Python 3.11+ and make; everything else they install into .venv themselves.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --constraint constraints.txt
# Small matrices: one BLAS thread is faster than many, and timings stay comparable.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1

.PHONY: demo test slow claims quick mutations check bench docs reference site format clean

demo: .venv/run.stamp
	$(BIN)/freefloat run ets7-gjm --out runs/demo --force

# Three processes on two cores: tests of pages wait for their browser.
test: .venv/test.stamp
	$(BIN)/python -m pytest -n 3 --dist loadfile

# All other tests: what takes long. `.ci/run` runs them too, and the claims of every scenario.
slow: .venv/test.stamp
	$(BIN)/python -m pytest -n 3 --dist worksteal -m slow

claims: .venv/test.stamp
	$(BIN)/freefloat claims --quiet

# The fast ones, for while you work.
quick: .venv/test.stamp
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/unit/spatial tests/unit/values tests/unit/model tests/unit/sensors tests/unit/report/test_sections.py \
	  tests/unit/scenarios/test_settings.py tests/unit/dynamics/test_by_hand.py tests/unit/engine/test_graph.py

# Do the tests bite? Plants the bugs of tests/mutations/table one by one and tells which of them no test finds: an hour or so.
mutations: .venv/test.stamp
	$(BIN)/python tests/mutations/run.py --jobs 2

check: .venv/check.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: .venv/test.stamp
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/branches.py
	$(BIN)/python benchmarks/flexible.py
	$(BIN)/python benchmarks/scaling.py
	$(BIN)/python benchmarks/latency.py

# Figures, tables of many runs and the table of reproduced results, made anew from the product itself.
docs: .venv/test.stamp
	$(BIN)/python scripts/figures.py
	-$(BIN)/python scripts/page_picture.py
	$(BIN)/python scripts/concept_pictures.py
	-$(BIN)/python scripts/capture_animation.py
	$(BIN)/python scripts/capture_scatter.py
	$(BIN)/python scripts/start_poses.py
	$(BIN)/python scripts/target_filter_figure.py
	$(BIN)/python scripts/flexible_convergence.py
	$(BIN)/python scripts/claims_table.py
	$(BIN)/python scripts/reference.py

# Public names and commands in docs/reference/, made anew from signatures and docstrings.
reference: .venv/test.stamp
	$(BIN)/python scripts/reference.py

# The documentation as a site that opens from disk: site/index.html.
site: .venv/run.stamp
	$(PIP) 'mkdocs>=1.6,<2'
	$(BIN)/mkdocs build --strict

format: .venv/check.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv runs

.venv/run.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) --editable .
	touch $@

.venv/test.stamp: .venv/run.stamp
	$(PIP) --editable '.[test]'
	touch $@

.venv/check.stamp: .venv/test.stamp
	$(PIP) --editable '.[check]'
	touch $@
