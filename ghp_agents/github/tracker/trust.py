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
from ghp_agents.github.tracker import mapping as github_issue
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue

PAGES = 5  # of the repository's events, of a hundred each, before issues are asked one by one
MANY = 5  # issues for which it is worth to read the repository's events

Events = Sequence[Mapping[str, Any]]
ADDED = {"labeled", "assigned"}
TAKEN = {"unlabeled", "unassigned"}


def with_trust(
    source: TrackerContext,
    fresh: Iterable[MirroredIssue],
    known: Mapping[int, MirroredIssue],
    given: Iterable[str] = (),
) -> list[MirroredIssue]:
    """What was read, with what was found out of it: believed, proven, blockers. Asks.

    `given` are agents to whom we gave it ourselves a moment ago. Of closed issues the blockers are
    not read: there are many, and they wait for nothing.
    """
    ours = [*_keys(source, given)]
    read = [_with_relations(source, each, known.get(each.number)) for each in fresh]
    read = [_with_proofs(each, known.get(each.number), ours) for each in read]
    read = [_believed(source, each, known.get(each.number)) for each in read]
    names = source.names_of(source.viewer, read)
    open_ones = [each for each in read if each.state == "open"]
    wanted = {each.number: github_issue.unproven(each, names, source.signs) for each in open_ones}
    wanted = {n: found for n, found in wanted.items() if found}
    if not wanted:
        return read
    held = {n: f"agent:{holder}" for n, holder in source.holders().items() if n in wanted}
    read = [
        each._replace(proven=(*each.proven, held[each.number]))
        if held.get(each.number) in wanted.get(each.number, ())
        else each
        for each in read
    ]
    asked = [
        each
        for each in read
        if each.number in wanted
        and each.asked_at != each.updated_at
        and github_issue.unproven(each, names, source.signs)
    ]
    return _proven(source, read, asked)


def trusted(source: TrackerContext, account: str) -> bool:
    """Whether an account may write, is ours, or is that of the repository's own workflows, which
    only those can change who may write. Asks."""
    name = account.casefold()
    if name == WORKFLOWS or (source.viewer and name == source.viewer.casefold()):
        return True
    return source.hub.may_command(account)


def _with_relations(
    source: TrackerContext, told: MirroredIssue, known: MirroredIssue | None
) -> MirroredIssue:
    """The issue with its native blockers, asked for only where GitHub says that there are some."""
    if told.waits is None and known and known.id == told.id:
        return told._replace(blockers=known.blockers)
    if not told.waits or told.state == "closed":
        return told
    try:
        return with_blockers(source, told)
    except (MissingError, GoneError):  # gone since it was listed, or the server has no such
        same = known and known.id == told.id
        return told._replace(blockers=known.blockers if known and same else ())


def with_blockers(source: TrackerContext, told: MirroredIssue) -> MirroredIssue:
    """The issue with those of its native blockers that are in this repository. Asks."""
    found = source.hub.get_all(f"issues/{told.number}/dependencies/blocked_by")
    url = f"/repos/{source.hub.repository}"
    here = [int(each["number"]) for each in found if _is_here(each, url)]
    return told._replace(blockers=tuple(sorted(here)))


def _with_proofs(
    told: MirroredIssue, known: MirroredIssue | None, ours: Sequence[str]
) -> MirroredIssue:
    """The issue with what was proven before and is there still, and what we gave."""
    present = {label.lower() for label in told.labels}
    present |= {f"@{login.lower()}" for login in told.assignees}
    same = known if known and known.id == told.id else None
    proven = dict.fromkeys([*(same.proven if same else ()), *ours])
    return told._replace(
        proven=tuple(each for each in proven if each in present),
        asked_at=same.asked_at if same else "",
    )


def _keys(source: TrackerContext, agents: Iterable[str]) -> Iterable[str]:
    """What proves an assignment of these agents: their labels, and accounts if they have some."""
    for name in agents:
        yield f"agent:{name}"
        if account := source.ws.settings.accounts.get(name):
            yield f"@{account.removeprefix('@').lower()}"


def _is_here(told: Mapping[str, Any], url: str) -> bool:
    where = told.get("repository_url")
    return not isinstance(where, str) or where.casefold().endswith(url.casefold())


def _believed(
    source: TrackerContext, told: MirroredIssue, known: MirroredIssue | None
) -> MirroredIssue:
    if BEGIN not in told.body:
        return told._replace(believed=False)
    if known and (known.id, known.body, known.author) == (told.id, told.body, told.author):
        return told._replace(believed=known.believed)
    return told._replace(believed=trusted(source, told.author))


def _proven(
    source: TrackerContext, read: Sequence[MirroredIssue], asked: Sequence[MirroredIssue]
) -> list[MirroredIssue]:
    by_issue = _recent(source) if len(asked) > MANY else {}
    found: dict[int, MirroredIssue] = {}
    for each in asked:
        events = by_issue.get(each.number, [])
        proven, open_questions = _judged(source, each, events)
        asked_at = each.updated_at
        if open_questions:
            try:
                events = source.hub.get_all(f"issues/{each.number}/events")
                proven, _ = _judged(source, each, events, whole=True)
            except (MissingError, GoneError):
                asked_at = each.asked_at  # nobody told: it is not proven, and is asked again
        found[each.number] = each._replace(
            proven=tuple(dict.fromkeys((*each.proven, *proven))), asked_at=asked_at
        )
    return [found.get(each.number, each) for each in read]


def _recent(source: TrackerContext) -> dict[int, list[Mapping[str, Any]]]:
    """The repository's last events by issue, oldest first; none where the server has no such."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for page in range(1, PAGES + 1):
        try:
            told = source.hub.get("issues/events", per_page=100, page=page).body
        except (MissingError, GoneError):
            return {}
        for event in told:
            number = int((event.get("issue") or {}).get("number") or 0)
            found.setdefault(number, []).insert(0, event)
        if len(told) < 100:
            break
    return found


def _judged(
    source: TrackerContext, told: MirroredIssue, events: Events, *, whole: bool = False
) -> tuple[list[str], bool]:
    """What of an issue's labels and assignments is proven by events, and whether more events may
    tell more. Without any event, what an issue was made with is its author's word."""
    proven: list[str] = []
    more = False
    names = source.names_of(source.viewer, [told])
    for wanted in github_issue.unproven(told, names, source.signs):
        last = next((each for each in reversed(events) if about(each) == wanted), None)
        if last is None and not whole:
            more = True
            continue
        # Where somebody is assigned, servers have told who that is as the actor, too.
        actor = login_of(last.get("assigner") or last.get("actor")) if last else told.author
        stands = last is None or last.get("event") in ADDED
        if stands and actor and trusted(source, actor):
            proven.append(wanted)
    return proven, more


def about(event: Mapping[str, Any]) -> str:
    """The label in small letters, or the @account, that an event gave or took."""
    if event.get("event") not in ADDED | TAKEN:
        return ""
    if str(event["event"]).endswith("labeled"):
        return str((event.get("label") or {}).get("name") or "").lower()
    return f"@{login_of(event.get('assignee')).lower()}"


def login_of(told: Any) -> str:
    return str((told or {}).get("login") or "")
