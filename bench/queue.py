"""Sixteen finished branches and a check of one second, merged by the queue as one command, with one
or three of them red, too; and by mergetrain from the package index, side by side, if that can be
installed: it validates the same branches together, and then deploys them."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import Times, interleave, process
from ghp_agents.consent import service as consent
from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import IssueChange
from ghp_agents.pulls import finish, start

BRANCHES = 16
CHECK_S = 1.0
BASE_S, EACH_S = 1.5, 0.15
PEER = "mergetrain==3.6.0"
RUNS_OF_ONE_RED = 6
BENCH = Actor("Bench", is_person=True)


def measure(place: Place) -> list[Figure]:
    """The queue and the peer in turn; then the runs of the check with red branches."""
    branches, check, rounds = (3, 0.1, 1) if place.quick else (BRANCHES, CHECK_S, 3)
    place.installed  # noqa: B018  # before anything is timed
    peer = _install_peer(place)
    cases = {"ours": partial(_ours, place, branches, check)}
    if peer:
        cases |= {
            "validated": partial(_validated, place, peer, branches, check),
            "deployed": partial(_deployed, place, peer, branches, check),
        }
    times = interleave(cases, rounds)
    bound = BASE_S + EACH_S * branches
    name = f"{branches} branches, check of {check:g} s"
    figures = [Figure("queue", name, times["ours"].minimum, "s", bound, detail=_detail(times))]
    figures += _beside(times, name) if peer else []
    for red in ((2,), (2, 9, 14)):
        some = [number for number in red if number <= branches]
        figures += _red(place, branches, some)
    return figures


def _detail(times: dict[str, Times]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, some in times.items():
        found |= some.as_detail(name)
    return found


def _beside(times: dict[str, Times], name: str) -> list[Figure]:
    ours, deployed = times["ours"].minimum, times["deployed"].minimum
    note = f"{ours:.2f} / {deployed:.2f} s"
    return [
        Figure(
            "queue", f"{name}: all on main, beside {PEER}", ours / deployed, "× its time", 1.0,
            note=note,
        ),
        Figure("queue", f"{name}: {PEER} validates only", times["validated"].minimum, "s"),
    ]  # fmt: skip


def _red(place: Place, branches: int, red: Sequence[int]) -> list[Figure]:
    """How often the check ran, and how many were merged all the same."""
    folder = _finished(place, branches, 0.0, red)
    _queue(place, folder, may_fail=True)
    runs = len((folder.parent / "runs").read_text().splitlines())
    merged = git(folder, "log", "--format=%s", "main").count("Merge #")
    what = f"{len(red)} red of {branches}"
    bound = RUNS_OF_ONE_RED if len(red) == 1 else None
    return [
        Figure("queue", f"{what}: runs of the check", runs, "runs", bound),
        Figure("queue", f"{what}: not merged", branches - merged, "branches", len(red)),
    ]


# ------------------------------------------------------------------------------------ ours


def _ours(place: Place, branches: int, check: float) -> float:
    folder = _finished(place, branches, check)
    took = _queue(place, folder)
    shutil.rmtree(folder.parent)
    return took


def _queue(place: Place, folder: Path, *, may_fail: bool = False) -> float:
    command: list[str | Path] = [place.installed.ghp, "agent-merge", "--queue", "--as", "lead"]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    took = time.perf_counter() - began
    if done.returncode and not may_fail:
        raise RuntimeError(done.stderr)
    return took


def _finished(place: Place, branches: int, check: float, red: Sequence[int] = ()) -> Path:
    """A clone with a remote, and a finished pull request on each branch."""
    remote = place.remote("queue")
    (folder,) = place.clones(remote, 1)
    for number in range(1, branches + 1):
        open_app(folder).tracker.create(IssueChange(title=f"Issue {number}"), BENCH)
    for number in range(1, branches + 1):
        name = f"worker-{number}"
        work = start.start(open_app(folder, name), str(number)).path
        (work / f"{number}.txt").write_text("new\n" * 20)
        if number in red:
            (work / f"bad-{number}").write_text("")
        git(work, "add", "--all")
        git(work, "commit", "-q", "-m", f"Work {number}")
        finish.finish(open_app(work, name))
    _configure(folder, f"echo run >> {folder.parent}/runs; sleep {check}; ! ls bad-*", branches)
    return folder


def _configure(folder: Path, command: str, batch: int) -> None:
    """The check, on main, after the work was finished: so nothing was checked before."""
    path = folder / ".ghp/config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"agents": {"checks": [command], "mergeBatch": batch}}))
    git(folder, "add", ".ghp")
    git(folder, "commit", "-q", "-m", "Configure")
    git(folder, "push", "-q", "origin", "main")
    ws = open_app(folder).ws
    consent.agree(ws, consent.wanted(ws))


# ------------------------------------------------------------------------------------ peer


def _install_peer(place: Place) -> Path | None:
    """The peer's command in an environment of its own; None, and why, if it cannot be installed."""
    folder = place.new("peer")
    steps: tuple[list[str | Path], ...] = (
        [os.path.realpath(sys.executable), "-m", "venv", folder],
        [folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q", PEER],
    )
    for step in steps:
        done = subprocess.run(step, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no reason"]
            place.say(f"{PEER} cannot be installed: {lines[-1]}")
            return None
    return folder / "bin/mergetrain"


def _validated(place: Place, peer: Path, branches: int, check: float) -> float:
    folder = _queued(place, peer, branches, check)
    took = process([peer, "validate"], cwd=folder, env=os.environ)
    shutil.rmtree(folder.parent)
    return took


def _deployed(place: Place, peer: Path, branches: int, check: float) -> float:
    """Validate, and push what was approved; it asks on a terminal."""
    folder = _queued(place, peer, branches, check)
    answer = place.new("answer") / "yes"
    answer.write_text("y\n")
    deploy = ["script", "-qec", f"{peer} deploy", "/dev/null"]
    took = process([peer, "validate"], cwd=folder, env=os.environ)
    took += process(deploy, cwd=folder, env=os.environ, stdin=answer)
    if git(folder, "ls-remote", "origin", "main")[:40] == git(folder, "rev-parse", "HEAD"):
        raise RuntimeError(f"{PEER} deployed nothing")
    shutil.rmtree(folder.parent)
    return took


def _queued(place: Place, peer: Path, branches: int, check: float) -> Path:
    """The same branches in worktrees, in its queue."""
    remote = place.remote("train")
    (folder,) = place.clones(remote, 1)
    (folder / ".mergetrain.yaml").write_text(
        f'version: 2\nproject:\n  name: p\ngates:\n  - name: test\n    run: "sleep {check}"\n'
    )
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "Configure")
    git(folder, "push", "-q", "origin", "main")
    for number in range(1, branches + 1):
        work = folder.parent / f"work-{number}"
        git(folder, "worktree", "add", "-q", "-b", f"b{number}", str(work))
        (work / f"{number}.txt").write_text("new\n" * 20)
        git(work, "add", "--all")
        git(work, "commit", "-q", "-m", f"Work {number}")
        words = ["enqueue", "--task", f"t{number}", "--branch", f"b{number}", "--worktree"]
        process([peer, *words, work], cwd=folder, env=os.environ)
    return folder
