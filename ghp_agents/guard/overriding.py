"""Continue to edit files that another agent is editing, and tell that agent.

First the record is written, then the file that edits are decided by. If the process is killed in
between, the same command finds the record and writes the file.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError, UsageError
from ghp_agents.core.ids import Actor, AgentName, Timestamp, digest, one_line
from ghp_agents.core.secret_scan import redacted
from ghp_agents.guard import evaluate, override
from ghp_agents.guard.override import OverrideRecord
from ghp_agents.hotpath import check_edit, clash_check, overrides, policy, policy_cache
from ghp_agents.hotpath.implicit_leases import ImplicitLease
from ghp_agents.hotpath.overrides import Override
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.hotpath.quoting import named
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book

POSSIBLE = (policy.IMPLICIT, policy.CONFLICT)  # kinds of refusals that can be overridden
WHO = {
    policy.LEASE: "Only {holder} can release it; a person can end it",
    policy.SCOPE: "Only {holder} or a person can allow it",
    policy.SHARED: "Only a person or an orchestrator can allow it",
}


class Overridden(NamedTuple):
    """A file, and the lease of another agent that does not count any more."""

    path: str
    lease: ImplicitLease
    reason: str
    at: str


class OverrideResult(NamedTuple):
    """The result of an override."""

    done: tuple[Overridden, ...]  # all that are in force now for the files
    new: tuple[OverrideRecord, ...]  # empty: nothing changed
    verdicts: tuple[Verdict, ...]  # on the files, afterwards


def go_on(
    ctx: Context, agent: AgentName | None, paths: Sequence[str], reason: str
) -> OverrideResult:
    """Let the agent edit the files that others are editing. Raises RefusedError for files that
    somebody reserved, and UsageError for a person or without a reason; then nothing changed."""
    why = one_line(redacted(reason), override.REASON_LIMIT)
    if not why:
        raise UsageError(
            "An override needs a reason, which the other agent reads.",
            hint='Use `ghp agent-check --override "They fix a typo, I rename it" PATH`.',
        )
    if agent is None:
        raise UsageError(
            "A person's edits are never refused, so there is nothing to override.",
            hint="An agent overrides for itself, with `--as NAME`.",
        )
    for verdict in evaluate.judge(ctx, agent, paths):
        if verdict.is_refused and verdict.kind not in POSSIBLE:
            raise _impossible(verdict)
    book = evaluate.current(ctx)
    keys = {path: policy_cache.key_of(book, path) for path in paths}
    limits = float(book["deadAfter"]), float(book["goneAfter"])
    now = ctx.ws.clock.now()
    pending = [
        (path, lease)
        for path, key in keys.items()
        if policy_cache.is_plain(path)
        for lease in [
            *_rivals(ctx, agent, key, now, limits, why),
            *_reported(ctx, book, agent, path),
        ]
    ]
    new = _record(ctx, agent, pending, why) if pending else []
    _keep(ctx, agent, keys, pending, why)
    verdicts = evaluate.judge(ctx, agent, paths)
    return OverrideResult(tuple(in_force(ctx, agent, paths)), tuple(new), tuple(verdicts))


def _rivals(
    ctx: Context, agent: AgentName, key: str, now: float, limits: tuple[float, float], why: str
) -> list[ImplicitLease]:
    """The leases that count against the agent, and those that it overrode for another reason."""
    folders, here = ctx.ws.folders, ctx.ws.place.git_dir
    rivals = check_edit.rivals(folders, agent, key, here, now, limits)
    overridden = [x.lease for x in overrides.read(folders, agent, key, here) if x.reason != why]
    again = check_edit.editors(folders, agent, key, here, now, limits) if overridden else []
    return [*rivals, *(lease for lease in again if lease in overridden and lease not in rivals)]


def in_force(ctx: Context, agent: AgentName | None, paths: Sequence[str]) -> Iterator[Overridden]:
    """The agent's overrides for these files, of leases that are still held."""
    if agent is None:
        return
    book = evaluate.current(ctx)
    folders, here = ctx.ws.folders, ctx.ws.place.git_dir
    limits = float(book["deadAfter"]), float(book["goneAfter"])
    for path in paths:
        key = policy_cache.key_of(book, path)
        permissions = overrides.read(folders, agent, key, here)
        if permissions:
            held = check_edit.editors(folders, agent, key, here, ctx.ws.clock.now(), limits)
            held += _reported(ctx, book, agent, path, overridden=True)
            for permission in permissions:
                if permission.lease in held:
                    yield Overridden(path, permission.lease, permission.reason, permission.at)


def _reported(
    ctx: Context, book: "Book", agent: AgentName, path: str, *, overridden: bool = False
) -> list[ImplicitLease]:
    """The leases for what living agents of other clones report of a file; with `overridden`, also
    those that the agent has overridden."""
    key, now = policy_cache.key_of(book, path), ctx.ws.clock.now()
    if key not in book["changes"]:
        return []
    lives = LeaseWorld(ctx).is_seen_alive
    if overridden:
        reports = clash_check.living(book, agent, key, now, lives)
    else:
        reports = clash_check.reports(ctx.ws.place, ctx.ws.folders, book, agent, path, now, lives)
    return [clash_check.lease_of(rival, key) for rival in reports]


def _impossible(verdict: Verdict) -> RefusedError:
    who = WHO.get(verdict.kind, "").format(holder=named(verdict.holder or "its holder"))
    allowed = f" {who}." if who else ""
    return RefusedError(
        f"{verdict.why} This cannot be overridden.{allowed}", hint=verdict.next or "Ask a person."
    )


def _record(
    ctx: Context, agent: AgentName, pending: Sequence[tuple[str, ImplicitLease]], why: str
) -> list[OverrideRecord]:
    """One record for each other agent, unless it is there already."""
    here = ctx.ws.place.git_dir

    def decide(snapshot: Snapshot) -> tuple[list[OverrideRecord], list[Record]]:
        files = snapshot.files(override.FOLDER)
        records: list[OverrideRecord] = []
        for number, mine in enumerate(_by_agent(pending, here), 1):
            first = mine[0][1]
            marks = sorted(f"{path}\0{lease.since}" for path, lease in mine)
            about = (agent, snapshot.clone, first.agent, str(first.epoch), here, why)
            name = digest(*about, *marks)
            if override.path_of(first.agent, name) not in files:
                records.append(OverrideRecord(
                    name, first.agent, first.epoch, tuple(path for path, _ in mine), why,
                    first.is_in(here), Actor(agent), Timestamp(now_text(ctx.ws)),
                    snapshot.clock + number, snapshot.clone,
                ))  # fmt: skip
        return records, [override.encode(record) for record in records]

    return transact(ctx.store, decide)


def _by_agent(
    pending: Sequence[tuple[str, ImplicitLease]], here: str
) -> list[list[tuple[str, ImplicitLease]]]:
    """The files by the agent and worktree in which they are edited, in bounded parts."""
    groups: dict[tuple[str, int, bool], list[tuple[str, ImplicitLease]]] = {}
    for path, lease in pending:
        key = lease.agent, lease.epoch, lease.is_in(here)
        groups.setdefault(key, []).append((path, lease))
    size = override.PATHS_LIMIT
    return [
        mine[start : start + size]
        for mine in groups.values()
        for start in range(0, len(mine), size)
    ]


def _keep(
    ctx: Context,
    agent: AgentName,
    keys: dict[str, str],
    pending: Sequence[tuple[str, ImplicitLease]],
    why: str,
) -> None:
    """Write the files that edits are decided by."""
    by_path: dict[str, list[ImplicitLease]] = {}
    for path, lease in pending:
        by_path.setdefault(path, []).append(lease)
    folders, here, at = ctx.ws.folders, ctx.ws.place.git_dir, now_text(ctx.ws)
    try:
        for path, leases in by_path.items():
            new = [Override(lease, why, at) for lease in leases]
            overrides.add(folders, agent, keys[path], here, new)
    except OSError as error:
        raise GhpError(
            f"The override is recorded, but not yet in force: {error.strerror or error}.",
            hint="Make .git/ghp writable, then run the same command again.",
        ) from None
    overrides.drop_ended(folders)
