"""The requests for a change of an issue, in their order.

Labels and assignees are added and removed one by one and never set as a whole, so that two
concurrent changes do not overwrite each other.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from ghp_agents.core.errors import UsageError
from ghp_agents.core.metadata import NO_METADATA
from ghp_agents.github import labels as github_label
from ghp_agents.github import marker as github_marker
from ghp_agents.github.accounts import Names
from ghp_agents.github.labels import SIGNS, agent_of, is_priority
from ghp_agents.github.marker import Mark
from ghp_agents.github.tracker import body as github_body
from ghp_agents.github.tracker.body import BodyParts
from ghp_agents.github.tracker.mapping import (
    MirroredIssue,
    form_priority,
    kept,
    label_name,
    priority_in,
    read,
)
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.issue import DEFAULT_PRIORITY, IssueChange


class Native(NamedTuple):
    """The relations between issues that a server supports itself."""

    dependencies: bool = False
    parents: bool = False


class Request(NamedTuple):
    """One request; its path is relative to the repository. Each is safe to repeat."""

    verb: str
    path: str
    body: Mapping[str, Any] | None = None


Ids = Mapping[int, int]  # database ids by issue number


def taken_in(change: IssueChange, signs: Iterable[str] = SIGNS) -> IssueChange:
    """A change in GitHub's terms: texts without a hidden line, relations from the end of a body as
    relations, and labels with a meaning as that meaning."""
    change = _meant(change, signs)
    if change.body is None:
        return change
    own, _ = _at_end(github_marker.plain(change.body))
    parent = own.parent if change.parent is None and not change.no_parent else change.parent
    blockers = (*change.add_blockers, *own.blocked_by)
    metadata = (own.metadata or None) if change.metadata is None else change.metadata
    return change._replace(body=own.text, parent=parent, add_blockers=blockers, metadata=metadata)


def _at_end(text: str) -> tuple[BodyParts, BodyParts]:
    """The parts of a body with only the relations at its end, and those of the text above."""
    parts = github_body.read_relations(text)
    inside = github_body.read_relations(parts.text)
    blocked_by = tuple(x for x in parts.blocked_by if x not in inside.blocked_by)
    parent = parts.parent if parts.parent != inside.parent else None
    return parts._replace(blocked_by=blocked_by, parent=parent), inside


def _meant(change: IssueChange, signs: Iterable[str]) -> IssueChange:
    added = {label: agent_of(label, signs) for label in change.add_labels}
    removed = {label: agent_of(label, signs) for label in change.remove_labels}
    urgent = github_label.priority_of(added)
    calm = any(map(is_priority, removed)) and change.priority is None and urgent is None
    return change._replace(
        add_labels=tuple(x for x, agent in added.items() if not agent and not is_priority(x)),
        remove_labels=tuple(x for x, agent in removed.items() if not agent and not is_priority(x)),
        add_assignees=(*change.add_assignees, *filter(None, added.values())),
        remove_assignees=(*change.remove_assignees, *filter(None, removed.values())),
        priority=change.priority or urgent or (DEFAULT_PRIORITY if calm else None),
    )


def creation(change: IssueChange, mark: Mark, names: Names, native: Native) -> dict[str, Any]:
    """The body of the request that creates an issue; native relations follow. Raises UsageError."""
    parts = BodyParts(
        change.body or "",
        () if native.dependencies else change.add_blockers,
        None if native.parents else change.parent,
        change.metadata or NO_METADATA,
    )
    labels = [*change.add_labels, *_labels(change.add_assignees)]
    if change.priority and change.priority != priority_in(parts.text):
        labels.append(f"{github_label.PRIORITY}{change.priority}")
    fields = {
        "title": change.title,
        "body": github_body.fitting("body", github_marker.signed(github_body.joined(parts), mark)),
        "labels": labels,
        "assignees": _accounts(change.add_assignees, names),
    }
    return {key: value for key, value in fields.items() if value}


def requests(
    issue: MirroredIssue,
    change: IssueChange,
    names: Names,
    native: Native,
    ids: Ids,
    signs: Iterable[str] = SIGNS,
) -> list[Request]:
    """The requests for an effective change of an issue. Raises UsageError."""
    return [
        *_edit(issue, change, native),
        *_labelling(issue, change, signs),
        *_assigning(issue, change, names),
        *relating(issue, change, native, ids),
    ]


def relating(issue: MirroredIssue, change: IssueChange, native: Native, ids: Ids) -> list[Request]:
    """The requests for the native relations of an issue."""
    return [*_blocking(issue, change, native, ids), *_parenting(issue, change, native, ids)]


def answered(issue: MirroredIssue, request: Request, answer: Any) -> MirroredIssue:
    """The issue after a request, as the answer describes it. What cannot be read changes nothing.

    Labels are answered with all labels of the issue, the rest with the issue
    (docs.github.com, "REST API endpoints for issues").
    """
    _, is_label, removed = request.path.partition("/labels/")
    try:
        if isinstance(answer, list):
            return issue._replace(labels=tuple(map(label_name, answer)))
        if is_label:  # it is gone already
            stay = (label for label in issue.labels if label != unquote(removed))
            return issue._replace(labels=tuple(stay))
        fresh = kept(answer)
    except (TypeError, ValueError):
        return issue
    if fresh.id != issue.id:
        return issue
    return fresh._replace(blockers=issue.blockers, waits=issue.waits, parent=issue.parent)


def related(issue: MirroredIssue, change: IssueChange, native: Native) -> MirroredIssue:
    """The issue after the requests for its native relations."""
    removed = [number for number in change.remove_blockers if number in issue.blockers]
    blockers = {*issue.blockers}.difference(removed)
    waits = (issue.waits or 0) - len(removed)
    if native.dependencies:
        waits += len({*change.add_blockers} - blockers)
        blockers |= {*change.add_blockers}
    parent = None if change.no_parent else issue.parent
    if native.parents:
        parent = change.parent or parent
    is_counted = issue.waits is not None or native.dependencies
    return issue._replace(
        blockers=tuple(sorted(blockers)), parent=parent, waits=max(waits, 0) if is_counted else None
    )


def showable(change: IssueChange, names: Names, signs: Iterable[str] = SIGNS) -> IssueChange:
    """A change without the names that GitHub can neither label nor assign."""

    def can(name: str) -> bool:
        try:
            _labels([name], signs)
            names.login(name)
        except UsageError:
            return False
        return True

    return change._replace(
        add_assignees=tuple(filter(can, change.add_assignees)),
        remove_assignees=tuple(filter(can, change.remove_assignees)),
    )


def _edit(issue: MirroredIssue, change: IssueChange, native: Native) -> Iterable[Request]:
    fields: dict[str, Any] = {}
    if change.title is not None:
        fields["title"] = change.title
    body = _body(issue, change, native)
    if body != issue.body:
        fields["body"] = github_body.fitting("body", body)
    if change.state is not None:
        reason = "completed" if change.state == "closed" else "reopened"
        fields |= {"state": change.state, "state_reason": reason}
    if fields:
        yield Request("PATCH", f"issues/{issue.number}", fields)


def _body(issue: MirroredIssue, change: IssueChange, native: Native) -> str:
    """The new body: the text, relations that the server does not support, the hidden line."""
    text, mark = read(issue)
    own, inside = _at_end(text)
    blockers = {*own.blocked_by} - {*change.remove_blockers}
    if not native.dependencies:
        blockers |= {*change.add_blockers}
    parent, gone = own.parent, None
    if change.no_parent or change.parent is not None:
        parent, gone = None if native.parents else change.parent, inside.parent
    wanted = own.text if change.body is None else change.body
    wanted = github_body.without(wanted, change.remove_blockers, gone).strip("\n")
    metadata = own.metadata if change.metadata is None else change.metadata
    parts = BodyParts(wanted, tuple(sorted(blockers)), parent, metadata)
    if change.body is None and parts == own:
        return issue.body  # an unchanged body is not reformatted
    joined = github_body.joined(parts)
    return github_marker.signed(joined, mark) if mark else github_marker.plain(joined)


def _labelling(
    issue: MirroredIssue, change: IssueChange, signs: Iterable[str]
) -> Iterable[Request]:
    path = f"issues/{issue.number}/labels"
    spelled = {label.lower(): label for label in issue.labels}
    added = [*change.add_labels, *_labels(change.add_assignees, signs)]
    removed = [*change.remove_labels]
    agents = [name for name in change.remove_assignees if is_name(name)]
    removed += [f"{github_label.AGENT}{sign}{name}" for name in agents for sign in ("", "@")]
    # A label set without permission is not an assignment. Only setting it again makes it one.
    removed += [label for label in _labels(change.add_assignees, signs) if label in spelled]
    if change.priority is not None:
        removed += [label for label in issue.labels if is_priority(label)]
        counted = priority_in(change.body) if change.body else form_priority(issue, issue.body)
        if change.priority != counted:
            added.append(f"{github_label.PRIORITY}{change.priority}")
    for label in dict.fromkeys(name.lower() for name in removed):
        if label in spelled:
            yield Request("DELETE", f"{path}/{quote(spelled[label], safe='')}")
    if added:
        yield Request("POST", path, {"labels": [*dict.fromkeys(added)]})


def _labels(assignees: Iterable[str], signs: Iterable[str] = SIGNS) -> list[str]:
    return [github_label.of_agent(name, signs) for name in assignees if is_name(name)]


def _accounts(assignees: Iterable[str], names: Names) -> list[str]:
    logins = (names.login(name) for name in assignees)
    return [*dict.fromkeys(login for login in logins if login)]


def _assigning(issue: MirroredIssue, change: IssueChange, names: Names) -> Iterable[Request]:
    path = f"issues/{issue.number}/assignees"
    assigned = {login.casefold() for login in issue.assignees}
    removed = _accounts(change.remove_assignees, names)
    added = [x for x in _accounts(change.add_assignees, names) if x.casefold() not in assigned]
    agents = {str(agent_of(label)) for label in issue.labels} - {*change.remove_assignees}
    stay = {*added, *(names.login(agent) for agent in agents if names.accounts.get(agent))}
    removed = [x for x in removed if x.casefold() in assigned and x not in stay]
    if removed:
        yield Request("DELETE", path, {"assignees": removed})
    if added:
        yield Request("POST", path, {"assignees": added})


def _blocking(
    issue: MirroredIssue, change: IssueChange, native: Native, ids: Ids
) -> Iterable[Request]:
    path = f"issues/{issue.number}/dependencies/blocked_by"
    for number in change.remove_blockers:
        if number in issue.blockers:
            yield Request("DELETE", f"{path}/{ids[number]}")
    for number in change.add_blockers if native.dependencies else ():
        yield Request("POST", path, {"issue_id": ids[number]})


def _parenting(
    issue: MirroredIssue, change: IssueChange, native: Native, ids: Ids
) -> Iterable[Request]:
    if change.no_parent and issue.parent is not None:
        yield Request("DELETE", f"issues/{issue.parent}/sub_issue", {"sub_issue_id": issue.id})
    elif change.parent is not None and native.parents:
        fields = {"sub_issue_id": issue.id, "replace_parent": True}
        yield Request("POST", f"issues/{change.parent}/sub_issues", fields)
