"""What a supervisor is told: the folder, the processes in order of start, the addresses to show. A plain value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moirae.adapters.platform.processes import Process, process_from


@dataclass(frozen=True, slots=True)
class Plan:
    """`run` names this run of the platform; `grace_s` is what each process has to end by itself."""

    folder: Path
    run: str
    processes: tuple[Process, ...]
    addresses: Mapping[str, str] = field(default_factory=dict)
    grace_s: float = 10.0

    def __post_init__(self) -> None:
        names = [process.name for process in self.processes]
        if len(set(names)) < len(names):
            raise ValueError(f"expected one process a name, but found {names}; rename one")
        for at, process in enumerate(self.processes):
            if later := set(process.after) - set(names[:at]):
                raise ValueError(f"process {process.name}: 'after' names {sorted(later)}, which do not come before it")

    def dump(self) -> str:
        """
        >>> plan = Plan(Path("/data"), "r1", (Process("a", ("true",)),), {"a": "http://127.0.0.1:1"})
        >>> load_plan(plan.dump()) == plan
        True
        """
        processes = [process.fields() for process in self.processes]
        rest = {"addresses": dict(self.addresses), "grace_s": self.grace_s}
        return json.dumps({"folder": str(self.folder), "run": self.run, "processes": processes, **rest}, indent=1)


def load_plan(text: str) -> Plan:
    fields = json.loads(text)
    processes = tuple(process_from(each) for each in fields.pop("processes"))
    return Plan(**{**fields, "folder": Path(fields["folder"])}, processes=processes)
