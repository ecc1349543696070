"""Limits that several packages share."""

LARGEST = 100_000_000  # bytes of a record's file; hosts refuse more
