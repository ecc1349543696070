"""Fold the records of local pull requests into pull requests.

The same records give the same result, in whatever order they came. A merge is final: the default
branch has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.ids import digest
from ghp_agents.pulls.pull import Pull, Sent
from ghp_agents.pulls.record import PullEvent, decode
from ghp_agents.state.codec import EventLog, order, read_files

PullEvents = EventLog[PullEvent]


class NumberedPull(NamedTuple):
    """A pull request with its id, and all numbers that name it."""

    id: str
    pull: Pull
    numbers: tuple[int, ...]


def read_events(files: Mapping[str, bytes]) -> PullEvents:
    """Read the log from files of the state; an unreadable file is a problem and hides no other."""
    events, problems = read_files(files, decode, what="not a record of a pull request: ")
    return PullEvents(tuple(events), problems=tuple(problems))


def fold(log: PullEvents) -> list[NumberedPull]:
    """Return the pull requests, oldest first. If two clones opened the same one at once, its
    number is the one assigned first; the other number also finds it."""
    by_pull: dict[str, list[PullEvent]] = {}
    owner: dict[int, str] = {}
    for event in sorted(log.events, key=order):
        by_pull.setdefault(event.pull, []).append(event)
        if event.number:
            owner.setdefault(event.number, event.pull)
    pulls: list[NumberedPull] = []
    for pull, events in by_pull.items():
        numbers = tuple(number for number, who in owner.items() if who == pull)
        if numbers and any(event.kind == "open" for event in events):
            pulls.append(NumberedPull(pull, _pull(numbers[0], events), numbers))
    return pulls


def pull_id(branch: str, before: Iterable[Pull]) -> str:
    """Return the id of a branch's next pull request: two clones at once get the same one."""
    return digest("pull", branch, str(sum(1 for pull in before if pull.branch == branch)))


def _pull(number: int, events: Sequence[PullEvent]) -> Pull:
    fields: dict[str, Any] = {}
    for event in events:
        fields |= event.fields
    first = next(event for event in events if event.kind == "open")
    sent = [event for event in events if event.kind != "merge" and "head" in event.fields]
    merged = next((event for event in events if event.kind == "merge"), None)
    if merged and "head" in merged.fields:  # later changes of the branch are other work
        fields["head"] = merged.fields["head"]
    return Pull(
        number=number,
        branch=fields.get("branch", ""),
        base=fields.get("base", ""),
        head=fields.get("head", ""),
        title=fields.get("title", ""),
        body=fields.get("body", ""),
        issue=fields.get("issue"),
        draft=fields.get("draft", False) and not merged,
        state="merged" if merged else fields.get("state", "open"),
        author=first.by.name,
        created_at=first.at,
        updated_at=events[-1].at,
        merged_as=merged.fields.get("mergedAs") if merged else None,
        paths=tuple(merged.fields.get("paths", ())) if merged else (),
        sent=Sent(sent[-1].fields["head"], sent[-1].by) if sent else None,
    )
