"""Orders to an agent to stop: records `.ghp/stops/<agent>/<id>.json`.

The last order counts, for the life of the agent that it names by its epoch. An agent that has
stopped and starts again has a higher epoch.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, NamedTuple

from ghp_agents.core.declared import HIDDEN, Name, decoded, plain
from ghp_agents.core.fields import ID, Flag, Line, Whole, as_agent, dump, parse
from ghp_agents.hotpath.quoting import named, reason
from ghp_agents.settings import rights
from ghp_agents.state.codec import (
    At,
    By,
    Clock,
    Clone,
    ledger_record,
    order,
    read_files,
)
from ghp_agents.state.presence import Presence, number
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/stops/"
REASON_LIMIT = 300  # characters that are kept
_PATH = re.compile(rf"{re.escape(FOLDER)}([^/]{{1,63}})/({ID})\.json")


class StopOrder(NamedTuple):
    """An order to an agent to stop, or its withdrawal."""

    id: Annotated[str, HIDDEN]
    agent: Annotated[str, HIDDEN]
    epoch: Whole  # of the agent that must stop
    reason: Line
    is_lifted: Annotated[Flag, Name("lifted")]  # the agent may continue
    by: By
    at: At
    clock: Clock
    clone: Clone
    keeps: Flag = False  # the agent keeps its issues, to go on with them later
    # A supervisor ends its run at once, not at its next step.
    is_urgent: Annotated[Flag, Name("now")] = False

    @property
    def words(self) -> str:
        """The order, for the agent."""
        then = (
            "Your work is saved. You keep your issues. Continue when a person lets you."
            if self.keeps
            else "Your issues are free again, and the next agent continues your work."
        )
        return (
            f"{named(self.by.name, self.by.is_person)} told you to stop.{reason(self.reason)} "
            f"Change nothing more, for edits are refused, and end your turn. {then}"
        )


def encode(entry: StopOrder) -> Record:
    """The record for the state store."""
    files = [(f"{FOLDER}{entry.agent}/{entry.id}.json", dump(plain(entry)))]
    text = "may continue" if entry.is_lifted else entry.reason
    return ledger_record(entry, "stop", entry.agent, files, text=text)


def read_orders(files: Mapping[str, bytes]) -> tuple[list[StopOrder], list[Problem]]:
    """The records, oldest first; an unreadable one is a problem and hides no other."""
    orders, problems = read_files(files, _decode, _PATH, what="not an order to stop: ")
    return sorted(orders, key=order), problems


def _decode(agent: str, record: str, data: bytes) -> StopOrder:
    return decoded(StopOrder, parse(data), id=record, agent=as_agent(agent))


def newest(orders: Iterable[StopOrder], orchestrators: Collection[str]) -> dict[str, StopOrder]:
    """The last order for each agent, unless it is lifted, of those that had the right to it."""
    last = {
        entry.agent: entry
        for entry in orders
        if (
            rights.may_resume(entry.by, orchestrators)
            if entry.is_lifted
            else rights.may_stop(entry.by, entry.agent, orchestrators)
        )
    }
    return {agent: entry for agent, entry in last.items() if not entry.is_lifted}


def binds(entry: StopOrder | None, presence: Presence) -> bool:
    """Whether an order is for the agent with this presence."""
    return entry is not None and number(presence, "epoch") <= entry.epoch
