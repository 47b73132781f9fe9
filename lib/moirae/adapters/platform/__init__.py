"""The embedded platform on one machine: a supervisor, its processes, and Airflow among them."""

from moirae.adapters.platform.control import start_detached, stop
from moirae.adapters.platform.plan import Plan
from moirae.adapters.platform.ports import choose_port
from moirae.adapters.platform.probes import FileWritten, Healthy
from moirae.adapters.platform.processes import Process
from moirae.adapters.platform.state import PlatformState, ProcessState, read_state

__all__ = [
    "FileWritten",
    "Healthy",
    "Plan",
    "PlatformState",
    "Process",
    "ProcessState",
    "choose_port",
    "read_state",
    "start_detached",
    "stop",
]
