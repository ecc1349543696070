"""What agents listen to: records `.ghp/subscriptions/<agent>/<id>.json`; the last one counts."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NotRequired

from ghp_agents.core.errors import UsageError
from ghp_agents.core.fields import ID, any_list, as_agent, dump, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.messages.topic import REST, checked_pattern, matches
from ghp_agents.state.codec import (
    ProvenanceFields,
    ledger_record,
    order,
    read_files,
    read_provenance,
    written_provenance,
)
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/subscriptions/"
MOST = 100  # patterns of one agent
_PATH = re.compile(rf"{re.escape(FOLDER)}([^/]{{1,63}})/({ID})\.json")


class Subscription(NamedTuple):
    """The patterns of topics that an agent listens to and those that it ignores."""

    id: str
    agent: str
    listens: tuple[str, ...]
    ignores: tuple[str, ...]
    at: Timestamp
    by: Actor
    clock: int
    clone: CloneId
    asks: bool = True  # whether a person is asked about new topics

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


class SubscriptionFile(ProvenanceFields):
    """The patterns of topics that an agent listens to and ignores."""

    listens: list[str]
    ignores: list[str]
    asks: NotRequired[bool]  # false: nobody is asked about new topics


def hears(listens: Sequence[str], ignores: Sequence[str], topic: str) -> bool:
    """Whether patterns cover a topic."""
    return any(matches(pattern, topic) for pattern in listens) and not any(
        matches(pattern, topic) for pattern in ignores
    )


def encode(entry: Subscription) -> Record:
    """The record for the state store."""
    fields = {
        "listens": list(entry.listens), "ignores": list(entry.ignores), **written_provenance(entry),
        **({} if entry.asks else {"asks": False}),
    }  # fmt: skip
    files = [(f"{FOLDER}{entry.agent}/{entry.id}.json", dump(fields))]
    return ledger_record(entry, "subscribe", entry.agent, files, text=entry.words)


def read_subscriptions(files: Mapping[str, bytes]) -> tuple[dict[str, Subscription], list[Problem]]:
    """The last record of each agent, and the problems."""
    records, problems = read_files(files, _decode, _PATH, what="not a subscription: ")
    return {record.agent: record for record in sorted(records, key=order)}, problems


def _decode(agent: str, record: str, data: bytes) -> Subscription:
    fields = parse(data)
    return Subscription(
        id=record,
        agent=as_agent(agent),
        listens=_patterns(fields.get("listens")),
        ignores=_patterns(fields.get("ignores")),
        **read_provenance(fields),
        asks=fields.get("asks") is not False,
    )


def _patterns(value: object) -> tuple[str, ...]:
    patterns = tuple(item for item in any_list(value)[:MOST] if isinstance(item, str))
    try:
        return tuple(checked_pattern(pattern) for pattern in patterns)
    except UsageError as error:
        raise ValueError(str(error)) from None
