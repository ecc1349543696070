"""Limits that several packages keep."""

LARGEST = 100_000_000  # bytes of one file of a record; more no host takes, and no reader reads
