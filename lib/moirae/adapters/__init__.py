"""The world: stores, engines and services behind the ports."""
