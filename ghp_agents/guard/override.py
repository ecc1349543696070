"""Overrides as records: `.ghp/overrides/<agent>/<id>.json`, where the agent is the one that is
notified.

An override names the files that its author edits although that agent is editing them.
"""

import re
from collections.abc import Mapping
from typing import Annotated, NamedTuple

from ghp_agents.core.declared import HIDDEN, Name, Read, decoded, plain
from ghp_agents.core.fields import ID, Flag, Whole, any_list, as_agent, dump, line, parse
from ghp_agents.hotpath.quoting import file, named, reason
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

EVENT = "override"
FOLDER = ".ghp/overrides/"
REASON_LIMIT = 300  # characters that are kept
PATHS_LIMIT = 100  # files of one record
SHOWN = 5  # files named in a message
_PATH = re.compile(rf"{re.escape(FOLDER)}([^/]{{1,63}})/({ID})\.json")


def _paths(value: object, _: str) -> tuple[str, ...]:
    return tuple(path for path in any_list(value) if isinstance(path, str))[:PATHS_LIMIT]


class OverrideRecord(NamedTuple):
    """An override: the files that an agent edits although another one is editing them. `inside`
    says that both are in one worktree."""

    id: Annotated[str, HIDDEN]
    agent: Annotated[str, HIDDEN]  # who is editing the files, and is told
    epoch: Whole  # of that agent
    paths: Annotated[tuple[str, ...], Read(_paths)]
    reason: Annotated[str, line(REASON_LIMIT)]
    is_same_worktree: Annotated[Flag, Name("inside")]
    by: By
    at: At
    clock: Clock
    clone: Clone

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


def encode(entry: OverrideRecord) -> Record:
    """The record for the state store."""
    files = [(path_of(entry.agent, entry.id), dump(plain(entry)))]
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
    return decoded(OverrideRecord, parse(data), id=record, agent=as_agent(agent))
