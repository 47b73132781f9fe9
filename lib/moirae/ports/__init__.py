"""What the core asks of the world, as Protocols. Types only."""
