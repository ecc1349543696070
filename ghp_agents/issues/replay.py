"""All that is said about local issues, folded into issues.

Whoever holds the same records sees the same issues, in whatever order or portions they came: each
text is the one said last, each label, assignee and blocker is there if the last word on it was to
add it, comments are kept all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import IssueNumber, Timestamp
from ghp_agents.issues.issue import DEFAULT_PRIORITY, PROVISIONAL, Comment, Issue, provisional
from ghp_agents.issues.record import SETS, IssueEvent, decode, ids_of
from ghp_agents.state.join import Problem


class IssueEvents(NamedTuple):
    """The records of all issues, as far as they can be read."""

    said: tuple[IssueEvent, ...] = ()
    seen: frozenset[str] = frozenset()  # ids of issues of which a record is there, readable or not
    problems: tuple[Problem, ...] = ()

    @property
    def clock(self) -> int:
        """The highest clock of any record; what is said next takes more, so that it holds."""
        return max((said.clock for said in self.said), default=0)

    @property
    def numbers(self) -> frozenset[int]:
        """All numbers that were ever given."""
        return frozenset(said.number for said in self.said if said.number)

    def with_one(self, said: IssueEvent) -> "IssueEvents":
        """The log after one more record."""
        return IssueEvents((*self.said, said), self.seen, self.problems)


def read_events(files: Mapping[str, bytes]) -> IssueEvents:
    """The log in files of the state; what cannot be read is a problem, and never hides the rest."""
    said: list[IssueEvent] = []
    seen: set[str] = set()
    problems: list[Problem] = []
    for path, data in files.items():
        try:
            seen.add(ids_of(path)[0])
            one = decode(path, data)
        except ValueError as error:
            problems.append(Problem(path, f"not a record of an issue: {error}"))
            continue
        if one is not None:
            said.append(one)
    return IssueEvents(tuple(said), frozenset(seen), tuple(problems))


def fold(log: IssueEvents) -> list[Issue]:
    """The issues, oldest first. One whose creation cannot be read, or is not here yet, has no
    title."""
    stories: dict[str, list[IssueEvent]] = {}
    for said in sorted(log.said, key=lambda said: said.order):
        stories.setdefault(said.issue, []).append(said)
    for issue in sorted(log.seen - stories.keys()):
        stories[issue] = []
    numbers = _numbers(stories)
    return [_issue(issue, story, numbers) for issue, story in stories.items()]


def unnumbered(log: IssueEvents) -> list[IssueEvent]:
    """The creations of issues that have no number of their own, oldest first."""
    lacking = {issue.id for issue in fold(log) if issue.number >= PROVISIONAL}
    creations: dict[str, IssueEvent] = {}
    for said in sorted(log.said, key=lambda said: said.order):
        if said.kind == "create" and said.issue in lacking:
            creations.setdefault(said.issue, said)
    return list(creations.values())


Numbers = Mapping[str, Sequence[IssueNumber]]  # by issue, the one that it goes by first


def _numbers(stories: Mapping[str, Sequence[IssueEvent]]) -> Numbers:
    """Who has which number. A number that two were given without knowing of each other belongs
    to the one that got it first; the other does without until it is given another."""
    given = [
        said
        for story in stories.values()
        for said in story
        if said.number and said.number < PROVISIONAL
    ]
    owner: dict[int, str] = {}
    for said in sorted(given, key=lambda said: said.order):
        owner.setdefault(said.number or 0, said.issue)
    numbers: dict[str, list[IssueNumber]] = {issue: [] for issue in stories}
    for number, issue in owner.items():
        numbers[issue].append(IssueNumber(number))
    for issue, story in stories.items():
        born_with = any(s.kind == "create" and s.number in numbers[issue] for s in story)
        if not born_with:
            numbers[issue].append(provisional(issue))
    return numbers


def _issue(issue: str, story: Sequence[IssueEvent], numbers: Numbers) -> Issue:
    texts: dict[str, str | None] = {}
    words: dict[str, dict[str, bool]] = {name: {} for name in SETS}
    for said in story:
        texts |= said.texts
        for name in SETS:
            words[name] |= dict.fromkeys(said.added.get(name, ()), True)
            words[name] |= dict.fromkeys(said.removed.get(name, ()), False)
    sets = {name: [e for e, there in words[name].items() if there] for name in SETS}
    creation = next((said for said in story if said.kind == "create"), None)
    parent = texts.get("parent")
    return Issue(
        id=issue,
        number=numbers[issue][0],
        title=texts.get("title") or "",
        body=texts.get("body") or "",
        state=texts.get("state") or "open",
        labels=tuple(sorted(sets["labels"])),
        assignees=tuple(sorted(sets["assignees"])),
        blocked_by=tuple(sorted(_number(b, numbers) for b in sets["blockedBy"] if b != issue)),
        parent=_number(parent, numbers) if parent and parent != issue else None,
        priority=texts.get("priority") or DEFAULT_PRIORITY,
        author=creation.by.name if creation else "",
        created_at=story[0].at if story else Timestamp(""),
        updated_at=_updated(story),
        comments=tuple(_comments(story)),
        other_numbers=tuple(numbers[issue][1:]),
    )


def _number(issue: str, numbers: Numbers) -> IssueNumber:
    return numbers[issue][0] if issue in numbers else provisional(issue)


def _updated(story: Iterable[IssueEvent]) -> Timestamp:
    """Getting a number is no news of an issue."""
    times = [said.at for said in story if said.kind != "number"]
    return times[-1] if times else Timestamp("")


def _comments(story: Iterable[IssueEvent]) -> Iterable[Comment]:
    """What was said under one marker, in two clones at once, was meant to be said once."""
    markers: set[str] = set()
    for said in story:
        if said.kind == "comment" and said.marker not in markers:
            markers |= {said.marker} - {""}
            yield Comment(said.id, said.by.name, said.at, said.body, said.by.is_person)
