# Two commands: `make demo` and `make test`. Both build .venv first; nothing else is needed but Python ≥ 3.11 and make.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow browser lint bench suite docs clean

demo: .venv/ready
	$(BIN)/aliquot demo --out runs/demo

test: .venv/docs lint browser
	$(BIN)/python -m pytest -q -m "not slow" -n 2 --dist loadscope

test-slow: .venv/suite
	$(BIN)/python -m pytest -q -m slow

# Chromium for the tests of the report: installed where it is missing and we may. Without it these tests are skipped,
# unless ALIQUOT_BROWSER=required.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; \
	} || echo "no Chromium: the report is not tested in a browser"

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Speed against PyTorch (needs the extra `bench`), memory of an eICU-shaped run.
bench: .venv/bench
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/memory.py

# One recipe on many cohorts (needs the extra `suite`); options of the command in ARGS, as in ARGS="--cohorts rhc".
suite: .venv/suite
	$(BIN)/python benchmarks/suite.py $(ARGS)

# The pages in docs/ as a site in site/, without any network.
docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html, or with search: $(BIN)/python -m http.server --directory site"

.venv/ready: pyproject.toml requirements/dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

.venv/bench: .venv/ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/bench.txt
	touch $@

.venv/suite: .venv/ready requirements/suite.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/suite.txt
	touch $@

.venv/docs: .venv/ready requirements/docs.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/docs.txt
	touch $@

clean:
	rm -rf .venv runs site
