"""Answers from history: turns, mergeable partials, the chunk kernel, revisions and the scheduler."""
