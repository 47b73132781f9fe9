"""The demonstration: a platform of its own, a week of history, a live stretch, and a verdict against the truth."""
