"""Great Expectations as the gate between a sealed chunk and those who read it."""

from moirae.adapters.quality.gate import ExpectationsGate, expectations_gate

__all__ = ["ExpectationsGate", "expectations_gate"]
