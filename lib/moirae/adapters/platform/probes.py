"""How the supervisor knows that a process is ready.

Probes are plain values: they are written into the platform's plan and called in another process, so a probe holds only
text and numbers. Any failure to find out is the answer "not yet"; a probe never raises.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path

# the platform's own addresses are on this machine: a proxy named in the environment is not for them
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Healthy:
    """The address answers; where `part` is named, its JSON answer must call that part healthy."""

    url: str
    part: str = ""
    timeout_s: float = 2.0

    def __call__(self) -> bool:
        try:
            with direct.open(self.url, timeout=self.timeout_s) as answer:
                body = answer.read()
            return not self.part or json.loads(body)[self.part]["status"] == "healthy"
        except (OSError, ValueError, LookupError, TypeError):
            return False

    def reset(self) -> None:
        """Nothing of an earlier life can answer here."""


@dataclass(frozen=True, slots=True)
class FileWritten:
    """The process says so itself, by writing this file. One left by an earlier life is removed before the start."""

    path: str

    def __call__(self) -> bool:
        return Path(self.path).exists()

    def reset(self) -> None:
        Path(self.path).unlink(missing_ok=True)


Probe = Healthy | FileWritten
_KINDS: dict[str, type[Healthy] | type[FileWritten]] = {"healthy": Healthy, "file": FileWritten}


def probe_fields(probe: Probe) -> dict[str, object]:
    """
    >>> probe_fields(FileWritten("/data/ready"))
    {'kind': 'file', 'path': '/data/ready'}
    """
    kind = next(name for name, each in _KINDS.items() if isinstance(probe, each))
    return {"kind": kind, **asdict(probe)}


def probe_from(fields: dict[str, object]) -> Probe:
    """
    >>> probe_from({'kind': 'healthy', 'url': 'http://127.0.0.1:1/'})
    Healthy(url='http://127.0.0.1:1/', part='', timeout_s=2.0)
    """
    values = {name: value for name, value in fields.items() if name != "kind"}
    return _KINDS[str(fields["kind"])](**values)  # type: ignore[arg-type]
