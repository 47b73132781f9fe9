"""Moirae, the monitoring platform that remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moirae.api import run

__version__ = "0.1.0"
__all__ = ["run"]


def __getattr__(name: str) -> Any:
    """`moirae.run` is there when asked for: importing the package alone stays quick."""
    if name == "run":
        from moirae.api import run

        return run
    raise AttributeError(f"module 'moirae' has no attribute {name!r}")
