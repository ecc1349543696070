"""A request for a lease: its contents, its checks, and its conflicts."""

import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from ghp_agents.claims import stopped
from ghp_agents.claims.claim import is_elsewhere
from ghp_agents.claims.holder_liveness import life_of
from ghp_agents.core.errors import (
    GhpError,
    NotSetUpError,
    RefusedError,
    UnapprovedError,
    UsageError,
)
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import UNNAMED, Actor, AgentName, agent_name, one_line
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.hotpath.quoting import file, named, phrase, when
from ghp_agents.leases import record, strict
from ghp_agents.leases.coverage import Coverage, WorktreeFiles
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory, what
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import beginning
from ghp_agents.settings import rights
from ghp_agents.state.presence import next_epoch, number

LONGEST = 366 * 86_400.0  # seconds; the longest TTL of a lease


class LeaseRequest(NamedTuple):
    """The subject of a lease: patterns relative to the root, or a resource."""

    patterns: tuple[str, ...] = ()
    name: str | None = None
    reason: str = ""
    ttl: float | None = None  # seconds
    strict: bool = False
    holder: str | None = None  # the agent that it is for; None: the requester
    typed: tuple[str, ...] = ()  # the patterns as typed, relative to the current folder


class CheckedRequest(NamedTuple):
    """A validated request, and what it would cover here."""

    id: str
    wanted: LeaseRequest
    by: Actor
    holder: Actor
    epoch: int
    reach: Coverage
    approved_by: str = ""
    question: str = ""  # the escalation that approved it
    clone: str = ""  # the holder's

    @property
    def lock_name(self) -> str:
        """The name of the lock that a strict lease needs; else empty."""
        wanted = self.wanted
        return strict.lock_name(wanted.patterns, wanted.name) if wanted.strict else ""

    @property
    def words(self) -> str:
        """The request as words of a command."""
        wanted = self.wanted
        if wanted.name is not None:
            return f"--name {wanted.name}"
        words = wanted.typed or wanted.patterns
        shown = " ".join(shlex.quote(word) for word in words[:3])
        return shown if len(words) <= 3 else f"{shown} …"

    def is_same(self, log: LeaseHistory) -> bool:
        """Whether a lease has the same holder and the same subject."""
        other = log.request
        mine = (self.holder, self.wanted.patterns, self.wanted.name, self.lock_name)
        return mine == (other.holder, other.patterns, other.name, other.right)

    def is_elsewhere(self, locks: Mapping[str, Lock]) -> bool:
        """Whether an agent of the same name holds the lock in another clone."""
        lock = locks.get(self.lock_name)
        return lock is not None and is_elsewhere(lock, self.clone)


class Conflict(NamedTuple):
    """A conflict with a requested lease."""

    place: str  # the overlap
    holder: str
    is_person: bool
    since: str
    kind: str  # held, doubted, waiting, editing, changed
    lease: str = ""  # its displayed id
    reason: str = ""

    @property
    def words(self) -> str:
        """The conflict, for people."""
        who = named(self.holder, self.is_person)
        state = {
            "held": f"is leased by {who}",
            "doubted": f"is leased by {who}, which looks dead,",
            "waiting": f"is next for {who}, which asked earlier,",
            "editing": f"is being edited by {who}",
            "changed": f"is being changed by {who}, whose work is not merged yet",
        }[self.kind]
        about = f" ({self.lease})" if self.lease else ""
        why = f", reason: {phrase(self.reason)}" if self.reason else ""
        since = f" since {when(self.since)}" if self.since else ""
        return f"{file(self.place)} {state}{since}{about}{why}"


def conflict_with(plan: CheckedRequest, hold: Hold, kind: str = "held") -> Conflict:
    """Another's lease as a conflict."""
    place = plan.reach.meets(hold.patterns, hold.name) or what(hold.patterns, hold.name)
    reason = hold.reason
    return Conflict(
        place, hold.holder, hold.is_person, hold.since, kind, hold.short, one_line(reason, 120)
    )


def prepare(ctx: Context, wanted: LeaseRequest, identity: str = "") -> CheckedRequest:
    """Validate the request. A requester at work gets a heartbeat; another begins only when its
    request is recorded (`begin`). Raises GhpError."""
    if bool(wanted.patterns) == (wanted.name is not None):
        raise UsageError(
            "A lease needs either path patterns or a named resource.",
            hint="Give files and folders (src/parser/), or a resource (--name staging-db).",
        )
    if wanted.patterns and ctx.ws.place.toplevel is None:
        raise NotSetUpError(
            "This repository has no worktree, so there are no files to lease.",
            hint="Lease files in a worktree (`git worktree list` shows them), or lease a named "
            "resource: --name staging-db.",
        )
    if wanted.name is not None:
        record.resource(wanted.name)
    if wanted.ttl is not None and not 1 <= wanted.ttl <= LONGEST:
        raise UsageError(
            "A lease lasts from 1 second to one year.", hint="Set the time, e.g. --ttl 30m"
        )
    by = ctx.ws.actor()
    holder = Actor(agent_name(wanted.holder)) if wanted.holder else by
    orchestrators = ctx.ws.settings.orchestrators
    if not rights.may_lease_for(by, holder, orchestrators):
        raise RefusedError(
            f"{named(*by)} may not lease for {named(*holder)}.",
            hint='Only people and the agents in the setting "orchestrators" may.',
        )
    if holder == by and not by.is_person:
        stopped.refuse(ctx, by.name)
    if ctx.store.snapshot().clone == UNNAMED:  # the clone id says whose clock counts
        with suppress(GhpError, OSError):
            ctx.store.fold()
    reason = one_line(wanted.reason.encode("utf-8", "replace").decode(), record.REASON_LIMIT)
    return CheckedRequest(
        id=identity or random_hex(6),
        wanted=wanted._replace(reason=reason),
        by=by,
        holder=holder,
        epoch=0 if holder.is_person else _epoch(ctx, by, holder),
        reach=WorktreeFiles(ctx.ws).reach(wanted.patterns, wanted.name),
        approved_by=by.name if rights.may_approve_files(by, orchestrators) else "",
        clone=ctx.store.snapshot().clone if holder == by else life_of(ctx, holder.name)[1],
    )


def _epoch(ctx: Context, by: Actor, holder: Actor) -> int:
    """The agent's epoch, at least 1; of a requester that has not begun, the one that it gets."""
    agent = AgentName(holder.name)
    committed = ctx.store.snapshot().agents().get(agent, {})
    if holder == by and not beginning.has_begun(ctx.ws, agent):
        return next_epoch(committed, ctx.ws.presence(agent) or {})
    if holder == by:
        _beat(ctx, agent)
    return max(1, number(ctx.ws.presence(agent) or committed, "epoch"))


def begin(ctx: Context, plan: CheckedRequest) -> None:
    """Register a requester that is an agent and has not begun. Raises GhpError."""
    agent = AgentName(plan.holder.name)
    if plan.holder == plan.by and plan.epoch and not beginning.has_begun(ctx.ws, agent):
        _beat(ctx, agent)


def _beat(ctx: Context, agent: AgentName) -> None:
    try:
        beginning.begin(ctx.ws, ctx.store, agent)
    except OSError as error:
        raise GhpError(
            f"Cannot register {agent}: {error.strerror}.",
            hint="Set GHP_STATE_DIR to a writable folder, or free disk space.",
        ) from None


class ApprovalError(UnapprovedError):
    """Not approved: there is no answer yet, or it was refused."""

    def __init__(self, message: str, *, hint: str, question: Escalation) -> None:
        super().__init__(message, hint=hint)
        self.question = question

    @property
    def is_open(self) -> bool:
        """Whether an answer may still come."""
        return self.question.is_open


# Gets approval for shared paths, or asks and raises ApprovalError; see `guard/approval.py`.
Approve = Callable[[CheckedRequest], CheckedRequest]
