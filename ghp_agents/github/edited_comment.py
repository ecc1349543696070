"""Comments that exist once on an issue and are edited in place: found by their hidden line."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ghp_agents.github import marker as github_marker
from ghp_agents.github.accounts import WORKFLOWS
from ghp_agents.github.api.errors import ForbiddenError, GoneError, HubError, MissingError
from ghp_agents.github.api.repository import COMMANDING, GitHubRepository

MEMBERS = ("OWNER", "MEMBER", "COLLABORATOR")  # GitHub's names for who belongs to a repository
LATER = 2**63  # the id of a comment that is not there yet


class ListedComments(NamedTuple):
    """The comments of an issue, as GitHub lists them."""

    ids: frozenset[int]
    marked: Mapping[str, list[int]]  # trusted ones by `once`, oldest first

    def first(self, marker: str) -> int:
        """The id of the first comment with a marker; LATER if there is none."""
        return next(iter(self.marked.get(github_marker.once(marker), ())), LATER)


def listed(hub: GitHubRepository, issue: int) -> ListedComments:
    """The comments of an issue; lines that somebody forged are ignored."""
    ids: set[int] = set()
    marked: dict[str, list[int]] = {}
    for raw in hub.get_all(f"issues/{issue}/comments"):
        ids.add(int(raw["id"]))
        _, mark = github_marker.split_marker(str(raw.get("body") or ""))
        if mark and mark.once and _is_trusted(hub, raw):
            marked.setdefault(mark.once, []).append(int(raw["id"]))
    return ListedComments(
        frozenset(ids), {once: sorted(comments) for once, comments in marked.items()}
    )


def post_or_edit(hub: GitHubRepository, issue: int, body: str, marker: str) -> int:
    """Set the text of the existing comment with this marker, else post one; return its id. If two
    clones posted one at once, the younger one is deleted by its own clone."""
    for comment in _marked(hub, issue, marker):
        if edit(hub, comment, body):
            return comment

    def find_existing() -> Any | None:
        marked = _marked(hub, issue, marker)
        return {"id": marked[0]} if marked else None

    path = f"issues/{issue}/comments"
    created = int(hub.write("POST", path, {"body": body}, find_existing=find_existing)["id"])
    first = min([created, *_marked(hub, issue, marker)])
    if first != created and edit(hub, first, body):
        with suppress(HubError):
            hub.write("DELETE", f"issues/comments/{created}")
        return first
    return created


def edit(hub: GitHubRepository, comment: int, body: str) -> int:
    """Set the comment's text; return its id, or 0 if it is gone."""
    path = f"issues/comments/{comment}"
    try:
        if hub.get(path).body.get("body") != body:
            hub.write("PATCH", path, {"body": body})
    except (MissingError, GoneError):
        return 0
    return comment


def _marked(hub: GitHubRepository, issue: int, marker: str) -> list[int]:
    return listed(hub, issue).marked.get(github_marker.once(marker), [])


def _is_trusted(hub: GitHubRepository, raw: Mapping[str, Any]) -> bool:
    login = str((raw.get("user") or {}).get("login") or "")
    if login == WORKFLOWS:
        return True  # created by a sweep in the repository's workflow
    try:
        is_ours = bool(login) and login == hub.viewer()
    except HubError:
        is_ours = False
    return is_ours or _may_write(hub, login, str(raw.get("author_association") or ""))


def _may_write(hub: GitHubRepository, login: str, association: str) -> bool:
    """Whether the author has write access. Where GitHub does not say it now, or says that a member
    has no access at all, membership counts: else the comment would be posted a second time."""
    try:
        role = hub.permission(login)
    except ForbiddenError:
        role = "none"
    return association in MEMBERS if role == "none" else role in COMMANDING
