"""What became of the commands in a comment: a record `.ghp/commands/<id>.json`.

Its id is made from the comment's, so a comment is obeyed once, whoever reads it and however it is
edited afterwards.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record

FOLDER = ".ghp/commands/"
ASSIGN, STOP, RETRY = "assign", "stop", "retry"  # what a command can ask for
DONE, REFUSED = "done", "refused"
_FATES = (DONE, REFUSED)


class Act(NamedTuple):
    """What became of one command."""

    verb: str  # of the command; empty for what was none
    said: str  # the command in a line
    fate: str  # done, refused
    words: str  # what was done, or why not
    agent: str = ""  # who is to be told
    generation: int = 0  # by which the agent held the issue


class Obeyed(NamedTuple):
    """A comment that was read, by whom it was said, and what became of it."""

    comment: int  # GitHub's id of it
    issue: int
    by: Actor
    acts: tuple[Act, ...]
    at: Timestamp
    clock: int
    clone: CloneId

    @property
    def id(self) -> str:
        """One for each comment."""
        return identity(self.comment)

    @property
    def path(self) -> str:
        """Where it is in the state."""
        return path_of(self.comment)


def identity(comment: int) -> str:
    """The id of the record about a comment."""
    return digest("command", str(comment))


def path_of(comment: int) -> str:
    """Where that is in the state."""
    return f"{FOLDER}{identity(comment)}.json"


def encode(said: Obeyed) -> Record:
    """The record as the state takes it."""
    fields: dict[str, Any] = {
        **said._asdict(),
        "by": said.by.name,
        "person": said.by.is_person,
        "acts": [act._asdict() for act in said.acts],
    }
    content = json.dumps(fields, indent=2, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    return Record(
        event="command",
        actor=said.by,
        object=f"#{said.issue}",
        id=said.id,
        at=said.at,
        clock=said.clock,
        files=((said.path, content),),
        issue=said.issue,
        text="; ".join(f"{act.said}: {act.words}" for act in said.acts),
    )


def read_commands(files: Mapping[str, bytes]) -> tuple[list[Obeyed], list[Problem]]:
    """The records in the order in which the comments were made, and what cannot be read."""
    found: list[Obeyed] = []
    problems: list[Problem] = []
    for path, data in files.items():
        try:
            found.append(_decoded(path, data))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            problems.append(Problem(path, f"not a record of commands: {error}"))
    return sorted(found, key=lambda each: each.comment), problems


def _decoded(path: str, data: bytes) -> Obeyed:
    told = json.loads(data)
    said = Obeyed(
        comment=_number(told["comment"]),
        issue=_number(told["issue"]),
        by=Actor(one_line(_text(told["by"]), 80), told.get("person") is True),
        acts=tuple(_act(each) for each in told["acts"]),
        at=Timestamp(one_line(_text(told["at"]), 40)),
        clock=_number(told["clock"]),
        clone=CloneId(one_line(_text(told["clone"]), 80)),
    )
    if said.path != path:
        raise ValueError("its path is another")
    return said


def _act(told: Mapping[str, Any]) -> Act:
    keys = ("verb", "said", "fate", "words", "agent")
    verb, said, fate, words, agent = (one_line(_text(told[key]), 400) for key in keys)
    if fate not in _FATES:
        raise ValueError("a fate is unknown")
    return Act(verb, said, fate, words, agent, _number(told["generation"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is something else")
    return value


def _number(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("a number is something else")
    return value


# ---------------------------------------------------------------------------- what follows


def stopped(known: Iterable[Obeyed]) -> set[int]:
    """The issues of which a person last said that work on them is to stop."""
    last: dict[int, str] = {}
    for each in known:
        for act in each.acts:
            if act.fate == DONE and act.verb in (ASSIGN, STOP, RETRY):
                last[each.issue] = act.verb
    return {issue for issue, verb in last.items() if verb == STOP}


def given(known: Iterable[Obeyed]) -> set[int]:
    """The issues that a person gave to an agent, or sent to the queue, by a comment."""
    return {
        each.issue
        for each in known
        if any(act.fate == DONE and act.verb in (ASSIGN, RETRY) for act in each.acts)
    }


def retried(known: Iterable[Obeyed]) -> dict[int, int]:
    """The issues that a person sent back to the queue, and when by the ledger's clock."""
    found: dict[int, int] = {}
    for each in known:
        if any(act.fate == DONE and act.verb == RETRY for act in each.acts):
            found[each.issue] = max(each.clock, found.get(each.issue, 0))
    return found


def told_to_stop(known: Iterable[Obeyed], agent: str) -> list[tuple[Obeyed, Act]]:
    """The orders to stop that an agent was given."""
    return [
        (each, act)
        for each in known
        for act in each.acts
        if act.verb == STOP and act.fate == DONE and act.agent == agent
    ]
