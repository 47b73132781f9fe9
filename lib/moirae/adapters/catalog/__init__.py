"""The catalog on SQLite (one machine) or PostgreSQL (a cluster): same tables, same guarantees."""

from moirae.adapters.catalog.store import SqlCatalog, open_catalog

__all__ = ["SqlCatalog", "open_catalog"]
