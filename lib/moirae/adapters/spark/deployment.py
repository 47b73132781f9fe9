"""What the catalog says should run, bound and planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moirae.lang import bind
from moirae.model.query import Pack, StreamDef
from moirae.plan import Program, plan_program
from moirae.ports.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the catalog says should run, bound and planned; `version` tells when to look again."""

    version: int
    pack: Pack
    program: Program
    versions: Mapping[str, int]

    @property
    def streams(self) -> dict[str, StreamDef]:
        return {stream.name: stream for stream in self.pack.streams}


def load_deployment(catalog: Catalog) -> Deployment:
    version = catalog.program_version()
    active = catalog.active()
    pack = bind("\n".join(f"{statement.text.rstrip().rstrip(';')};" for statement in active))
    versions = {statement.name: statement.version for statement in active}
    return Deployment(version, pack, plan_program(pack, versions), versions)
