"""Sixteen clones claim sixteen issues at once where every push takes 0.8 s longer, as on a host far
away, over the time of one claim: once in threads of one process, one for each clone, and once by
whole commands. Here all clones share this machine's cores, on which commands start Python first."""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

from bench.figure import Figure
from bench.place import Place, open_app
from bench.timing import interleave, ratio
from ghp_agents.claims import service as claim
from ghp_agents.claims.effects import myself
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import IssueChange

FAR_AWAY = 0.8  # seconds added to every push
CLONES = 16
ONCE_AND_A_HALF = 1.5


def measure(place: Place) -> list[Figure]:
    """One claim and many; each round claims new issues."""
    clones, delay, rounds = (4, 0.1, 1) if place.quick else (CLONES, FAR_AWAY, 3)
    folders = _prepare_clones(place, clones, delay, issues=2 * rounds * (clones + 1))
    left = iter(range(1, 2 * rounds * (clones + 1) + 1))
    python = place.installed.python
    cases = {
        "one": partial(_claim_in_threads, folders[:1], left),
        "all": partial(_claim_in_threads, folders, left),
        "one command": partial(_claim_by_commands, folders[:1], left, python),
        "all commands": partial(_claim_by_commands, folders, left, python),
    }
    times = interleave(cases, rounds)
    name = f"{clones} claims at once, {delay:g} s away"
    lost = _lost(folders[0], taken=2 * rounds * (clones + 1))
    return [
        ratio("claims", name, times["all"], times["one"], "× one", ONCE_AND_A_HALF),
        ratio(
            "claims", f"{name}, whole commands", times["all commands"], times["one command"],
            "× one", None,
        ),
        Figure("claims", "claims lost", lost, "claims", 0),
    ]  # fmt: skip


def _prepare_clones(place: Place, number: int, delay: float, *, issues: int) -> list[Path]:
    """Clones that know the issues and each other; then pushes become slow."""
    remote = place.remote("claims")
    folders = place.clones(remote, number)
    _make_issues(folders[0], issues)
    for folder in [*folders, *folders]:
        mine = open_app(folder, _agent(folder))
        myself(mine)
        mine.store.sync()
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec sleep {delay}\n")
    hook.chmod(0o755)
    return folders


def _make_issues(folder: Path, number: int) -> None:
    mine = open_app(folder, "maker")
    for index in range(number):
        issues.new(mine, IssueChange(title=f"Issue {index + 1}"))


def _agent(folder: Path) -> str:
    return f"agent-of-{folder.name}"


def _claim_in_threads(folders: Sequence[Path], left: Iterator[int]) -> float:
    """Claim in threads that start together, one for each clone."""
    start = Barrier(len(folders) + 1)

    def work(folder: Path, issue: int) -> None:
        start.wait()
        _claim(folder, issue)

    with ThreadPoolExecutor(len(folders)) as pool:
        working = [pool.submit(work, folder, next(left)) for folder in folders]
        start.wait()
        started = time.perf_counter()
        for future in working:
            future.result()
        return time.perf_counter() - started


def _claim(folder: Path, issue: int) -> None:
    mine = open_app(folder, _agent(folder))
    claimed = claim.claim(mine, str(issue))
    assert claimed.how == "claim", claimed


def _claim_by_commands(folders: Sequence[Path], left: Iterator[int], python: str | Path) -> float:
    """Claim by whole commands."""
    started = time.perf_counter()
    running = [
        subprocess.Popen(
            [python, "-m", "ghp_agents", "agent-claim", str(next(left)), "--as", _agent(folder)],
            cwd=folder,
            env=dict(os.environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for folder in folders
    ]
    for process in running:
        _, stderr = process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"a claim ended with {process.returncode}: {stderr.decode()}")
    return time.perf_counter() - started


def _lost(folder: Path, taken: int) -> int:
    """How many claims the remote does not have."""
    return taken - len(open_app(folder).locks.list("issue/"))
