"""Moirae, the monitoring platform that remembers."""
