"""A seeded data centre: four streams, a static table, and incidents whose causes are known.

The same spec gives the same bytes, and a span cut in two gives the same rows as the whole.
"""

from moirae.simulator.files import write_history
from moirae.simulator.incidents import Incident, incidents
from moirae.simulator.live import LivePacer
from moirae.simulator.signatures import KINDS, SIGNATURES, Signature
from moirae.simulator.spec import STREAMS, Intervals, Spec
from moirae.simulator.tables import servers_table, simulate_tables
from moirae.simulator.truth import Counts, Written, read_incidents

__all__ = [
    "KINDS",
    "SIGNATURES",
    "STREAMS",
    "Counts",
    "Incident",
    "Intervals",
    "LivePacer",
    "Signature",
    "Spec",
    "Written",
    "incidents",
    "read_incidents",
    "servers_table",
    "simulate_tables",
    "write_history",
]
