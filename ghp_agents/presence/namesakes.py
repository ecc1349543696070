"""The notices to two living sessions under one name: the second has a name of its own."""

from collections.abc import Sequence
from pathlib import Path

from ghp_agents.hotpath import alive, own_name, presence_file, session_name
from ghp_agents.hotpath.quoting import named
from ghp_agents.state.presence import Presence, issue_of, number


def to_second(second: str, first: str, folders: Sequence[str]) -> str:
    """The notice to a session that is called `second`, because `first` is in use."""
    fields = presence_file.newest(folders, first) or {}
    issue = issue_of(fields) if number(fields, "generation") else None
    claim = f" and its claim of #{issue}" if issue else ""
    end = (
        f"take the issue over: `ghp agent-claim {issue}`"
        if issue
        else "a new session gets the name"
    )
    return (
        f"Another running session has the name {named(first)}{_place(fields)}, so this one is "
        f"{second}. The files that {named(first)} edits{claim} stay its own: do other work. When "
        f"it has ended, {end}."
    )


def to_first(folders: Sequence[str], agent: str) -> list[tuple[str, str]]:
    """The notices to the session `agent` about living sessions that started under its name, each
    with an id."""
    items: list[tuple[str, str]] = []
    for second in _names(folders):
        if not own_name.is_second(second, agent):
            continue
        fields = presence_file.newest(folders, second) or {}
        session = str((fields.get("local") or {}).get("session") or "")
        part = second.rpartition("-")[2]
        is_living = fields.get("status") != "stopped" and alive.process_lives(fields) is not False
        if session and part == session_name.short(session, len(part)) and is_living:
            text = (
                f"Another session started under the name {named(agent)}{_place(fields)}. It is "
                f"{second} now. The files that you edit and your claim stay yours."
            )
            items.append((text, f"second {second}"))
    return items


def renamed(name: str, mine: str) -> tuple[str, str]:
    """The notice after a worktree got a name that a running session has elsewhere; `mine` is the
    name of the caller, empty for a person."""
    who = f"this session is {mine}" if mine else "a session here gets a name of its own"
    return f"{named(name)} has a running session elsewhere.", f"Until that ends, {who}."


def _place(presence: Presence) -> str:
    worktree = presence.get("worktree")
    return f" in worktree {named(worktree)}" if isinstance(worktree, str) and worktree else ""


def _names(folders: Sequence[str]) -> list[str]:
    return sorted(
        {path.stem for folder in folders for path in Path(folder, "agents").glob("*.json")}
    )
