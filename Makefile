# Every target sets up what it needs: Python 3.11 or later and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.ready
SETUP_TEST := $(VENV)/.ready-test
SETUP_DOCS := $(VENV)/.ready-docs

.PHONY: demo test lint types imports unit test-long studies-small bench bench-ess docs pages wheel clean

demo: $(SETUP)  ## simulate, privatise by two mechanisms, fit, write pictures into demo/
	$(BIN)/privmix demo --output demo

test: lint types imports unit  ## everything that a change must pass

lint: $(SETUP_TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(SETUP_TEST)
	$(BIN)/mypy

imports: $(SETUP_TEST)
	$(BIN)/lint-imports

unit: $(SETUP_TEST)
	$(BIN)/pytest -n 2 --dist worksteal -m "not long"

test-long: $(SETUP_TEST)  ## the long statistical runs; the record of the last one is tests/long/RECORD.md
	cp tests/long/HEAD.md tests/long/RECORD.md
	PRIVMIX_RECORD=tests/long/RECORD.md $(BIN)/pytest -n 2 --dist worksteal -m long

studies-small: $(SETUP_TEST)  ## the miniature of every study, with its figures, into studies-small/; test-long runs them too
	for study in $$($(BIN)/python -c "from privmix.studies import study_names; print(*study_names())"); do \
		$(BIN)/privmix study $$study --small --workers 2 --output studies-small/$$study || exit 1; \
	done

bench: $(SETUP_TEST)  ## ratios measured in one run: cost of a record-update against a standard-normal draw
	$(BIN)/python -m benchmarks

bench-ess: $(SETUP_TEST)  ## effective draws of the density per CPU second, for every sampler; about an hour
	$(BIN)/python -m benchmarks.ess

pages: $(SETUP)  ## what the documentation makes from the code: the drawing of the rooms, the inventory of slots
	cd docs && ../$(BIN)/python -m _made

docs: $(SETUP_DOCS)
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

wheel: $(SETUP)  ## into dist/
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

# Without compiling every file of every package: Python compiles what it imports, when it does.
$(SETUP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(SETUP_TEST): $(SETUP)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[test]"
	touch $@

$(SETUP_DOCS): $(SETUP)
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) docs/_build dist demo studies-small
