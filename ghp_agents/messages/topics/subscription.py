"""What agents listen to: records `.ghp/subscriptions/<agent>/<id>.json`; the last one counts."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple

from ghp_agents.core.declared import HIDDEN, OPTIONAL, Read, decoded, plain
from ghp_agents.core.errors import UsageError
from ghp_agents.core.fields import ID, any_list, as_agent, dump, parse
from ghp_agents.messages.topics.topic import REST, checked_pattern, matches
from ghp_agents.state.codec import (
    At,
    By,
    Clock,
    Clone,
    ledger_record,
    order,
    read_files,
)
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/subscriptions/"
MOST = 100  # patterns of one agent
_PATH = re.compile(rf"{re.escape(FOLDER)}([^/]{{1,63}})/({ID})\.json")


def _patterns(value: object, _: str) -> tuple[str, ...]:
    patterns = tuple(item for item in any_list(value)[:MOST] if isinstance(item, str))
    try:
        return tuple(checked_pattern(pattern) for pattern in patterns)
    except UsageError as error:
        raise ValueError(str(error)) from None


_Patterns = Annotated[tuple[str, ...], Read(_patterns)]


class Subscription(NamedTuple):
    """The patterns of topics that an agent listens to and ignores."""

    id: Annotated[str, HIDDEN]
    agent: Annotated[str, HIDDEN]
    listens: _Patterns
    ignores: _Patterns
    by: By
    at: At
    clock: Clock
    clone: Clone
    # Whether a person is asked about new topics.
    asks: Annotated[bool, Read(lambda value, _: value is not False), OPTIONAL] = True

    @property
    def words(self) -> str:
        """The subscription in one line."""
        if self.is_isolated:
            return "nothing but messages that name it"
        heard = ", ".join(self.listens) or "no topic"
        return heard + (f" except {', '.join(self.ignores)}" if self.ignores else "")

    @property
    def is_isolated(self) -> bool:
        """Whether only messages that name the agent reach it."""
        return REST in self.ignores


def hears(listens: Sequence[str], ignores: Sequence[str], topic: str) -> bool:
    """Whether patterns cover a topic."""
    return any(matches(pattern, topic) for pattern in listens) and not any(
        matches(pattern, topic) for pattern in ignores
    )


def encode(entry: Subscription) -> Record:
    """The record for the state store."""
    files = [(f"{FOLDER}{entry.agent}/{entry.id}.json", dump(plain(entry)))]
    return ledger_record(entry, "subscribe", entry.agent, files, text=entry.words)


def read_subscriptions(files: Mapping[str, bytes]) -> tuple[dict[str, Subscription], list[Problem]]:
    """The last record of each agent, and the problems."""
    records, problems = read_files(files, _decode, _PATH, what="not a subscription: ")
    return {record.agent: record for record in sorted(records, key=order)}, problems


def _decode(agent: str, record: str, data: bytes) -> Subscription:
    return decoded(Subscription, parse(data), id=record, agent=as_agent(agent))
