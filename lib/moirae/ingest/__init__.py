"""From the bytes of a landing file to rows of a stream, without touching the world.

Every non-blank line becomes a row, or is kept as it was found with the reason why it is none.
"""

from moirae.ingest.names import is_waiting, stream_of
from moirae.ingest.parse import parse_file
from moirae.ingest.parsed import Parsed

__all__ = ["Parsed", "is_waiting", "parse_file", "stream_of"]
