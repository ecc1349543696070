"""Reading ten thousand agents with a whole `ghp agent-status --json`, against Python alone, which
reads and prints the very document that it prints. Once all agents live in this clone, with their
presence files there and folded; once they are spread over the refs of eight clones."""

import json
import os
from functools import partial
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, open_app
from bench.timing import interleave, process, ratio
from ghp_agents.core.clock import SystemClock
from ghp_agents.hotpath import heartbeat

FOUR_COPIES = 4.0
CLONES = 8
COPY = """\
import json, sys
document = json.load(open(sys.argv[1], encoding="utf-8"))
sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))
"""


def measure(place: Place) -> list[Figure]:
    """All agents in one clone, and agents in many clones."""
    agents = 400 if place.quick else 10_000
    return [
        _read(place, _in_one_clone(place, agents), agents, "in this clone"),
        _read(place, _in_many_clones(place, agents), agents, f"in {CLONES} clones"),
    ]


def _read(place: Place, clone: Path, agents: int, where: str) -> Figure:
    document = clone.parent / "document.json"
    python, env = place.installed.python, dict(os.environ)
    status: list[str | Path] = [place.installed.ghp, "agent-status", "--json"]
    copy: list[str | Path] = [python, "-c", COPY, document]
    process(status, cwd=clone, env=env, stdout=document)
    printed = json.loads(document.read_text(encoding="utf-8"))
    if len(printed["agents"]) != agents:
        raise RuntimeError(f"{len(printed['agents'])} agents were printed, not {agents}")
    cases = {
        name: partial(process, command, cwd=clone, env=env, stdout=clone.parent / "again.json")
        for name, command in (("status", status), ("copy", copy))
    }
    times = interleave(cases, 3 if place.quick else 15)
    name = f"agent-status --json, {agents:,} agents {where}"
    return ratio("reading", name, times["status"], times["copy"], "× json", FOUR_COPIES)


def _in_one_clone(place: Place, agents: int) -> Path:
    clone = place.repository("reading")
    _beat(clone, range(agents))
    # Files younger than the file system's clock tick are read again by the next command.
    SystemClock().wait(0.2)
    open_app(clone).store.fold()
    return clone


def _in_many_clones(place: Place, agents: int) -> Path:
    clones = place.clones(place.remote("reading"), CLONES)
    for index, clone in enumerate(clones):
        _beat(clone, range(index, agents, CLONES))
        open_app(clone).store.sync()
    open_app(clones[0]).store.sync()
    return clones[0]


def _beat(clone: Path, numbers: range) -> None:
    """Write presence with every field filled."""
    ws = open_app(clone).ws
    for number in numbers:
        fields = {
            "issue": number + 1,
            "status": "implementing",
            "lastAction": "Created dashboard command skeleton",
            "kind": "claude",
            "branch": f"agent/worker-{number}/{number + 1}-dashboard",
            "worktree": f"{number + 1}-dashboard",
            "capabilities": ["code", "tests"],
        }
        session = f"{number:08x}-0d7e-4f4b-9a53-1f5f0e7c3b21"
        now = ws.clock.now()
        heartbeat.beat(ws.folders, f"worker-{number}", fields, now, epoch=1, session=session)
