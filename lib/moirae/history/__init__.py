"""The life of a chunk: open, sealed, checked, compacted, demoted. Planners decide here, adapters act."""

from moirae.history.planners import plan_check, plan_compact, plan_demote, plan_roll
from moirae.history.steps import ChangeTier, CheckChunk, CompactChunk, RollChunk, RollLimits, Step

__all__ = [
    "ChangeTier",
    "CheckChunk",
    "CompactChunk",
    "RollChunk",
    "RollLimits",
    "Step",
    "plan_check",
    "plan_compact",
    "plan_demote",
    "plan_roll",
]
