"""Deploying a pack: what it needs, what it changes, in which order."""

from moirae.deploy.statements import pack_statements

__all__ = ["pack_statements"]
