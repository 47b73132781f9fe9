"""The revisions in order."""
