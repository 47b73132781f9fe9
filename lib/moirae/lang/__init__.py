"""From text to bound definitions: `bind(text)` gives a `Pack` or raises one `QueryError` with everything wrong.

Strings in, values out; no rows, no files, no clock.
"""

from moirae.lang.bind import bind

__all__ = ["bind"]
