"""Spark: sessions, the streaming host, replay of chunks, the tables on Delta."""
