"""Parsers for three files in which upstream's `ghp` records agents. We never write them.

Programs of several versions write them without a lock, so each field may be anything. The registry
covers all repositories of a user; only an agent's worktree shows which one it works in.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.ids import NUMBERS_END, one_line

LONGEST = 200  # characters of a text that is shown


class Noted(NamedTuple):
    """Upstream's record of an agent or its worktree."""

    worktree: str = ""  # the folder
    branch: str = ""
    issue: int | None = None
    title: str = ""
    status: str = ""  # starting, running, waiting, stopped, error
    stage: str = ""  # of upstream's pipeline
    action: str = ""
    waits: bool = False  # for a person's input
    at: str = ""


class Role(NamedTuple):
    """A shell hook's record of a role."""

    name: str
    status: str
    at: str


def registry(data: Any) -> list[Noted]:
    """`~/.ghp/agents.json`. Raises ValueError."""
    records = []
    for entry in _objects(_object(data).get("agents")).values():
        waits = entry.get("waitingForInput") is True
        records.append(
            Noted(
                _text(entry, "worktreePath", 4096), _text(entry, "branch"), _issue(entry),
                _text(entry, "issueTitle"), "waiting" if waits else _text(entry, "status"), "",
                _text(entry, "currentAction"), waits,
                _text(entry, "lastSeen") or _text(entry, "startedAt"),
            )
        )  # fmt: skip
    return records


def pipeline(data: Any) -> list[Noted]:
    """`<git folder>/ghp-pipeline.json`. Raises ValueError."""
    return [
        Noted(
            _text(entry, "worktreePath", 4096), _text(entry, "branch"), _issue(entry),
            _text(entry, "issueTitle"),
            stage=_text(entry, "stage"), at=_text(entry, "stageEnteredAt"),
        )
        for entry in _objects(data).values()
    ]  # fmt: skip


def roles(data: Any) -> list[Role]:
    """`~/.config/ghp-cli/coordination/agent-status.json`. Raises ValueError."""
    return [
        Role(name, _text(entry, "status"), _text(entry, "lastSeen"))
        for name, entry in _objects(data).items()
    ]


def together(agents: Iterable[Noted], stages: Iterable[Noted]) -> list[Noted]:
    """The newest record for each worktree, or else branch, as `ghp status` shows them."""
    newest: dict[str, Noted] = {}
    for noted in sorted(agents, key=lambda noted: noted.at):
        newest[_key(noted)] = noted
    for noted in stages:
        existing = newest.get(_key(noted))
        newest[_key(noted)] = existing._replace(stage=noted.stage) if existing else noted
    return [newest[key] for key in sorted(newest) if key]


def folder_of(noted: Noted) -> str:
    """The name of the worktree's folder, as in presence; empty if unknown."""
    return posixpath.basename(posixpath.normpath(noted.worktree)) if noted.worktree else ""


def agent_of(noted: Noted, presences: Mapping[str, Mapping[str, Any]]) -> str:
    """Our agent in the same worktree, or else on the same branch; empty if not exactly one."""
    for key, value in (("worktree", folder_of(noted)), ("branch", noted.branch)):
        fitting = [
            name for name, presence in presences.items() if value and presence.get(key) == value
        ]
        if len(fitting) == 1:
            return fitting[0]
    return ""


def sentence(noted: Noted, agent: str) -> str:
    """The record as a sentence that names its source."""
    what = f"#{noted.issue}" if noted.issue else one_line(noted.branch, 60) or "somebody"
    who = f"{agent} on {what}" if agent else what
    facts: Sequence[str] = (
        noted.status,
        f"stage {noted.stage}" if noted.stage else "",
        "waiting for a person's input" if noted.waits else "",
        noted.action,
    )
    details = ", ".join(fact for fact in facts if fact and fact != "waiting") or "nothing more"
    return f"Upstream ghp reports for {who}: {details}."


def _key(noted: Noted) -> str:
    return posixpath.normpath(noted.worktree) if noted.worktree else noted.branch


def _object(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ValueError("not an object")
    return data


def _objects(data: Any) -> dict[str, Mapping[str, Any]]:
    return {key: value for key, value in _object(data).items() if isinstance(value, dict)}


def _text(data: Mapping[str, Any], key: str, limit: int = LONGEST) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        return ""
    return one_line(value.encode("utf-8", "replace").decode("utf-8"), limit)


def _issue(data: Mapping[str, Any]) -> int | None:
    value = data.get("issueNumber")
    return value if type(value) is int and 0 < value < NUMBERS_END else None
