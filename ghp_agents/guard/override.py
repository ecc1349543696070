"""Overrides as records: `.ghp/overrides/<agent>/<id>.json`, where the agent is the one that is
notified.

An override names the files that its author edits although that agent is editing them.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ghp_agents.core.fields import ID, any_list, as_agent, as_line, as_whole, dump, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.hotpath.quoting import file, named, reason
from ghp_agents.state.codec import (
    ProvenanceFields,
    ledger_record,
    order,
    read_files,
    read_provenance,
    written_provenance,
)
from ghp_agents.state.record import Problem, Record

EVENT = "override"
FOLDER = ".ghp/overrides/"
REASON_LIMIT = 300  # characters that are kept
PATHS_LIMIT = 100  # files of one record
SHOWN = 5  # files named in a message
_PATH = re.compile(rf"{re.escape(FOLDER)}([^/]{{1,63}})/({ID})\.json")


class OverrideRecord(NamedTuple):
    """An override of one agent's implicit leases."""

    id: str
    agent: str  # who is editing the files, and is told
    epoch: int  # of that agent
    paths: tuple[str, ...]
    reason: str
    is_same_worktree: bool
    at: Timestamp
    by: Actor
    clock: int
    clone: CloneId

    @property
    def words(self) -> str:
        """The notice to the agent."""
        who = named(self.by.name, self.by.is_person)
        more = len(self.paths) - SHOWN
        files = ", ".join(map(file, self.paths[:SHOWN])) + (f" and {more} more" if more > 0 else "")
        then = (
            "Read each file again before you edit it."
            if self.is_same_worktree
            else "Expect a conflict when your branches are merged."
        )
        why = reason(self.reason)
        them = "it" if len(self.paths) == 1 else "them"
        return f"{who} edits {files}, although you are editing {them}, too.{why} {then}"


class OverrideFile(ProvenanceFields):
    """An override: the files that an agent edits although another one is editing them. `inside`
    says that both are in one worktree."""

    epoch: int
    paths: list[str]
    reason: str
    inside: bool


def encode(entry: OverrideRecord) -> Record:
    """The record for the state store."""
    fields: OverrideFile = {
        "epoch": entry.epoch, "paths": list(entry.paths), "reason": entry.reason,
        "inside": entry.is_same_worktree, **written_provenance(entry),
    }  # fmt: skip
    files = [(path_of(entry.agent, entry.id), dump(fields))]
    text = f"{', '.join(map(file, entry.paths[:SHOWN]))}: {entry.reason}"
    return ledger_record(entry, EVENT, entry.agent, files, text=text)


def path_of(agent: str, record: str) -> str:
    """The path in the state of a record."""
    return f"{FOLDER}{agent}/{record}.json"


def read_overrides(files: Mapping[str, bytes]) -> tuple[list[OverrideRecord], list[Problem]]:
    """The records, oldest first; an unreadable one is a problem and hides no other."""
    records, problems = read_files(files, _decode, _PATH, what="not an override: ")
    return sorted(records, key=order), problems


def _decode(agent: str, record: str, data: bytes) -> OverrideRecord:
    fields = parse(data)
    return OverrideRecord(
        id=record,
        agent=as_agent(agent),
        epoch=as_whole(fields.get("epoch"), "epoch"),
        paths=tuple(x for x in any_list(fields.get("paths")) if isinstance(x, str))[:PATHS_LIMIT],
        reason=as_line(fields.get("reason"), "reason")[:REASON_LIMIT],
        is_same_worktree=fields.get("inside") is True,
        **read_provenance(fields),
    )
