"""Where settled records are: they left their clone's tip, and its history has them.

A compaction is one commit: its tree lacks the settled records, and its second parent is a commit
of nothing but them. The file `.ghp/settled.json` at a tip names all such commits.
"""

import json
from collections.abc import Iterable, Sequence

from ghp_agents.core.fields import is_oid
from ghp_agents.git.objects import ObjectReader

PATH = ".ghp/settled.json"
SUBJECT = "compact "  # how the message of a compaction begins


def encode(commits: Iterable[str]) -> bytes:
    """The file that names these commits."""
    return json.dumps({"schemaVersion": 1, "commits": [*commits]}, indent=2).encode() + b"\n"


def decode(data: bytes) -> list[str]:
    """The commits that a file names; none if another clone wrote something else."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return []
    named = fields.get("commits") if isinstance(fields, dict) else None
    words = named if isinstance(named, list) else []
    return [oid for oid in words if is_oid(oid)]


def read_commits(reader: ObjectReader, files: Sequence[str]) -> list[list[str]]:
    """For the file of each tip (an object's name), the commits with its settled records."""
    return [decode(file.content) if file else [] for file in reader.read(files)]


def missing(reader: ObjectReader, commits: Sequence[str]) -> list[str]:
    """Those of `commits` that are not in the repository."""
    contents = reader.read(commits) if commits else []
    return [oid for oid, commit in zip(commits, contents, strict=True) if commit is None]
