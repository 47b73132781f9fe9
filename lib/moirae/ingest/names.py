"""What the name of a landing file says: whether it is complete, which stream it feeds, how it is written.

Nothing here looks into a file, so a name is judged the same way whoever lists the folder.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from moirae.errors import PlatformError

JSON_LINES, CSV = "json lines", "csv"
_FORMATS = {".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".json": JSON_LINES, ".csv": CSV}
_UNFINISHED = (".tmp", ".part", ".partial", ".crdownload", ".swp", "~")
READABLE = f"{', '.join(_FORMATS)}, each also with .gz"


def is_waiting(name: str) -> bool:
    """Whether a file is still being written, and is to be left alone until it is renamed.

    >>> [is_waiting(name) for name in (".a.jsonl", "_a.csv", "a.csv.tmp", "a.json~", "a.csv", "a.partial.csv")]
    [True, True, True, True, False, False]
    """
    base = name.rsplit("/", 1)[-1]
    return base.startswith((".", "_")) or base.lower().endswith(_UNFINISHED)


def format_of(name: str) -> tuple[str | None, bool]:
    """JSON_LINES, CSV or None for a name nobody can read, and whether the content is compressed.

    >>> format_of("a.2026.JSONL.gz"), format_of("a.csv"), format_of("a.xml.gz")
    (('json lines', True), ('csv', False), (None, True))
    """
    lower = name.lower()
    bare = lower.removesuffix(".gz")
    format_ = next((format_ for suffix, format_ in _FORMATS.items() if bare.endswith(suffix)), None)
    return format_, bare != lower


def stream_of(path: str, landing_root: str) -> str:
    """The stream a file is for: the first folder below the landing root, in lower case.

    A file that lies in the root itself is named after its stream, up to the first '.' or '-'.

    >>> stream_of("/landing/Traffic/2026/07/a.csv", "/landing"), stream_of("/landing/logins-0001.jsonl", "/landing/")
    ('traffic', 'logins')
    >>> stream_of("file:///my%20data/traffic/a.csv", "/my data")
    'traffic'
    """
    root, full = _plain(landing_root).rstrip("/") + "/", _plain(path)
    if not full.startswith(root) or full == root:
        problem = f"{path}: expected a file below the landing folder {landing_root}, but it lies elsewhere"
        raise PlatformError(f"{problem}; move it there, or set the landing folder to where the files are")
    first, *deeper = full.removeprefix(root).lstrip("/").split("/")
    return (first if deeper else re.split(r"[.-]", first)[0]).lower()


def _plain(path: str) -> str:
    """Spark names local files by URI, with blanks and the like spelled as %20."""
    return unquote(re.sub(r"^file:(//(?=/))?", "", path)) if path.startswith("file:") else path
