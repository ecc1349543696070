"""Which issue a branch was begun for: records `.ghp/branches/<digest of the branch>/<id>.json`.

A number is no identity: it starts again with a new state, another tracker or another repository.
So `agent-start` notes the issue's id, and takes no branch that was begun for another issue.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

from ghp_agents.core.declared import HIDDEN, Name, Read, decoded, plain
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.fields import ID, Line, Whole, as_line, dump, is_oid, parse
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Timestamp, digest
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.hotpath.quoting import file
from ghp_agents.issues import record as issue_record
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.open_issues import read_all
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import start_command
from ghp_agents.pulls.branches import branch_names
from ghp_agents.state import ledger
from ghp_agents.state.codec import (
    At,
    By,
    Clock,
    Clone,
    ledger_record,
    order,
    read_files,
)
from ghp_agents.state.presence import issue_of
from ghp_agents.state.record import Problem, Record, highest
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text

FOLDER = ".ghp/branches/"
_PATH = re.compile(rf"{re.escape(FOLDER)}[0-9a-f]{{1,64}}/({ID})\.json")


def _commit(value: object, name: str) -> str:
    commit = as_line(value, name)
    return commit if is_oid(commit) else ""


class BranchRecord(NamedTuple):
    """That a branch was begun for an issue."""

    id: Annotated[str, HIDDEN]
    branch: Line
    issue: Line  # the issue's identity
    number: Whole
    created: Line  # when the issue was: number and time stay if its identity is read in another way
    main: Line  # the main branch then
    # Its commit then; empty if it was not the branch's beginning.
    began_at: Annotated[str, Name("began"), Read(_commit)]
    by: By
    at: At
    clock: Clock
    clone: Clone


def encode(entry: BranchRecord) -> Record:
    """The record for the state store. The ledger treats it as presence: its claim is the event."""
    path = f"{FOLDER}{digest(entry.branch)}/{entry.id}.json"
    return ledger_record(entry, ledger.PRESENCE, entry.branch, [(path, dump(plain(entry)))])


def read_records(files: Mapping[str, bytes]) -> tuple[list[BranchRecord], list[Problem]]:
    """The records, oldest first; an unreadable one is a problem and hides no other."""
    records, problems = read_files(files, _decode, _PATH, what="not a record of a branch: ")
    return sorted(records, key=order), problems


def _decode(record: str, data: bytes) -> BranchRecord:
    return decoded(BranchRecord, parse(data), id=record)


def note(ctx: Context, branch: str, issue: Issue, main: str, began_at: str) -> None:
    """Record once that a branch is for an issue, and at which commit of main it begins."""
    actor, record = ctx.ws.actor(), random_hex(6)

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        records = read_records(snapshot.files(FOLDER))[0]
        if branch in of_issue(records, issue):
            return None, []
        clock = highest(snapshot.clock, *(entry.clock for entry in records)) + 1
        entry = BranchRecord(
            record, branch, issue.id, issue.number, issue.created_at,
            main, began_at, actor, Timestamp(now_text(ctx.ws)), clock, snapshot.clone,
        )  # fmt: skip
        return None, [encode(entry)]

    transact(ctx.store, decide)


def of_issue(records: Iterable[BranchRecord], issue: Issue) -> set[str]:
    """The branches that were begun for an issue."""
    return {
        entry.branch
        for entry in records
        if entry.issue == issue.id
        or (entry.number in issue.numbers and entry.created == issue.created_at)
    }


def recorded_for(snapshot: Snapshot, issue: Issue) -> set[str]:
    """The branches in the state that were begun for an issue."""
    return of_issue(read_records(snapshot.files(FOLDER))[0], issue)


def refuse_other(ctx: Context, branch: str, issue: Issue) -> None:
    """Raise RefusedError for a branch that was begun for another issue."""
    files = ctx.store.snapshot().files(FOLDER)
    records = [x for x in read_records(files)[0] if x.branch == branch]
    if records and not of_issue(records, issue):
        raise RefusedError(
            f"{file(branch)} was begun for another issue that was #{issue.number}, too.",
            hint=f"`{start_command.of_reader(ctx.ws, issue.number)}` makes a branch for this one. "
            "If this work is for it all the same, rename the branch: `git branch -m NAME`.",
        )


def is_ambiguous(snapshot: Snapshot, issue: Issue) -> bool:
    """Whether the state has another issue with a number of this one, so that older records of the
    number may be about that one: the repository moved to another tracker."""
    if snapshot.files(f"{issue_record.FOLDER}{issue.id}/"):
        return False  # it is one of the state's issues, whose numbers are theirs alone
    others = read_all(snapshot)
    return any(
        other.id != issue.id and other.created_at != issue.created_at
        for other in others
        if not {*other.numbers}.isdisjoint(issue.numbers)
    )


class KnownWork(NamedTuple):
    """What the records say of the branches of an issue."""

    issue: Issue
    recorded: frozenset[str]  # begun for this issue
    others: frozenset[str]  # begun for other issues
    reported: frozenset[str]  # agents reported work on the number there
    agents: frozenset[str]  # that had claimed the number before, as branches name them
    is_ambiguous: bool  # the number was another issue's, too

    @classmethod
    def read(cls, ctx: Context, issue: Issue) -> "KnownWork":
        """Read it from this clone's state."""
        snapshot = ctx.store.snapshot()
        records = read_records(snapshot.files(FOLDER))[0]
        recorded = of_issue(records, issue)
        name = claim_name(issue.number)
        history = ctx.locks.known_histories([name]).get(name, ())[:-1]  # without the present claim
        return cls(
            issue,
            frozenset(recorded),
            frozenset({entry.branch for entry in records} - recorded),
            frozenset(_reported_branches(snapshot, issue)),
            frozenset(branch_names.in_names({x.holder for x in history if x.holder})),
            is_ambiguous(snapshot, issue),
        )

    @property
    def branches(self) -> list[str]:
        """Those whose names need not tell the issue."""
        return sorted(self.recorded | self.reported)

    def is_of_issue(self, branch: str) -> bool:
        """Whether a branch was begun for this issue. Without a record of it, earlier versions or a
        person began it: then an agent must have reported it, or have had the issue before."""
        if branch in self.recorded or branch in self.others or self.is_ambiguous:
            return branch in self.recorded
        agent = branch_names.of_agents(branch, self.issue.number)
        is_anew = branch == branch_names.ANEW.format(self.issue.number)
        return is_anew or branch in self.reported or bool(agent and agent in self.agents)

    def is_older(self, at: str) -> bool:
        """Whether a handoff is about an earlier issue with this number."""
        return self.is_ambiguous and at < self.issue.created_at


def _reported_branches(snapshot: Snapshot, issue: Issue) -> set[str]:
    """Return the branches on which agents reported work on the issue."""
    names = {
        str(fields.get("branch"))
        for fields in snapshot.agents().values()
        if issue_of(fields) in issue.numbers
    }
    for number in issue.numbers:
        folder = handoff_record.folder_of(number)
        names |= {
            handoff.branch or ""
            for handoff in handoff_record.read_handoffs(snapshot.files(folder))[0]
        }
    return {name for name in names if str(issue.number) in name}
