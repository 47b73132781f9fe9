"""Ports of the platform: on the loopback address only, free ones unless the configuration names one."""

from __future__ import annotations

import socket

from moirae.errors import PlatformError

LOOPBACK = "127.0.0.1"


def is_free(port: int, host: str = LOOPBACK) -> bool:
    with socket.socket() as probe:
        # as servers do: a port in TIME_WAIT of an earlier run is free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(host: str = LOOPBACK) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def choose_port(key: str, wanted: int | None, last: int | None = None) -> int:
    """The configured port, which must be free; else the last one used, if it still is; else any free one."""
    if wanted is not None:
        if not is_free(wanted):
            raise PlatformError(
                f"{key}: expected a free port, but {wanted} on {LOOPBACK} is taken or not allowed; "
                "end the program that uses it, or write another port, or 'none' for any free one"
            )
        return wanted
    return last if last is not None and is_free(last) else free_port()
