"""One edit through the guard, a whole process, in a clone with a thousand leases of two hundred
agents: what an agent's hook adds to each edit. Beside it: the hook itself, as clients start it. The
shared file has 2,000 lines, and three others are changing it in three other worktrees, so each edit
of it is merged with three versions."""

import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import interleave, process, ratio
from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp, digest
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import heartbeat
from ghp_agents.leases import record as lease_record
from ghp_agents.leases.record import LeaseEvent
from ghp_agents.ports import Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

LEASES, AGENTS = 1_000, 200
FEW_PASSES = 4.0
ALONE, MERGED = 2.5, 6.0  # the hook's bounds: a file nobody else touches, and the shared file
LINES, OTHERS = 2_000, 3
# What the hook does, without a client: the exit code is 0 for the expected decision.
GUARD = (
    "import os, sys, time\n"
    "from ghp_agents.hotpath import check_edit as guard, heartbeat as pulse\n"
    "from ghp_agents.hotpath.locate import locate\n"
    "place = locate(os.getcwd(), os.environ)\n"
    "folders = pulse.state_folders(place.common_dir, os.environ)\n"
    "found = guard.quick(place, folders, os.environ, 'worker-1', sys.argv[1], time.time())\n"
    "os._exit(0 if found is not None and found.word == sys.argv[2] else 9)\n"
)
HELD, GLOB, FREE = "src/part-7/module.py", "docs/part-9/deep/page.md", "lib/free.py"
SHARED = "lib/shared.py"
FREE_LINE, CONFLICTING_LINE = 50, 500  # of the shared file; the others change lines 500, 1000, 1500


def measure(place: Place) -> list[Figure]:
    """An edit that is allowed, and some that are not, over `python -c pass`."""
    leases, agents, rounds = (60, 12, 3) if place.quick else (LEASES, AGENTS, 40)
    (clone,) = place.clones(place.remote("guard"), 1)
    _fill(clone, leases, agents)
    python, env = place.installed.python, dict(os.environ)
    decide: list[str | Path] = [python, "-P", "-c", GUARD]
    others = _change_elsewhere(place, clone, env)
    before_edit = partial(_hook, place, clone, env)
    cases = {
        "pass": partial(process, [python, "-c", "pass"], cwd=clone, env=env),
        "allowed": partial(process, [*decide, FREE, "allow"], cwd=clone, env=env),
        "denied": partial(process, [*decide, HELD, "deny"], cwd=clone, env=env),
        "denied by a wildcard": partial(process, [*decide, GLOB, "deny"], cwd=clone, env=env),
        "hook, allowed": partial(before_edit, FREE, FREE_LINE),
        "hook, denied": partial(before_edit, HELD, 0, denied=True),
        f"hook, {others} others change the file": partial(before_edit, SHARED, FREE_LINE),
        f"hook, {others} others change the file, denied": partial(
            before_edit, SHARED, CONFLICTING_LINE, denied=True
        ),
    }
    for name in cases:
        cases[name]()  # compiles the policy, and takes the implicit lease
    times = interleave(cases, rounds)
    unit = "× python -c pass"
    bounds = {name: MERGED for name in cases if "others" in name} | {"hook, allowed": ALONE}
    return [
        ratio("guard", name, times[name], times["pass"], unit, bounds.get(name, FEW_PASSES))
        for name in cases
        if name != "pass"
    ]


def _change_elsewhere(place: Place, clone: Path, env: Mapping[str, str]) -> int:
    """Others change the shared file, each in its own worktree; returns how many."""
    for number in range(1, OTHERS + 1):
        folder = clone.parent / f"other-{number}"
        git(clone, "worktree", "add", "-q", "-b", f"agent/worker-{number + 1}", str(folder))
        line = number * LINES // (OTHERS + 1)
        as_other = {**env, "GHP_AGENT": f"worker-{number + 1}"}
        _hook(place, folder, as_other, SHARED, line)
        text = (folder / SHARED).read_text()
        (folder / SHARED).write_text(text.replace(_line(line), f"changed by another {number}\n"))
    return OTHERS


def _line(number: int) -> str:
    return f"value_{number} = {number}  # one of the lines of the file\n"


def _hook(
    place: Place, clone: Path, env: Mapping[str, str], path: str, line: int, denied: bool = False
) -> float:
    """The hook as Claude Code starts it before an edit."""
    fields = {"old_string": _line(line), "new_string": f"changed = {line}\n"}
    event = {
        "session_id": "0b9e4d7c-1111-4c1e-9d61-000000000001",
        "transcript_path": "/nowhere",
        "cwd": str(clone),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": str(clone / path), **fields},
    }
    stdin = clone.parent / "event.json"
    stdin.write_text(json.dumps(event))
    output = clone.parent / "said.json"
    command: list[str | Path] = [place.installed.python, "-P", "-m", "ghp_agents", "hook", "claude"]
    env = {"GHP_AGENT": "worker-1", **env}
    took = process(command, cwd=clone, env=env, stdin=stdin, stdout=output)
    if ('"deny"' in output.read_text()) != denied:
        raise RuntimeError(f"The hook decided wrongly of {path}: {output.read_text()}")
    return took


def _fill(clone: Path, leases: int, agents: int) -> None:
    """Living agents with leases of files, of folders, and with wildcards."""
    (clone / ".gitignore").write_text("*.log\nbuild/\n")
    (clone / "lib").mkdir()
    for path in (FREE, SHARED):
        (clone / path).write_text("".join(map(_line, range(LINES))))
    git(clone, "add", ".gitignore", "lib")
    git(clone, "commit", "-q", "-m", "Ignore what is built")
    parts = open_app(clone)
    now = parts.ws.clock.now()
    for number in range(agents):
        fields = {"status": "implementing", "issue": number + 1, "lastAction": "Edits"}
        heartbeat.beat(parts.ws.folders, f"worker-{number + 1}", fields, now, epoch=1)
    parts.store.fold()

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        at = Timestamp(to_text(now))
        events = [_lease(snapshot, number, agents, at) for number in range(leases)]
        return None, [lease_record.entry(event, event) for event in events]

    transact(parts.store, decide)
    evaluate.current(parts)


def _lease(snapshot: Snapshot, number: int, agents: int, at: Timestamp) -> LeaseEvent:
    folder = f"part-{number}"
    pattern = (f"/src/{folder}/", f"/src/{folder}/module.py", f"/docs/{folder}/**/*.md")[number % 3]
    if number == 7:
        pattern = "/src/part-7/"
    if number == 9:
        pattern = "/docs/part-9/**/*.md"
    holder = Actor(f"worker-{2 + number % (agents - 1)}")
    identity = digest("bench", str(number), length=12)
    return LeaseEvent(
        lease=identity, id=identity, kind="request", clock=snapshot.clock + 1 + number,
        clone=snapshot.clone, at=at, by=holder, holder=holder, epoch=1, patterns=(pattern,),
        reason=f"the part {number} of the work", granted=True,
    )  # fmt: skip
