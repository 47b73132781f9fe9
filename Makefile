# Every target sets the working copy up first; that takes seconds when nothing changed.
.DEFAULT_GOAL := help
.PHONY: help setup check test bench demo up down golden clean
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE :=

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install what the lock files name (Python 3.11+ and Java 17+ must be there)
	@python3 infra/setup.py

check: setup ## Import contracts, types, lint, format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/mypy

test: check ## All checks, then all tests
	@$(BIN)/python -m pytest

bench: setup ## Speeds against Spark's own and delays from row to answer, written to docs/benchmarks.md (about 10 minutes)
	@$(BIN)/python -m tests.bench

demo: setup ## The whole platform in a scratch folder: a week of history, a live stretch, a verdict (about 4 minutes)
	@$(BIN)/python -m moirae.demo.main

up: setup ## Start the platform here and leave it running
	@$(BIN)/moirae up

down: setup ## Stop it
	@$(BIN)/moirae down

golden: setup ## Rewrite the golden files; review the diff
	@MOIRAE_GOLDEN=1 $(BIN)/python -m pytest -q tests/unit/lang tests/dags

clean: ## Remove the environment and everything the platform stored here
	@rm -rf .venv .moirae
