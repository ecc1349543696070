"""Orders to an agent to stop: records `.ghp/stops/<agent>/<id>.json`.

The last order counts, for the life of the agent that it names by its epoch. An agent that has
stopped and starts again has a higher epoch.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, NotRequired

from ghp_agents.core.fields import ID, as_agent, as_line, as_whole, dump, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.hotpath.quoting import named, reason
from ghp_agents.settings import rights
from ghp_agents.state.codec import (
    ProvenanceFields,
    ledger_record,
    order,
    read_files,
    read_provenance,
    written_provenance,
)
from ghp_agents.state.presence import Presence, number
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/stops/"
REASON_LIMIT = 300  # characters that are kept
_PATH = re.compile(rf"{re.escape(FOLDER)}([^/]{{1,63}})/({ID})\.json")


class StopOrder(NamedTuple):
    """An order to stop, or its withdrawal."""

    id: str
    agent: str
    epoch: int  # of the agent that must stop
    reason: str
    is_lifted: bool  # the agent may continue
    at: Timestamp
    by: Actor
    clock: int
    clone: CloneId
    keeps: bool = False  # the agent keeps its issues, to go on with them later
    is_urgent: bool = False  # a supervisor ends its run at once, not at its next step

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


class StopFile(ProvenanceFields):
    """An order to an agent to stop, or its withdrawal."""

    epoch: int
    reason: str
    lifted: bool
    keeps: NotRequired[bool]
    now: NotRequired[bool]  # true: at once, not at the next step


def encode(entry: StopOrder) -> Record:
    """The record for the state store."""
    fields: StopFile = {
        "epoch": entry.epoch, "reason": entry.reason, "lifted": entry.is_lifted,
        **written_provenance(entry), "keeps": entry.keeps, "now": entry.is_urgent,
    }  # fmt: skip
    path = f"{FOLDER}{entry.agent}/{entry.id}.json"
    files = [(path, dump(fields))]
    text = "may continue" if entry.is_lifted else entry.reason
    return ledger_record(entry, "stop", entry.agent, files, text=text)


def read_orders(files: Mapping[str, bytes]) -> tuple[list[StopOrder], list[Problem]]:
    """The records, oldest first; an unreadable one is a problem and hides no other."""
    orders, problems = read_files(files, _decode, _PATH, what="not an order to stop: ")
    return sorted(orders, key=order), problems


def _decode(agent: str, record: str, data: bytes) -> StopOrder:
    fields = parse(data)
    return StopOrder(
        id=record,
        agent=as_agent(agent),
        epoch=as_whole(fields.get("epoch"), "epoch"),
        reason=as_line(fields.get("reason"), "reason"),
        is_lifted=fields.get("lifted") is True,
        keeps=fields.get("keeps") is True,
        is_urgent=fields.get("now") is True,
        **read_provenance(fields),
    )


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
