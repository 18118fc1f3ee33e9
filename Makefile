# One verb per task. `make demo` and `make test` do all their set-up themselves.
.PHONY: demo demo-learning test check env light browser bench worlds clean
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo/shop
LIGHT := $(VENV)/.light
READY := $(VENV)/.ready

demo: light  ## visit the example shop; run it twice to see the second visit use what the first learned
	@$(BIN)/python examples/recreate.py $(DEMO)
	@$(BIN)/whet run $(DEMO) --minutes 3 || test $$? -eq 1
	@echo "Run 'make demo' again: the next visit uses what this one learned."
	@echo "Look around: $(BIN)/whet status -C $(DEMO)   or open $(DEMO)/.whet/report.html"
	@echo "In a browser: make env, then $(BIN)/whet serve -C $(DEMO)   (it prints the address, and a key the first time)"

demo-learning: env  ## weeks of continuous learning in minutes, on recorded outcomes and a clock of its own
	@$(BIN)/python -m examples.learning.weeks build/demo-learning

test: env browser check  ## everything, with a real PostgreSQL of its own
	$(BIN)/python -m pytest -n 2 --dist loadfile  # a file stays with one worker, and so do its servers

check: env  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

env: $(READY)

light: $(LIGHT)  ## what users install, and nothing for developing

browser:  ## Chromium, for the tests of pages: installed where it is missing and that may be done
	@test -x /usr/bin/chromium || { apt-get update -qq && apt-get install -y -qq chromium; } > /dev/null 2>&1 \
		|| echo "Without Chromium the tests of pages are left out: apt-get install chromium"

$(LIGHT): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(READY): $(LIGHT)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

bench: env  ## speed and learning, as ratios in one run
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/store.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/history.py
	$(BIN)/python benchmarks/plugin.py
	$(BIN)/python benchmarks/replay.py
	$(BIN)/python benchmarks/decision_latency.py
	$(BIN)/python benchmarks/gates.py --json build/gates.json
	$(BIN)/python benchmarks/rollback.py
	$(BIN)/python benchmarks/queues.py

worlds: env  ## record the shipped worlds anew (about an hour)
	$(BIN)/python benchmarks/record_worlds.py build/worlds

clean:
	rm -rf $(VENV) build
