"""What ends a run when its supervisor could not: a process asleep on a pipe, costing nothing until then."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass

from moirae.adapters.platform.plan import Plan
from moirae.adapters.platform.processes import sweep

log = logging.getLogger("supervisor")


@dataclass(frozen=True, slots=True)
class Guard:
    """A process that sleeps on a pipe until the supervisor says goodbye, or vanishes without a word."""

    pid: int
    pipe: int

    @classmethod
    def start(cls, plan: Plan, lock: int) -> Guard:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()  # signals to the supervisor's group are not for the guard
            os.close(writing)
            os.close(lock)  # or the folder would stay taken
            if not os.read(reading, 1):
                sweep(plan.folder, plan.run, plan.grace_s)
            os._exit(0)
        os.close(reading)
        return cls(pid, writing)

    def dismiss(self) -> None:
        try:
            os.write(self.pipe, b".")
        except BrokenPipeError:
            log.warning("the guard was gone")
        os.close(self.pipe)
        os.waitpid(self.pid, 0)
