"""Wait for a lease in a fair queue: first come, first served, and each waiter sees its place."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import Actor, listed
from ghp_agents.hotpath import own_file
from ghp_agents.leases import service as leases
from ghp_agents.leases.acquire import LeaseResult, attempt, holds_already, leased
from ghp_agents.leases.coverage import WorktreeFiles
from ghp_agents.leases.record import what
from ghp_agents.leases.request import (
    ApprovalError,
    Approve,
    CheckedRequest,
    Conflict,
    LeaseRequest,
    begin,
    prepare,
)
from ghp_agents.leases.world import read_all
from ghp_agents.ports import Context
from ghp_agents.presence import wait as presence_wait
from ghp_agents.presence.wait import LOOK_EVERY
from ghp_agents.workspace import Workspace

BLOCKED = "blocked"
SHOWN = 3  # names of those ahead

Tell = Callable[[str], None]


def wait(
    ctx: Context,
    approve: Approve,
    wanted: LeaseRequest,
    *,
    timeout: float | None = None,
    tell: Tell = lambda place: None,
) -> LeaseResult:
    """Acquire a lease as soon as it is free and all earlier requests are done.

    `tell` gets the place in the queue when it changes. An interrupt, or the end of `timeout`
    seconds (RefusedError), leaves the queue. Other processes detect a killed waiter.
    """
    plan = prepare(ctx, wanted)
    begin(ctx, plan)  # others see who waits
    plan = _resumed(ctx, plan)
    agent = None if plan.by.is_person else plan.by.name
    ids: list[str] = []
    with contextlib.ExitStack() as stack:
        beat = stack.enter_context(presence_wait.presence(ctx.ws, agent, BLOCKED, _about(plan)))

        def enter(lease: str) -> None:
            stack.enter_context(_waiting_file(ctx.ws, lease))
            ids.append(lease)

        try:
            return _wait(ctx, approve, plan, timeout, tell, beat, enter)
        finally:
            _leave(ctx, plan.by, ids)


def _wait(
    ctx: Context,
    approve: Approve,
    plan: CheckedRequest,
    timeout: float | None,
    tell: Tell,
    beat: presence_wait.Beat,
    enter: Callable[[str], None],
) -> LeaseResult:
    started = next_sync = next_try = ctx.ws.clock.now()
    enter(plan.id)
    shown = ""
    while True:
        if ctx.ws.clock.now() >= next_try:
            step = _step(ctx, approve, plan)
            if step.got:
                return step.got
            if step.plan.id != plan.id:
                enter(step.plan.id)
            plan = step.plan
            # The remote is asked for a strict lease no more often than it is synced.
            next_try = next_sync if step.asked_remote else ctx.ws.clock.now()
            if step.place != shown:
                tell(step.place)
                shown = step.place
            beat(f"{_about(plan)} {step.place}")
        if ctx.ws.clock.now() >= next_sync:
            next_sync = presence_wait.sync(ctx, first=next_sync == started)
            plan = plan._replace(
                reach=WorktreeFiles(ctx.ws).reach(plan.wanted.patterns, plan.wanted.name)
            )
            continue
        left = LOOK_EVERY if timeout is None else started + timeout - ctx.ws.clock.now()
        if left <= 0:
            raise RefusedError(
                f"Still leased after {timeout:g} s: {shown}.",
                hint="You left the queue. Work on something else, or ask: `ghp agent-escalate …`.",
            )
        ctx.ws.clock.wait(min(LOOK_EVERY, left))


def _about(plan: CheckedRequest) -> str:
    return f"Waits for {what(plan.wanted.patterns, plan.wanted.name)}:"


class _Step(NamedTuple):
    """The result of one try."""

    plan: CheckedRequest
    got: LeaseResult | None = None
    place: str = ""
    asked_remote: bool = False


def _step(ctx: Context, approve: Approve, plan: CheckedRequest) -> _Step:
    if not holds_already(ctx, plan):
        try:
            plan = approve(plan)
        except ApprovalError as error:
            if not error.is_open:
                raise
            return _Step(plan, place=f"waiting for the answer to {error.question.name}")
    tried = attempt(ctx, plan, in_line=True)
    if tried.log:
        return _Step(plan, leased(plan, tried))
    again = plan._replace(id=random_hex(6)) if tried.spent else plan
    return _Step(again, place=place(tried.obstacles), asked_remote=tried.asked_remote)


def place(obstacles: Sequence[Conflict]) -> str:
    """The place in the queue, for people: `2nd in line, after worker-2, worker-3: …`."""
    number = 1 + sum(1 for conflict in obstacles if conflict.kind == "waiting")
    names = list(dict.fromkeys(conflict.holder for conflict in obstacles))
    return f"{ordinal(number)} in line, after {listed(names, SHOWN)}: {obstacles[0].words}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 10 < number % 100 < 20 else ending}"


def _resumed(ctx: Context, plan: CheckedRequest) -> CheckedRequest:
    """The plan with the place of an earlier process that was killed while it waited."""
    snapshot = ctx.store.snapshot()
    for log in read_all(snapshot)[0]:
        ours = log.is_waiting and log.request.clone == snapshot.clone and plan.is_same(log)
        if ours and not leases.is_waited_for(ctx.ws, log.id):
            return plan._replace(id=log.id)
    return plan


@contextlib.contextmanager
def _waiting_file(ws: Workspace, lease: str) -> Iterator[None]:
    """A locked file while this process waits; the kernel unlocks it when the process dies."""
    places = leases.waiting_places(ws, lease)
    path = next((place for place in places if files.usable(place.parent)), places[0])
    with files.locked_if_possible(path) as held:
        try:
            if not held:
                with contextlib.suppress(OSError):
                    own_file.touch(str(path))
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _leave(ctx: Context, by: Actor, ids: Sequence[str]) -> None:
    """Leave the queue, if the requests still wait."""
    logs = read_all(ctx.store.snapshot())[0]
    why = {log.id: "left the queue" for log in logs if log.id in ids and log.is_waiting}
    if why:
        leases.end(ctx, by, why)
