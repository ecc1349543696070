"""The version of the schemas of records, files and outputs.

It rises only if a reader of the old schema would misread the new one: `docs/schemas/README.md`.
"""

from collections.abc import Mapping
from typing import Any

from ghp_agents.hotpath.quoting import one_line

KEY = "schemaVersion"
VERSION = 1
UPDATE = "Update ghp-agents to the version that wrote it."


class UnknownSchemaError(ValueError):
    """A newer version of this program wrote it."""


def versioned(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, with the version first."""
    return {KEY: VERSION, **fields}


def unversioned(fields: dict[str, Any]) -> dict[str, Any]:
    """The reverse; records of older versions have none. Raises UnknownSchemaError."""
    version = fields.pop(KEY, VERSION)
    if version != VERSION:
        shown = one_line(str(version), 40)
        raise UnknownSchemaError(f"its {KEY} is {shown}, and this program knows {VERSION}")
    return fields
