"""Whether a client's hook reaches us: the answer to a message that is no event.

`agent-start` and `agent-doctor` start the command of a client's file in a worktree, and write
`{"ghp_trial": true, "cwd": …}`. Nothing is decided and nothing is recorded. Agents cannot
send it: the arguments of their tools are deeper in a message.
"""

import os

from ghp_agents.hotpath import heartbeat
from ghp_agents.hotpath.locate import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def answer(payload: "Mapping[str, Any]", environ: "Mapping[str, str]") -> "dict[str, str]":
    """The worktree that hooks guard here, or why none is."""
    folder = payload.get("cwd")
    place = locate(folder, environ) if isinstance(folder, str) else None
    if place is None or place.toplevel is None:
        return {"why": "hooks find no worktree here that belongs to you"}
    folders = heartbeat.state_folders(place.common_dir, environ)
    if not any(os.path.isdir(path) for path in folders):
        return {"why": "ghp-agents is not set up in this repository"}
    return {"guarded": place.toplevel}
