"""The jobs in the outbox: writes that GitHub has yet to get. Each is safe to perform twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, IssueNumber, one_line
from ghp_agents.github.api.errors import MissingError
from ghp_agents.github.api.outbox import BrokenJobError, Job
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.issues.issue import Issue, IssueChange

SHOW = "show"  # the holder of an issue
RELATE = "relate"  # the relations of a new issue
EXPLAIN = "explain"  # one comment on an issue, edited in place
REACT = "react"  # a reaction to a comment
KINDS = (SHOW, RELATE, EXPLAIN, REACT)
LONGEST = 7 * 86_400.0  # seconds for which a job is tried
FOUND_WITHIN = 60.0  # seconds after which a new issue is listed, if it was created
REACTIONS = "reactions"  # the feature of a server
_TWICE = 5_400.0  # seconds: a refused job is tried again after an hour


def show(issue: Issue, change: IssueChange, by: Actor, at: float) -> Job:
    """The job that shows the holder of an issue."""
    data = {"add": [*change.add_assignees], "remove": [*change.remove_assignees]}
    says = f"the holder of #{issue.number}"
    return _job(random_hex(6), SHOW, issue.number, says, by, at, data)


def relate(mark: str, change: IssueChange, by: Actor, at: float) -> Job:
    """The job that sets the relations of the new issue with this `mark`."""
    data = {"mark": mark, "blockers": [*change.add_blockers], "parent": change.parent}
    says = f"the relations of a new issue ({one_line(change.title or '', 60)})"
    return _job(f"{RELATE} {mark}", RELATE, 0, says, by, at, data, about=mark)


def explain(number: int, comment: int, body: str, by: Actor, marker: str, at: float) -> Job:
    """The job that sets the text of an issue's comment with this marker, because of a comment."""
    name, says = f"{EXPLAIN} {comment}", f"a comment on #{number}"
    return _job(name, EXPLAIN, number, says, by, at, {"text": body, "marker": marker}, marker)


def react(number: int, comment: int, content: str, by: Actor, at: float) -> Job:
    """The job that reacts to a comment."""
    name, data = f"{REACT} {comment}", {"comment": comment, "content": content}
    return _job(name, REACT, number, f"a reaction on #{number}", by, at, data, about=name)


def _job(
    name: str,
    kind: str,
    number: int,
    says: str,
    by: Actor,
    at: float,
    data: Mapping[str, Any],
    about: str = "",
) -> Job:
    who = {"number": number, "by": by.name, "person": by.is_person, "at": at}
    return Job(name, kind, about or str(number), says, {**who, **data})


class QueuedWrite:
    """A job's content. Raises BrokenJobError."""

    def __init__(self, job: Job) -> None:
        data = job.data
        try:
            if job.kind not in KINDS:
                raise ValueError(f"this version cannot send {job.kind!r}")
            self.kind, self.number = job.kind, int(data["number"])
            self.by = Actor(str(data["by"]), data["person"] is True)
            self.at = float(data.get("at", 0.0))
            self.change = _change(job.kind, data)
            self.mark, self.marker = str(data.get("mark", "")), str(data.get("marker", ""))
            self.text, self.content = str(data.get("text", "")), str(data.get("content", ""))
            self.comment = int(data.get("comment", 0))
        except (KeyError, TypeError, ValueError) as error:
            raise BrokenJobError(
                f"The queued change cannot be read: {one_line(repr(error), 200)}.",
                hint="`ghp agent-doctor` shows where it is kept.",
            ) from None

    def age(self, now: float) -> float:
        """Seconds since it was queued; 0 if its time is unknown, or after now."""
        return max(0.0, now - self.at) if self.at else 0.0


def _change(kind: str, data: Mapping[str, Any]) -> IssueChange:
    if kind == SHOW:
        add, remove = (_texts(data[key]) for key in ("add", "remove"))
        return IssueChange(add_assignees=add, remove_assignees=remove)
    if kind == RELATE:
        blockers = tuple(IssueNumber(int(number)) for number in data["blockers"])
        parent = data["parent"]
        return IssueChange(
            add_blockers=blockers, parent=None if parent is None else IssueNumber(int(parent))
        )
    return IssueChange()


def _texts(value: Any) -> tuple[str, ...]:
    names: Sequence[Any] = list(value)
    return tuple(str(name) for name in names)


def perform_reaction(hub: GitHubRepository, queued: QueuedWrite, now: float) -> None:
    """React; a repeated reaction has no effect. A server without reactions is asked twice.
    Raises HubError, NoAnswerError."""
    path = f"issues/comments/{queued.comment}/reactions"
    try:
        if hub.has(REACTIONS) is False:
            raise MissingError("This server had no reactions a moment ago.", hint="")
        hub.write("POST", path, {"content": queued.content}, find_existing=skip_lookup)
        hub.learned(REACTIONS, True)
    except MissingError:
        hub.learned(REACTIONS, False)
        if queued.age(now) < _TWICE:
            raise


def skip_lookup() -> None:
    """No lookup is needed before a retry."""
