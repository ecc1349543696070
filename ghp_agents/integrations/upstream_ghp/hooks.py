"""The hooks that we register with upstream's `ghp`, and the arguments for that.

Upstream inserts data of the event into a hook's shell command. We use only the name of a file with
the data, as a title could hold anything.
"""

import shlex
from typing import Any, NamedTuple

OURS = "ghp-agents"  # prefix of our hooks' names
EVENTS = ("issue-started", "worktree-created", "worktree-removed", "pr-created", "pr-merged")
EVENT_FILE = "${_event_file}"
EVENT_COMMAND, DASHBOARD_COMMAND = "agent-event", "agent-dashboard"
EVENT_TIMEOUT, DASHBOARD_TIMEOUT = 30_000, 5_000  # milliseconds; upstream's own defaults
CATEGORY, TITLE = "agents", "Agents"


class Hook(NamedTuple):
    """A hook; without an event it is a dashboard hook."""

    name: str
    command: str
    event: str = ""

    @property
    def what(self) -> str:
        """The hook, for people."""
        kind = f"event hook {self.name}" if self.event else f"dashboard hook {self.name}"
        return f"the {kind} with upstream's ghp"

    @property
    def to_add(self) -> list[str]:
        """The arguments of `ghp` that register it."""
        words = [*self._group, "add", self.name, "--command", self.command]
        words += ["--display-name", f"{TITLE}: {self.event}" if self.event else TITLE]
        if self.event:
            return [*words, "--event", self.event, "--timeout", str(EVENT_TIMEOUT)]
        return [*words, "--category", CATEGORY, "--timeout", str(DASHBOARD_TIMEOUT)]

    @property
    def to_remove(self) -> list[str]:
        """The arguments of `ghp` that remove it."""
        return [*self._group, "remove", self.name]

    @property
    def _group(self) -> list[str]:
        return ["hooks"] if self.event else ["dashboard", "hooks"]


def wanted(python: str) -> list[Hook]:
    """All our hooks, with this interpreter."""
    call = f"{shlex.quote(python)} -P -m ghp_agents"
    events = [
        Hook(f"{OURS}-{event}", f"{call} {EVENT_COMMAND} {event} {EVENT_FILE}", event)
        for event in EVENTS
    ]
    return [*events, Hook(OURS, f"{call} {DASHBOARD_COMMAND}")]


def registered(data: Any, *, dashboard: bool) -> list[Hook]:
    """Our hooks in a parsed file of upstream's. Raises ValueError for another format."""
    hooks = data.get("hooks", []) if isinstance(data, dict) else None
    if not isinstance(hooks, list):
        raise ValueError("no list of hooks")
    keys = ("name", "command") if dashboard else ("name", "command", "event")
    entries = [entry for entry in hooks if isinstance(entry, dict)]
    present = [Hook(*(str(entry.get(key, "")) for key in keys)) for entry in entries]
    return [hook for hook in present if hook.name == OURS or hook.name.startswith(f"{OURS}-")]
