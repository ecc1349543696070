"""Who may say so: whether a hidden line is believed, and whether a label is an assignment.

Whoever may triage can set a label, and a form sets labels for anybody who opens an issue. So a
label gives an issue to an agent only if its event names somebody who may write, or us. What a
holder of the right has needs no such proof. What was found out is kept in the mirror.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ghp_agents.github.accounts import WORKFLOWS
from ghp_agents.github.api.errors import GoneError, MissingError
from ghp_agents.github.marker import BEGIN
from ghp_agents.github.tracker import mapping
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue

PAGES = 5  # of the repository's events, of a hundred each, before issues are asked one by one
MANY = 5  # issues for which it is worth to read the repository's events

Events = Sequence[Mapping[str, Any]]
ADDED = {"labeled", "assigned"}
TAKEN = {"unlabeled", "unassigned"}


def with_trust(
    context: TrackerContext,
    fresh: Iterable[MirroredIssue],
    known: Mapping[int, MirroredIssue],
    given: Iterable[str] = (),
) -> list[MirroredIssue]:
    """What was read, with what was found out of it: believed, proven, blockers. Asks.

    `given` are agents to whom we gave it ourselves a moment ago. Of closed issues the blockers are
    not read: there are many, and they wait for nothing.
    """
    ours = [*_keys(context, given)]
    read = [_with_relations(context, issue, known.get(issue.number)) for issue in fresh]
    read = [_with_proofs(issue, known.get(issue.number), ours) for issue in read]
    read = [_with_author_trust(context, issue, known.get(issue.number)) for issue in read]
    names = context.names_of(context.viewer, read)
    open_ones = [issue for issue in read if issue.state == "open"]
    wanted = {issue.number: mapping.unproven(issue, names, context.signs) for issue in open_ones}
    wanted = {n: found for n, found in wanted.items() if found}
    if not wanted:
        return read
    held = {n: f"agent:{holder}" for n, holder in context.holders().items() if n in wanted}
    read = [
        issue._replace(proven=(*issue.proven, held[issue.number]))
        if held.get(issue.number) in wanted.get(issue.number, ())
        else issue
        for issue in read
    ]
    to_check = [
        issue
        for issue in read
        if issue.number in wanted
        and issue.asked_at != issue.updated_at
        and mapping.unproven(issue, names, context.signs)
    ]
    return _prove(context, read, to_check)


def trusted(context: TrackerContext, account: str) -> bool:
    """Whether an account may write, is ours, or is that of the repository's own workflows, which
    only those can change who may write. Asks."""
    name = account.casefold()
    if name == WORKFLOWS or (context.viewer and name == context.viewer.casefold()):
        return True
    return context.hub.may_command(account)


def _with_relations(
    context: TrackerContext, issue: MirroredIssue, known: MirroredIssue | None
) -> MirroredIssue:
    """The issue with its native blockers, asked for only where GitHub says that there are some."""
    if issue.waits is None and known and known.id == issue.id:
        return issue._replace(blockers=known.blockers)
    if not issue.waits or issue.state == "closed":
        return issue
    try:
        return with_blockers(context, issue)
    except (MissingError, GoneError):  # gone since it was listed, or the server has no such
        same = known and known.id == issue.id
        return issue._replace(blockers=known.blockers if known and same else ())


def with_blockers(context: TrackerContext, issue: MirroredIssue) -> MirroredIssue:
    """The issue with those of its native blockers that are in this repository. Asks."""
    found = context.hub.get_all(f"issues/{issue.number}/dependencies/blocked_by")
    url = f"/repos/{context.hub.repository}"
    here = [int(blocker["number"]) for blocker in found if _is_here(blocker, url)]
    return issue._replace(blockers=tuple(sorted(here)))


def _with_proofs(
    issue: MirroredIssue, known: MirroredIssue | None, ours: Sequence[str]
) -> MirroredIssue:
    """The issue with what was proven before and is there still, and what we gave."""
    present = {label.lower() for label in issue.labels}
    present |= {f"@{login.lower()}" for login in issue.assignees}
    same = known if known and known.id == issue.id else None
    proven = dict.fromkeys([*(same.proven if same else ()), *ours])
    return issue._replace(
        proven=tuple(key for key in proven if key in present),
        asked_at=same.asked_at if same else "",
    )


def _keys(context: TrackerContext, agents: Iterable[str]) -> Iterable[str]:
    """What proves an assignment of these agents: their labels, and accounts if they have some."""
    for name in agents:
        yield f"agent:{name}"
        if account := context.ws.settings.accounts.get(name):
            yield f"@{account.removeprefix('@').lower()}"


def _is_here(blocker: Mapping[str, Any], url: str) -> bool:
    where = blocker.get("repository_url")
    return not isinstance(where, str) or where.casefold().endswith(url.casefold())


def _with_author_trust(
    context: TrackerContext, issue: MirroredIssue, known: MirroredIssue | None
) -> MirroredIssue:
    if BEGIN not in issue.body:
        return issue._replace(believed=False)
    if known and (known.id, known.body, known.author) == (issue.id, issue.body, issue.author):
        return issue._replace(believed=known.believed)
    return issue._replace(believed=trusted(context, issue.author))


def _prove(
    context: TrackerContext, read: Sequence[MirroredIssue], to_check: Sequence[MirroredIssue]
) -> list[MirroredIssue]:
    by_issue = _recent(context) if len(to_check) > MANY else {}
    found: dict[int, MirroredIssue] = {}
    for issue in to_check:
        events = by_issue.get(issue.number, [])
        proven, open_questions = _judge_events(context, issue, events)
        asked_at = issue.updated_at
        if open_questions:
            try:
                events = context.hub.get_all(f"issues/{issue.number}/events")
                proven, _ = _judge_events(context, issue, events, whole=True)
            except (MissingError, GoneError):
                asked_at = issue.asked_at  # nobody told: it is not proven, and is asked again
        found[issue.number] = issue._replace(
            proven=tuple(dict.fromkeys((*issue.proven, *proven))), asked_at=asked_at
        )
    return [found.get(issue.number, issue) for issue in read]


def _recent(context: TrackerContext) -> dict[int, list[Mapping[str, Any]]]:
    """The repository's last events by issue, oldest first; none where the server has no such."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for page in range(1, PAGES + 1):
        try:
            listed = context.hub.get("issues/events", per_page=100, page=page).body
        except (MissingError, GoneError):
            return {}
        for event in listed:
            number = int((event.get("issue") or {}).get("number") or 0)
            found.setdefault(number, []).insert(0, event)
        if len(listed) < 100:
            break
    return found


def _judge_events(
    context: TrackerContext, issue: MirroredIssue, events: Events, *, whole: bool = False
) -> tuple[list[str], bool]:
    """What of an issue's labels and assignments is proven by events, and whether more events may
    tell more. Without any event, what an issue was made with is its author's word."""
    proven: list[str] = []
    more = False
    names = context.names_of(context.viewer, [issue])
    for wanted in mapping.unproven(issue, names, context.signs):
        last = next((event for event in reversed(events) if about(event) == wanted), None)
        if last is None and not whole:
            more = True
            continue
        # Where somebody is assigned, servers have told who that is as the actor, too.
        actor = login_of(last.get("assigner") or last.get("actor")) if last else issue.author
        stands = last is None or last.get("event") in ADDED
        if stands and actor and trusted(context, actor):
            proven.append(wanted)
    return proven, more


def about(event: Mapping[str, Any]) -> str:
    """The label in small letters, or the @account, that an event gave or took."""
    if event.get("event") not in ADDED | TAKEN:
        return ""
    if str(event["event"]).endswith("labeled"):
        return str((event.get("label") or {}).get("name") or "").lower()
    return f"@{login_of(event.get('assignee')).lower()}"


def login_of(account: Any) -> str:
    return str((account or {}).get("login") or "")
