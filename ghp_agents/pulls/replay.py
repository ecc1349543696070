"""All that is said about local pull requests, folded into pull requests.

Whoever holds the same records sees the same, in whatever order they came. What was merged is
merged, whatever else is said: the trunk has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.ids import Timestamp, digest
from ghp_agents.pulls.pull import Pull, Sent
from ghp_agents.pulls.record import PullEvent, decode
from ghp_agents.state.join import Problem


class PullEvents(NamedTuple):
    """The records of all pull requests, as far as they can be read."""

    said: tuple[PullEvent, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def clock(self) -> int:
        """The highest clock of any record; what is said next takes more, so that it holds."""
        return max((said.clock for said in self.said), default=0)

    @property
    def numbers(self) -> frozenset[int]:
        """All numbers that were ever given."""
        return frozenset(said.number for said in self.said if said.number)

    def with_one(self, said: PullEvent) -> "PullEvents":
        """The log after one more record."""
        return PullEvents((*self.said, said), self.problems)


class Found(NamedTuple):
    """A pull request with its id, and all numbers that name it."""

    id: str
    pull: Pull
    numbers: tuple[int, ...]


def read_events(files: Mapping[str, bytes]) -> PullEvents:
    """The log in files of the state; what cannot be read is a problem, and never hides the rest."""
    said: list[PullEvent] = []
    problems: list[Problem] = []
    for path, data in files.items():
        try:
            one = decode(path, data)
        except ValueError as error:
            problems.append(Problem(path, f"not a record of a pull request: {error}"))
            continue
        if one is not None:
            said.append(one)
    return PullEvents(tuple(said), tuple(problems))


def fold(log: PullEvents) -> list[Found]:
    """The pull requests, oldest first. Of one that two clones opened at once the number is the
    one that was given first; the other names it, too."""
    stories: dict[str, list[PullEvent]] = {}
    owner: dict[int, str] = {}
    for said in sorted(log.said, key=lambda said: said.order):
        stories.setdefault(said.pull, []).append(said)
        if said.number:
            owner.setdefault(said.number, said.pull)
    found: list[Found] = []
    for pull, story in stories.items():
        numbers = tuple(number for number, who in owner.items() if who == pull)
        if numbers and any(said.kind == "open" for said in story):
            found.append(Found(pull, _pull(numbers[0], story), numbers))
    return found


def pull_id(branch: str, before: Iterable[Pull]) -> str:
    """The id of the next pull request of a branch: clones that open it at once open the same."""
    return digest("pull", branch, str(sum(1 for pull in before if pull.branch == branch)))


def _pull(number: int, story: Sequence[PullEvent]) -> Pull:
    fields: dict[str, Any] = {}
    for said in story:
        fields |= said.fields
    first = next(said for said in story if said.kind == "open")
    sent = [said for said in story if said.kind != "merge" and "head" in said.fields]
    merged = next((said for said in story if said.kind == "merge"), None)
    merged_as = merged.fields.get("mergedAs") if merged else None
    if merged:  # what was said of the branch since is of another work
        fields |= {name: merged.fields[name] for name in ("head",) if name in merged.fields}
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
        updated_at=story[-1].at if story else Timestamp(""),
        merged_as=merged_as,
        sent=Sent(sent[-1].fields["head"], sent[-1].by) if sent else None,
    )
