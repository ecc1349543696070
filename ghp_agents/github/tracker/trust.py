"""Trust: whether a hidden line is believed, and whether a label is an assignment.

Triage permission is enough to set a label, and a form sets labels for anybody who opens an issue.
So a label assigns an issue only if its event names us or somebody with write permission. The holder
of an issue's lock needs no such proof. The mirror keeps the results.

GitHub may list an event later than its label. So a missing event proves nothing: it is requested
again, for an hour. Until then only an issue that never changed has its labels from its author.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from ghp_agents.github.accounts import WORKFLOWS
from ghp_agents.github.api.errors import GoneError, MissingError
from ghp_agents.github.marker import BEGIN
from ghp_agents.github.tracker import mapping
from ghp_agents.github.tracker.mapping import MirroredComment, MirroredIssue

if TYPE_CHECKING:
    from ghp_agents.github.tracker.context import TrackerContext

PAGES = 5  # of the repository's events, 100 each, before issues are requested one by one
MANY = 5  # more issues than this: read the repository's events first
SOON = 5.0  # seconds until a missing event is requested again; then as long as it is missing
MISSING_FOR = 3_600.0  # seconds after which a missing event is not expected any more

Events = Sequence[Mapping[str, Any]]
ADDED = {"labeled", "assigned"}
TAKEN = {"unlabeled", "unassigned"}


def with_trust(
    context: "TrackerContext",
    fresh: Iterable[MirroredIssue],
    mirrored: Mapping[int, MirroredIssue],
    given: Iterable[str] = (),
) -> list[MirroredIssue]:
    """The issues with their verified fields: believed, proven, blockers. Sends requests.

    `given` are agents that we assigned a moment ago. Blockers of closed issues are not read: there
    are many closed issues, and they wait for nothing.
    """
    ours = [*_keys(context, given)]
    read = [_with_relations(context, issue, earlier(issue, mirrored)) for issue in fresh]
    read = [_with_proofs(issue, earlier(issue, mirrored), ours) for issue in read]
    read = [
        issue._replace(believed=believed(context, issue, earlier(issue, mirrored)))
        for issue in read
    ]
    names = context.names_of(context.viewer, read)
    open_ones = [issue for issue in read if issue.state == "open"]
    wanted = {issue.number: mapping.unproven(issue, names, context.signs) for issue in open_ones}
    wanted = {n: keys for n, keys in wanted.items() if keys}
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
    return _prove(context, read, to_check, mirrored)


def earlier(issue: MirroredIssue, mirrored: Mapping[int, MirroredIssue]) -> MirroredIssue | None:
    """The issue as it was mirrored; None if that was another issue with the same number."""
    previous = mirrored.get(issue.number)
    return previous if previous and previous.id == issue.id else None


def believed(
    context: "TrackerContext",
    entry: MirroredIssue | MirroredComment,
    previous: MirroredIssue | MirroredComment | None,
) -> bool:
    """Whether the hidden line of an issue or a comment counts; `previous` is the same one, read
    before. Sends a request."""
    if BEGIN not in entry.body:
        return False
    if previous and (previous.body, previous.author) == (entry.body, entry.author):
        return previous.believed
    return trusted(context, entry.author)


def trusted(context: "TrackerContext", account: str) -> bool:
    """Whether an account may write, is ours, or belongs to the repository's workflows, which only
    people with write permission can change. Sends a request."""
    name = account.casefold()
    if name == WORKFLOWS or (context.viewer and name == context.viewer.casefold()):
        return True
    return context.hub.may_command(account)


def _with_relations(
    context: "TrackerContext", issue: MirroredIssue, previous: MirroredIssue | None
) -> MirroredIssue:
    """The issue with its native blockers, requested only if GitHub reports some."""
    is_known = issue.waits is not None and len(issue.blockers) == issue.waits
    if issue == previous or is_known:
        return issue
    if issue.waits is None and previous:
        return issue._replace(blockers=previous.blockers)
    if not issue.waits or issue.state == "closed":
        return issue
    try:
        return with_blockers(context, issue)
    except (MissingError, GoneError):  # deleted since it was listed, or not supported
        return issue._replace(blockers=previous.blockers if previous else ())


def with_blockers(context: "TrackerContext", issue: MirroredIssue) -> MirroredIssue:
    """The issue with its native blockers in this repository. Sends a request."""
    blockers = context.hub.get_all(f"issues/{issue.number}/dependencies/blocked_by")
    url = f"/repos/{context.hub.repository}"
    here = [int(blocker["number"]) for blocker in blockers if _is_here(blocker, url)]
    return issue._replace(blockers=tuple(sorted(here)))


def _with_proofs(
    issue: MirroredIssue, previous: MirroredIssue | None, ours: Sequence[str]
) -> MirroredIssue:
    """The issue with earlier proofs that still apply, and with our own assignments."""
    present = {label.lower() for label in issue.labels}
    present |= {f"@{login.lower()}" for login in issue.assignees}
    before = [x for x in previous.proven if x not in previous.by_author] if previous else []
    return issue._replace(
        proven=tuple(key for key in dict.fromkeys([*before, *ours]) if key in present),
        asked_at=previous.asked_at if previous else "",
        event_missing=(),
        by_author=(),
    )


def is_due(issue: MirroredIssue, now: float) -> bool:
    """Whether an event of the issue is missing and should be requested again."""
    if not issue.event_missing or issue.state == "closed":
        return False
    first, last = issue.event_missing
    return last - first < MISSING_FOR and not 0 <= now - last < max(SOON, last - first)


def with_missing_event(
    issue: MirroredIssue, previous: MirroredIssue | None, now: float
) -> MirroredIssue:
    """The issue with the note that an event is missing now; `previous` is the issue as it was."""
    first = now
    if previous and previous.updated_at == issue.updated_at and previous.event_missing:
        first = min(previous.event_missing[0], now)
    return issue._replace(event_missing=(first, now))


def _keys(context: "TrackerContext", agents: Iterable[str]) -> Iterable[str]:
    """What proves an assignment of these agents: their labels, and their accounts if they have
    any."""
    for name in agents:
        yield f"agent:{name}"
        if account := context.ws.settings.accounts.get(name):
            yield f"@{account.removeprefix('@').lower()}"


def _is_here(blocker: Mapping[str, Any], url: str) -> bool:
    where = blocker.get("repository_url")
    return not isinstance(where, str) or where.casefold().endswith(url.casefold())


def _prove(
    context: "TrackerContext",
    read: Sequence[MirroredIssue],
    to_check: Sequence[MirroredIssue],
    mirrored: Mapping[int, MirroredIssue],
) -> list[MirroredIssue]:
    now = context.ws.clock.now()
    by_issue = _recent(context) if len(to_check) > MANY else {}
    checked: dict[int, MirroredIssue] = {}
    for issue in to_check:
        before = earlier(issue, mirrored)
        proven, missing = _judge_events(context, issue, by_issue.get(issue.number, []))
        if missing:
            try:
                events = context.hub.get_all(f"issues/{issue.number}/events")
            except (MissingError, GoneError):
                checked[issue.number] = _with_proven(with_missing_event(issue, before, now), proven)
                continue
            proven, missing = _judge_events(context, issue, events)
        judged = _with_proven(issue, proven)
        if missing:
            noted = with_missing_event(judged, before, now)
            checked[issue.number] = _with_word_of_author(context, noted, missing)
        else:
            checked[issue.number] = judged._replace(asked_at=issue.updated_at)
    return [checked.get(issue.number, issue) for issue in read]


def _with_proven(issue: MirroredIssue, proven: Iterable[str]) -> MirroredIssue:
    return issue._replace(proven=tuple(dict.fromkeys((*issue.proven, *proven))))


def _with_word_of_author(
    context: "TrackerContext", issue: MirroredIssue, missing: Sequence[str]
) -> MirroredIssue:
    """Labels without an event: of an issue that never changed they are the author's, as long as no
    event says otherwise."""
    if issue.updated_at != issue.created_at or not trusted(context, issue.author):
        return issue
    return _with_proven(issue, missing)._replace(by_author=tuple(missing))


def _recent(context: "TrackerContext") -> dict[int, list[Mapping[str, Any]]]:
    """The repository's latest events by issue, oldest first; empty if the server has none."""
    by_issue: dict[int, list[Mapping[str, Any]]] = {}
    try:
        events = [*chain.from_iterable(islice(context.hub.pages("issues/events"), PAGES))]
    except (MissingError, GoneError):
        return {}
    for event in events:
        number = int((event.get("issue") or {}).get("number") or 0)
        by_issue.setdefault(number, []).insert(0, event)
    return by_issue


def _judge_events(
    context: "TrackerContext", issue: MirroredIssue, events: Events
) -> tuple[list[str], list[str]]:
    """The labels and assignments that events prove, and those whose events are missing."""
    proven: list[str] = []
    missing: list[str] = []
    names = context.names_of(context.viewer, [issue])
    for wanted in mapping.unproven(issue, names, context.signs):
        last = next((event for event in reversed(events) if about(event) == wanted), None)
        if last is None or last.get("event") in TAKEN:
            missing.append(wanted)
            continue
        # For assignments, some servers report the assignee as the actor.
        actor = login_of(last.get("assigner") or last.get("actor"))
        if actor and trusted(context, actor):
            proven.append(wanted)
    return proven, missing


def about(event: Mapping[str, Any]) -> str:
    """The lower-case label, or the @account, that an event added or removed."""
    if event.get("event") not in ADDED | TAKEN:
        return ""
    if str(event["event"]).endswith("labeled"):
        return str((event.get("label") or {}).get("name") or "").lower()
    return f"@{login_of(event.get('assignee')).lower()}"


def login_of(account: Any) -> str:
    return str((account or {}).get("login") or "")
