"""A pull request that was sent back to its agent: why, what was printed, and how often by now.

A record `.ghp/returns/<pull>/<id>.json`. The id is made from what was looked at, so the same is
sent back once, whoever looks at it. A round is a new attempt of the agent's.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.fields import parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line
from ghp_agents.escalations.messages import who
from ghp_agents.hotpath.quoting import clean, cut, fence, file
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record

FOLDER = ".ghp/returns/"
ROUNDS = 2  # so often an agent tries again; then a person is asked
OUTPUT = 8_000  # characters that are kept
REASONS = {"conflict": "it conflicts with the trunk", "checks": "a check failed"}


class Return(NamedTuple):
    """One time that a pull request was sent back."""

    pull: int
    head: str  # the commit that was looked at
    trunk: str  # and the trunk
    agent: str
    reason: str  # of REASONS
    text: str  # the files in conflict, or the check and its output
    branch: str
    issue: int | None
    at: Timestamp
    by: Actor
    clock: int
    clone: CloneId

    @property
    def id(self) -> str:
        """One for each head of a pull request and each trunk that it was tried on."""
        return digest("return", str(self.pull), self.head, self.trunk)

    @property
    def attempt(self) -> str:
        """One for each head: what an agent has not touched again is the same attempt of it."""
        return digest("attempt", str(self.pull), self.head)

    @property
    def path(self) -> str:
        """Where it is in the state's tree."""
        return f"{folder_of(self.pull)}{self.id}.json"


def folder_of(pull: int) -> str:
    """The folder of a pull request's records."""
    return f"{FOLDER}{pull}/"


def encode(said: Return) -> Record:
    """The record as the state takes it."""
    fields: dict[str, Any] = said._asdict()
    fields["by"], fields["person"] = said.by.name, said.by.is_person
    content = json.dumps(fields, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    return Record(
        event="pull-return",
        actor=said.by,
        object=f"#{said.pull}",
        id=said.id,
        at=said.at,
        clock=said.clock,
        files=((said.path, content),),
        issue=said.issue,
        text=f"to {said.agent}: {REASONS[said.reason]}",
    )


def read_returns(files: Mapping[str, bytes]) -> tuple[list[Return], list[Problem]]:
    """The records, oldest first; what cannot be read is a problem, and hides no other."""
    found: list[Return] = []
    problems: list[Problem] = []
    for path, data in files.items():
        try:
            found.append(_decoded(path, data))
        except ValueError as error:
            problems.append(Problem(path, f"not a record of what was sent back: {error}"))
    return sorted(found, key=lambda each: (each.clock, each.clone, each.id)), problems


def round_of(returns: Iterable[Return], said: Return) -> int:
    """How many attempts at its pull request there were, up to this one."""
    attempts = [each.attempt for each in returns if each.pull == said.pull]
    return list(dict.fromkeys([*attempts, said.attempt])).index(said.attempt) + 1


def last(returns: Sequence[Return]) -> list[tuple[Return, int]]:
    """The last of each pull request, with its round; `returns` oldest first."""
    by_pull = {each.pull: each for each in returns}
    return [(each, round_of(returns, each)) for each in by_pull.values()]


def _decoded(path: str, data: bytes) -> Return:
    fields = parse(data)
    person = fields.pop("person", False) is True
    try:
        said = Return(**{**fields, "by": Actor(str(fields["by"]), person)})
    except (KeyError, TypeError) as error:
        raise ValueError(f"a field is missing or unknown: {error}") from None
    words = (said.head, said.trunk, said.agent, said.text, said.branch, said.at, said.clone)
    numbers = (said.pull, said.clock, *(() if said.issue is None else (said.issue,)))
    good = all(isinstance(word, str) for word in (*words, said.reason)) and said.reason in REASONS
    if not good or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("a field is of the wrong kind")
    if said.path != path:
        raise ValueError("its path is another")
    return said._replace(agent=one_line(said.agent, 80), branch=one_line(said.branch, 200))


# --------------------------------------------------------------------------------- in words


def headline(said: Return, round_number: int) -> str:
    """What happened, in a line."""
    about = f" (for #{said.issue})" if said.issue else ""
    return (
        f"Pull request #{said.pull}{about} was sent back: {REASONS[said.reason]} "
        f"(round {round_number})."
    )


def reminder(said: Return, round_number: int, why: str) -> str:
    """It in a line, for the agent as long as it is so; `why` in words that can be printed."""
    shown = f"; `ghp agent-issue show {said.issue}` has all of it" if said.issue else ""
    return f"{headline(said, round_number)} That is: {why}{shown}. {_next(said)}"


def step(said: Return, round_number: int, why: str) -> str:
    """It as what there is to do next."""
    return f"Mend #{said.pull}, sent back in round {round_number}: {why}. {_next(said)}"


def news(said: Return, round_number: int) -> str:
    """It, for the agent: what is printed by a check is in a block that names where it is from."""
    lines = [
        headline(said, round_number),
        f"On branch {file(said.branch)}, at {file(said.head[:12])}:",
    ]
    lines.append(fence(cut(clean(said.text), OUTPUT, "cut")))
    lines.append(f"End of what {who(said.by)} sent back. {_next(said)}")
    return "\n".join(lines)


def _next(said: Return) -> str:
    if said.reason == "conflict":
        return (
            "In its worktree, bring the branch up to the trunk, resolve and commit; then "
            "`ghp agent-finish`."
        )
    return "In its worktree, correct it and commit; then `ghp agent-finish`."


def comment(said: Return, round_number: int) -> str:
    """It as a comment on the issue."""
    text = fence(cut(clean(said.text).replace("<!--", "&lt;!--"), OUTPUT, "cut"))
    return f"{headline(said, round_number)}\n\n{said.agent}:\n\n{text}\n\n{marker(said)}"


def marker(said: Return) -> str:
    """What tells that comment from all others."""
    return f"<!-- ghp:returned {said.attempt} -->"
