"""Overrides: an agent continues to edit a file that another agent is editing.

The record of it is in the state. So that an edit is decided without reading that, one small file
for each path, worktree and agent names the implicit leases that do not count. An override ends with
the lease that it names.
"""

import os

from ghp_agents.hotpath import fastjson, implicit_leases, own_file, presence_file
from ghp_agents.hotpath.light_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ghp_agents.hotpath.implicit_leases import ImplicitLease

FOLDER = "overridden"
# In place of a worktree's git folder: then the lease stands for what another clone reports.
CLONE = "clone:/worktrees/"
LIMIT = 100  # leases that one file names; the oldest are dropped


@dataclass
class Override:
    """One lease that does not count for one agent, and why."""

    lease: "ImplicitLease"
    reason: str
    at: str


def allows(
    folders: "Sequence[str]", agent: str, path: str, git_dir: str, lease: "ImplicitLease"
) -> bool:
    """Whether `agent` may edit `path` in a worktree in spite of another's lease of it."""
    return any(override.lease == lease for override in read(folders, agent, path, git_dir))


def allows_holder(
    folders: "Sequence[str]", agent: str, path: str, git_dir: str, holder: str
) -> bool:
    """The same, for the lease that `holder` has in this worktree."""
    lease = implicit_leases.find(folders, path, git_dir)
    return (
        lease is not None and lease.agent == holder and allows(folders, agent, path, git_dir, lease)
    )


def read(folders: "Sequence[str]", agent: str, path: str, git_dir: str) -> list[Override]:
    """The overrides of `agent` for a path in a worktree, oldest first; also those that ended."""
    name = _file_name(agent, path, git_dir)
    for folder in folders:
        fields = fastjson.read_object(f"{folder}/{FOLDER}/{name}")
        if fields is not None and fields.get("schemaVersion", 1) == 1:
            entries = fields.get("leases")
            return [x for x in map(_decoded, entries) if x] if isinstance(entries, list) else []
    return []


def add(
    folders: "Sequence[str]", agent: str, path: str, git_dir: str, new: "Sequence[Override]"
) -> None:
    """Make `agent` ignore the leases of `new`. Raises OSError if nothing can be written."""
    previous = read(folders, agent, path, git_dir)
    ours = {override.lease for override in new}
    kept = [x for x in previous if x.lease not in ours and _is_held(folders, x.lease, agent)]
    fields = {
        "schemaVersion": 1,
        "agent": agent,
        "path": path,
        "gitDir": git_dir,
        "leases": [_encoded(override) for override in [*kept, *new][-LIMIT:]],
    }
    failure: OSError | None = None
    for folder in folders:
        try:
            os.makedirs(f"{folder}/{FOLDER}", exist_ok=True)
            place = f"{folder}/{FOLDER}/{_file_name(agent, path, git_dir)}"
            own_file.replace(place, fastjson.encode(fields))
        except OSError as error:
            failure = failure or error
            continue
        return
    raise failure or FileNotFoundError(FOLDER)


def drop_ended(folders: "Sequence[str]") -> int:
    """Remove the files whose leases have all ended; returns their number."""
    dropped = 0
    for folder in folders:
        try:
            names = os.listdir(f"{folder}/{FOLDER}")
        except OSError:
            continue
        for name in names:
            fields = fastjson.read_object(f"{folder}/{FOLDER}/{name}") or {}
            entries = fields.get("leases")
            if fields.get("schemaVersion", 1) != 1 or not isinstance(entries, list):
                continue
            leases = [entry.lease for entry in map(_decoded, entries) if entry]
            by = str(fields.get("agent"))
            if not any(_is_held(folders, lease, by) for lease in leases):
                own_file.discard(f"{folder}/{FOLDER}/{name}")
                dropped += 1
    return dropped


def _is_held(folders: "Sequence[str]", lease: "ImplicitLease", by: str) -> bool:
    """Whether the lease that `by` has overridden is still there. When another clone's report ends
    is not known here, so that lasts as long as the agent that overrides it."""
    if lease.git_dir.startswith(CLONE):
        presence = presence_file.newest(folders, by)
        return presence is not None and presence.get("status") != "stopped"
    return implicit_leases.find(folders, lease.path, lease.git_dir) == lease


def _file_name(agent: str, path: str, git_dir: str) -> str:
    return f"{implicit_leases.file_name(path, git_dir)}-{agent}"


def _encoded(entry: Override) -> "dict[str, object]":
    lease = entry.lease
    return {
        "agent": lease.agent,
        "epoch": lease.epoch,
        "since": lease.since,
        "path": lease.path,
        "gitDir": lease.git_dir,
        "reason": entry.reason,
        "at": entry.at,
    }


def _decoded(fields: object) -> Override | None:
    if not isinstance(fields, dict):
        return None
    agent, epoch = fields.get("agent"), fields.get("epoch")
    texts = [fields.get(name) for name in ("since", "path", "gitDir", "reason", "at")]
    if type(epoch) is not int or not all(isinstance(x, str) for x in (agent, *texts)):
        return None
    since, path, git_dir, reason, at = texts
    lease = implicit_leases.ImplicitLease(agent, epoch, since, path, git_dir)  # type: ignore[arg-type]
    return Override(lease, reason, at)  # type: ignore[arg-type]
