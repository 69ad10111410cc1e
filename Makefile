# Two commands: `make demo` and `make test`. Both build .venv first; nothing else is needed but Python ≥ 3.11 and make.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow lint bench clean

demo: .venv/ready
	$(BIN)/aliquot demo --out runs/demo

test: .venv/ready lint
	$(BIN)/python -m pytest -q -m "not slow" -n 2 --dist loadscope

test-slow: .venv/ready
	$(BIN)/python -m pytest -q -m slow || test $$? -eq 5  # 5: no slow test yet

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Quality on five splits, speed against PyTorch (needs the extra `bench`), memory of an eICU-shaped run.
bench: .venv/bench
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/memory.py

.venv/ready: pyproject.toml requirements/dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	touch $@

.venv/bench: .venv/ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements/bench.txt
	touch $@

clean:
	rm -rf .venv runs
