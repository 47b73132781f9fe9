"""For those who test queries and kernels: rows as Python values in, events as Python values out."""

from moirae.testing.stories import Row, landing_files, plain_rows, start_story

__all__ = ["Row", "landing_files", "plain_rows", "start_story"]
