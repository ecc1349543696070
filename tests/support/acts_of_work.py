"""What happens in a simulated world, step by step: work in worktrees, people who give it to others,
sessions that fall silent, and clones that are removed and made anew.

Worktrees are real, and so is what saves the work in them. They are written without a process.
"""

import shutil
from pathlib import Path

from ghp_agents.claims import service as claiming
from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import IssueChange
from ghp_agents.sync import service as sync
from ghp_agents.workspace import NAME_FILE
from tests.support import laws_of_work as laws
from tests.support.acts import OF_CLAIMS, Act, Run, Step
from tests.support.acts_of_leases import OF_LEASES
from tests.support.acts_of_messages import OF_MESSAGES
from tests.support.disasters import end_session
from tests.support.world import AGENTS, CLONES, PERSON, World
from tests.support.world_files import template
from tests.support.world_records import Session, Work

BEFORE_SILENCE = ("claims", "next", "leases", "gives", "releases", "sends", "steals", "closes")
SAYS: dict[str, Act] = OF_CLAIMS | OF_LEASES | OF_MESSAGES


def _work(run: Run, step: Step) -> str | None:
    """An agent writes a file in its worktree of an issue that it was told to have."""
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, _ = acting
    held = sorted(run.holds.get(session, ()))
    if not held:
        return "nothing"
    issue, number = held[step.number % len(held)], run.world.lines
    run.world.lines += 1
    folder = _worktree(run.world, session, issue)
    work = Work(
        session.clone, session.agent, issue, folder / f"work-{number}.txt", f"the line {number}.\n"
    )
    work.path.write_text(work.text)
    run.world.works.append(work)
    return None


def _worktree(world: World, session: Session, issue: int) -> Path:
    """The worktree of an agent for an issue, as git makes it."""
    name, home = f"{session.agent}-{issue}", world.folder / f"c{session.clone}/.git"
    folder, admin = world.folder / f"w{session.clone}/{name}", home / "worktrees" / name
    if folder.exists():
        return folder
    branch = f"refs/heads/agent/{session.agent}/{issue}-work"
    shutil.copytree(template(), folder, ignore=shutil.ignore_patterns(".git"))
    (folder / ".git").write_text(f"gitdir: {admin}\n")
    admin.mkdir(parents=True)
    shutil.copy(home / "index", admin / "index")
    written = {
        "HEAD": f"ref: {branch}", "commondir": "../..", "gitdir": str(folder / ".git"),
        NAME_FILE: session.agent,
    }  # fmt: skip
    for file, text in written.items():
        (admin / file).write_text(f"{text}\n")
    (home / branch).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(home / "refs/heads/main", home / branch)
    return folder


def _fall_silent(run: Run, step: Step) -> str | None:
    """A session records something, and is killed with its process group at once. What it started in
    the background before goes on."""
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, _ = acting
    kind = BEFORE_SILENCE[step.number % len(BEFORE_SILENCE)]
    try:
        return SAYS[kind](run, step) and kind
    finally:
        end_session(run.world, session)
        run.world.senders.add(session.clone)


def _assign(run: Run, step: Step) -> str:
    """A person gives an issue to another agent in the tracker."""
    number, tracker = run.chosen(None, step), run.world.tracker
    to, before = AGENTS[step.agent], tracker.get(number).assignees
    change = IssueChange(
        add_assignees=(to,), remove_assignees=tuple(x for x in before if x in AGENTS and x != to)
    )
    tracker.change(number, change, Actor(PERSON, is_person=True))
    with run.by("release", PERSON):
        done = claiming.follow_assignment(run.context(step.clone), tracker.get(number))
    return "followed" if done and done.changed else "nothing"


def _give(run: Run, step: Step) -> str:
    """A person gives the claim of one agent to another."""
    number, to = run.chosen(None, step), AGENTS[step.agent]
    with run.by("release", PERSON):
        done = claiming.release(run.context(step.clone), str(number), to=to)
    return "given" if done.changed else "nothing"


def _remove(run: Run, step: Step) -> None:
    """Somebody deletes the folder of a clone; where it was no copy, there is a new one soon."""
    world, number = run.world, run.clone(step)
    for session in [x for lives in world.sessions.values() for x in lives if x.clone == number]:
        end_session(world, session)
    del world.clones[number]
    world.senders.discard(number)
    world.removed.add(number)
    laws.forget_unsent(world, number)
    world.works = [work for work in world.works if work.clone != number]
    if number in world.seats:
        world.seats[world.seats.index(number)] = world.add_clone()
    shutil.rmtree(world.folder / f"c{number}")
    shutil.rmtree(world.folder / f"w{number}", ignore_errors=True)


def _meet(run: Run, step: Step) -> str:
    """Two clones sync: each knows what the other confirmed."""
    one, other = run.clone(step), run.world.seats[step.number % CLONES]
    for number in (one, other, one):
        if run.world.clones[number].store.sync().trouble:
            return "unreachable"
    laws.check_met(run.world, one, other)
    return "met"


def keep(run: Run) -> None:
    """All have synced twice: once each has heard of the other, and once of what it saved."""
    for _ in range(2 if run.world.works else 0):
        for number in run.world.clones:
            with run.by("settle", PERSON):
                sync.sync(run.context(number))
    laws.check_left(run.world)
    laws.check_met(run.world, *run.world.clones)


OF_WORK: dict[str, Act] = {
    "works": _work, "falls-silent": _fall_silent, "assigns": _assign, "person-gives": _give,
    "removes": _remove, "meets": _meet,
}  # fmt: skip
