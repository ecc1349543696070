"""Creates and changes issues on GitHub: sends a change's requests one by one, then verifies them.

GitHub silently drops what an account may not set. So the result is compared with the request, and
the difference is reported. The result is what GitHub answered to the writes: a read may be late.
Only what an answer lacks is looked for again, for some seconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from ghp_agents.core.errors import RefusedError, UnknownError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor
from ghp_agents.github import ensure_labels
from ghp_agents.github import marker as github_marker
from ghp_agents.github.accounts import Names
from ghp_agents.github.api.errors import HubError, InvalidError, MissingError, NoAnswerError
from ghp_agents.github.tracker import jobs, mapping, refresh
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


def create(
    context: TrackerContext, change: IssueChange, by: Actor, ids: Ids, identity: str = ""
) -> MirroredIssue:
    """Create an issue from a change that is `effective` on a blank one. Never creates it twice:
    after a failure, and with an `identity`, the hidden line is looked up first."""
    names = context.names_for(change.add_assignees)
    native = _native(context, change)
    mark = github_marker.mark(identity or random_hex(6), by, account=context.account)
    body = change_requests.creation(change, mark, names, native)
    ensure_labels.ensure(context.ws, context.hub, body.get("labels", ()))
    # After a crash here, an immediate retry must send a request.
    refresh.forget(context.ws, context.repository)
    job_id = _remember(context, mark.id, change, native, by)
    try:
        raw = (find_created(context, mark.id) if identity else None) or context.hub.write(
            "POST", "issues", body, find_existing=lambda: find_created(context, mark.id)
        )
    except (HubError, NoAnswerError) as error:
        if job_id and not getattr(error, "happened", False):
            context.hub.outbox.remove(job_id)
        raise
    issue = mapping.kept(raw)
    if job_id:
        refused = _relate(context, issue, change_requests.relating(issue, change, native, ids))
        context.hub.outbox.remove(job_id)
        if refused:
            refresh.one(context, issue.number)
            raise refused
        issue = change_requests.related(issue, change, native)
    return _verified(context, issue, change, names)


def _remember(
    context: TrackerContext, identity: str, change: IssueChange, native: Native, by: Actor
) -> str:
    """Queue the native relations of an issue that is about to be created; return the job's id."""
    wanted = IssueChange(
        title=change.title,
        add_blockers=change.add_blockers if native.dependencies else (),
        parent=change.parent if native.parents else None,
    )
    if not wanted.add_blockers and wanted.parent is None:
        return ""
    job = jobs.relate(identity, wanted, by, context.ws.clock.now())
    with suppress(OSError):  # a repetition of the command finishes it, too
        context.hub.later(job)
    return job.id


def _relate(
    context: TrackerContext, issue: MirroredIssue, requests: Sequence[Request]
) -> RefusedError | None:
    """Set the relations of a new issue; return the error for those that GitHub refuses for good.
    Raises UnknownError or RefusedError for what the outbox sends later."""
    refused: list[str] = []
    for request in requests:
        try:
            _write(context, *request)
        except InvalidError as error:  # such as a parent with 100 sub-issues
            refused.append(str(error))
        except (HubError, NoAnswerError) as error:
            kind = UnknownError if isinstance(error, NoAnswerError) else RefusedError
            raise kind(
                f"#{issue.number} was created, but its relations are not set yet: {error}",
                hint="`ghp agent-sync` sets them, and so does the same command again.",
            ) from None
    if not refused:
        return None
    return RefusedError(
        f"#{issue.number} was created, but GitHub refused a relation: {' '.join(refused)}",
        hint=f"`ghp agent-issue show {issue.number}` shows it. GitHub allows 100 sub-issues of an "
        f"issue; `ghp agent-issue edit {issue.number} --parent N` makes it part of another.",
    )


def find_created(context: TrackerContext, identity: str) -> Any | None:
    """The issue with our hidden line, if it was created; a copy of the line is in a later one."""
    pages = context.hub.pages("issues", state="all", sort="created", direction="desc")
    for listed in islice(pages, _LOOKS_BACK):
        marked = [raw for raw in listed if github_marker.id_of(raw) == identity]
        if marked:
            return min(marked, key=lambda raw: int(raw["number"]))
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
            ensure_labels.ensure(context.ws, context.hub, request.body["labels"])
        answer = _write(context, *request)
        issue = change_requests.answered(issue, request, answer)
    return issue


def _write(context: TrackerContext, verb: str, path: str, body: Mapping[str, Any] | None) -> Any:
    """One request, and its answer. Each adds or removes one thing, so repeating it is harmless, and
    an existing result counts as done. The result is verified at the end."""
    find_existing = jobs.skip_lookup if verb == "POST" else None
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
    learned = context.hub.has(feature)
    if learned is not None:
        return learned
    try:
        context.hub.get(path)
        exists = True
    except MissingError:  # the issue itself exists
        exists = False
    context.hub.learned(feature, exists)
    return exists


def _verified(
    context: TrackerContext, issue: MirroredIssue, wanted: IssueChange, names: Names
) -> MirroredIssue:
    """The issue, which is as GitHub answered, with what was verified. Raises RefusedError for what
    GitHub silently dropped, UnreachableError if there is no time to look again."""
    number, given = issue.number, [name for name in wanted.add_assignees if is_name(name)]
    verified = refresh.written(context, issue, given)
    if not _missing(verified, wanted, names):
        return refresh.dated(context, verified, given)
    for rest in refresh.LOOKS:
        context.hub.pause(rest)
        verified = refresh.one(context, number, given)
        missing = _missing(verified, wanted, names)
        if not missing:
            return verified
    raise RefusedError(
        f"#{number} exists, but GitHub did not set {', '.join(missing)}: either the token lacks "
        "permission, or the named account has no access to this repository.",
        hint="Ask somebody with write access to set it; `ghp agent-doctor` shows what the "
        "token may do.",
    )


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
