"""What goes wrong in a simulated world: with remotes, clocks, folders, processes and words."""

import contextlib
import json
import os
from pathlib import Path

from ghp_agents.claims import service as claiming
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.locks.names import claim_name
from ghp_agents.state import observed
from tests.support import laws, laws_of_work
from tests.support.acts import ISSUES, Act, Run, Step
from tests.support.context import make_context
from tests.support.twins.state import MemoryCommit
from tests.support.world import AGENTS, CLONES, World
from tests.support.world_records import Backup, Life, Session

MOST_CLONES = CLONES + 2  # with the copies
NOBODY = 2**30  # no process has this number
STEPS = (3_600.0, -3_600.0, 90_000.0, -90_000.0, 1_900.0)  # seconds by which clocks are set
EVIL = CloneId("clone-evil")


def _back_up(run: Run, step: Step) -> None:
    world = run.world
    histories = {name: [*chain] for name, chain in world.board.histories.items()}
    clones = dict(world.hub.histories)
    reached = dict(world.reached)
    world.backup = Backup(dict(world.board.leases), histories, clones, reached)


def _restore(run: Run, step: Step) -> str | None:
    """The remote is as it was at the time of the backup."""
    backup = run.world.backup
    if backup is None:
        return "nothing"
    board, clones = run.world.board, run.world.hub.histories
    for current, then in ((board.leases, backup.leases), (clones, backup.clones)):
        current.clear()
        current.update(then)  # type: ignore[arg-type]
    run.world.reached = dict(backup.reached)
    board.histories.clear()
    board.histories.update({name: [*chain] for name, chain in backup.histories.items()})
    _forget_removed(run.world)
    return None


def _lose_right(run: Run, step: Step) -> str | None:
    """The remote loses the ref of a right."""
    names = sorted(run.world.board.leases)
    if not names:
        return "nothing"
    name = names[step.number % len(names)]
    del run.world.board.leases[name], run.world.board.histories[name]
    return None


def _lose_clone(run: Run, step: Step) -> str | None:
    """The remote loses the ref of a clone."""
    histories = run.world.hub.histories
    names = sorted(histories)
    if not names:
        return "nothing"
    lost = names[step.number % len(names)]
    del histories[lost]
    signs = run.world.reached.items()
    run.world.reached = {x: sign for x, sign in signs if f"clone-{x.clone}" != lost}
    _forget_removed(run.world)
    return None


def _forget_removed(world: World) -> None:
    """What a removed clone had sent, and the remote lost, is lost."""
    for number in world.removed:
        laws_of_work.forget_unsent(world, number)


def _lose_answer(run: Run, step: Step) -> None:
    """What the remote answers to the next exchange does not arrive."""
    run.world.clones[run.clone(step)].loses_answer = True


def _set_clock(run: Run, step: Step) -> None:
    run.world.clones[run.clone(step)].clock.step(STEPS[step.number % len(STEPS)])


def _restart(run: Run, step: Step) -> None:
    """A machine is started anew; none of its processes goes on."""
    clock = run.world.clones[run.clone(step)].clock
    on_it = {clone.number for clone in run.world.clones.values() if clone.clock is clock}
    for agent in AGENTS:
        for session in run.world.sessions[agent]:
            if session.clone in on_it and session not in run.world.ended:
                end_session(run.world, session)
    clock.restart()


def _kill(run: Run, step: Step) -> str | None:
    """An agent's process is killed."""
    session = run.world.awake(AGENTS[step.agent])
    if session is None:
        return "nobody"
    end_session(run.world, session)
    return None


def end_session(world: World, session: Session) -> None:
    """Its process is killed."""
    world.ended.add(session)
    path = world.folder / f"c{session.clone}/.git/ghp/agents/{session.agent}.json"
    if not path.exists():
        return
    presence = json.loads(path.read_text())
    if presence["local"].get("session") != session.token:
        return
    world.killed.add(Life(session.clone, session.agent, presence["epoch"]))
    if "pid" in presence["local"]:
        presence["local"]["pid"] = NOBODY
        _rewrite(path, presence)


def _rewrite(path: Path, fields: object) -> None:
    """The file changes, and its time does not."""
    times = path.stat()
    path.write_text(json.dumps(fields))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _copy(run: Run, step: Step) -> str | None:
    """Somebody copies the folder of a clone; agents go on in both, under the same names."""
    world = run.world
    if len(world.clones) >= MOST_CLONES:
        return "nothing"
    before = world.clones[step.clone]
    number = world.add_clone(before)
    clone = world.clones[number]
    observed.forget(world.folder / f"c{number}/.git/ghp/cache")  # as real copies do
    clone.copy_from(before)
    files = {life: sign for life, sign in world.beats.items() if life.clone == before.number}
    clone.copied = before.copied | files
    clone.heard |= files
    for agent in AGENTS:
        last = world.sessions[agent][-1]
        if last.clone == step.clone and last not in world.ended:
            world.sessions[agent].append(last._replace(clone=number))
    return None


def _forge(run: Run, step: Step) -> None:
    """Somebody who may push says on a ref of their own whatever they like of an agent."""
    agent, clone = AGENTS[step.agent], run.world.clones[step.clone]
    presence = clone.store.snapshot().agents().get(agent, {"epoch": 0})
    epoch = (2**53 - 1, presence["epoch"] + 1, presence["epoch"], 900_000)[step.number % 4]
    at = to_text(run.world.clock.now())
    fields = {
        "issue": None, "status": ("stopped", "implementing")[step.number % 2], "epoch": epoch,
        "seq": 2**53 - 1 if step.number % 3 else step.number, "timestamp": at, "startedAt": at,
        "lastAction": "Forged", "lastProgress": at,
    }  # fmt: skip
    if step.number % 5 == 0:
        fields |= {"processRunsFor": 0, "silentFor": 80_000}
    history = clone.hub.histories.get(EVIL, ())
    agents = {**(history[-1].agents if history else {}), agent: fields}
    clone.hub.histories[EVIL] = (*history, MemoryCommit(1, Timestamp(at), "Forged\n", agents, {}))


def _check_all(run: Run, step: Step) -> str:
    """Whoever can reach the remote asks it whether an issue is theirs: at most one is told so.

    A remote that forgot a right cannot tell a former holder from the present one until a clone that
    knows more has asked, which puts the right back. Then the answers of a second round count.
    """
    issue, board = step.number % ISSUES + 1, run.world.board
    lock = board.leases.get(claim_name(issue))
    is_forgotten = (lock.generation if lock else 0) < run.world.peaks.get(claim_name(issue), 0)
    holders = {*_passed(run, issue)}
    if is_forgotten:
        holders = {*_passed(run, issue)}
    right = board.leases.get(claim_name(issue))
    if right and not right.clone:
        return "of a name"  # given to one whom nobody had heard of: whoever goes by it has it
    laws.require(len(holders) <= 1, "no two holders both pass a verified check", issue, holders)
    return f"{len(holders)} pass"


def _passed(run: Run, issue: int) -> list[tuple[str, int]]:
    """The agents, with their clones, that hold an issue by the word of the remote."""
    steps = []
    for agent in AGENTS:
        for session in run.world.sessions[agent]:
            if session in run.world.ended:
                continue
            ws = run.world.workspace(session.clone, agent, session.token)
            with contextlib.suppress(GhpError):
                claiming.verify(
                    make_context(ws, locks=run.world.clones[session.clone].locks), agent, issue
                )
                steps.append((agent, session.clone))
    return steps


DISASTERS: dict[str, Act] = {
    "backs-up": _back_up, "restores": _restore, "loses-right": _lose_right,
    "loses-clone": _lose_clone, "loses-answer": _lose_answer, "sets-clock": _set_clock,
    "restarts": _restart, "kills": _kill, "copies": _copy, "forges": _forge,
    "checks-all": _check_all,
}  # fmt: skip
