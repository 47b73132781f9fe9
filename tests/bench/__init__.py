"""Measurements: every ratio is taken side by side in one run. `make bench` writes docs/benchmarks.md."""
