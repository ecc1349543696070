"""A process of a clone: does what its arguments say, one after another, and says so.

Run as `python -m tests.state.worker FOLDER ACTION…`; an action is `say:NAME`, `fold`, `sync`,
`beat:AGENT:SEQ` or `wait`, which ends when a line comes in. What is done is acknowledged by a line
on standard output.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core.clock import SystemClock, to_text
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.ports import Snapshot
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, open_workspace
from tests.state.clones import RECORDS
from tests.support import fork_server
from tests.support.fork_server import Forked
from tests.support.gate import stop_at_gate

CHECKOUT = Path(__file__).parents[2]


def start(folder: Path, *actions: str, env: Mapping[str, str] | None = None) -> Forked:
    """Start a process that does `actions` in the clone at `folder`."""
    return fork_server.start("tests.state.worker", [str(folder), *actions], env)


def finish(process: Forked) -> list[str]:
    """Let a process come to its end, which must be a good one; what it acknowledged."""
    out, _ = process.communicate("go\n" * 9, timeout=60)
    assert process.returncode == 0
    return out.splitlines()


def let_go(process: Forked) -> None:
    """End one `wait` of a process."""
    process.stdin.write("go\n")
    process.stdin.flush()


def kill(process: Forked) -> list[str]:
    """Kill a process as a crash would; what it had acknowledged."""
    process.kill()
    with process:
        return process.stdout.read().splitlines()


def say(ws: Workspace, store: GitRefsStore, name: str) -> None:
    """Commit a record called `name`."""

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        at = Timestamp(to_text(ws.clock.now()))
        files = ((f"{RECORDS}{name}", name.encode()),)
        clock = snapshot.clock + 1
        return None, [Record("note", Actor("worker-1"), name, name, at, clock, files)]

    transact(store, decide)


def beat(ws: Workspace, agent: str, seq: int) -> None:
    """One beat, the first with an epoch; each says something new, so that none is quiet."""
    fields = {"lastAction": f"Beat {seq}"}
    pulse.beat(ws.folders, agent, fields, ws.clock.now(), epoch=1 if seq == 1 else None)


def act(ws: Workspace, action: str) -> None:
    """Do one action."""
    store = GitRefsStore(ws)
    verb, *words = action.split(":")
    if verb == "say":
        say(ws, store, words[0])
    elif verb == "beat":
        beat(ws, words[0], int(words[1]))
    elif verb == "fold":
        store.fold()
    elif verb == "sync":
        report = store.sync()
        assert report.trouble is None, report
    elif verb == "wait":
        sys.stdin.readline()


def main() -> None:
    """Act, and acknowledge each act when it is done."""
    stop_at_gate(os.environ)
    ws = open_workspace(Path(sys.argv[1]), dict(os.environ), SystemClock())
    for action in sys.argv[2:]:
        act(ws, action)
        sys.stdout.write(f"{action}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
