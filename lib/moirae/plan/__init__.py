"""From bound queries to operators: what runs together, on which key, reading which columns."""

from moirae.plan.program import DeployedEvent, Operator, Program, plan_program

__all__ = ["DeployedEvent", "Operator", "Program", "plan_program"]
