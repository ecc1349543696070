"""Fold the records of local issues into issues.

The same records always give the same issues, in any order of arrival. The last value of a text
wins. A label, assignee or blocker is present if the last record on it added it. All comments are
kept.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.core.metadata import Metadata
from ghp_agents.issues.issue import DEFAULT_PRIORITY, PROVISIONAL, Comment, Issue, provisional
from ghp_agents.issues.record import SETS, IssueEvent, decode, ids_of
from ghp_agents.state.codec import EventLog, order, read_files, readable, seconds
from ghp_agents.state.join import Settled

IssueEvents = EventLog[IssueEvent]


def read_events(files: Mapping[str, bytes]) -> IssueEvents:
    """The log in files of the state. An unreadable file is a problem and does not hide the rest."""
    ids: set[str] = set()

    def read(path: str, data: bytes) -> IssueEvent | None:
        ids.add(ids_of(path)[0])
        return decode(path, data)

    events, problems = read_files(files, read, what="not a record of an issue: ")
    return IssueEvents(tuple(events), frozenset(ids), tuple(problems))


def fold(log: IssueEvents, only: str = "") -> list[Issue]:
    """The issues, oldest first, or only one. An issue without a readable `create` record has no
    title."""
    stories = _stories(log)
    for issue in sorted(log.subjects - stories.keys()):
        stories[issue] = []
    numbers = _numbers(stories)
    wanted = {only: stories[only]} if only else stories
    return [_issue(issue, story, numbers) for issue, story in wanted.items()]


def _stories(log: IssueEvents) -> dict[str, list[IssueEvent]]:
    """The events of each issue, the earliest first."""
    stories: dict[str, list[IssueEvent]] = {}
    for event in sorted(log.events, key=order):
        stories.setdefault(event.issue, []).append(event)
    return stories


def assigners(log: IssueEvents) -> dict[tuple[str, str], Actor]:
    """Who assigned whom, by the issue's id and the assignee: the last one who added it."""
    return {
        (event.issue, name): event.by
        for event in sorted(log.events, key=order)
        for name in event.added.get("assignees", ())
    }


def settled(files: Mapping[str, bytes], before: float) -> list[Settled]:
    """The issues that were closed, and last changed, before a time in seconds. Not those with a
    record that this version cannot read, and none whose number another issue was given, too."""
    log = read_events(files)
    stories = _stories(log)
    paths: dict[str, set[str]] = {}
    for path in files:
        if ids := readable(ids_of, path):
            paths.setdefault(ids[0], set()).add(path)
    owners = Counter(number for _, number in {(e.issue, e.number) for e in log.events if e.number})
    ended: list[Settled] = []
    for issue, story in stories.items():
        states = [event for event in story if event.texts.get("state")]
        if (
            states
            and states[-1].texts["state"] == "closed"
            and any(event.kind == "create" for event in story)
            and paths[issue] == {event.path for event in story}
            and all(owners[event.number] == 1 for event in story if event.number)
            and all(seconds(event.at) < before for event in story)
        ):
            end = frozenset({states[-1].path})
            ended.append(Settled(frozenset(paths[issue]) - end, end))
    return ended


def incomplete(log: IssueEvents) -> set[str]:
    """The ids of issues that cannot be shown without their settled records: an open issue that was
    closed once, or that has no `create` record, and what open issues refer to."""
    stories = _stories(log)
    whole: set[str] = set()
    lacking: set[str] = set()
    named: set[str] = set()
    for issue, story in stories.items():
        states = [state for event in story if (state := event.texts.get("state"))]
        if states and states[-1] == "closed":
            continue
        named |= {e for event in story for e in event.added.get("blockedBy", ())}
        named |= {parent for event in story if (parent := event.texts.get("parent"))}
        is_whole = "closed" not in states and any(event.kind == "create" for event in story)
        (whole if is_whole else lacking).add(issue)
    return lacking | named - whole


def unnumbered(log: IssueEvents) -> list[IssueEvent]:
    """The `create` records of issues without a real number, oldest first."""
    lacking = {issue.id for issue in fold(log) if issue.number >= PROVISIONAL}
    creations: dict[str, IssueEvent] = {}
    for event in sorted(log.events, key=order):
        if event.kind == "create" and event.issue in lacking:
            creations.setdefault(event.issue, event)
    return list(creations.values())


Numbers = Mapping[str, Sequence[IssueNumber]]  # by issue; the main number first


def _numbers(stories: Mapping[str, Sequence[IssueEvent]]) -> Numbers:
    """The numbers of each issue. If two clones allocated the same number, the first issue keeps
    it; the other stays provisional until it gets another."""
    given = [
        event
        for story in stories.values()
        for event in story
        if event.number and event.number < PROVISIONAL
    ]
    owner: dict[int, str] = {}
    for event in sorted(given, key=order):
        owner.setdefault(event.number or 0, event.issue)
    numbers: dict[str, list[IssueNumber]] = {issue: [] for issue in stories}
    for number, issue in owner.items():
        numbers[issue].append(IssueNumber(number))
    for issue, story in stories.items():
        if not [s for s in story if s.kind == "create" and s.number in numbers[issue]]:
            numbers[issue].append(provisional(issue))
    return numbers


def _issue(issue: str, story: Sequence[IssueEvent], numbers: Numbers) -> Issue:
    texts: dict[str, str | None] = {}
    sets: dict[str, set[str]] = {name: set() for name in SETS}
    for event in story:
        texts |= event.texts
        for name in SETS:
            sets[name].update(event.added.get(name, ()))
            sets[name].difference_update(event.removed.get(name, ()))
    creations = [event for event in story if event.kind == "create"]
    parent = texts.get("parent")
    return Issue(
        id=issue,
        number=numbers[issue][0],
        title=texts.get("title") or "",
        body=texts.get("body") or "",
        state=texts.get("state") or "open",
        labels=tuple(sorted(sets["labels"])),
        assignees=tuple(sorted(sets["assignees"])),
        blocked_by=tuple(sorted([_number(b, numbers) for b in sets["blockedBy"] - {issue}])),
        parent=_number(parent, numbers) if parent and parent != issue else None,
        priority=texts.get("priority") or DEFAULT_PRIORITY,
        author=creations[0].by.name if creations else "",
        created_at=story[0].at if story else Timestamp(""),
        updated_at=_updated(story),
        comments=tuple(_comments(story)),
        other_numbers=tuple(numbers[issue][1:]),
        metadata=Metadata(texts.get("metadata") or ""),
    )


def _number(issue: str, numbers: Numbers) -> IssueNumber:
    return numbers[issue][0] if issue in numbers else provisional(issue)


def _updated(story: Iterable[IssueEvent]) -> Timestamp:
    """The time of the last change; allocating a number does not count."""
    times = [event.at for event in story if event.kind != "number"]
    return times[-1] if times else Timestamp("")


def _comments(story: Iterable[IssueEvent]) -> list[Comment]:
    """The comments; of several with one marker, written in two clones, only the first."""
    markers, comments = set[str](), list[Comment]()
    for event in story:
        if event.kind == "comment" and event.marker not in markers:
            markers |= {event.marker} - {""}
            author = event.by
            comments.append(Comment(event.id, author.name, event.at, event.body, author.is_person))
    return comments
