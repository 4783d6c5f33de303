# Needs Python >= 3.11 with pip, and make. Everything else goes into .venv, once.
PYTHON ?= python3

# pip runs from outside: a Python without ensurepip (Debian's) can still make this .venv.
PIP := $(PYTHON) -m pip --python .venv/bin/python --disable-pip-version-check
RUN := NUMBA_CACHE_DIR="$$($(PYTHON) scripts/numba_cache.py)" .venv/bin/python

.PHONY: test demo bench bench-solvers bench-ranking bench-files bench-questions soak clean

test: .venv/ready
	scripts/check

demo: .venv/ready
	$(RUN) -m softmargin.demo

bench: .venv/ready-for-bench
	@set -e; for program in benchmarks/bench_*.py; do echo "== $$program"; $(RUN) "$$program"; done

# Batch solvers only; ARGS="--only a9a --C 1" for some cells, ARGS="--from build/solvers.json" for no new run.
bench-solvers: .venv/ready-for-bench
	$(RUN) benchmarks/bench_solvers.py $(ARGS)

# Ranking from groups and comparisons only; ARGS="--growth", "--groups" or "--pairs" for one part.
bench-ranking: .venv/ready-for-bench
	$(RUN) benchmarks/bench_ranking.py $(ARGS)

# Readers of files only.
bench-files: .venv/ready-for-bench
	$(RUN) benchmarks/bench_files.py

# Hours, a few minutes at a time: call it again and it goes on; ARGS="--minutes 60" for longer, ARGS="--write" for the page.
bench-questions: .venv/ready-for-bench
	$(RUN) benchmarks/questions.py $(ARGS)

# The same tests with larger numbers and fresh random examples.
soak: .venv/ready
	SOFTMARGIN_SOAK=1 $(RUN) -m pytest -n 2

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("softmargin needs Python 3.11 or later: make PYTHON=...")'
	$(PYTHON) -m venv --without-pip .venv
	$(PIP) install --quiet -c constraints.txt -e '.[plots,test,lint]'
	touch $@

.venv/ready-for-bench: .venv/ready
	$(PIP) install --quiet -c constraints.txt -e '.[bench]'
	touch $@

clean:
	rm -rf .venv .numba_cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -path ./.git -prune -o -name __pycache__ -prune -exec rm -rf {} +
