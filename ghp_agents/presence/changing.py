"""The files that living agents are changing, as their clones report them."""

from collections.abc import Iterable, Iterator, Mapping

from ghp_agents.core.ids import issue_of_branch
from ghp_agents.locks.lock import Lock
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.state import changes
from ghp_agents.state.changes import FIELD
from ghp_agents.state.presence import issue_of


def reporters(views: Iterable[AgentView], claims: Mapping[int, Lock]) -> Iterator[AgentView]:
    """The living agents that report changes. If another has claimed the issue, its changes were
    given to the holder, or do not count any more."""
    for view in views:
        reports = FIELD in view.presence and view.liveness in LIVING
        claim = claims.get(_issue(view) or 0)
        if reports and (claim is None or claim.holder == view.name):
            yield view


def files(view: AgentView) -> list[str]:
    """The paths that an agent reports."""
    return [change.path for change in changes.decode(view.presence)]


def _issue(view: AgentView) -> int | None:
    """The issue that an agent works on, or worked on until it lost the claim."""
    fields = view.presence
    return issue_of(fields) or issue_of_branch(str(fields.get("branch") or ""))
