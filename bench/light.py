"""Other commands as whole processes, against `import click`. In a linked worktree of a clone with a
remote: ten agents, thirty issues, questions and answers, all folded and synced. Output goes to a
file, as for a script. What writes in a clone with a remote is printed without a bound. Without one,
processor times are compared: a write also waits for the disk."""

import os
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import interleave, process, processor, ratio
from ghp_agents.hotpath import heartbeat

FEW_CLICKS, WRITE_CLICKS = 2.5, 3
READS = (
    ("agent-status",),
    ("agent-status", "--json"),
    ("agent-whoami",),
    ("agent-log",),
    ("agent-issues",),
    ("agent-issues", "--json"),
    ("agent-escalations",),
    ("agent-dashboard", "--branch", "agent/worker-1/12-table"),
)
WRITES = (
    ("agent-issue", "new", "Sort the table by age, {}"),
    ("agent-escalate", "Which of the two layouts, {}?"),
    ("agent-handoff", "--checkpoint", "--note", "Half of the table is done, {}."),
)
AGENTS, ISSUES, QUESTIONS = 10, 30, 8


def measure(place: Place) -> list[Figure]:
    """Commands that read, with a bound, and some that write."""
    worktree, env = _at_work(place)
    python, ghp = place.installed.python, place.installed.ghp
    numbers = count(1)

    def run(words: tuple[str, ...], cwd: Path = worktree) -> float:
        arguments = [word.format(next(numbers)) if "{}" in word else word for word in words]
        return process([ghp, *arguments], cwd=cwd, env=env)

    click = partial(process, [python, "-c", "import click"], cwd=worktree, env=env)
    reads = {_name(words): partial(run, words) for words in READS}
    read = interleave({"click": click} | reads, 3 if place.quick else 20)
    writes = {_name(words): partial(run, words) for words in WRITES}
    written = interleave({"click": click} | writes, rounds(place))
    local = _local_writes(place, env)
    kept = interleave(local, rounds(place))
    unit = "× python -c 'import click'"
    return [
        *(
            ratio("light", f"{name}, no remote", kept[name], kept["click"], unit, WRITE_CLICKS)
            for name in local
            if name != "click"
        ),
        *(ratio("light", name, read[name], read["click"], unit, FEW_CLICKS) for name in reads),
        *(ratio("light", name, written[name], written["click"], unit, None) for name in writes),
    ]


def rounds(place: Place) -> int:
    """How often each command that writes is measured."""
    return 2 if place.quick else 8


def _local_writes(place: Place, env: dict[str, str]) -> dict[str, Callable[[], float]]:
    """Commands that write in a clone without a remote that has some uncommitted work."""
    alone = place.repository("light-alone")
    (alone / "README.md").write_text("# A project with a table\n")
    ghp, numbers, issues = place.installed.ghp, count(1), count(1)

    def run(words: tuple[str, ...]) -> float:
        arguments = [word.format(next(numbers)) if "{}" in word else word for word in words]
        return processor([ghp, *arguments], cwd=alone, env=env)

    def claim() -> float:
        return processor([ghp, "agent-claim", str(next(issues))], cwd=alone, env=env)

    for number in range(rounds(place)):
        run(("agent-issue", "new", f"Part {number} of the table"))
    return {
        "click": lambda: processor(
            [place.installed.python, "-c", "import click"], cwd=alone, env=env
        ),
        **{_name(words): partial(run, words) for words in WRITES},
        "agent-claim …": claim,
    }


def _name(words: tuple[str, ...]) -> str:
    shown = [word for word in words if "{}" not in word]
    return " ".join([*shown, *("…" for word in words if "{}" in word)])


def _at_work(place: Place) -> tuple[Path, dict[str, str]]:
    (clone,) = place.clones(place.remote("light"), 1)
    worktree = clone.parent / "12-table"
    git(clone, "worktree", "add", "-q", "-b", "agent/worker-1/12-table", str(worktree))
    (worktree / "table.py").write_text("ROWS = 10\n")
    git(worktree, "add", "table.py")
    git(worktree, "commit", "-q", "-m", "Begin the table")
    (worktree / "table.py").write_text("ROWS = 20\n")
    env = {**os.environ, "GHP_AGENT": "worker-1"}
    ghp = place.installed.ghp
    for number in range(3 if place.quick else ISSUES):
        process([ghp, "agent-issue", "new", f"Part {number} of the table"], cwd=worktree, env=env)
    for number in range(2 if place.quick else QUESTIONS):
        process([ghp, "agent-escalate", f"Which layout for {number}?"], cwd=worktree, env=env)
    _beat(worktree)
    process([ghp, "agent-sync"], cwd=worktree, env=env)
    return worktree, env


def _beat(worktree: Path) -> None:
    ws = open_app(worktree).ws
    for number in range(AGENTS):
        fields = {"status": "testing", "issue": number + 1, "lastAction": "Ran the tests"}
        fields |= heartbeat.surroundings(ws.place)
        heartbeat.beat(ws.folders, f"worker-{number + 1}", fields, ws.clock.now(), epoch=1)
