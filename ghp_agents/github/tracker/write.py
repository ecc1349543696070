"""Creates and changes issues on GitHub: sends a change's requests one by one, then verifies them.

GitHub silently drops what an account may not set. So the result is compared with the request, and
the difference is reported. The result is what GitHub answered to the writes: a read may be late.
Only what an answer lacks is looked for again, for some seconds.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor
from ghp_agents.github import marker as github_marker
from ghp_agents.github.accounts import Names
from ghp_agents.github.api.errors import InvalidError, MissingError
from ghp_agents.github.tracker import labels, mapping, refresh
from ghp_agents.github.tracker import requests as change_requests
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.github.tracker.requests import Ids, Native, Request
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.issue import IssueChange

DEPENDENCIES = "dependencies"  # server features, as named in the features cache
SUB_ISSUES = "sub-issues"
_SO_ALREADY = ("already", "duplicate")  # in GitHub's message for an existing relation
_LOOKS_BACK = 3  # pages of the newest issues to search for ours
LOOKS = (1.0, 3.0, 10.0)  # seconds before each new look for what an answer lacked


def create(context: TrackerContext, change: IssueChange, by: Actor, ids: Ids) -> MirroredIssue:
    """Create an issue from a change that is `effective` on a blank one. Never creates it twice:
    after a failure the hidden line is looked up first."""
    names = context.names_for(change.add_assignees)
    native = _native(context, change)
    mark = github_marker.mark(random_hex(6), by)
    body = change_requests.creation(change, mark, names, native)
    labels.ensure(context, body.get("labels", ()))
    refresh.forget(context)  # after a crash here, an immediate retry must send a request
    raw = context.hub.write(
        "POST", "issues", body, find_existing=lambda: _find_created(context, mark.id)
    )
    issue = mapping.kept(raw)
    _send(context, issue, change_requests.relating(issue, change, native, ids))
    return _verified(context, change_requests.related(issue, change, native), change, names)


def _find_created(context: TrackerContext, identity: str) -> Any | None:
    """The issue with our hidden line, if it was created."""
    for page in range(1, _LOOKS_BACK + 1):
        listed = context.hub.get(
            "issues", state="all", sort="created", direction="desc", per_page=100, page=page
        ).body
        for raw in listed:
            _, mark = github_marker.split_marker(str(raw.get("body") or ""))
            if mark and mark.id == identity:
                return raw
    return None


def change(
    context: TrackerContext, issue: MirroredIssue, wanted: IssueChange, ids: Ids
) -> MirroredIssue:
    """Change an issue by a change that is `effective` on it."""
    names = context.names_for((*wanted.add_assignees, *wanted.remove_assignees))
    native = _native(context, wanted, issue)
    requests = change_requests.requests(issue, wanted, names, native, ids, context.signs)
    after = _send(context, issue, requests)
    return _verified(context, change_requests.related(after, wanted, native), wanted, names)


def _send(
    context: TrackerContext, issue: MirroredIssue, requests: Iterable[Request]
) -> MirroredIssue:
    """Send the requests; return the issue as their answers describe it."""
    for request in requests:
        if request.verb == "POST" and request.path.endswith("/labels") and request.body:
            labels.ensure(context, request.body["labels"])
        answer = _write(context, *request)
        issue = change_requests.answered(issue, request, answer)
    return issue


def _write(context: TrackerContext, verb: str, path: str, body: Mapping[str, Any] | None) -> Any:
    """One request, and its answer. Each adds or removes one thing, so repeating it is harmless, and
    an existing result counts as done. The result is verified at the end."""
    find_existing = _skip_lookup if verb == "POST" else None
    try:
        return context.hub.write(verb, path, body, find_existing=find_existing)
    except MissingError:
        if verb != "DELETE":
            raise
    except InvalidError as error:
        is_relation = "/dependencies/" in path or path.endswith("/sub_issues")
        if not (is_relation and any(word in error.message.lower() for word in _SO_ALREADY)):
            raise
    return None


def _skip_lookup() -> None:
    """No lookup is needed before a retry."""


def _native(
    context: TrackerContext, wanted: IssueChange, issue: MirroredIssue | None = None
) -> Native:
    """Which relations of a change the server supports. Sends a request once, then it is cached."""
    blocking = bool(wanted.add_blockers)
    parenting = wanted.parent is not None
    some = [*wanted.add_blockers, *([] if wanted.parent is None else [wanted.parent])]
    number = issue.number if issue else int(some[0]) if some else 0
    return Native(
        blocking and _has(context, DEPENDENCIES, f"issues/{number}/dependencies/blocked_by"),
        parenting and _has(context, SUB_ISSUES, f"issues/{number}/sub_issues"),
    )


def _has(context: TrackerContext, feature: str, path: str) -> bool:
    known = context.hub.has(feature)
    if known is not None:
        return known
    try:
        context.hub.get(path)
        found = True
    except MissingError:  # the issue itself exists
        found = False
    context.hub.learned(feature, found)
    return found


def _verified(
    context: TrackerContext, issue: MirroredIssue, wanted: IssueChange, names: Names
) -> MirroredIssue:
    """The issue, which is as GitHub answered, with what was verified. Raises RefusedError for what
    GitHub silently dropped, UnreachableError if there is no time to look again."""
    number, given = issue.number, [name for name in wanted.add_assignees if is_name(name)]
    found = refresh.written(context, issue, given)
    for rest in LOOKS:
        if not _missing(found, wanted, names):
            return found
        context.hub.pause(rest)
        found = refresh.one(context, number, given)
    missing = _missing(found, wanted, names)
    if missing:
        raise RefusedError(
            f"#{number} exists, but GitHub did not set {', '.join(missing)}: the token's account "
            "may not, or the named account has no access to this repository.",
            hint="Ask somebody with write access to set it; `ghp agent-doctor` shows what the "
            "token may do.",
        )
    return found


def _missing(issue: MirroredIssue, wanted: IssueChange, names: Names) -> list[str]:
    present = {label.lower() for label in issue.labels}
    accounts = {login.casefold() for login in issue.assignees}
    lost = [f"the label {label}" for label in wanted.add_labels if label.lower() not in present]
    for name in wanted.add_assignees:
        login = names.login(name)
        if is_name(name) and f"agent:{name}" not in present:
            lost.append(f"the label agent:{name}")
        if login and login.casefold() not in accounts:
            lost.append(f"the assignee {login}")
    return lost
